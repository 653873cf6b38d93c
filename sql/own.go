package sql

import (
	"cmp"
	"context"
	"fmt"

	"tailrace"
	"tailrace/catalog"
)

const (
	// ownBytes is how much of a transaction's own updates of a table is kept by key, in bytes of values. Beyond it each statement that reads a key reads
	// all that the transaction wrote.
	ownBytes = 64 << 20
	// overlayBytes is the most that a transaction may have written to a table, in bytes of values, and still read it: what it wrote is in memory then.
	overlayBytes = 1 << 30
)

// own is what a transaction wrote to a table, by the hash of the key, so that each of thousands of statements in a block costs what it reads and not
// what all before it wrote. It is made when a statement first needs it.
type own struct {
	rows *tailrace.Batch // in the order written
	at   map[uint64][]int32
}

func (o *own) add(schema *tailrace.Schema, b *tailrace.Batch) {
	first := o.rows.N
	appendBatch(o.rows, b)
	_, hashes := keysOf(schema, b)
	for i, h := range hashes {
		o.at[h] = append(o.at[h], int32(first+i))
	}
}

// of is the updates of the keys with these hashes, nil when there are none.
func (o *own) of(hashes []uint64) *tailrace.Batch {
	var list []int32
	seen := make(map[uint64]struct{}, len(hashes))
	for _, h := range hashes {
		if _, twice := seen[h]; !twice {
			seen[h] = struct{}{}
			list = append(list, o.at[h]...)
		}
	}
	if len(list) == 0 {
		return nil
	}
	return o.rows.Gather(list)
}

// append adds updates, with the columns of the table, to what the transaction writes.
func (w *written) append(ctx context.Context, b *tailrace.Batch) error {
	w.rows += int64(b.N)
	if w.own != nil {
		w.own.add(w.table.Columns, b)
		if w.own.rows.Size() > ownBytes {
			w.own, w.large = nil, true
		}
	}
	return w.writer.Append(ctx, b)
}

// overlayOf is overlay, of the keys with these hashes at least.
func (t *txn) overlayOf(ctx context.Context, id catalog.ID, hashes []uint64) (*tailrace.Batch, error) {
	w := t.tables[id]
	if w == nil || w.rows == 0 {
		return nil, nil
	}
	if w.own != nil {
		return w.own.of(hashes), nil
	}
	all, err := t.overlay(ctx, id)
	if err != nil || all == nil || w.large {
		return all, err
	}
	if all.Size() > ownBytes {
		w.large = true
		return all, nil
	}
	w.own = &own{rows: tailrace.NewBatch(w.table.Columns, all.N), at: map[uint64][]int32{}}
	w.own.add(w.table.Columns, all)
	return w.own.of(hashes), nil
}

// overlay is what the transaction did to a table so far, to be laid over what it reads; nil when nothing.
func (t *txn) overlay(ctx context.Context, id catalog.ID) (*tailrace.Batch, error) {
	w := t.tables[id]
	if w == nil || w.rows == 0 {
		return nil, nil
	}
	out, limit := tailrace.NewBatch(w.table.Columns, 0), cmp.Or(t.engine.overlayBytes, overlayBytes)
	err := w.writer.Each(ctx, func(b *tailrace.Batch) error {
		if out.Size()+b.Size() > limit {
			return &tailrace.Error{
				Code: "53200", Message: fmt.Sprintf("out of memory: the transaction wrote more than %d MiB to table \"%s\", too much to read it before COMMIT", limit>>20, w.table.Name),
				Hint: "COMMIT first, then read the table.",
			}
		}
		appendBatch(out, b.Project(w.table.Columns))
		return nil
	})
	if err != nil || out.N == 0 {
		return nil, err
	}
	return out, nil
}

// appendBatch adds src, of the same columns, to dst.
func appendBatch(dst, src *tailrace.Batch) {
	for i := range dst.Cols {
		dst.Cols[i].AppendRange(&src.Cols[i], 0, src.N)
	}
	for i := range src.N {
		dst.AppendDiff(src.Diff(i))
	}
}
