package ingest

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"

	"tailrace"
	"tailrace/budget"
	"tailrace/shard"
)

// keptVersions is how many entries are kept in memory over the pieces of a large transaction. Beyond it only hashes of their keys are, and a
// key that comes again is read back from what was written.
const keptVersions = 50_000

// snapshotAt reads a whole shard at a time in the columns of schema.
func snapshotAt(t tailrace.Time, schema *tailrace.Schema) shard.SnapshotOptions {
	return shard.SnapshotOptions{AsOf: t, Schema: schema}
}

// lookup makes an entry for every key that pieces name, with the row that is there now: the stored one, or, for a key that an earlier piece of t
// changed and that was spilled since, the transaction's own.
func (a *applier) lookup(ctx context.Context, t *txn, asOf tailrace.Time, pieces []*tailrace.SourcePiece) error {
	wanted := map[*followed]*wantedKeys{}
	for _, p := range pieces {
		for _, c := range p.Changes {
			f := a.tables[c.Table.Rel]
			if f == nil || f.gone || len(f.table.Columns.Key) == 0 {
				continue
			}
			if wanted[f] == nil {
				wanted[f] = newWantedKeys(f)
			}
			wanted[f].add(c)
		}
	}
	for _, f := range slices.SortedFunc(maps.Keys(wanted), func(a, b *followed) int { return cmp.Compare(a.table.ID, b.table.ID) }) {
		w := wanted[f]
		var tt *txnTable
		if t != nil {
			tt = t.table(f)
		}
		err := a.resolve(ctx, tt, f, w, asOf)
		if errors.Is(err, tailrace.ErrCorrupt) { // what is stored of this table is damaged, not what is stored of others
			f.why = cannotFollow(f.table, err.Error())
			continue
		}
		if err != nil {
			return fmt.Errorf("look up rows of %s: %w", f.table.Name, err)
		}
	}
	return nil
}

// wantedKeys is the keys of one table that no entry has yet.
type wantedKeys struct {
	f       *followed
	batch   *tailrace.Batch // the key columns, in key order
	entries []*entry        // of each row of batch
	hashes  []uint64
	room    []entry // memory for entries
}

// entryRoom is how many entries are made at a time, at most.
const entryRoom = 256

// entry returns a new one.
func (w *wantedKeys) entry(more int) *entry {
	if len(w.room) == 0 {
		w.room = make([]entry, max(1, min(entryRoom, more)))
	}
	e := &w.room[0]
	w.room = w.room[1:]
	return e
}

func newWantedKeys(f *followed) *wantedKeys {
	w := &wantedKeys{f: f, batch: &tailrace.Batch{}}
	for _, k := range f.table.Columns.Key {
		field := f.table.Columns.Fields[k]
		w.batch.IDs = append(w.batch.IDs, field.ID)
		w.batch.Cols = append(w.batch.Cols, tailrace.MakeColumn(field.Type.Kind, 0))
	}
	return w
}

// add notes the keys of c. For a key that must be free no row is looked up.
func (w *wantedKeys) add(c *tailrace.SourceChanges) {
	if c.Err != nil {
		return
	}
	keys := newKeyReader(w.f.table.Columns, c.New)
	note := func(b *tailrace.Batch, row int32, free bool) {
		key := keys.key(b, row)
		if w.f.fold.entries[string(key)] != nil {
			return
		}
		e := w.entry(len(c.List))
		w.f.fold.entries[string(key)] = e
		if free {
			return
		}
		for i, col := range keys.cols {
			w.batch.Cols[i].AppendFrom(&b.Cols[col], int(row))
		}
		w.batch.N++
		w.entries, w.hashes = append(w.entries, e), append(w.hashes, shard.KeyHash(key))
	}
	for i := range c.List {
		ch := &c.List[i]
		if ch.Old >= 0 {
			note(c.Old, ch.Old, false)
		}
		if ch.New >= 0 { // a row that comes to a key finds it free, unless the key is loose
			note(c.New, ch.New, !c.Table.LooseKey && (ch.Kind == tailrace.ChangeInsert || ch.Old >= 0))
		}
	}
}

// resolve fills the entries in.
func (a *applier) resolve(ctx context.Context, tt *txnTable, f *followed, w *wantedKeys, asOf tailrace.Time) error {
	if w.batch.N == 0 {
		return nil
	}
	var overlay *tailrace.Batch
	if tt != nil {
		if tt.truncated {
			w.keep(tt.spilled.Has)
		}
		var err error
		if overlay, err = tt.own(ctx, w.hashes); err != nil {
			return err
		}
	}
	if w.batch.N == 0 {
		return nil
	}
	sh := a.r.i.o.Shards.Shard(f.table.ID)
	if sh == nil {
		return errGone
	}
	rows, at, err := sh.Lookup(ctx, w.batch, asOf, overlay)
	if err != nil {
		return err
	}
	versions := make([]version, rows.N)
	for i, e := range w.entries {
		if r := at[i]; r >= 0 {
			versions[r] = version{batch: rows, row: r}
			e.set(&versions[r])
		}
	}
	return nil
}

// keep drops the keys that want says no to; nothing is there for them.
func (w *wantedKeys) keep(want func(hash uint64) bool) {
	var rows []int32
	var entries []*entry
	var hashes []uint64
	for i, h := range w.hashes {
		if want(h) {
			rows, entries, hashes = append(rows, int32(i)), append(entries, w.entries[i]), append(hashes, h)
		}
	}
	w.batch, w.entries, w.hashes = w.batch.Gather(rows), entries, hashes
}

// own reads back the transaction's own updates of those keys among hashes that were spilled, nil when there are none.
func (tt *txnTable) own(ctx context.Context, hashes []uint64) (*tailrace.Batch, error) {
	again := map[uint64]bool{}
	for _, h := range hashes {
		if tt.spilled.Has(h) {
			again[h] = true
		}
	}
	if len(again) == 0 {
		return nil, nil
	}
	schema := tt.f.table.Columns
	out := tailrace.NewBatch(schema, 0)
	for _, w := range tt.writers {
		err := w.Each(ctx, func(b *tailrace.Batch) error { // a piece at a time: together they may not fit in memory
			b = b.Project(schema)
			keys := newKeyReader(schema, b)
			for i := range b.N {
				if again[shard.KeyHash(keys.key(b, int32(i)))] {
					out.AppendUpdate(b, i, b.Diff(i))
				}
			}
			return nil
		})
		if err != nil {
			return nil, err
		}
	}
	return out, nil
}

// keptShare is which part of the share for sources the rows that one transaction's entries name may take.
const keptShare = 8

// spill drops the entries of a large transaction from memory when they, or the rows they name, are too many; their rows are in the writers. p is the
// piece that was folded last.
func (a *applier) spill(t *txn, p *tailrace.SourcePiece) error {
	most := a.r.i.o.Budget.Share(budget.Ingest).Limit(readAhead) / keptShare
	size := t.kept.Size() + int64(p.Bytes)
	heavy := size > most || !t.kept.Set(size)
	for _, tt := range t.order {
		if !heavy && len(tt.f.fold.entries) < keptVersions {
			continue
		}
		for key := range tt.f.fold.entries {
			if _, err := tt.spilled.Add(shard.KeyHash([]byte(key))); err != nil {
				return fmt.Errorf("remember the keys that a transaction of the source changes in %s: %w", tt.f.table.Name, err)
			}
		}
		tt.f.fold.forget()
	}
	if heavy {
		t.kept.Free()
	}
	return nil
}
