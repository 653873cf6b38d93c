package tail

import (
	"context"
	"errors"
	"fmt"
	"io"

	"tailrace"
	"tailrace/shard"
)

// firstRows is how many rows the first piece of a snapshot has: a FETCH 10, or the first row of a COPY, does not wait for more. Fewer are there no sooner that anybody
// could notice, and cost a storm more writes.
const firstRows = 1024

// readSnapshot adds the next piece of the snapshot, or what follows its end.
func (s *Subscription) readSnapshot(ctx context.Context, out *output) error {
	if s.table.ID == SubscriptionsID {
		if err := s.shape.append(out.Batch, s.asOf, s.tail.systemSnapshot(s.asOf)); err != nil {
			return err
		}
		s.endSnapshot(out)
		return nil
	}
	whole := s.shape.whole() && !(s.shape.byKey && s.shape.sel.streams() && len(s.shape.sort) == 0)
	if done, err := s.readRouted(ctx, out); done || err != nil {
		return err
	}
	if out.wire != nil && !whole && s.cursor == nil {
		if done, err := s.ride(ctx, out); done || err != nil {
			return err
		}
	}
	if s.cursor == nil && s.held == nil {
		c, err := s.openSnapshot(ctx)
		if err != nil {
			return err
		}
		s.cursor = c
	}
	if whole {
		return s.readWholeSnapshot(ctx, out)
	}
	piece, err := s.cursor.Next(ctx)
	if errors.Is(err, io.EOF) {
		s.endSnapshot(out)
		return nil
	}
	if err != nil {
		return err
	}
	if err := s.appendSnapshot(out.Batch, piece); err != nil {
		return err
	}
	s.pos.key = s.cursor.Position()
	return nil
}

// appendSnapshot adds the output rows of a piece of the snapshot as openSnapshot's cursor gives it.
func (s *Subscription) appendSnapshot(dst, piece *tailrace.Batch) error {
	if s.shape.sel != nil {
		piece = s.shape.sel.sparse(piece)
	}
	return s.shape.append(dst, s.asOf, piece)
}

// openSnapshot begins reading the snapshot after the position.
func (s *Subscription) openSnapshot(ctx context.Context) (*shard.Cursor, error) {
	sh := s.tail.shards.Shard(s.table.ID)
	if sh == nil {
		return nil, s.tail.droppedError(s.table)
	}
	o := shard.SnapshotOptions{AsOf: s.asOf, Schema: s.shape.schema, After: s.pos.key, PieceRows: s.tail.pieces, PieceBytes: s.pieceBytes()}
	if s.pos.key == nil {
		o.FirstRows = firstRows
	}
	if sel := s.shape.sel; sel != nil {
		o.Columns, o.Ranges = sel.needed, sel.Ranges
	}
	c, err := sh.Snapshot(ctx, o)
	if errors.Is(err, shard.ErrCompacted) {
		return nil, s.fellBehind() // it took longer than the time was held
	}
	return c, err
}

// openWhole begins reading the whole table of the snapshot, whatever the subscription selects.
func (s *Subscription) openWhole(ctx context.Context, sh *shard.Shard) (*shard.Cursor, error) {
	return sh.Snapshot(ctx, shard.SnapshotOptions{AsOf: s.asOf, Schema: s.shape.schema, PieceRows: s.tail.pieces, PieceBytes: s.pieceBytes()})
}

// readWholeSnapshot adds the snapshot when all of it was read: its rows must be together to be ordered or judged.
func (s *Subscription) readWholeSnapshot(ctx context.Context, out *output) error {
	for s.cursor != nil {
		piece, err := s.cursor.Next(ctx)
		if errors.Is(err, io.EOF) {
			s.closeCursor()
			break
		}
		if err != nil {
			return err
		}
		if s.shape.sel != nil {
			piece = s.shape.sel.sparse(piece)
		}
		if err := s.hold(s.asOf, piece); err != nil {
			return err
		}
	}
	if s.held != nil {
		if done, err := s.giveHeld(ctx, out, s.tail.part()); !done || err != nil {
			return err
		}
	}
	s.endSnapshot(out)
	return nil
}

