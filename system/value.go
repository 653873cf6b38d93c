package system

import (
	"encoding/binary"
	"encoding/hex"
	"fmt"
	"math"
	"strings"
	"time"

	"tailrace"
	"tailrace/expr"
)

// appendValue adds a Go value to a column of type t.
func appendValue(c *tailrace.Column, t tailrace.Type, v any) {
	switch v := v.(type) {
	case string:
		if t.Kind == tailrace.KindUUID {
			c.Append(uuid(v))
			return
		}
		c.AppendString(v)
	case bool:
		c.AppendBool(v)
	case time.Time:
		if v.IsZero() {
			c.AppendNull()
			return
		}
		c.AppendInt64(expr.StoredNow(v))
	case time.Duration: // an interval
		c.Append(binary.LittleEndian.AppendUint64(make([]byte, 8, 16), uint64(v.Microseconds())))
	case tailrace.Time:
		c.Append(expr.TimeNumeric(v))
	case float64:
		if t.Kind == tailrace.KindFloat8 {
			c.AppendInt64(int64(math.Float64bits(v)))
			return
		}
		c.AppendInt32(int32(math.Float32bits(float32(v))))
	case []string, []int, []uint32:
		appendList(c, t, v)
	default:
		appendNumber(c, v)
	}
}

// appendNumber adds a whole number, in as many bytes as the column's values have.
func appendNumber(c *tailrace.Column, v any) {
	var n int64
	switch v := v.(type) {
	case int:
		n = int64(v)
	case int16:
		n = int64(v)
	case int32:
		n = int64(v)
	case uint32:
		n = int64(v)
	case int64:
		n = v
	default:
		panic(fmt.Sprintf("a system relation has no values of type %T", v))
	}
	switch c.Width {
	case 2:
		c.AppendInt16(int16(n))
	case 4:
		c.AppendInt32(int32(n))
	default:
		c.AppendInt64(n)
	}
}

// appendZero adds what a column has where a row says nothing and NULL cannot be.
func appendZero(c *tailrace.Column, t tailrace.Type) {
	if t.Kind == tailrace.KindArray {
		c.Append(tailrace.AppendArray(nil, nil))
		return
	}
	c.Append(make([]byte, c.Width))
}

// appendList adds an array.
func appendList(c *tailrace.Column, t tailrace.Type, v any) {
	var elements [][]byte
	switch v := v.(type) {
	case []string:
		for _, e := range v {
			elements = append(elements, []byte(e))
		}
	case []int:
		for _, e := range v {
			elements = append(elements, binary.LittleEndian.AppendUint16(nil, uint16(e)))
		}
	case []uint32:
		for _, e := range v {
			elements = append(elements, binary.LittleEndian.AppendUint32(nil, e))
		}
	}
	var dims []tailrace.Dim
	if len(elements) > 0 {
		dims = []tailrace.Dim{{Length: len(elements), Lower: 1}}
		if t.Vector() {
			dims[0].Lower = 0
		}
	}
	raw := tailrace.AppendArray(nil, dims)
	for _, e := range elements {
		raw = tailrace.AppendElement(raw, e)
	}
	c.Append(raw)
}

// uuid reads a session's UUID; one that is none is zero.
func uuid(text string) []byte {
	raw, err := hex.DecodeString(strings.ReplaceAll(text, "-", ""))
	if err != nil || len(raw) != 16 {
		return make([]byte, 16)
	}
	return raw
}
