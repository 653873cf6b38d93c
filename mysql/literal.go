package mysql

import (
	"bytes"
	"encoding/hex"
	"fmt"
	"strconv"
	"strings"
	"unicode/utf8"

	"tailrace"
)

// cannotHold is the error of a value that the column would change or refuse.
func (c *column) cannotHold(what, hint string) error {
	return &tailrace.Error{
		Code: "22003", Message: fmt.Sprintf("column %s of the target, %s, cannot hold %s", quote(c.name), c.full, what), Hint: hint, Column: c.name,
	}
}

// literal appends row i of col, of type t, as a literal for the column c. What c would round, cut or take for another value is an error.
func (s *sink) literal(dst []byte, c *column, t tailrace.Type, col *tailrace.Column, i int) ([]byte, error) {
	if col.IsNull(i) {
		return append(dst, "NULL"...), nil
	}
	switch t.Kind {
	case tailrace.KindBytea:
		raw := col.Bytes(i)
		if int64(len(raw)) > c.chars {
			return dst, c.cannotHold(fmt.Sprintf("%d bytes", len(raw)), "Widen the column at the target, or make the value shorter here.")
		}
		return append(hex.AppendEncode(append(dst, "x'"...), raw), '\''), nil
	case tailrace.KindBool:
		return append(dst, '0'+col.Bytes(i)[0]), nil
	case tailrace.KindFloat4: // every float4 is a float8; written as that, a comparison with the column is exact
		f := float64(col.Float32s()[i])
		if f-f != 0 {
			return dst, c.cannotHold(strconv.FormatFloat(f, 'g', -1, 64), "Only finite numbers can be there.")
		}
		return strconv.AppendFloat(dst, f, 'e', -1, 64), nil
	case tailrace.KindFloat8:
		f := col.Float64s()[i]
		if f-f != 0 {
			return dst, c.cannotHold(strconv.FormatFloat(f, 'g', -1, 64), "Only finite numbers can be there.")
		}
		return strconv.AppendFloat(dst, f, 'e', -1, 64), nil
	}
	var text []byte
	if t.Kind == tailrace.KindText {
		text = col.Bytes(i)
	} else {
		text = s.options.Text(nil, t, col, i)
	}
	switch t.Kind {
	case tailrace.KindNumeric:
		if c.data == "decimal" {
			return c.decimal(dst, text)
		}
	case tailrace.KindDate, tailrace.KindTimestamp, tailrace.KindTimestamptz:
		if len(text) < 5 || text[4] != '-' || bytes.HasSuffix(text, []byte(" BC")) || text[0] == '-' || string(text[:4]) == "0000" {
			return dst, c.cannotHold(string(text), "Years from 1 to 9999 can be there.")
		}
		text = bytes.TrimSuffix(text, []byte("+00"))
	case tailrace.KindTime:
	default:
		if integerMax(t.Kind) > 0 {
			return append(dst, text...), nil
		}
		if err := c.room(text); err != nil {
			return dst, err
		}
	}
	return appendString(dst, text), nil
}

// room says whether a text fits: the server would cut trailing blanks without a word.
func (c *column) room(text []byte) error {
	n := int64(len(text))
	if !c.isLong() && c.data != "json" {
		n = int64(utf8.RuneCount(text))
	}
	if c.isText() && n > c.chars {
		return c.cannotHold(fmt.Sprintf("a value of %d characters", utf8.RuneCount(text)), "Widen the column at the target, or make the value shorter here.")
	}
	return nil
}

// decimal appends a numeric for a DECIMAL column: the server would round it without a word.
func (c *column) decimal(dst, text []byte) ([]byte, error) {
	digits := strings.TrimPrefix(string(text), "-")
	if digits[0] < '0' || digits[0] > '9' {
		return dst, c.cannotHold(string(text), "Only finite numbers can be there.")
	}
	whole, fraction, _ := strings.Cut(digits, ".")
	if len(strings.TrimLeft(whole, "0")) > c.precision-c.scale || len(strings.TrimRight(fraction, "0")) > c.scale {
		return dst, c.cannotHold(fmt.Sprintf("%.60s exactly", text), "Give the column more digits at the target.")
	}
	return append(dst, text...), nil
}

// appendString appends text in quotes. The connection's character set is utf8mb4, in which no other character has a byte of these, and its sql_mode has backslashes.
func appendString(dst, text []byte) []byte {
	dst = append(dst, '\'')
	if bytes.IndexByte(text, '\'') < 0 && bytes.IndexByte(text, '\\') < 0 && bytes.IndexByte(text, 0) < 0 {
		return append(append(dst, text...), '\'')
	}
	for _, b := range text {
		switch b {
		case '\'', '\\':
			dst = append(dst, '\\', b)
		case 0:
			dst = append(dst, '\\', '0')
		default:
			dst = append(dst, b)
		}
	}
	return append(dst, '\'')
}

// quote is name as an identifier.
func quote(name string) string { return "`" + strings.ReplaceAll(name, "`", "``") + "`" }
