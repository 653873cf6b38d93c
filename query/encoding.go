package query

import (
	"bytes"
	"crypto/md5"
	"encoding/base64"
	"encoding/hex"
	"fmt"
	"strings"
	"unicode/utf8"
)

func digest(_ *frame, d []byte, a [][]byte) ([]byte, error) {
	sum := md5.Sum(a[0]) //nolint:gosec // it is what md5() computes
	return hex.AppendEncode(d, sum[:]), nil
}

func quoteLiteral(_ *frame, d []byte, a [][]byte) ([]byte, error) {
	if bytes.IndexByte(a[0], '\\') >= 0 {
		d = append(d, 'E')
	}
	s := strings.ReplaceAll(strings.ReplaceAll(string(a[0]), `\`, `\\`), "'", "''")
	return fmt.Appendf(d, "'%s'", s), nil
}

func encode(_ *frame, d []byte, a [][]byte) ([]byte, error) {
	switch strings.ToLower(string(a[1])) {
	case "hex":
		return hex.AppendEncode(d, a[0]), nil
	case "base64": // in lines of 76 characters
		for b := a[0]; len(b) > 0; {
			n := min(57, len(b))
			d = base64.StdEncoding.AppendEncode(d, b[:n])
			if b = b[n:]; len(b) > 0 {
				d = append(d, '\n')
			}
		}
		return d, nil
	case "escape":
		for _, c := range a[0] {
			switch {
			case c == 0 || c >= 0x80:
				d = fmt.Appendf(d, `\%03o`, c)
			case c == '\\':
				d = append(d, `\\`...)
			default:
				d = append(d, c)
			}
		}
		return d, nil
	}
	return nil, raise(codeInvalid, "unrecognized encoding: \"%s\"", a[1])
}

func decode(_ *frame, d []byte, a [][]byte) ([]byte, error) {
	space := func(r rune) rune {
		if strings.ContainsRune(" \t\r\n", r) {
			return -1
		}
		return r
	}
	switch strings.ToLower(string(a[1])) {
	case "hex":
		text := bytes.Map(space, a[0])
		for i := range text {
			if !strings.ContainsRune("0123456789abcdefABCDEF", rune(text[i])) {
				return nil, raise(codeInvalid, "invalid hexadecimal digit: \"%c\"", text[i])
			}
		}
		out, err := hex.AppendDecode(d, text)
		if err != nil {
			return nil, raise(codeInvalid, "invalid hexadecimal data: odd number of digits")
		}
		return out, nil
	case "base64":
		return decodeBase64(d, a[0])
	case "escape":
		return decodeEscape(d, a[0])
	}
	return nil, raise(codeInvalid, "unrecognized encoding: \"%s\"", a[1])
}

// decodeBase64 skips blanks; padding may only stand at the end.
func decodeBase64(d, text []byte) ([]byte, error) {
	const digits = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/"
	var word uint32
	at, end := 0, 0
	for i, c := range text {
		if bytes.IndexByte([]byte(" \t\r\n"), c) >= 0 {
			continue
		}
		v := strings.IndexByte(digits, c)
		switch {
		case c == '=':
			if end == 0 {
				if end = at - 1; end < 1 {
					return nil, raise(codeInvalid, "unexpected \"=\" while decoding base64 sequence")
				}
			}
			v = 0
		case v < 0:
			_, n := utf8.DecodeRune(text[i:])
			return nil, raise(codeInvalid, "invalid symbol \"%s\" found while decoding base64 sequence", text[i:i+n])
		}
		word = word<<6 | uint32(v)
		if at++; at == 4 {
			d = append(d, byte(word>>16))
			if end == 0 || end > 1 {
				d = append(d, byte(word>>8))
			}
			if end == 0 || end > 2 {
				d = append(d, byte(word))
			}
			word, at = 0, 0
		}
	}
	if at != 0 {
		e := raise(codeInvalid, "invalid base64 end sequence")
		e.Hint = "Input data is missing padding, is truncated, or is otherwise corrupted."
		return nil, e
	}
	return d, nil
}

// decodeEscape reads \\ and \ooo.
func decodeEscape(d, text []byte) ([]byte, error) {
	octal := func(c, high byte) bool { return c >= '0' && c <= high }
	for i := 0; i < len(text); i++ {
		rest := text[i:]
		switch {
		case rest[0] != '\\':
			d = append(d, rest[0])
		case len(rest) > 3 && octal(rest[1], '3') && octal(rest[2], '7') && octal(rest[3], '7'):
			d = append(d, (rest[1]-'0')<<6|(rest[2]-'0')<<3|rest[3]-'0')
			i += 3
		case len(rest) > 1 && rest[1] == '\\':
			d = append(d, '\\')
			i++
		default:
			return nil, raise(codeBadText, "invalid input syntax for type bytea")
		}
	}
	return d, nil
}
