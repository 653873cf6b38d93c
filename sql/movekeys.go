package sql

import (
	"cmp"
	"context"
	"errors"

	"tailrace"
	"tailrace/shard"
)

// An UPDATE whose keys move is checked as one, so that a row may take the key that another one leaves:
//
//	UPDATE t SET id = id + 1      each new key is there already, but for the last
//
// A few rows are gathered, old and new. Many are walked over three times instead, of which nothing is kept but hashes of keys, twelve bytes each: which keys go, whether
// the new ones are free, and only then what is written.

// moveBytes is how much is gathered, in bytes of old and new rows: so little memory is less than two more walks over the table cost.
const moveBytes = 8 << 20

// errManyMoves ends the gathering of rows that are too many.
var errManyMoves = errors.New("many keys move")

// applyMoves changes the rows of h, whose keys may change, and returns how many.
func (s *Session) applyMoves(ctx context.Context, c *changing, h *hits, out *returned) (int64, error) {
	w := newWalk(s, c, out)
	defer w.close()
	all := &pendingChange{old: tailrace.NewBatch(c.table.Columns, 0), fresh: tailrace.NewBatch(c.table.Columns, 0)}
	grant := s.engine.room().Grant()
	w.meet = func(p *pendingChange) error {
		appendBatch(all.old, p.old)
		appendBatch(all.fresh, p.fresh)
		if size := all.old.Size() + all.fresh.Size(); size > cmp.Or(s.engine.moveBytes, moveBytes) || !grant.Set(int64(size)) {
			return errManyMoves
		}
		return nil
	}
	err := w.take(ctx, h)
	if err == nil {
		err = w.change(ctx, all)
	}
	grant.Free()
	if errors.Is(err, errManyMoves) {
		return s.applyManyMoves(ctx, c, h, out)
	}
	return w.count, err
}

// applyManyMoves is applyMoves in three walks over the rows as they are before the statement.
func (s *Session) applyManyMoves(ctx context.Context, c *changing, h *hits, out *returned) (int64, error) {
	gone, seen := s.txn.newKeys(), s.txn.newKeys()
	defer gone.Free()
	defer seen.Free()
	_, err := walkOver(ctx, newWalk(s, c, nil), h, func(p *pendingChange) error { return addKeys(&gone, hashesOfRows(c.table.Columns, p.old)) })
	if err != nil {
		return 0, err
	}
	target := s.txn.write(c.table)
	target.remove()
	_, err = walkOver(ctx, newWalk(s, c, nil), h, func(p *pendingChange) error {
		if err := s.checkRows(ctx, c.table, p.fresh); err != nil {
			return err
		}
		return s.checkUnique(ctx, target, p.fresh, &gone, &seen)
	})
	if err != nil {
		return 0, err
	}
	gone.Free()
	seen.Free()
	w := newWalk(s, c, out)
	return walkOver(ctx, w, h, func(p *pendingChange) error {
		if err := s.replaceRows(ctx, target, p.old, p.fresh); err != nil {
			return err
		}
		return w.tell(ctx, p)
	})
}

// walkOver gives each batch of the changes to meet and returns how many rows they are of.
func walkOver(ctx context.Context, w *walk, h *hits, meet func(*pendingChange) error) (int64, error) {
	defer w.close()
	w.meet = meet
	err := w.take(ctx, h)
	return w.count, err
}

// addKeys puts hashes into set.
func addKeys(set *shard.KeySet, hashes []uint64) error {
	for _, h := range hashes {
		if _, err := set.Add(h); err != nil {
			return err
		}
	}
	return nil
}