// endSnapshot goes over to changes.
func (s *Subscription) endSnapshot(out *output) {
	s.stopReading()
	s.leave()
	s.pos.snapshot, s.pos.key, s.pos.after, s.pos.given = false, nil, s.asOf, 0
	s.closeTimes(out)
}

// readChanges adds the changes that follow the position, from the window, else from history.
func (s *Subscription) readChanges(ctx context.Context, out *output, v view) error {
	if s.history != nil || v.lower > s.pos.after || s.pos.given > 0 {
		return s.readHistory(ctx, out, min(v.limit, max(v.lower, s.pos.after)))
	}
	part := s.tail.part()
	for items := v.items; len(items) > 0; items = items[1:] {
		if out.full(part) {
			return nil
		}
		if n := s.readBlock(out, items, part); n > 0 {
			items = items[n-1:]
			s.pos.after = items[0].time
			continue
		}
		it := items[0]
		if it.ref || it.size > 2*part && s.table.ID != SubscriptionsID {
			if !out.empty() {
				return nil // the large transaction in a delivery of its own
			}
			s.pos.after = it.time - 1
			return s.readHistory(ctx, out, it.time)
		}
		if err := s.readItem(out, it); err != nil {
			return fmt.Errorf("read the updates of %q at %d: %w", s.table.Name, it.time, err)
		}
		s.pos.after = it.time
	}
	s.pos.after = v.limit
	return nil
}

// readItem adds the rows of an item: as a frame, or as rows where those came before or there is no room to keep it for others.
func (s *Subscription) readItem(out *output, it *item) error {
	if concerned, err := it.concerns(s.shape); err != nil || !concerned {
		return err
	}
	if out.wire != nil && out.N == 0 {
		f, err := it.frame(s.tail.cache, out.wire, 0, func(rows *tailrace.Batch) error { return s.shape.appendItem(rows, it) })
		if err != nil {
			return err
		}
		if f != nil {
			out.add(f)
			return nil
		}
	}
	return s.shape.appendItem(out.Batch, it)
}

func (s *Subscription) fellBehind() error {
	return &tailrace.Error{
		Code:    "53200",
		Message: fmt.Sprintf("SUBSCRIBE fell behind: the history of %q after %d is gone", s.table.Name, s.pos.after),
		Detail:  fmt.Sprintf("The resume point AS OF %d is no longer readable.", s.pos.after),
		Hint:    fmt.Sprintf("Subscribe again with a snapshot, and keep more: ALTER TABLE %s SET (RETAIN HISTORY FOR '1 day').", s.table.Name),
	}
}

func (s *Subscription) closeCursor() {
	if s.cursor != nil {
		s.cursor.Close() // reading only: nothing to lose
		s.cursor = nil
	}
}

// stopReading gives up open reads; the position says where to go on.
func (s *Subscription) stopReading() {
	s.dropHeld()
	s.closeCursor()
	if s.history != nil {
		s.tail.leaveCatchup(s.history.catchup)
		s.history = nil
	}
}

// cut returns updates [from, to) of b as a batch of its own, without times.
func cut(b *tailrace.Batch, from, to int) *tailrace.Batch {
	if from == 0 && to == b.N && b.Times == nil {
		return b
	}
	out := &tailrace.Batch{N: to - from, IDs: b.IDs, Cols: make([]tailrace.Column, len(b.Cols))}
	for c := range b.Cols {
		out.Cols[c] = tailrace.Column{Width: b.Cols[c].Width}
		if b.Cols[c].Width == 0 {
			out.Cols[c].Offsets = []int32{0}
		}
		out.Cols[c].AppendRange(&b.Cols[c], from, to)
	}
	if b.Diffs != nil {
		out.Diffs = b.Diffs[from:to:to]
	}
	return out
}
