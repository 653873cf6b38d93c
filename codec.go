package tailrace

import (
	"encoding/binary"
	"errors"
	"fmt"
)

// ErrCorrupt is returned (wrapped) by decoders for bytes that no encoder wrote.
var ErrCorrupt = errors.New("corrupt")

const (
	flagTimes = 1 << iota
	flagDiffs
)

// AppendBatch adds the encoding of b to dst: what a log entry carries inline. docs/format.md gives it byte by byte.
//
//	batch:  flags u8 (1 times, 2 diffs) | rows uvarint | columns uvarint | [times u64 each] | [diffs varint each] | columns
//	column: id uvarint | width u8 | nulls u8 (0, 1) | [validity bitmap] | fixed: data; variable: length uvarint each, then the bytes
func AppendBatch(dst []byte, b *Batch) []byte {
	flags := byte(0)
	if b.Times != nil {
		flags |= flagTimes
	}
	if b.Diffs != nil {
		flags |= flagDiffs
	}
	dst = append(dst, flags)
	dst = binary.AppendUvarint(dst, uint64(b.N))
	dst = binary.AppendUvarint(dst, uint64(len(b.Cols)))
	for _, t := range b.Times {
		dst = binary.LittleEndian.AppendUint64(dst, uint64(t))
	}
	for _, d := range b.Diffs {
		dst = binary.AppendVarint(dst, int64(d))
	}
	for i := range b.Cols {
		dst = appendColumn(dst, b.IDs[i], &b.Cols[i])
	}
	return dst
}

func appendColumn(dst []byte, id ColumnID, c *Column) []byte {
	dst = binary.AppendUvarint(dst, uint64(id))
	dst = append(dst, byte(c.Width))
	if c.Valid == nil {
		dst = append(dst, 0)
	} else {
		dst = append(dst, 1)
		dst = append(dst, c.Valid[:(c.N+7)/8]...)
	}
	if c.Width > 0 {
		return append(dst, c.Data[:c.N*c.Width]...)
	}
	for i := range c.N {
		dst = binary.AppendUvarint(dst, uint64(c.Offsets[i+1]-c.Offsets[i]))
	}
	return append(dst, c.Data[c.Offsets[0]:c.Offsets[c.N]]...)
}

// DecodeBatch reads one batch from the start of src and returns what follows it. The batch has memory of its own. Any error is ErrCorrupt.
func DecodeBatch(src []byte) (*Batch, []byte, error) {
	d := ByteReader{Src: src}
	flags := d.Byte()
	n, cols := d.Count(1<<31-1), d.Count(1<<16)
	if flags&^(flagTimes|flagDiffs) != 0 {
		d.Fail("flags")
	}
	b := &Batch{N: n}
	if flags&flagTimes != 0 {
		if raw := d.Take(8 * n); raw != nil {
			b.Times = make([]Time, n)
			for i := range b.Times {
				b.Times[i] = Time(binary.LittleEndian.Uint64(raw[8*i:]))
			}
		}
	}
	if flags&flagDiffs != 0 && n <= len(d.Src) {
		b.Diffs = make([]Diff, n)
		for i := range b.Diffs {
			b.Diffs[i] = Diff(d.Varint())
		}
	} else if flags&flagDiffs != 0 {
		d.Fail("diffs")
	}
	for range cols {
		if d.Err != nil {
			break
		}
		id, c := readColumn(&d, n)
		b.IDs, b.Cols = append(b.IDs, id), append(b.Cols, c)
	}
	if d.Err != nil {
		return nil, nil, fmt.Errorf("decode batch: %w", d.Err)
	}
	return b, d.Src, nil
}

// readColumn takes one column of n rows.
func readColumn(d *ByteReader, n int) (ColumnID, Column) {
	id := ColumnID(d.Count(1<<32 - 1))
	c := Column{Width: int(d.Byte()), N: n}
	switch c.Width {
	case 0, 1, 2, 4, 8, 16:
	default:
		d.Fail("width")
	}
	switch d.Byte() {
	case 0:
	case 1:
		c.Valid = append([]byte(nil), d.Take((n+7)/8)...)
	default:
		d.Fail("nulls")
	}
	if c.Width > 0 {
		c.Data = append(make([]byte, 0, max(0, min(n*c.Width, len(d.Src)))), d.Take(n*c.Width)...)
		return id, c
	}
	if n > len(d.Src) {
		d.Fail("lengths")
		return id, c
	}
	c.Offsets = make([]int32, n+1)
	total := 0
	for i := range n {
		total += d.Count(1<<31 - 1)
		if total > 1<<31-1 {
			d.Fail("lengths")
			return id, c
		}
		c.Offsets[i+1] = int32(total)
	}
	c.Data = append([]byte(nil), d.Take(total)...)
	return id, c
}
