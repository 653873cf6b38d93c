package tailrace

import (
	"slices"
	"unsafe"
)

// Column is one column of a batch in Apache Arrow's memory layout (validity bitmap, int32 offsets, contiguous data), so that
// it can be handed to another columnar engine without a copy. One deviation: booleans take a byte each, not a bit, as DuckDB has them.
//
// A Column is grown by its Append methods and then only read. Views into it (Bytes, Int64s, ...) live as long as it does and
// must not be written through.
type Column struct {
	Width int // bytes a value takes; 0 when it varies
	N     int // rows
	// Valid has bit i%8 of byte i/8 set when row i is not NULL; nil means that no row is NULL.
	Valid []byte
	// Offsets has N+1 entries when Width is 0: row i is Data[Offsets[i]:Offsets[i+1]]. NULL rows are empty (or zero, when fixed).
	Offsets []int32
	Data    []byte
}

// MakeColumn returns an empty column for values of kind k with room for rows rows.
func MakeColumn(k Kind, rows int) Column {
	c := Column{Width: k.Width()}
	if c.Width == 0 {
		c.Offsets = append(make([]int32, 0, rows+1), 0)
	} else {
		c.Data = make([]byte, 0, rows*c.Width)
	}
	return c
}

// Reset empties the column and keeps its memory.
func (c *Column) Reset() {
	c.N, c.Valid, c.Data = 0, nil, c.Data[:0]
	if c.Width == 0 {
		c.Offsets = append(c.Offsets[:0], 0)
	}
}

// IsNull reports whether row i is NULL.
func (c *Column) IsNull(i int) bool {
	return c.Valid != nil && c.Valid[i>>3]&(1<<(i&7)) == 0
}

// HasNulls reports whether any row may be NULL.
func (c *Column) HasNulls() bool { return c.Valid != nil }

// Bytes is the stored value of row i, a view; meaningless when the row is NULL.
func (c *Column) Bytes(i int) []byte {
	if c.Width > 0 {
		return c.Data[i*c.Width : (i+1)*c.Width : (i+1)*c.Width]
	}
	return c.Data[c.Offsets[i]:c.Offsets[i+1]:c.Offsets[i+1]]
}

// Append adds one value given by its stored bytes; for a fixed width exactly that many.
func (c *Column) Append(value []byte) {
	c.Data = append(c.Data, value...)
	c.grown()
}

// AppendString is Append for a variable-width value held as a string.
func (c *Column) AppendString(value string) {
	c.Data = append(c.Data, value...)
	c.grown()
}

// AppendNull adds a NULL.
func (c *Column) AppendNull() {
	if c.Valid == nil {
		c.allValid(max(8, cap(c.Data)/max(1, c.Width)/8+1))
	}
	for range c.Width {
		c.Data = append(c.Data, 0)
	}
	c.grown()
	c.Valid[(c.N-1)>>3] &^= 1 << ((c.N - 1) & 7)
}

// grown counts the value whose bytes were just added to Data as a row that is not NULL.
func (c *Column) grown() {
	if c.Valid != nil {
		if c.N>>3 >= len(c.Valid) {
			c.Valid = append(c.Valid, 0)
		}
		c.Valid[c.N>>3] |= 1 << (c.N & 7)
	}
	c.N++
	if c.Width == 0 {
		c.Offsets = append(c.Offsets, int32(len(c.Data)))
	}
}

// AppendBool adds a boolean to a column of width 1.
func (c *Column) AppendBool(v bool) {
	b := byte(0)
	if v {
		b = 1
	}
	c.Data = append(c.Data, b)
	c.grown()
}

// AppendInt16 adds v to a column of width 2.
func (c *Column) AppendInt16(v int16) {
	c.Data = append(c.Data, byte(v), byte(v>>8))
	c.grown()
}

// AppendInt32 adds v to a column of width 4.
func (c *Column) AppendInt32(v int32) {
	c.Data = append(c.Data, byte(v), byte(v>>8), byte(v>>16), byte(v>>24))
	c.grown()
}

// AppendInt64 adds v to a column of width 8.
func (c *Column) AppendInt64(v int64) {
	c.Data = append(c.Data, byte(v), byte(v>>8), byte(v>>16), byte(v>>24), byte(v>>32), byte(v>>40), byte(v>>48), byte(v>>56))
	c.grown()
}

// AppendFrom adds row i of src, NULL or not. Both have the same width.
func (c *Column) AppendFrom(src *Column, i int) {
	if src.IsNull(i) {
		c.AppendNull()
		return
	}
	c.Append(src.Bytes(i))
}

