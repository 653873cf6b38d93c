package parquet

import (
	"bytes"
	"encoding/binary"
	"math"
	"strconv"

	"tailrace"
	"tailrace/duckdb"
	"tailrace/format"
)

// filler copies rows [from, from+n) of a column into a vector, but for which of them are NULL. Values that do not fit are a misfit, whose column its caller fills in.
type filler func(v *duckdb.Vector, c *tailrace.Column, from, n int) error

// fillerOf is the filler of a column. It keeps memory between calls: each goroutine has its own.
func fillerOf(c *Column, plain bool) filler {
	if c.asText() {
		return printer(c.Type)
	}
	return typedFiller(c.Type, plain)
}

// typedFiller is the filler for a type that is not written as text. plain tells that the file has no dictionaries.
func typedFiller(t tailrace.Type, plain bool) filler {
	switch t.Kind {
	case tailrace.KindFloat4, tailrace.KindFloat8:
		if !plain {
			return floats(t.Kind.Width())
		}
	case tailrace.KindNumeric:
		if fileType(t) == duckdb.Varchar {
			return printer(t)
		}
		return decimals(t)
	case tailrace.KindDate:
		return fillDates
	case tailrace.KindTimestamp, tailrace.KindTimestamptz:
		return fillTimestamps
	case tailrace.KindUUID:
		return fillUUIDs
	case tailrace.KindInterval:
		return printer(t)
	case tailrace.KindJSON:
		return fillJSON
	case tailrace.KindArray:
		return lists(typedFiller(t.Element(), plain), t)
	}
	if width := t.Kind.Width(); width > 0 {
		return fixed(width)
	}
	return func(v *duckdb.Vector, c *tailrace.Column, from, n int) error {
		v.SetTexts(c.Data, c.Offsets[from:from+n+1])
		return nil
	}
}

// fixed copies values that files have as we do.
func fixed(width int) filler {
	return func(v *duckdb.Vector, c *tailrace.Column, from, n int) error {
		copy(v.Fixed(width, n), c.Data[from*width:(from+n)*width])
		return nil
	}
}

// floats copies floats, but for -0: DuckDB's dictionaries have one entry for it and 0.
func floats(width int) filler {
	copies := fixed(width)
	return func(v *duckdb.Vector, c *tailrace.Column, from, n int) error {
		zero := false
		if width == 4 {
			for _, f := range c.Float32s()[from : from+n] {
				zero = zero || math.Float32bits(f) == 1<<31
			}
		} else {
			for _, f := range c.Float64s()[from : from+n] {
				zero = zero || math.Float64bits(f) == 1<<63
			}
		}
		if zero {
			return &misfit{what: "-0", zero: true}
		}
		return copies(v, c, from, n)
	}
}

// printer writes values as PostgreSQL prints them, in ISO form and UTC whatever a session has set.
func printer(t tailrace.Type) filler {
	settings := format.Default()
	var text []byte
	var offsets []int32
	return func(v *duckdb.Vector, c *tailrace.Column, from, n int) error {
		text, offsets = text[:0], append(offsets[:0], 0)
		for i := from; i < from+n; i++ {
			if !c.IsNull(i) {
				text = format.AppendText(text, t, c, i, settings)
			}
			offsets = append(offsets, int32(len(text)))
		}
		v.SetTexts(text, offsets)
		return nil
	}
}

func fillDates(v *duckdb.Vector, c *tailrace.Column, from, n int) error {
	out := duckdb.Values[int32](v, n)
	for i, days := range c.Int32s()[from : from+n] {
		switch days {
		case math.MaxInt32:
			out[i] = fileInfinity32
		case math.MinInt32:
			out[i] = fileNegInfinity32
		default:
			out[i] = days + epochDays
		}
	}
	return nil
}

func fillTimestamps(v *duckdb.Vector, c *tailrace.Column, from, n int) error {
	out := duckdb.Values[int64](v, n)
	for i, micros := range c.Int64s()[from : from+n] {
		switch {
		case micros == math.MaxInt64:
			out[i] = fileInfinity64
		case micros == math.MinInt64:
			out[i] = fileNegInfinity64
		case micros >= fileInfinity64-epochMicros:
			return &misfit{what: "a timestamp after the year 294247, where the microseconds since 1970 end"}
		default:
			out[i] = micros + epochMicros
		}
	}
	return nil
}

// fillUUIDs makes each a number of 128 bits whose order as a signed one is that of the bytes.
func fillUUIDs(v *duckdb.Vector, c *tailrace.Column, from, n int) error {
	out := duckdb.Values[[2]uint64](v, n)
	for i := range out {
		raw := c.Bytes(from + i)
		out[i] = [2]uint64{binary.BigEndian.Uint64(raw[8:]), binary.BigEndian.Uint64(raw) ^ 1<<63}
	}
	return nil
}

// fillJSON writes the texts. PostgreSQL's json, unlike its jsonb, may name one half of a character (\ud800), for which readers refuse the file.
func fillJSON(v *duckdb.Vector, c *tailrace.Column, from, n int) error {
	if text := c.Data[c.Offsets[from]:c.Offsets[from+n]]; bytes.Contains(text, []byte(`\u`)) && halfCharacter(text) {
		return &misfit{what: "json with one half of a surrogate pair, which readers of Parquet refuse"}
	}
	v.SetTexts(c.Data, c.Offsets[from:from+n+1])
	return nil
}

// halfCharacter tells whether an escape in JSON texts is one half of a surrogate pair without the other.
func halfCharacter(text []byte) bool {
	high := -1 // where the low half of the last high one has to be
	for i := 0; i+1 < len(text); i++ {
		if text[i] != '\\' {
			continue
		}
		if text[i+1] != 'u' || i+6 > len(text) {
			i++
			continue
		}
		unit, err := strconv.ParseUint(string(text[i+2:i+6]), 16, 16)
		low := unit >= 0xdc00 && unit < 0xe000
		if err != nil || low != (high == i) || high >= 0 && high != i {
			return true
		}
		high = -1
		if unit >= 0xd800 && unit < 0xdc00 {
			high = i + 6
		}
		i += 5
	}
	return high >= 0
}

// lists makes each array a list. A list has one dimension and no first subscript.
func lists(element filler, t tailrace.Type) filler {
	var ends []int
	return func(v *duckdb.Vector, c *tailrace.Column, from, n int) error {
		items := tailrace.MakeColumn(t.Elem, n)
		ends = ends[:0]
		for i := from; i < from+n; i++ {
			if !c.IsNull(i) {
				if err := appendItems(&items, t.Elem, c.Bytes(i)); err != nil {
					return err
				}
			}
			ends = append(ends, items.N)
		}
		out, err := v.MakeLists(ends)
		if err != nil {
			return err
		}
		if err := element(out, &items, 0, items.N); err != nil {
			return err
		}
		if items.Valid != nil {
			out.SetValidity(items.Valid, 0, items.N)
		}
		return nil
	}
}

// appendItems adds the elements of a stored array to items.
func appendItems(items *tailrace.Column, kind tailrace.Kind, raw []byte) error {
	dims, elements, err := tailrace.ReadArray(kind, raw)
	switch {
	case err != nil:
		return err
	case len(dims) > 1:
		return &misfit{what: "an array of several dimensions, where a list has one"}
	case len(dims) == 1 && dims[0].Lower != 1:
		return &misfit{what: "an array whose first subscript is not 1, which a list cannot say"}
	}
	for elements.Left > 0 {
		if value, null := elements.Next(); null {
			items.AppendNull()
		} else {
			items.Append(value)
		}
	}
	return nil
}
