package shard

import (
	"bytes"
	"context"
	"fmt"

	"tailrace"
)

const (
	// SortBytes bounds, in bytes of values, what a reader sorts in memory when a run is in another order than its own.
	SortBytes = 512 << 20
	// SliceBytes of values are sorted at once when a merge brings such a run into order.
	SliceBytes = 128 << 20
)

// resorted yields the updates of src, a run sorted by the first n columns of l's order only, in l's order. It holds the rows
// that are equal in those columns, at most SortBytes and what grant gets without crowding others.
func resorted(src source, l *layout, n int, grant *sortGrant) source {
	var carry *tailrace.Batch
	done := false
	return func(ctx context.Context) (*chunk, error) {
		for !done {
			c, err := src(ctx)
			if err != nil {
				return nil, err
			}
			if c == nil {
				done = true
				break
			}
			if carry == nil {
				carry = tailrace.NewBatch(l.schema, c.b.N)
			}
			appendBatch(carry, c.b)
			if carry.Size() > SortBytes {
				return nil, &tailrace.Error{
					Code: "53200", Message: "out of memory", Detail: fmt.Sprintf("Sorting rows written before a schema change needs more than %d bytes.", SortBytes),
					Hint: "The table is being written in its new order; try again in a minute.",
				}
			}
			if !grant.hold(2 * int64(carry.Size())) { // itself, and sorted
				return nil, grant.grant.Full("Rows written before a schema change are sorted to be read")
			}
			if cut := groupStart(carry, l, n); cut > 0 {
				out := l.sorted(slice(carry, 0, cut))
				carry = slice(carry, cut, carry.N)
				return &chunk{b: out}, nil
			}
		}
		if carry == nil || carry.N == 0 {
			grant.grant.Free()
			return nil, nil
		}
		out := l.sorted(carry)
		carry = nil
		return &chunk{b: out}, nil
	}
}

// groupStart is the first row of those that equal b's last one in the first n columns of l's order.
func groupStart(b *tailrace.Batch, l *layout, n int) int {
	if n == 0 {
		return 0
	}
	key := func(i int) []byte { return tailrace.AppendRowKey(nil, l.schema, l.order[:n], b, i) }
	last := key(b.N - 1)
	i := b.N - 1
	for i > 0 && bytes.Equal(key(i-1), last) {
		i--
	}
	return i
}

// resort brings a run into w's order for a merge, whatever its size: it is cut into slices that fit in memory, each is sorted and written as a
// run of its own, and the merge reads those side by side. They are named nowhere; the caller deletes them through written when it is done.
func (sh *Shard) resort(ctx context.Context, in input, j *mergeJob, l *layout) (out []input, written []*runWriter, err error) {
	src := sh.reader(in, j, l)
	for {
		g := sh.set.newGroups(l)
		for g.bytes() < sh.set.limits.slice {
			c, err := src.next(ctx)
			if err != nil {
				return nil, written, err
			}
			if c == nil {
				break
			}
			g.append(c.b)
		}
		if g.bytes() == 0 {
			return out, written, nil
		}
		w := sh.set.newRunWriter(ctx, l, 0, 1, true)
		written = append(written, w)
		r, err := w.sorted(ctx, &g, false)
		if err != nil {
			return nil, written, err
		}
		if r != nil {
			out = append(out, input{r: r, loose: true})
		}
	}
}