// AppendRange adds rows [from, to) of src.
func (c *Column) AppendRange(src *Column, from, to int) {
	if from >= to {
		return
	}
	if c.Valid != nil || src.anyNull(from, to) {
		c.appendValid(src, from, to)
	}
	if c.Width > 0 {
		c.Data = append(c.Data, src.Data[from*c.Width:to*c.Width]...)
	} else {
		base := int32(len(c.Data)) - src.Offsets[from]
		c.Data = append(c.Data, src.Data[src.Offsets[from]:src.Offsets[to]]...)
		c.Offsets = slices.Grow(c.Offsets, to-from)
		for _, o := range src.Offsets[from+1 : to+1] {
			c.Offsets = append(c.Offsets, base+o)
		}
	}
	c.N += to - from
}

// allValid makes the bitmap of a column that had no NULL; unused bits are zero.
func (c *Column) allValid(room int) {
	c.Valid = make([]byte, (c.N+7)/8, max(room, (c.N+7)/8))
	for i := range c.Valid {
		c.Valid[i] = 0xff
	}
	if c.N&7 != 0 {
		c.Valid[c.N>>3] = 1<<(c.N&7) - 1
	}
}

// anyNull reports whether one of rows [from, to) is NULL.
func (c *Column) anyNull(from, to int) bool {
	if c.Valid == nil {
		return false
	}
	for i := from; i < to; i++ {
		if i&7 == 0 && i+8 <= to && c.Valid[i>>3] == 0xff {
			i += 7
			continue
		}
		if c.IsNull(i) {
			return true
		}
	}
	return false
}

// appendValid adds the validity of rows [from, to) of src, whose values are about to be added.
func (c *Column) appendValid(src *Column, from, to int) {
	n := c.N + to - from
	if c.Valid == nil {
		c.allValid((n + 7) / 8)
	}
	for len(c.Valid) < (n+7)/8 {
		c.Valid = append(c.Valid, 0)
	}
	for i, at := from, c.N; i < to; i, at = i+1, at+1 {
		if src.IsNull(i) {
			c.Valid[at>>3] &^= 1 << (at & 7)
		} else {
			c.Valid[at>>3] |= 1 << (at & 7)
		}
	}
}

// Gather returns the rows of c that rows lists, in that order, as a new column.
func (c *Column) Gather(rows []int32) Column {
	out := Column{Width: c.Width}
	if c.Width == 0 {
		size := 0
		for _, r := range rows {
			size += int(c.Offsets[r+1] - c.Offsets[r])
		}
		out.Offsets, out.Data = append(make([]int32, 0, len(rows)+1), 0), make([]byte, 0, size)
	} else {
		out.Data = make([]byte, 0, len(rows)*c.Width)
	}
	if c.Valid != nil {
		for _, r := range rows {
			out.AppendFrom(c, int(r))
		}
		return out
	}
	out.N = len(rows)
	for _, r := range rows {
		out.Data = append(out.Data, c.Bytes(int(r))...)
		if c.Width == 0 {
			out.Offsets = append(out.Offsets, int32(len(out.Data)))
		}
	}
	return out
}

// Size is the memory that the column's values take, in bytes.
func (c *Column) Size() int { return len(c.Data) + 4*len(c.Offsets) + len(c.Valid) }

// Int16s is a view of a column of width 2.
func (c *Column) Int16s() []int16 { return view[int16](c) }

// Int32s is a view of a column of width 4.
func (c *Column) Int32s() []int32 { return view[int32](c) }

// Int64s is a view of a column of width 8.
func (c *Column) Int64s() []int64 { return view[int64](c) }

// Float32s is a view of a column of width 4.
func (c *Column) Float32s() []float32 { return view[float32](c) }

// Float64s is a view of a column of width 8.
func (c *Column) Float64s() []float64 { return view[float64](c) }

// view reinterprets the data of a fixed-width column. Data always begins at the start of an allocation made for it or at a multiple
// of 16 bytes within one, so it is aligned; the machine is little-endian.
func view[T any](c *Column) []T {
	if c.N == 0 {
		return nil
	}
	return unsafe.Slice((*T)(unsafe.Pointer(unsafe.SliceData(c.Data))), c.N)
}

// ConstColumn returns a column of n rows that all hold value (stored bytes), NULL when value is nil.
func ConstColumn(k Kind, value []byte, n int) Column {
	c := MakeColumn(k, n)
	for range n {
		if value == nil {
			c.AppendNull()
		} else {
			c.Append(value)
		}
	}
	return c
}
