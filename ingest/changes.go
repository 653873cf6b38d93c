package ingest

import (
	"context"
	"errors"
	"fmt"
	"io"

	"tailrace"
)

// cellsOf gives out the unchanged cells of rows, asked for in order.
type cellsOf struct{ rest []tailrace.SourceCell }

func (c *cellsOf) row(row int32) []tailrace.SourceCell {
	for len(c.rest) > 0 && c.rest[0].Row < row {
		c.rest = c.rest[1:]
	}
	n := 0
	for n < len(c.rest) && c.rest[n].Row == row {
		n++
	}
	return c.rest[:n]
}

// keyReader reads the key bytes of rows of a batch.
type keyReader struct {
	schema *tailrace.Schema
	cols   []int // of the batch, in key order
	buf    []byte
}

func newKeyReader(s *tailrace.Schema, b *tailrace.Batch) *keyReader {
	k := &keyReader{schema: s}
	for _, i := range s.Key {
		for c, id := range b.IDs {
			if id == s.Fields[i].ID {
				k.cols = append(k.cols, c)
			}
		}
	}
	return k
}

// key is the key of row i of b, valid until the next call.
func (k *keyReader) key(b *tailrace.Batch, i int32) []byte {
	k.buf = k.buf[:0]
	for n, c := range k.cols {
		k.buf = tailrace.AppendKey(k.buf, k.schema.Fields[k.schema.Key[n]].Type, &b.Cols[c], int(i))
	}
	return k.buf
}

// foldKeyed folds changes of a table with a key. A change of a row that is not there means that the copy is not the source's table any more; that
// is the table's own trouble.
func (a *applier) foldKeyed(ctx context.Context, t *txn, tt *txnTable, c *tailrace.SourceChanges) (*tailrace.Error, error) {
	fold := &tt.f.fold
	keys := newKeyReader(tt.f.table.Columns, c.New)
	cells := cellsOf{c.Unchanged}
	versions := make([]version, c.New.N)
	for _, ch := range c.List {
		var from *version
		switch {
		case ch.Kind == tailrace.ChangeTruncate:
			if err := a.truncate(ctx, t, tt); err != nil {
				return nil, err
			}
			continue
		case ch.Kind == tailrace.ChangeInsert:
		case ch.Old >= 0:
			from = fold.leave(keys.key(c.Old, ch.Old))
		default:
			from = fold.leave(keys.key(c.New, ch.New))
		}
		if from == nil && ch.Kind != tailrace.ChangeInsert {
			return cannotFollow(tt.before, "the source changed a row that is not here"), nil
		}
		if ch.New >= 0 {
			v := &versions[ch.New]
			*v = version{batch: c.New, row: ch.New, cells: cells.row(ch.New), from: from}
			if len(v.cells) == 0 {
				v.from = nil // nothing is taken from it
			}
			fold.come(keys.key(c.New, ch.New), v)
		}
	}
	return nil, nil
}

// foldMultiset folds changes of a table without a key: an old row is one copy less, a new one is one more.
func (a *applier) foldMultiset(ctx context.Context, t *txn, tt *txnTable, c *tailrace.SourceChanges) (*tailrace.Error, error) {
	for _, ch := range c.List {
		if ch.Kind == tailrace.ChangeTruncate {
			if err := a.truncate(ctx, t, tt); err != nil {
				return nil, err
			}
			continue
		}
		if ch.Kind != tailrace.ChangeInsert {
			if ch.Old < 0 || !ch.OldFull {
				return cannotFollow(tt.before, "the source no longer sends whole old rows, which a table without a key needs"), nil
			}
			tt.f.rows.add(&version{batch: c.Old, row: ch.Old}, -1)
		}
		if ch.New >= 0 {
			tt.f.rows.add(&version{batch: c.New, row: ch.New}, 1)
		}
	}
	return nil, nil
}

// truncate takes every row out that was there before the transaction, and forgets what the transaction did to the table so far.
func (a *applier) truncate(ctx context.Context, t *txn, tt *txnTable) error {
	abortAll(ctx, tt.writers)
	tt.writers, tt.truncated = nil, true
	tt.spilled.Free()
	tt.f.rows.reset()
	for _, e := range tt.f.fold.entries {
		e.set(nil)
	}
	tt.f.fold.begin()
	sh := a.r.i.o.Shards.Shard(tt.f.table.ID)
	if sh == nil {
		return fmt.Errorf("truncate %s: the table was dropped", tt.f.table.Name)
	}
	// The stored rows have the schema from before the transaction; the cursor gives them as the table is now.
	cursor, err := sh.Snapshot(ctx, snapshotAt(a.r.i.o.Log.Newest(), tt.f.table.Columns))
	if err != nil {
		return fmt.Errorf("truncate %s: %w", tt.f.table.Name, err)
	}
	defer cursor.Close()
	for {
		b, err := cursor.Next(ctx)
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return fmt.Errorf("truncate %s: %w", tt.f.table.Name, err)
		}
		if err := a.append(ctx, tt, negated(b)); err != nil {
			return err
		}
	}
}

// negated is b with every update taken back.
func negated(b *tailrace.Batch) *tailrace.Batch {
	out := *b
	out.Diffs = make([]tailrace.Diff, b.N)
	for i := range out.Diffs {
		out.Diffs[i] = -b.Diff(i)
	}
	return &out
}
