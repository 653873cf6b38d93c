package parquet

import (
	"encoding/binary"

	"tailrace"
	"tailrace/duckdb"
	"tailrace/format"
)

// taker appends row i of a vector, which is not NULL, to a column.
type taker func(c *tailrace.Column, v *duckdb.Vector, i int) error

// takerOf is the taker for a type that kindOf or readAs gave. It keeps memory between calls: one goroutine uses it.
func takerOf(t tailrace.Type) taker {
	switch t.Kind {
	case tailrace.KindNumeric:
		return takeDecimals(t)
	case tailrace.KindDate:
		return takeDate
	case tailrace.KindTimestamp, tailrace.KindTimestamptz:
		return takeTimestamp
	case tailrace.KindTime:
		return takeTime
	case tailrace.KindUUID:
		return takeUUID
	case tailrace.KindArray:
		return takeLists(t)
	case tailrace.KindBytea:
		return func(c *tailrace.Column, v *duckdb.Vector, i int) error {
			c.Append(v.Bytes(i))
			return nil
		}
	case tailrace.KindText, tailrace.KindJSON, tailrace.KindInterval:
		return func(c *tailrace.Column, v *duckdb.Vector, i int) error {
			return format.ParseText(c, t, string(v.Bytes(i)), format.Default())
		}
	}
	width := t.Kind.Width()
	return func(c *tailrace.Column, v *duckdb.Vector, i int) error {
		c.Append(v.Fixed(width, i+1)[i*width:])
		return nil
	}
}

func takeDecimals(t tailrace.Type) taker {
	digits, scale := t.Precision(), t.Scale()
	width := duckdb.Width(duckdb.DecimalOf(digits, scale))
	var raw []byte
	return func(c *tailrace.Column, v *duckdb.Vector, i int) error {
		raw = appendDecimal(raw[:0], v.Fixed(width, i+1)[i*width:], scale)
		c.Append(raw)
		return nil
	}
}

func takeDate(c *tailrace.Column, v *duckdb.Vector, i int) error {
	switch days := duckdb.Values[int32](v, i+1)[i]; {
	case days == fileInfinity32:
		c.AppendInt32(fileInfinity32)
	case days == fileNegInfinity32:
		c.AppendInt32(fileNegInfinity32 - 1)
	case int64(days)-epochDays < minDate || int64(days)-epochDays >= endDate:
		return &tailrace.Error{Code: "22008", Message: "date out of range"}
	default:
		c.AppendInt32(days - epochDays)
	}
	return nil
}

func takeTimestamp(c *tailrace.Column, v *duckdb.Vector, i int) error {
	switch micros := duckdb.Values[int64](v, i+1)[i]; {
	case micros == fileInfinity64:
		c.AppendInt64(fileInfinity64)
	case micros == fileNegInfinity64:
		c.AppendInt64(fileNegInfinity64 - 1)
	case micros < minTimestamp+epochMicros:
		return &tailrace.Error{Code: "22008", Message: "timestamp out of range"}
	default:
		c.AppendInt64(micros - epochMicros) // below endTimestamp: an int64 ends before
	}
	return nil
}

func takeTime(c *tailrace.Column, v *duckdb.Vector, i int) error {
	micros := duckdb.Values[int64](v, i+1)[i]
	if micros < 0 || micros > dayMicros {
		return &tailrace.Error{Code: "22008", Message: "time out of range"}
	}
	c.AppendInt64(micros)
	return nil
}

func takeUUID(c *tailrace.Column, v *duckdb.Vector, i int) error {
	parts := duckdb.Values[[2]uint64](v, i+1)[i]
	var raw [16]byte
	binary.BigEndian.PutUint64(raw[:], parts[1]^1<<63)
	binary.BigEndian.PutUint64(raw[8:], parts[0])
	c.Append(raw[:])
	return nil
}

// takeLists makes each list an array of one dimension, an empty one when it has no elements.
func takeLists(t tailrace.Type) taker {
	element := takerOf(t.Element())
	item := tailrace.MakeColumn(t.Elem, 1)
	var raw []byte
	return func(c *tailrace.Column, v *duckdb.Vector, i int) error {
		from, n := v.List(i)
		if n == 0 {
			c.Append(tailrace.AppendArray(nil, nil))
			return nil
		}
		raw = tailrace.AppendArray(raw[:0], []tailrace.Dim{{Length: n, Lower: 1}})
		elements := v.Elements()
		for k := from; k < from+n; k++ {
			if elements.IsNull(k) {
				raw = tailrace.AppendNullElement(raw)
				continue
			}
			item.Reset()
			if err := element(&item, elements, k); err != nil {
				return err
			}
			raw = tailrace.AppendElement(raw, item.Bytes(0))
		}
		c.Append(raw)
		return nil
	}
}
