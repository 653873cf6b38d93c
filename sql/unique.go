package sql

import (
	"context"

	"tailrace"
	"tailrace/shard"
)

// orderedRows is from how many rows on it is worth a look whether they come in the order of their keys.
const orderedRows = 64

// unique is 23505 when a row that is inserted has a key that is already there. Rows in the order of their keys, as a dump has them, need less than others:
//
//	among the rows written   each key is above all before it: no set of keys is kept
//	in the table             the first is above all keys there: nothing is looked up
//
// Both hold for the load of an empty table, and for one that goes on where the table ends.
func (s *Session) unique(ctx context.Context, w *written, b *tailrace.Batch) error {
	l := w.top()
	if w.rows() == 0 && len(w.layers) == 1 && !l.removed && b.N >= orderedRows {
		l.order = shard.NewAscending(w.table.Columns)
	}
	if l.order == nil || len(w.layers) > 1 || !l.order.Take(b, 0, b.N) {
		for _, l := range w.layers {
			if err := l.rememberKeys(ctx); err != nil {
				return err
			}
		}
		seen := s.txn.newKeys()
		defer seen.Free()
		return s.checkUnique(ctx, w, b, nil, &seen)
	}
	above, err := s.above(w, b)
	if err != nil {
		return err
	}
	if !above {
		return s.checkStored(ctx, w, b)
	}
	if !s.txn.footprint(w.table.ID).whole {
		_, hashes := keysOf(w.table.Columns, b)
		s.readKeys(w, hashes)
	}
	return nil
}

// rememberKeys fills the set of the keys written, if it was not kept while they came in order.
func (l *layer) rememberKeys(ctx context.Context) error {
	if l.order == nil {
		return nil
	}
	l.order = nil
	return l.writer.Each(ctx, func(b *tailrace.Batch) error {
		for _, h := range hashesOfRows(l.schema, b.Project(l.schema)) {
			if _, err := l.keys.Add(h); err != nil {
				return err
			}
		}
		return nil
	})
}

// above tells that the first key of b is above every key in the table.
func (s *Session) above(w *written, b *tailrace.Batch) (bool, error) {
	sh := s.engine.Shards.Shard(w.table.ID)
	if s.txn.isNew(w.table.ID) || sh == nil {
		return true, nil
	}
	if s.txn.rekeyed(w.table) {
		return false, nil
	}
	var key []byte
	for _, k := range w.table.Columns.Key {
		key = tailrace.AppendKey(key, w.table.Columns.Fields[k].Type, &b.Cols[k], 0)
	}
	return sh.Above(key)
}

// checkStored is 23505 when a row's key is in the table as the transaction reads it.
func (s *Session) checkStored(ctx context.Context, w *written, b *tailrace.Batch) error {
	keys, hashes := keysOf(w.table.Columns, b)
	s.readKeys(w, hashes)
	_, at, err := s.lookup(ctx, w.table, keys, nil)
	if err != nil {
		return err
	}
	for i, row := range at {
		if row >= 0 {
			return duplicateKey(w.table, b, i, s.format)
		}
	}
	return nil
}

// checkMoved is checkUnique of rows whose keys change, when all rows old are about to be removed: a piece at a time, since each key is looked up.
func (s *Session) checkMoved(ctx context.Context, w *written, old, fresh *tailrace.Batch) error {
	gone, seen := s.txn.newKeys(), s.txn.newKeys()
	defer gone.Free()
	defer seen.Free()
	for _, h := range hashesOfRows(w.table.Columns, old) {
		if _, err := gone.Add(h); err != nil {
			return err
		}
	}
	for from := 0; from < fresh.N; from += changeRows {
		if err := s.checkUnique(ctx, w, piece(fresh, from, min(fresh.N, from+changeRows)), &gone, &seen); err != nil {
			return err
		}
	}
	return nil
}

// piece is a copy of rows [from, to).
func piece(b *tailrace.Batch, from, to int) *tailrace.Batch {
	rows := make([]int32, 0, to-from)
	for i := from; i < to; i++ {
		rows = append(rows, int32(i))
	}
	return b.Gather(rows)
}

// hashesOfRows is the hash of the key of each row.
func hashesOfRows(schema *tailrace.Schema, b *tailrace.Batch) []uint64 {
	_, hashes := keysOf(schema, b)
	return hashes
}

// checkUnique is 23505 when a row's key is already there: in the table as the transaction reads it, among the rows it wrote, or twice in b.
// gone holds hashes of keys whose rows are about to be removed by the same statement, or is nil; seen those that it checked already, and b's from now on.
func (s *Session) checkUnique(ctx context.Context, w *written, b *tailrace.Batch, gone, seen *shard.KeySet) error {
	keys, hashes := keysOf(w.table.Columns, b)
	s.readKeys(w, hashes)
	var overlay *tailrace.Batch
	var err error
	removed := w.removed()
	if removed {
		if overlay, err = s.txn.overlayOf(ctx, w.table.ID, hashes); err != nil {
			return err
		}
	}
	_, at, err := s.lookup(ctx, w.table, keys, overlay)
	if err != nil {
		return err
	}
	add := seen.Add
	if !removed && gone == nil {
		add = w.addKey
	}
	for i, h := range hashes {
		was, err := add(h)
		if err != nil {
			return err
		}
		if was || at[i] >= 0 && !gone.Has(h) {
			return duplicateKey(w.table, b, i, s.format)
		}
	}
	return nil
}

// readKeys notes that the transaction relies on the keys with these hashes.
func (s *Session) readKeys(w *written, hashes []uint64) {
	for _, h := range hashes {
		s.txn.readKey(w.table.ID, h)
	}
}
