package query

import (
	"bytes"
	"unicode/utf8"
)

// textEntries are the functions and operators of text and bytea. Positions and lengths count characters.
var textEntries = []entry{
	{name: "||", args: "tt", ret: "t", sql: "({1} || {2})"},
	{name: "||", args: "yy", ret: "y", sql: "({1} || {2})"},
	{name: "||", args: "t?", ret: "t", sql: "({1} || {2:t})"},
	{name: "||", args: "?t", ret: "t", sql: "({1:t} || {2})"},
	{name: "~~", args: "tt", ret: "b", impl: like(false, false)},
	{name: "!~~", args: "tt", ret: "b", impl: like(true, false)},
	{name: "~~", args: "ct", ret: "b", impl: like(false, false)},
	{name: "!~~", args: "ct", ret: "b", impl: like(true, false)},
	{name: "~~*", args: "tt", ret: "b", impl: like(false, true)},
	{name: "!~~*", args: "tt", ret: "b", impl: like(true, true)},
	{name: "like_escape", args: "tt", ret: "t", impl: likeEscape},
	{name: "~", args: "tt", ret: "b", impl: match(false, false)},
	{name: "!~", args: "tt", ret: "b", impl: match(true, false)},
	{name: "~*", args: "tt", ret: "b", impl: match(false, true)},
	{name: "!~*", args: "tt", ret: "b", impl: match(true, true)},
	{name: "regexp_replace", args: "ttt", ret: "t", impl: regexpReplace},
	{name: "regexp_replace", args: "tttt", ret: "t", impl: regexpReplace},
	{name: "upper", args: "t", ret: "t", impl: mapBytes(upperByte)},
	{name: "lower", args: "t", ret: "t", impl: mapBytes(lowerByte)},
	{name: "initcap", args: "t", ret: "t", impl: initcap},
	{name: "length", args: "t", ret: "i", impl: runeCount},
	{name: "char_length", args: "t", ret: "i", impl: runeCount},
	{name: "character_length", args: "t", ret: "i", impl: runeCount},
	{name: "length", args: "y", ret: "i", impl: byteCount},
	{name: "octet_length", args: "t", ret: "i", impl: byteCount},
	{name: "octet_length", args: "c", ret: "i", impl: byteCount},
	{name: "octet_length", args: "y", ret: "i", impl: byteCount},
	{name: "bit_length", args: "t", ret: "i", impl: func(_ *frame, d []byte, a [][]byte) ([]byte, error) { return put32(d, int32(8*len(a[0]))), nil }},
	{name: "substr", args: "ti", ret: "t", impl: substring},
	{name: "substr", args: "tii", ret: "t", impl: substring},
	{name: "substring", args: "ti", ret: "t", impl: substring},
	{name: "substring", args: "tii", ret: "t", impl: substring},
	{name: "substring", args: "tt", ret: "t", impl: substringRegexp},
	{name: "substr", args: "yi", ret: "y", impl: substringBytes},
	{name: "substr", args: "yii", ret: "y", impl: substringBytes},
	{name: "substring", args: "yi", ret: "y", impl: substringBytes},
	{name: "substring", args: "yii", ret: "y", impl: substringBytes},
	{name: "left", args: "ti", ret: "t", impl: func(_ *frame, d []byte, a [][]byte) ([]byte, error) {
		n := int(i32(a[1]))
		if n < 0 {
			n = max(0, utf8.RuneCount(a[0])+n)
		}
		return append(d, a[0][:runeOffset(a[0], n)]...), nil
	}},
	{name: "right", args: "ti", ret: "t", impl: func(_ *frame, d []byte, a [][]byte) ([]byte, error) {
		n := int(i32(a[1]))
		if n < 0 {
			n = -n
		} else {
			n = max(0, utf8.RuneCount(a[0])-n)
		}
		return append(d, a[0][runeOffset(a[0], n):]...), nil
	}},
	{name: "lpad", args: "ti", ret: "t", impl: pad(true)},
	{name: "lpad", args: "tit", ret: "t", impl: pad(true)},
	{name: "rpad", args: "ti", ret: "t", impl: pad(false)},
	{name: "rpad", args: "tit", ret: "t", impl: pad(false)},
	{name: "ltrim", args: "t", ret: "t", impl: trim(true, false)},
	{name: "ltrim", args: "tt", ret: "t", impl: trim(true, false)},
	{name: "rtrim", args: "t", ret: "t", impl: trim(false, true)},
	{name: "rtrim", args: "tt", ret: "t", impl: trim(false, true)},
	{name: "btrim", args: "t", ret: "t", impl: trim(true, true)},
	{name: "btrim", args: "tt", ret: "t", impl: trim(true, true)},
	{name: "overlay", args: "tti", ret: "t", impl: overlay},
	{name: "overlay", args: "ttii", ret: "t", impl: overlay},
	{name: "replace", args: "ttt", ret: "t", impl: func(_ *frame, d []byte, a [][]byte) ([]byte, error) {
		if len(a[1]) == 0 {
			return append(d, a[0]...), nil
		}
		return append(d, bytes.ReplaceAll(a[0], a[1], a[2])...), nil
	}},
	{name: "translate", args: "ttt", ret: "t", impl: translateText},
	{name: "strpos", args: "tt", ret: "i", impl: position},
	{name: "position", args: "tt", ret: "i", impl: position},
	{name: "repeat", args: "ti", ret: "t", impl: func(_ *frame, d []byte, a [][]byte) ([]byte, error) {
		n := max(0, int(i32(a[1])))
		if n*len(a[0]) > maxText {
			return nil, raise("54000", "requested length too large")
		}
		return append(d, bytes.Repeat(a[0], n)...), nil
	}},
	{name: "reverse", args: "t", ret: "t", impl: func(_ *frame, d []byte, a [][]byte) ([]byte, error) {
		for b := a[0]; len(b) > 0; {
			_, n := utf8.DecodeLastRune(b)
			d = append(d, b[len(b)-n:]...)
			b = b[:len(b)-n]
		}
		return d, nil
	}},
	{name: "split_part", args: "tti", ret: "t", impl: splitPart},
	{name: "starts_with", args: "tt", ret: "b", impl: func(_ *frame, d []byte, a [][]byte) ([]byte, error) {
		return putBool(d, bytes.HasPrefix(a[0], a[1])), nil
	}},
	{name: "^@", args: "tt", ret: "b", impl: func(_ *frame, d []byte, a [][]byte) ([]byte, error) {
		return putBool(d, bytes.HasPrefix(a[0], a[1])), nil
	}},
	{name: "concat", args: "?*", ret: "t", sql: "concat({*:o})"},
	{name: "concat_ws", args: "t?*", ret: "t", sql: "concat_ws({1}, {rest:o})"},
	{name: "md5", args: "t", ret: "t", impl: digest},
	{name: "md5", args: "y", ret: "t", impl: digest},
	{name: "ascii", args: "t", ret: "i", impl: func(_ *frame, d []byte, a [][]byte) ([]byte, error) {
		if len(a[0]) == 0 {
			return put32(d, 0), nil
		}
		r, _ := utf8.DecodeRune(a[0])
		return put32(d, r), nil
	}},
	{name: "chr", args: "i", ret: "t", impl: func(_ *frame, d []byte, a [][]byte) ([]byte, error) {
		switch r := i32(a[0]); {
		case r == 0:
			return nil, raise("54000", "null character not permitted")
		case r < 0:
			return nil, raise(codeInvalid, "character number must be positive")
		case r > utf8.MaxRune:
			return nil, raise("54000", "requested character too large for encoding: %d", r)
		case !utf8.ValidRune(r):
			return nil, raise("54000", "requested character not valid for encoding: %d", r)
		default:
			return utf8.AppendRune(d, r), nil
		}
	}},
	{name: "quote_literal", args: "t", ret: "t", impl: quoteLiteral},
	{name: "quote_literal", args: "?", ret: "t", sql: "tr_f_quote_literal_text({1:o})"},
	{name: "encode", args: "yt", ret: "t", impl: encode},
	{name: "decode", args: "tt", ret: "y", impl: decode},
}
