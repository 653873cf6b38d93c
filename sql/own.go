package sql

import (
	"cmp"
	"context"
	"errors"
	"fmt"

	"tailrace"
	"tailrace/budget"
	"tailrace/catalog"
	"tailrace/shard"
)

const (
	// ownBytes is how much of a layer's updates is kept by key, in bytes of values. Beyond it each statement that reads a key reads
	// all that the transaction wrote.
	ownBytes = 64 << 20
	// overlayBytes is the most that a transaction may have written of the keys that a statement looks up, in bytes of values: that is in memory then.
	overlayBytes = 1 << 30
)

// own is what a layer holds, by the hash of the key, so that each of thousands of statements in a block costs what it reads and not
// what all before it wrote. It is made when a statement first needs it.
type own struct {
	schema *tailrace.Schema // of rows, and of the keys
	rows   *tailrace.Batch  // in the order written
	at     map[uint64][]int32
	grant  budget.Grant
}

// ownFactor is how many times the bytes of values the updates take with what finds them.
const ownFactor = 3

// add adds updates with the columns of o's schema; false when they are too many.
func (o *own) add(b *tailrace.Batch) bool {
	if o.rows.Size()+b.Size() > ownBytes || !o.grant.Set(ownFactor*int64(o.rows.Size()+b.Size())) {
		return false
	}
	first := o.rows.N
	appendBatch(o.rows, b)
	_, hashes := keysOf(o.schema, b)
	for i, h := range hashes {
		o.at[h] = append(o.at[h], int32(first+i))
	}
	return true
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

// overlayOf is overlay, of the keys with these hashes at least.
func (t *txn) overlayOf(ctx context.Context, id catalog.ID, hashes []uint64) (*tailrace.Batch, error) {
	w := t.tables[id]
	if w == nil || w.rows() == 0 {
		return nil, nil
	}
	var out *tailrace.Batch
	for _, l := range w.layers {
		b, err := t.layerOf(ctx, w, l, hashes)
		if err != nil {
			return nil, err
		}
		if out = joined(out, b); out != nil && out.Size() > t.overlayLimit() {
			return nil, t.tooMuch(w)
		}
	}
	return out, nil
}

// joined is a and b, either nil for none; a may be added to.
func joined(a, b *tailrace.Batch) *tailrace.Batch {
	if a == nil {
		return b
	}
	if b != nil {
		appendBatch(a, b)
	}
	return a
}

// layerOf is the updates of a layer, of the keys with these hashes at least, in memory of their own; nil when there are none.
func (t *txn) layerOf(ctx context.Context, w *written, l *layer, hashes []uint64) (*tailrace.Batch, error) {
	schema := w.table.Columns
	switch {
	case l.rows == 0:
		return nil, nil
	case l.own != nil && sameShape(l.own.schema, schema):
		return l.own.of(hashes), nil
	}
	l.forgetOwn()
	if !l.large {
		fits, err := t.makeOwn(ctx, l, schema)
		if err != nil {
			return nil, err
		}
		l.large = !fits
	}
	if l.large {
		return t.someOf(ctx, w, l, hashes)
	}
	if !sameShape(l.schema, schema) {
		defer l.forgetOwn() // rows that come are of other columns
	}
	return l.own.of(hashes), nil
}

// makeOwn gathers the updates of a layer by key; false when they are too many.
func (t *txn) makeOwn(ctx context.Context, l *layer, schema *tailrace.Schema) (bool, error) {
	l.own = &own{schema: schema, rows: tailrace.NewBatch(schema, 0), at: map[uint64][]int32{}, grant: t.engine.room().Grant()}
	err := l.writer.Each(ctx, func(b *tailrace.Batch) error {
		if !l.own.add(b.Project(schema)) {
			return errLarge
		}
		return nil
	})
	if err != nil {
		l.forgetOwn()
	}
	if errors.Is(err, errLarge) {
		return false, nil
	}
	return err == nil, err
}

// errLarge ends the gathering of a layer that is too large.
var errLarge = errors.New("the layer is large")

// someOf reads a large layer for the updates of the keys with these hashes.
func (t *txn) someOf(ctx context.Context, w *written, l *layer, hashes []uint64) (*tailrace.Batch, error) {
	schema, out := w.table.Columns, (*tailrace.Batch)(nil)
	wanted := make(map[uint64]struct{}, len(hashes))
	for _, h := range hashes {
		wanted[h] = struct{}{}
	}
	err := l.writer.Each(ctx, func(b *tailrace.Batch) error {
		b = b.Project(schema)
		var rows []int32
		for i, h := range hashesOfRows(schema, b) {
			if _, ok := wanted[h]; ok {
				rows = append(rows, int32(i))
			}
		}
		if len(rows) > 0 {
			out = joined(out, b.Gather(rows))
		}
		if out != nil && out.Size() > t.overlayLimit() {
			return t.tooMuch(w)
		}
		return nil
	})
	return out, err
}

// forgetOwn lets go of the updates by key.
func (l *layer) forgetOwn() {
	if l.own != nil {
		l.own.grant.Free()
		l.own = nil
	}
}

// free lets go of what a layer keeps in memory beside its writer.
func (l *layer) free() {
	l.forgetOwn()
	l.keys.Free()
}

// writers are those of what the transaction did to a table so far, to be read with it.
func (t *txn) writers(id catalog.ID) []*shard.Writer {
	w := t.tables[id]
	if w == nil {
		return nil
	}
	var out []*shard.Writer
	for _, l := range w.layers {
		if l.rows > 0 {
			out = append(out, l.writer)
		}
	}
	return out
}

// room is the node's memory for open transactions.
func (e *Engine) room() *budget.Share { return e.Budget.Share(budget.Transactions) }

// newKeys is an empty set of keys that counts as the transaction's memory.
func (t *txn) newKeys() shard.KeySet {
	return shard.NewKeySet(t.engine.room())
}

func (t *txn) overlayLimit() int { return cmp.Or(t.engine.overlayBytes, overlayBytes) }

// tooMuch is the error for reading a table that the transaction wrote too much to.
func (t *txn) tooMuch(w *written) error {
	return &tailrace.Error{
		Code: "53200", Message: fmt.Sprintf("out of memory: the transaction wrote more than %d MiB to table \"%s\", too much to read it before COMMIT", t.overlayLimit()>>20, w.table.Name),
		Hint: "COMMIT first, then read the table.",
	}
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
