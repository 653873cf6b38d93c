package query

import (
	"bytes"
	"crypto/sha256"
	"crypto/sha512"
	"fmt"
	"strconv"
	"strings"
	"unicode/utf8"
)

// encodingEntries are functions of bytes: parts of bytea, digests, character sets.
var encodingEntries = []entry{
	{name: "bit_length", args: "y", ret: "i", impl: func(_ *frame, d []byte, a [][]byte) ([]byte, error) { return put32(d, int32(8*len(a[0]))), nil }},
	{name: "position", args: "yy", ret: "i", impl: func(_ *frame, d []byte, a [][]byte) ([]byte, error) {
		return put32(d, int32(bytes.Index(a[0], a[1])+1)), nil
	}},
	{name: "overlay", args: "yyi", ret: "y", impl: overlayBytes},
	{name: "overlay", args: "yyii", ret: "y", impl: overlayBytes},
	{name: "btrim", args: "yy", ret: "y", impl: trimBytes(true, true)},
	{name: "ltrim", args: "yy", ret: "y", impl: trimBytes(true, false)},
	{name: "rtrim", args: "yy", ret: "y", impl: trimBytes(false, true)},
	{name: "~~", args: "yy", ret: "b", impl: likeBytes(false)},
	{name: "!~~", args: "yy", ret: "b", impl: likeBytes(true)},
	{name: "get_byte", args: "yi", ret: "i", impl: func(_ *frame, d []byte, a [][]byte) ([]byte, error) {
		n, err := indexed(int64(i32(a[1])), int64(len(a[0])))
		if err != nil {
			return nil, err
		}
		return put32(d, int32(a[0][n])), nil
	}},
	{name: "set_byte", args: "yii", ret: "y", impl: func(_ *frame, d []byte, a [][]byte) ([]byte, error) {
		n, err := indexed(int64(i32(a[1])), int64(len(a[0])))
		if err != nil {
			return nil, err
		}
		at := len(d)
		d = append(d, a[0]...)
		d[at+int(n)] = byte(i32(a[2]))
		return d, nil
	}},
	{name: "get_bit", args: "yl", ret: "i", impl: func(_ *frame, d []byte, a [][]byte) ([]byte, error) {
		n, err := indexed(i64(a[1]), 8*int64(len(a[0])))
		if err != nil {
			return nil, err
		}
		return put32(d, int32(a[0][n/8]>>(n%8)&1)), nil
	}},
	{name: "set_bit", args: "yli", ret: "y", impl: func(_ *frame, d []byte, a [][]byte) ([]byte, error) {
		n, err := indexed(i64(a[1]), 8*int64(len(a[0])))
		if err != nil {
			return nil, err
		}
		bit := i32(a[2])
		if bit != 0 && bit != 1 {
			return nil, raise(codeInvalid, "new bit must be 0 or 1")
		}
		at := len(d) + int(n/8)
		d = append(d, a[0]...)
		d[at] = d[at]&^(1<<(n%8)) | byte(bit)<<(n%8)
		return d, nil
	}},
	{name: "sha224", args: "y", ret: "y", impl: func(_ *frame, d []byte, a [][]byte) ([]byte, error) {
		s := sha256.Sum224(a[0])
		return append(d, s[:]...), nil
	}},
	{name: "sha256", args: "y", ret: "y", impl: func(_ *frame, d []byte, a [][]byte) ([]byte, error) {
		s := sha256.Sum256(a[0])
		return append(d, s[:]...), nil
	}},
	{name: "sha384", args: "y", ret: "y", impl: func(_ *frame, d []byte, a [][]byte) ([]byte, error) {
		s := sha512.Sum384(a[0])
		return append(d, s[:]...), nil
	}},
	{name: "sha512", args: "y", ret: "y", impl: func(_ *frame, d []byte, a [][]byte) ([]byte, error) {
		s := sha512.Sum512(a[0])
		return append(d, s[:]...), nil
	}},
	{name: "convert_to", args: "tt", ret: "y", impl: func(_ *frame, d []byte, a [][]byte) ([]byte, error) { return fromUTF8(d, a[0], string(a[1])) }},
	{name: "convert_from", args: "yt", ret: "t", impl: func(_ *frame, d []byte, a [][]byte) ([]byte, error) { return toUTF8(d, a[0], string(a[1])) }},
	{name: "convert", args: "ytt", ret: "y", impl: func(_ *frame, d []byte, a [][]byte) ([]byte, error) {
		text, err := toUTF8(nil, a[0], string(a[1]))
		if err != nil {
			return nil, err
		}
		return fromUTF8(d, text, string(a[2]))
	}},
	{name: "length", args: "yt", ret: "i", impl: func(_ *frame, d []byte, a [][]byte) ([]byte, error) {
		text, err := toUTF8(nil, a[0], string(a[1]))
		return put32(d, int32(utf8.RuneCount(text))), err
	}},
	{name: "unistr", args: "t", ret: "t", impl: unistr},
}

func indexed(n, size int64) (int64, error) {
	if n < 0 || n >= size {
		return 0, raise("2202E", "index %d out of valid range, 0..%d", n, size-1)
	}
	return n, nil
}

func overlayBytes(_ *frame, d []byte, a [][]byte) ([]byte, error) {
	from, n := int64(i32(a[2])), int64(len(a[1]))
	if len(a) == 4 {
		n = int64(i32(a[3]))
	}
	if from <= 0 {
		return nil, raise("22011", "negative substring length not allowed")
	}
	size := int64(len(a[0]))
	d = append(d, a[0][:min(from-1, size)]...)
	d = append(d, a[1]...)
	return append(d, a[0][min(max(from+n-1, 0), size):]...), nil
}

