package format

import "tailrace"

// parseUUID reads 32 hexadecimal digits, with a hyphen after any group of four, perhaps in braces.
func parseUUID(c *tailrace.Column, _ tailrace.Type, text string, _ *Settings) error {
	s := text
	braces := s != "" && s[0] == '{'
	if braces {
		s = s[1:]
	}
	var value [16]byte
	for i := range value {
		if len(s) < 2 || hexDigit(s[0]) < 0 || hexDigit(s[1]) < 0 {
			return badSyntax("uuid", text)
		}
		value[i] = byte(hexDigit(s[0])<<4 | hexDigit(s[1]))
		s = s[2:]
		if s != "" && s[0] == '-' && i%2 == 1 && i < 15 {
			s = s[1:]
		}
	}
	if braces && s == "}" {
		s = ""
	} else if braces {
		s = "?"
	}
	if s != "" {
		return badSyntax("uuid", text)
	}
	c.Append(value[:])
	return nil
}

func appendUUID(dst, raw []byte, _ *session) []byte {
	for i, b := range raw {
		if i == 4 || i == 6 || i == 8 || i == 10 {
			dst = append(dst, '-')
		}
		dst = append(dst, hexDigits[b>>4], hexDigits[b&15])
	}
	return dst
}
