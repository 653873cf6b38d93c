package stripe

import (
	"fmt"
	"slices"
	"sort"

	"tailrace"
)

// check refuses a batch that is not of the Writer's schema.
func (w *Writer) check(b *tailrace.Batch) error {
	if len(b.Cols) != len(w.schema.Fields) || b.Times != nil && len(b.Times) != b.N || b.Diffs != nil && len(b.Diffs) != b.N {
		return fmt.Errorf("write part: batch of %d columns, %d updates, %d times, %d diffs for a schema of %d columns",
			len(b.Cols), b.N, len(b.Times), len(b.Diffs), len(w.schema.Fields))
	}
	for i, f := range w.schema.Fields {
		c := &b.Cols[i]
		if c.N != b.N || c.Width != f.Type.Kind.Width() || b.IDs != nil && b.IDs[i] != f.ID {
			return fmt.Errorf("write part: column %q of %d values of width %d in a batch of %d updates", f.Name, c.N, c.Width, b.N)
		}
		if c.Width > 0 || c.N == 0 || c.Offsets[c.N]-c.Offsets[0] <= MaxValueBytes {
			continue
		}
		for j := range c.N {
			if n := c.Offsets[j+1] - c.Offsets[j]; n > MaxValueBytes {
				return &tailrace.Error{
					Code: "54000", Message: fmt.Sprintf("value too long for column %q", f.Name), Column: f.Name,
					Detail: fmt.Sprintf("The value takes %d bytes; the limit is %d.", n, MaxValueBytes),
					Hint:   "Store the value in pieces, one to a row.",
				}
			}
		}
	}
	return nil
}

// FixedRow is the part of an update's raw size, in bytes, that is the same for all of schema s: 16 for time and diff, the width of each value or, if that
// varies, 4.
func FixedRow(s *tailrace.Schema) int64 {
	n := int64(16)
	for _, f := range s.Fields {
		if w := f.Type.Kind.Width(); w > 0 {
			n += int64(w)
		} else {
			n += 4
		}
	}
	return n
}

// RawSize is the size in bytes of updates [from, to) of b, whose schema has the FixedRow fixed, as stripes are cut by it.
func RawSize(fixed int64, b *tailrace.Batch, from, to int) int64 {
	size := fixed * int64(to-from)
	for i := range b.Cols {
		if c := &b.Cols[i]; c.Width == 0 && to > from {
			size += int64(c.Offsets[to]) - int64(c.Offsets[from])
		}
	}
	return size
}

// room is how many updates of b, from from on, go to the stripe under way, and whether they fill it.
func (w *Writer) room(b *tailrace.Batch, from int) (n int, full bool) {
	most := w.opts.StripeRows - w.pending.rows
	n = min(b.N-from, most)
	left := int64(w.opts.StripeBytes) - w.pending.raw
	if RawSize(w.fixedRow, b, from, from+n) < left {
		return n, n == most
	}
	return 1 + sort.Search(n-1, func(i int) bool { return RawSize(w.fixedRow, b, from, from+i+1) >= left }), true
}

// appendUpdates adds updates [from, from+n) of src to dst, whose columns are the same.
func appendUpdates(dst, src *tailrace.Batch, from, n int) {
	for i := range dst.Cols {
		appendRows(&dst.Cols[i], &src.Cols[i], from, n)
	}
	if src.Times != nil || dst.Times != nil {
		dst.Times = append(dst.Times, make([]tailrace.Time, dst.N+n-len(dst.Times))...)
		if src.Times != nil {
			copy(dst.Times[dst.N:], src.Times[from:])
		}
	}
	if src.Diffs != nil || dst.Diffs != nil {
		for i := len(dst.Diffs); i < dst.N+n; i++ {
			dst.Diffs = append(dst.Diffs, 1)
		}
		if src.Diffs != nil {
			copy(dst.Diffs[dst.N:], src.Diffs[from:])
		}
	}
	dst.N += n
}

// appendRows adds rows [from, from+n) of src to dst: tailrace.Column.AppendRange with whole bytes of the null bitmap at a time.
func appendRows(dst, src *tailrace.Column, from, n int) {
	if dst.Valid == nil && src.Valid != nil {
		dst.Valid = make([]byte, (dst.N+7)/8)
		setBits(dst.Valid, 0, dst.N)
	}
	if dst.Valid != nil {
		dst.Valid = append(dst.Valid, make([]byte, (dst.N+n+7)/8-len(dst.Valid))...)
		if src.Valid == nil {
			setBits(dst.Valid, dst.N, n)
		} else {
			copyBits(dst.Valid, dst.N, src.Valid, from, n)
		}
	}
	dst.N += n
	if dst.Width > 0 {
		dst.Data = append(dst.Data, src.Data[from*dst.Width:(from+n)*dst.Width]...)
		return
	}
	move := int32(len(dst.Data)) - src.Offsets[from]
	dst.Data = append(dst.Data, src.Data[src.Offsets[from]:src.Offsets[from+n]]...)
	dst.Offsets = slices.Grow(dst.Offsets, n)
	for _, o := range src.Offsets[from+1 : from+n+1] {
		dst.Offsets = append(dst.Offsets, move+o)
	}
}