func trimBytes(left, right bool) implementation {
	return func(_ *frame, d []byte, a [][]byte) ([]byte, error) {
		b := a[0]
		for left && len(b) > 0 && bytes.IndexByte(a[1], b[0]) >= 0 {
			b = b[1:]
		}
		for right && len(b) > 0 && bytes.IndexByte(a[1], b[len(b)-1]) >= 0 {
			b = b[:len(b)-1]
		}
		return append(d, b...), nil
	}
}

// likeBytes is LIKE where _ is a byte.
func likeBytes(not bool) implementation {
	wide := func(b []byte) []byte { // each byte as a character of its own
		var out []byte
		for _, c := range b {
			out = utf8.AppendRune(out, rune(c))
		}
		return out
	}
	return func(_ *frame, dst []byte, a [][]byte) ([]byte, error) {
		ok, err := likeMatch(wide(a[0]), wide(a[1]))
		return putBool(dst, ok != not), err
	}
}

// charset is the name of a character set as PostgreSQL compares it.
func charset(name string) string {
	keep := func(r rune) rune {
		if r >= 'a' && r <= 'z' || r >= '0' && r <= '9' {
			return r
		}
		return -1
	}
	return strings.Map(keep, strings.ToLower(name))
}

func unknownCharset(name, role string) error {
	return raise(codeInvalid, "invalid %s encoding name \"%s\"", role, name)
}

// toUTF8 reads text of a character set: UTF8, LATIN1 and SQL_ASCII are known.
func toUTF8(dst, b []byte, name string) ([]byte, error) {
	switch charset(name) {
	case "utf8", "unicode", "sqlascii":
		for i := 0; i < len(b); {
			r, n := utf8.DecodeRune(b[i:])
			if r == utf8.RuneError && n <= 1 || r == 0 {
				return nil, raise("22021", "invalid byte sequence for encoding \"UTF8\": %s", hexBytes(b[i:min(i+sequence(b[i]), len(b))]))
			}
			i += n
		}
		return append(dst, b...), nil
	case "latin1", "iso88591":
		for _, c := range b {
			if c == 0 {
				return nil, raise("22021", "invalid byte sequence for encoding \"LATIN1\": 0x00")
			}
			dst = utf8.AppendRune(dst, rune(c))
		}
		return dst, nil
	}
	return nil, unknownCharset(name, "source")
}

// sequence is how many bytes a character that begins with c has in UTF-8.
func sequence(c byte) int {
	switch {
	case c&0xe0 == 0xc0:
		return 2
	case c&0xf0 == 0xe0:
		return 3
	case c&0xf8 == 0xf0:
		return 4
	}
	return 1
}

func hexBytes(b []byte) string {
	var parts []string
	for _, c := range b {
		parts = append(parts, fmt.Sprintf("0x%02x", c))
	}
	return strings.Join(parts, " ")
}

// fromUTF8 writes text in a character set.
func fromUTF8(dst, text []byte, name string) ([]byte, error) {
	switch charset(name) {
	case "utf8", "unicode", "sqlascii":
		return append(dst, text...), nil
	case "latin1", "iso88591":
		for at, r := range string(text) {
			if r > 0xff {
				return nil, raise("22P05", "character with byte sequence %s in encoding \"UTF8\" has no equivalent in encoding \"LATIN1\"", hexBytes(text[at:at+utf8.RuneLen(r)]))
			}
			dst = append(dst, byte(r))
		}
		return dst, nil
	}
	return nil, unknownCharset(name, "destination")
}

var errSurrogate = raise("42601", "invalid Unicode surrogate pair")

// unistr reads \XXXX, \uXXXX, \+XXXXXX and \UXXXXXXXX.
func unistr(_ *frame, dst []byte, a [][]byte) ([]byte, error) {
	bad := raise("42601", "invalid Unicode escape")
	bad.Hint = `Unicode escapes must be \XXXX, \+XXXXXX, \uXXXX, or \UXXXXXXXX.`
	var high rune
	for s := string(a[0]); s != ""; {
		switch {
		case strings.HasPrefix(s, `\\`):
			dst, s = append(dst, '\\'), s[2:]
			continue
		case s[0] != '\\':
			if high != 0 {
				return nil, errSurrogate
			}
			dst, s = append(dst, s[0]), s[1:]
			continue
		}
		from, n := 1, 4
		if len(s) > 1 {
			switch s[1] {
			case 'u':
				from = 2
			case '+':
				from, n = 2, 6
			case 'U':
				from, n = 2, 8
			}
		}
		if len(s) < from+n {
			return nil, bad
		}
		v, err := strconv.ParseUint(s[from:from+n], 16, 32)
		if err != nil {
			return nil, bad
		}
		s = s[from+n:]
		r := rune(v)
		switch {
		case v > utf8.MaxRune || v == 0:
			return nil, raise("42601", "invalid Unicode code point: %04X", v)
		case high != 0 && r >= 0xdc00 && r <= 0xdfff:
			r, high = 0x10000+(high-0xd800)<<10+(r-0xdc00), 0
		case high != 0 || r >= 0xdc00 && r <= 0xdfff:
			return nil, errSurrogate
		case r >= 0xd800 && r <= 0xdbff:
			high = r
			continue
		}
		dst = utf8.AppendRune(dst, r)
	}
	if high != 0 {
		return nil, errSurrogate
	}
	return dst, nil
}
