package format

import (
	"fmt"
	"unicode/utf16"
	"unicode/utf8"

	"tailrace"
)

// str reads a string. With a sink its content goes to buf, and escapes must then stand for characters.
func (r *jsonReader) str() error {
	start := r.at
	r.at++
	r.buf = r.buf[:0]
	high := rune(0) // the first half of a surrogate pair
	for {
		if r.at >= len(r.text) {
			return jsonError(fmt.Sprintf("Token \"%s\" is invalid.", r.text[start:]))
		}
		c := r.text[r.at]
		switch {
		case c == '"' && high == 0:
			r.at++
			return nil
		case c == '\\':
			if err := r.escape(start, &high); err != nil {
				return err
			}
			continue
		case c < 0x20:
			return jsonError(fmt.Sprintf("Character with value 0x%02x must be escaped.", c))
		case high != 0:
			return errLowSurrogate()
		}
		if r.sink != nil {
			r.buf = append(r.buf, c)
		}
		r.at++
	}
}

func errLowSurrogate() error { return jsonError("Unicode low surrogate must follow a high surrogate.") }

// escape reads one backslash sequence.
func (r *jsonReader) escape(start int, high *rune) error {
	if r.at++; r.at >= len(r.text) {
		return jsonError(fmt.Sprintf("Token \"%s\" is invalid.", r.text[start:]))
	}
	c := r.text[r.at]
	if c == 'u' {
		return r.unicode(start, high)
	}
	if r.sink == nil {
		if !jsonEscape(c) {
			return r.badEscape()
		}
		r.at++
		return nil
	}
	if *high != 0 {
		return errLowSurrogate()
	}
	switch c {
	case '"', '\\', '/':
	case 'b':
		c = '\b'
	case 'f':
		c = '\f'
	case 'n':
		c = '\n'
	case 'r':
		c = '\r'
	case 't':
		c = '\t'
	default:
		return r.badEscape()
	}
	r.buf = append(r.buf, c)
	r.at++
	return nil
}

func jsonEscape(c byte) bool {
	switch c {
	case '"', '\\', '/', 'b', 'f', 'n', 'r', 't':
		return true
	}
	return false
}

func (r *jsonReader) badEscape() error {
	_, n := utf8.DecodeRuneInString(r.text[r.at:])
	return jsonError(fmt.Sprintf("Escape sequence \"\\%s\" is invalid.", r.text[r.at:r.at+n]))
}

// unicode reads \uXXXX, of which two may make a character.
func (r *jsonReader) unicode(start int, high *rune) error {
	code := rune(0)
	r.at++
	for range 4 {
		if r.at >= len(r.text) {
			return jsonError(fmt.Sprintf("Token \"%s\" is invalid.", r.text[start:]))
		}
		d := hexDigit(r.text[r.at])
		if d < 0 {
			return jsonError("\"\\u\" must be followed by four hexadecimal digits.")
		}
		code = code<<4 | rune(d)
		r.at++
	}
	if r.sink == nil {
		return nil
	}
	switch {
	case code >= 0xd800 && code < 0xdc00:
		if *high != 0 {
			return jsonError("Unicode high surrogate must not follow a high surrogate.")
		}
		*high = code
		return nil
	case code >= 0xdc00 && code < 0xe000:
		if *high == 0 {
			return errLowSurrogate()
		}
		code = utf16.DecodeRune(*high, code)
		*high = 0
	case *high != 0:
		return errLowSurrogate()
	case code == 0:
		return &tailrace.Error{Code: codeUntranslatable, Message: "unsupported Unicode escape sequence", Detail: "\\u0000 cannot be converted to text."}
	}
	r.buf = utf8.AppendRune(r.buf, code)
	return nil
}

// appendJSONString writes a string as PostgreSQL prints it: only what must be is escaped.
func appendJSONString(dst, s []byte) []byte {
	dst = append(dst, '"')
	for _, c := range s {
		switch {
		case c == '"' || c == '\\':
			dst = append(dst, '\\', c)
		case c >= 0x20:
			dst = append(dst, c)
		case c == '\b':
			dst = append(dst, '\\', 'b')
		case c == '\f':
			dst = append(dst, '\\', 'f')
		case c == '\n':
			dst = append(dst, '\\', 'n')
		case c == '\r':
			dst = append(dst, '\\', 'r')
		case c == '\t':
			dst = append(dst, '\\', 't')
		default:
			dst = append(dst, '\\', 'u', '0', '0', hexDigits[c>>4], hexDigits[c&15])
		}
	}
	return append(dst, '"')
}
