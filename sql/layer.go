package sql

import (
	"context"
	"slices"

	"tailrace"
	"tailrace/catalog"
	"tailrace/log"
	"tailrace/shard"
)

// written is what a transaction does to one table: layers of updates, oldest first. A savepoint begins a layer, and so does an ALTER of the columns:
//
//	BEGIN; INSERT INTO t ...                   layer 0                      rows in t's old columns
//	SAVEPOINT a; INSERT INTO t ...             layer 0, layer 1 of a
//	ALTER TABLE t ADD COLUMN c int; INSERT ... layer 0, layer 1 of a, layer 1 of a with c
//	ROLLBACK TO a                              layer 0
//
// So a savepoint copies nothing, and ROLLBACK TO only drops layers. A layer keeps the columns that its rows were written with; who reads it asks for those of
// the table as it is now, as with rows written by transactions before an ALTER.
type written struct {
	table  *catalog.Table // as the newest statement sees it
	layers []*layer
}

// layer is the updates of a table from one savepoint to the next.
type layer struct {
	level   int // savepoints that stood when it was begun, or stand since one was released
	schema  *tailrace.Schema
	writer  *shard.Writer
	keys    shard.KeySet     // of rows it inserted, unless order follows them
	order   *shard.Ascending // of rows it inserted, as long as their keys ascend and none was removed; else nil
	removed bool             // it deleted rows too, or the key is another now: keys does not tell what is there
	rows    int64
	own     *own // its updates by key; nil until a statement needs them, or when they are large
	large   bool
}

// mergeRows is up to how many rows of a released savepoint are copied to the layer below. A client that sets a savepoint around each statement then has one layer.
const mergeRows = 4096

// write is what the transaction does to table, begun if need be, with a layer for what comes now on top.
func (t *txn) write(table *catalog.Table) *written {
	w := t.tables[table.ID]
	if w == nil {
		w = &written{}
		if t.tables == nil {
			t.tables = map[catalog.ID]*written{}
		}
		t.tables[table.ID] = w
	}
	w.become(table)
	if n := len(w.layers); n == 0 || w.layers[n-1].level < len(t.points) || !sameShape(w.layers[n-1].schema, table.Columns) {
		w.layers = append(w.layers, &layer{
			level: len(t.points), schema: table.Columns, writer: t.engine.Shards.NewWriter(table.ID, table.Columns, t.writing), keys: t.newKeys(),
		})
	}
	return w
}

// become tells that the table is now what it says. With another key, what is known of the keys written is of no use.
func (w *written) become(table *catalog.Table) {
	if w.table != nil && w.table != table && !sameKey(w.table.Columns, table.Columns) {
		for _, l := range w.layers {
			l.removed, l.order = true, nil
			l.keys.Free()
		}
	}
	w.table = table
}

// sameShape tells that rows of both schemas are the same bytes in the same order.
func sameShape(a, b *tailrace.Schema) bool {
	if a == b {
		return true
	}
	return slices.EqualFunc(a.Fields, b.Fields, func(x, y tailrace.Field) bool { return x.ID == y.ID && x.Type == y.Type }) && slices.Equal(a.Key, b.Key)
}

// sameKey tells that a key of both schemas has the same columns, in the same order.
func sameKey(a, b *tailrace.Schema) bool {
	return slices.EqualFunc(a.Key, b.Key, func(x, y int) bool { return a.Fields[x].ID == b.Fields[y].ID })
}

func (w *written) top() *layer { return w.layers[len(w.layers)-1] }

// rows counts the updates of all layers.
func (w *written) rows() int64 {
	n := int64(0)
	for _, l := range w.layers {
		n += l.rows
	}
	return n
}

// removed tells that the keys of the layers do not tell which of them are there.
func (w *written) removed() bool {
	return slices.ContainsFunc(w.layers, func(l *layer) bool { return l.removed })
}

// remove tells that rows are deleted from now on.
func (w *written) remove() {
	l := w.top()
	l.removed, l.order = true, nil
}

// addKey notes the key of a row that is inserted, and reports whether a row with it was inserted before.
func (w *written) addKey(h uint64) (was bool, err error) {
	for _, l := range w.layers[:len(w.layers)-1] {
		if l.keys.Has(h) {
			return true, nil
		}
	}
	return w.top().keys.Add(h)
}

// append adds updates, with the columns of the table, to what the transaction writes.
func (w *written) append(ctx context.Context, b *tailrace.Batch) error { return w.top().append(ctx, b) }

func (l *layer) append(ctx context.Context, b *tailrace.Batch) error {
	l.count(b)
	return l.writer.Append(ctx, b)
}

// take is append of a batch whose memory is the writer's from now on.
func (l *layer) take(ctx context.Context, b *tailrace.Batch) error {
	l.count(b)
	return l.writer.Take(ctx, b)
}

func (l *layer) count(b *tailrace.Batch) {
	l.rows += int64(b.N)
	if l.own != nil && !l.own.add(b) {
		l.forgetOwn()
		l.large = true
	}
}

// records is what to commit.
func (w *written) records(ctx context.Context) ([]log.Record, error) {
	if err := w.merge(ctx, 0); err != nil {
		return nil, err
	}
	var out []log.Record
	for _, l := range w.layers {
		rs, err := l.writer.Records(ctx)
		if err != nil {
			return nil, err
		}
		out = append(out, rs...)
	}
	return out, nil
}

// merge copies small layers from place from on to those below them, where both have one level and the same columns.
func (w *written) merge(ctx context.Context, from int) error {
	for i := max(from, 1); i < len(w.layers); {
		below, l := w.layers[i-1], w.layers[i]
		if below.level != l.level || l.rows > mergeRows || !sameShape(below.schema, l.schema) || !l.writer.InMemory() { // parts may be read by an open cursor
			i++
			continue
		}
		if err := below.rememberKeys(ctx); err != nil {
			return err
		}
		err := l.writer.Each(ctx, func(b *tailrace.Batch) error { return below.append(ctx, b.Project(below.schema)) })
		if err != nil {
			return err
		}
		if below.removed = below.removed || l.removed; !below.removed {
			if err := l.rememberKeys(ctx); err != nil {
				return err
			}
			if err := below.keys.AddAll(&l.keys); err != nil {
				return err
			}
		}
		l.writer.Abort(context.WithoutCancel(ctx))
		l.free()
		w.layers = slices.Delete(w.layers, i, i+1)
	}
	return nil
}

// rollback drops the layers above level, and reports whether none is left.
func (w *written) rollback(ctx context.Context, level int) (empty bool) {
	n := len(w.layers)
	for n > 0 && w.layers[n-1].level > level {
		n--
		w.layers[n].writer.Abort(context.WithoutCancel(ctx))
		w.layers[n].free()
		w.layers[n] = nil
	}
	w.layers = w.layers[:n]
	return n == 0
}

// release puts the layers above level on it.
func (w *written) release(ctx context.Context, level int) error {
	first := len(w.layers)
	for first > 0 && w.layers[first-1].level > level {
		first--
		w.layers[first].level = level
	}
	return w.merge(ctx, first)
}

// abort deletes all that was written.
func (w *written) abort(ctx context.Context) { w.rollback(ctx, -1) }
