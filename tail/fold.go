package tail

import (
	"bytes"
	"slices"

	"tailrace"
)

// fold returns the updates of one time as the collection's readers must see them: sorted by row, equal rows summed, nothing with diff 0. The
// batches have the columns of s. A batch that is already so is returned as it is.
func fold(s *tailrace.Schema, order []int, batches []*tailrace.Batch) *tailrace.Batch {
	all := batches[0]
	if len(batches) > 1 {
		all = tailrace.NewBatch(s, 0)
		for _, b := range batches {
			appendAll(all, b)
		}
	}
	if all.N == 1 {
		if all.Diff(0) == 0 {
			return all.Gather(nil)
		}
		return all
	}
	keys, ends := rowKeys(s, order, all)
	key := func(i int32) []byte { return keys[ends[i]:ends[i+1]] }
	rows := make([]int32, all.N)
	for i := range rows {
		rows[i] = int32(i)
	}
	slices.SortFunc(rows, func(a, b int32) int {
		if c := bytes.Compare(key(a), key(b)); c != 0 {
			return c
		}
		return tailrace.CompareStored(order, all, int(a), all, int(b))
	})
	same := func(a, b int32) bool {
		return bytes.Equal(key(a), key(b)) && tailrace.CompareStored(order, all, int(a), all, int(b)) == 0
	}
	kept := rows[:0]
	diffs := make([]tailrace.Diff, 0, len(rows))
	for i := 0; i < len(rows); {
		first, sum := rows[i], tailrace.Diff(0)
		for ; i < len(rows) && same(first, rows[i]); i++ {
			sum += all.Diff(int(rows[i]))
		}
		if sum != 0 {
			kept, diffs = append(kept, first), append(diffs, sum)
		}
	}
	out := all.Gather(kept)
	out.Times, out.Diffs = nil, diffs
	return out
}

// rowKeys is the row key of every update, joined, and where each begins.
func rowKeys(s *tailrace.Schema, order []int, b *tailrace.Batch) (keys []byte, ends []int) {
	ends = make([]int, b.N+1)
	for i := range b.N {
		keys = tailrace.AppendRowKey(keys, s, order, b, i)
		ends[i+1] = len(keys)
	}
	return keys, ends
}

// appendAll adds every update of src, which has the same columns, to dst.
func appendAll(dst, src *tailrace.Batch) {
	for c := range dst.Cols {
		dst.Cols[c].AppendRange(&src.Cols[c], 0, src.N)
	}
	for i := range src.N {
		dst.AppendDiff(src.Diff(i))
	}
}
