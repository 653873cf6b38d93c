package query

import (
	"bytes"
	"crypto/md5"
	"encoding/base64"
	"encoding/hex"
	"fmt"
	"strings"
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
		out, err := base64.StdEncoding.AppendDecode(d, bytes.Map(space, a[0]))
		if err != nil {
			return nil, raise(codeInvalid, "invalid base64 end sequence")
		}
		return out, nil
	}
	return nil, raise(codeUnsupported, "decoding \"%s\" is not supported", a[1])
}
