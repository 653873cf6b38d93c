package shard

import (
	"encoding/binary"
	"slices"

	"tailrace"
)

// gatherGroups is how many page groups of a column a task gathers: large enough to pay for a task, and a table of few columns is several.
const gatherGroups = 4

// gather copies the sorted rows into page groups: by column, so that a task reads and writes little at a time.
func (s *sorting) gather() ([]*tailrace.Batch, error) {
	order := slices.Concat(s.sorted...)
	var diffs []tailrace.Diff
	if slices.ContainsFunc(s.sums, func(sums []tailrace.Diff) bool { return sums != nil }) {
		diffs = s.diffs(len(order))
	}
	s.refs, s.sorted = nil, nil
	out := make([]*tailrace.Batch, (len(order)+s.groupRows-1)/s.groupRows)
	piece := func(g int) (from, to int) { return g * s.groupRows, min((g+1)*s.groupRows, len(order)) }
	for g := range out {
		from, to := piece(g)
		out[g] = &tailrace.Batch{N: to - from, IDs: s.in[0].IDs, Cols: make([]tailrace.Column, len(s.l.schema.Fields))}
		if diffs != nil {
			out[g].Diffs = diffs[from:to:to]
		}
		if s.byTime {
			out[g].Times = make([]tailrace.Time, to-from)
			for i, r := range order[from:to] {
				out[g].Times[i] = s.time(r)
			}
		}
	}
	pieces := (len(out) + gatherGroups - 1) / gatherGroups
	err := s.each(pieces*len(s.l.schema.Fields), func(i int) int64 { return int64(s.in[0].Cols[i/pieces].Size()) }, func(i int) error {
		c, first := i/pieces, i%pieces*gatherGroups
		src := make([]*tailrace.Column, len(s.in))
		for b := range src {
			src[b] = &s.in[b].Cols[c]
		}
		for g := first; g < min(first+gatherGroups, len(out)); g++ {
			from, to := piece(g)
			out[g].Cols[c] = gatherRows(src, order[from:to])
		}
		return nil
	})
	return out, err
}

// diffs are those of all n rows in order.
func (s *sorting) diffs(n int) []tailrace.Diff {
	out := make([]tailrace.Diff, 0, n)
	for k, sums := range s.sums {
		if sums != nil {
			out = append(out, sums...)
			continue
		}
		for range s.sorted[k] {
			out = append(out, 1)
		}
	}
	return out
}

// gatherRows is the column of the rows that refs lists, whose batches' columns are src.
//
// Hot: the plain form, value by value, is in a test.
func gatherRows(src []*tailrace.Column, refs []keyRef) tailrace.Column {
	out := tailrace.Column{Width: src[0].Width, N: len(refs)}
	if slices.ContainsFunc(src, func(c *tailrace.Column) bool { return c.Valid != nil }) {
		out.Valid = gatherValid(src, refs)
	}
	switch out.Width {
	case 0:
		gatherTexts(&out, src, refs)
	case 8:
		out.Data = make([]byte, 8*len(refs))
		for i, r := range refs {
			b, row := r.place()
			binary.LittleEndian.PutUint64(out.Data[8*i:], binary.LittleEndian.Uint64(src[b].Data[8*row:]))
		}
	case 4:
		out.Data = make([]byte, 4*len(refs))
		for i, r := range refs {
			b, row := r.place()
			binary.LittleEndian.PutUint32(out.Data[4*i:], binary.LittleEndian.Uint32(src[b].Data[4*row:]))
		}
	default:
		out.Data = make([]byte, 0, out.Width*len(refs))
		for _, r := range refs {
			b, row := r.place()
			out.Data = append(out.Data, src[b].Data[row*out.Width:(row+1)*out.Width]...)
		}
	}
	return out
}

// gatherTexts is gatherRows of values of different sizes: a NULL's is empty.
func gatherTexts(out *tailrace.Column, src []*tailrace.Column, refs []keyRef) {
	out.Offsets = make([]int32, len(refs)+1)
	size := int32(0)
	for i, r := range refs {
		b, row := r.place()
		offsets := src[b].Offsets[row : row+2]
		size += offsets[1] - offsets[0]
		out.Offsets[i+1] = size
	}
	out.Data = make([]byte, 0, size)
	for _, r := range refs {
		b, row := r.place()
		out.Data = append(out.Data, src[b].Data[src[b].Offsets[row]:src[b].Offsets[row+1]]...)
	}
}

// gatherValid is the validity of the rows, nil when none is NULL.
func gatherValid(src []*tailrace.Column, refs []keyRef) []byte {
	valid, nulls := make([]byte, (len(refs)+7)/8), 0
	for i, r := range refs {
		if b, row := r.place(); src[b].IsNull(row) {
			nulls++
		} else {
			valid[i>>3] |= 1 << (i & 7)
		}
	}
	if nulls == 0 {
		return nil
	}
	return valid
}
