package format

import (
	"unicode/utf8"

	"tailrace"
)

// parseBytea reads both forms: \x and hexadecimal digits with blanks between bytes, or text with \\ and \ooo.
func parseBytea(c *tailrace.Column, _ tailrace.Type, text string, _ *Settings) error {
	if err := checkText(text); err != nil {
		return err
	}
	var value []byte
	var err error
	if len(text) >= 2 && text[0] == '\\' && text[1] == 'x' {
		value, err = hexBytes(text[2:])
	} else {
		value, err = escapedBytes(text)
	}
	if err == nil {
		c.Append(value)
	}
	return err
}

func hexBytes(text string) ([]byte, error) {
	value := make([]byte, 0, len(text)/2)
	for i := 0; i < len(text); {
		if c := text[i]; c == ' ' || c == '\n' || c == '\t' || c == '\r' {
			i++
			continue
		}
		high := hexDigit(text[i])
		if high < 0 {
			return nil, badHexDigit(text[i:])
		}
		if i+1 == len(text) {
			return nil, errorf(codeBadParameter, "invalid hexadecimal data: odd number of digits")
		}
		low := hexDigit(text[i+1])
		if low < 0 {
			return nil, badHexDigit(text[i+1:])
		}
		value = append(value, byte(high<<4|low))
		i += 2
	}
	return value, nil
}

func badHexDigit(at string) error {
	_, n := utf8.DecodeRuneInString(at)
	return errorf(codeBadParameter, "invalid hexadecimal digit: \"%s\"", at[:n])
}

func escapedBytes(text string) ([]byte, error) {
	value := make([]byte, 0, len(text))
	for i := 0; i < len(text); i++ {
		switch {
		case text[i] != '\\':
			value = append(value, text[i])
		case isOctalByte(text[i:]):
			value = append(value, octalByte(text[i:]))
			i += 3
		case i+1 < len(text) && text[i+1] == '\\':
			value = append(value, '\\')
			i++
		default:
			return nil, errorf(codeBadText, "invalid input syntax for type bytea")
		}
	}
	return value, nil
}

// isOctalByte reports whether s begins with a backslash and the three octal digits of a byte.
func isOctalByte(s string) bool {
	octal := func(c byte, most byte) bool { return c >= '0' && c <= most }
	return len(s) >= 4 && s[0] == '\\' && octal(s[1], '3') && octal(s[2], '7') && octal(s[3], '7')
}

func octalByte(s string) byte { return (s[1]-'0')<<6 | (s[2]-'0')<<3 | (s[3] - '0') }

const hexDigits = "0123456789abcdef"

func appendBytea(dst, raw []byte, s *session) []byte {
	if s.ByteaHex {
		dst = append(dst, '\\', 'x')
		for _, b := range raw {
			dst = append(dst, hexDigits[b>>4], hexDigits[b&15])
		}
		return dst
	}
	for _, b := range raw {
		switch {
		case b == '\\':
			dst = append(dst, '\\', '\\')
		case b < 0x20 || b > 0x7e:
			dst = append(dst, '\\', '0'+b>>6, '0'+b>>3&7, '0'+b&7)
		default:
			dst = append(dst, b)
		}
	}
	return dst
}
