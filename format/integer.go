package format

import (
	"math"
	"strconv"

	"tailrace"
)

// parseInt reads an integer as PostgreSQL 15 does: blanks around it, a sign, decimal digits.
func parseInt(text, typeName string, lowest int64) (int64, error) {
	i := 0
	for i < len(text) && isSpace(text[i]) {
		i++
	}
	neg := false
	if i < len(text) && (text[i] == '-' || text[i] == '+') {
		neg = text[i] == '-'
		i++
	}
	if i == len(text) || !isDigit(text[i]) {
		return 0, badSyntax(typeName, text)
	}
	// The number is built negative, since the lowest value has no positive twin.
	v := int64(0)
	for ; i < len(text) && isDigit(text[i]); i++ {
		d := int64(text[i] - '0')
		if v < (lowest+d)/10 || v == (lowest+d)/10 && v*10-d < lowest {
			return 0, intRange(text, typeName)
		}
		v = v*10 - d
	}
	for i < len(text) && isSpace(text[i]) {
		i++
	}
	if i < len(text) {
		return 0, badSyntax(typeName, text)
	}
	if !neg {
		if v == lowest {
			return 0, intRange(text, typeName)
		}
		v = -v
	}
	return v, nil
}

func intRange(text, typeName string) error {
	return errorf(codeOutOfRange, "value \"%s\" is out of range for type %s", text, typeName)
}

func parseInt2(c *tailrace.Column, _ tailrace.Type, text string, _ *Settings) error {
	v, err := parseInt(text, "smallint", math.MinInt16)
	if err == nil {
		c.AppendInt16(int16(v))
	}
	return err
}

func parseInt4(c *tailrace.Column, _ tailrace.Type, text string, _ *Settings) error {
	v, err := parseInt(text, "integer", math.MinInt32)
	if err == nil {
		c.AppendInt32(int32(v))
	}
	return err
}

func parseInt8(c *tailrace.Column, _ tailrace.Type, text string, _ *Settings) error {
	v, err := parseInt(text, "bigint", math.MinInt64)
	if err == nil {
		c.AppendInt64(v)
	}
	return err
}

func appendInt2(dst, raw []byte, _ *session) []byte {
	return strconv.AppendInt(dst, int64(int16(le16(raw))), 10)
}

func appendInt4(dst, raw []byte, _ *session) []byte {
	return strconv.AppendInt(dst, int64(int32(le32(raw))), 10)
}

func appendInt8(dst, raw []byte, _ *session) []byte {
	return strconv.AppendInt(dst, int64(le64(raw)), 10)
}
