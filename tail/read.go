package tail

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"iter"

	"tailrace"
	"tailrace/shard"
)

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
	if s.cursor == nil {
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
	if sel := s.shape.sel; sel != nil {
		o.Columns, o.Ranges = sel.needed, sel.Ranges
	}
	return sh.Snapshot(ctx, o)
}

// openWhole begins reading the whole table of the snapshot, whatever the subscription selects.
func (s *Subscription) openWhole(ctx context.Context, sh *shard.Shard) (*shard.Cursor, error) {
	return sh.Snapshot(ctx, shard.SnapshotOptions{AsOf: s.asOf, Schema: s.shape.schema, PieceRows: s.tail.pieces, PieceBytes: s.pieceBytes()})
}

// readWholeSnapshot adds the snapshot at once: its rows must be together to be ordered or judged.
func (s *Subscription) readWholeSnapshot(ctx context.Context, out *output) error {
	held := s.shape.newHeld()
	for {
		piece, err := s.cursor.Next(ctx)
		if errors.Is(err, io.EOF) {
			s.shape.appendHeld(out.Batch, s.asOf, held)
			s.together.Free()
			s.endSnapshot(out)
			return nil
		}
		if err != nil {
			return err
		}
		if s.shape.sel != nil {
			if piece, err = s.shape.sel.of(s.shape.sel.sparse(piece), nil); err != nil {
				return err
			}
		}
		appendAll(held, piece)
		if err := s.holdRows(held.Size()); err != nil {
			return err
		}
	}
}

// endSnapshot goes over to changes.
func (s *Subscription) endSnapshot(out *output) {
	s.stopReading()
	s.leave()
	s.pos.snapshot, s.pos.key, s.pos.after = false, nil, s.asOf
	s.closeTimes(out)
}

// readChanges adds the changes that follow the position, from the window, else from history.
func (s *Subscription) readChanges(ctx context.Context, out *output, v view) error {
	if s.history != nil || v.lower > s.pos.after {
		return s.readHistory(ctx, out, min(v.limit, max(v.lower, s.pos.after)))
	}
	part := s.tail.part()
	for _, it := range v.items {
		if out.full(part) {
			return nil
		}
		if it.ref || it.size > 2*part && s.table.ID != SubscriptionsID {
			if !out.empty() {
				return nil // the large transaction in a delivery of its own
			}
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
		f, err := it.frame(s.tail.cache, out.wire)
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

// history reads changes from the shard, in pieces, up to and including until.
type history struct {
	until  tailrace.Time
	next   func() (*tailrace.Batch, error, bool)
	cancel context.CancelFunc
	stop   func()
	skip   int             // output rows of the first time that were given out before
	time   tailrace.Time   // the time being read, 0 before the first
	held   *tailrace.Batch // its rows so far, when they must be together
	// carried is its updates of the last key that came so far, when those of one key must be together.
	carried *tailrace.Batch
}

// openHistory begins reading after the position.
func (s *Subscription) openHistory(until tailrace.Time) error {
	if s.table.ID == SubscriptionsID {
		return s.fellBehind() // it has no history but its window
	}
	sh := s.tail.shards.Shard(s.table.ID)
	if sh == nil {
		return s.tail.droppedError(s.table)
	}
	ctx, cancel := context.WithCancel(context.Background())
	after := s.pos.after
	next, stop := iter.Pull2(func(yield func(*tailrace.Batch, error) bool) {
		err := sh.Listen(ctx, after, until+1, s.shape.schema, func(b *tailrace.Batch) error {
			if !yield(b, nil) {
				return context.Canceled
			}
			return nil
		})
		if err != nil && ctx.Err() == nil {
			yield(nil, err)
		}
	})
	s.history = &history{until: until, next: next, cancel: cancel, stop: stop, skip: s.pos.given}
	return nil
}

// readHistory adds changes up to and including until from the shard's history.
func (s *Subscription) readHistory(ctx context.Context, out *output, until tailrace.Time) error {
	if s.history == nil {
		if err := s.openHistory(until); err != nil {
			return err
		}
	}
	h := s.history
	defer context.AfterFunc(ctx, h.cancel)()
	part := s.tail.part()
	for !out.full(part) {
		piece, err, more := h.next()
		if ctx.Err() != nil {
			return ctx.Err()
		}
		if errors.Is(err, shard.ErrCompacted) {
			return s.fellBehind()
		}
		if err != nil {
			return err
		}
		if !more {
			s.flushHeld(out)
			if err := s.giveCarried(out); err != nil {
				return err
			}
			s.pos.after, s.pos.given = h.until, 0
			s.stopReading()
			return nil
		}
		if err := s.appendPiece(out, piece); err != nil {
			return err
		}
	}
	return nil
}

// appendPiece adds the rows of a piece of history, time by time. A time's rows may go on in the next piece.
func (s *Subscription) appendPiece(out *output, piece *tailrace.Batch) error {
	for from := 0; from < piece.N; {
		t, to := piece.Times[from], from+1
		for to < piece.N && piece.Times[to] == t {
			to++
		}
		rows := cut(piece, from, to)
		from = to
		if s.shape.whole() {
			if err := s.hold(out, t, rows); err != nil {
				return err
			}
			continue
		}
		if t != s.history.time { // all before t is given out
			if s.history.time != 0 {
				if err := s.giveCarried(out); err != nil {
					return err
				}
				s.pos.given = 0
			}
			s.history.time, s.pos.after = t, t-1
		}
		if n := min(s.history.skip, rows.N); n > 0 {
			s.history.skip -= n
			rows = cut(rows, n, rows.N)
		}
		if s.shape.pairs() {
			rows = s.history.carryOver(s.shape, rows)
		}
		if err := s.give(out, t, rows); err != nil {
			return err
		}
	}
	return nil
}

// give adds the output rows of updates of time t, of which there may be more.
func (s *Subscription) give(out *output, t tailrace.Time, rows *tailrace.Batch) error {
	if rows == nil || rows.N == 0 {
		return nil
	}
	s.pos.given += rows.N
	return s.shape.append(out.Batch, t, rows)
}

// giveCarried adds the updates that waited for more of their key: there are none.
func (s *Subscription) giveCarried(out *output) error {
	rows := s.history.carried
	s.history.carried = nil
	return s.give(out, s.history.time, rows)
}

// carryOver returns the updates that waited and rows, without those of the last key, of which more may come: they wait.
func (h *history) carryOver(sh *shape, rows *tailrace.Batch) *tailrace.Batch {
	if h.carried != nil {
		both := tailrace.NewBatch(sh.schema, 0)
		appendAll(both, h.carried)
		appendAll(both, rows)
		rows = both
	}
	if rows.N == 0 {
		return nil
	}
	by := sh.schema.Key
	if len(by) == 0 {
		by = sh.order
	}
	last, n := tailrace.AppendRowKey(nil, sh.schema, by, rows, rows.N-1), rows.N-1
	for n > 0 && bytes.Equal(last, tailrace.AppendRowKey(nil, sh.schema, by, rows, n-1)) {
		n--
	}
	h.carried = cut(rows, n, rows.N)
	return cut(rows, 0, n)
}

// hold keeps rows of time t until the time is over, and gives out those of the time before.
func (s *Subscription) hold(out *output, t tailrace.Time, rows *tailrace.Batch) error {
	h := s.history
	if h.time != t {
		s.flushHeld(out)
		h.time = t
	}
	if h.held == nil {
		h.held = s.shape.newHeld()
	}
	if s.shape.sel != nil {
		var err error
		if rows, err = s.shape.sel.of(rows, nil); err != nil {
			return err
		}
	}
	appendAll(h.held, rows)
	return s.holdRows(h.held.Size())
}

func (s *Subscription) flushHeld(out *output) {
	if h := s.history; h.held != nil {
		s.shape.appendHeld(out.Batch, h.time, h.held)
		s.pos.after = h.time
		h.held = nil
		s.together.Free()
	}
}

func (s *Subscription) fellBehind() error {
	return &tailrace.Error{
		Code:    "53200",
		Message: fmt.Sprintf("SUBSCRIBE fell behind: the history of %q after %d is gone", s.table.Name, s.pos.after),
		Detail:  fmt.Sprintf("The resume point AS OF %d is no longer readable.", s.pos.after),
		Hint:    fmt.Sprintf("Subscribe again with a snapshot, and keep more: ALTER TABLE %s SET (RETAIN HISTORY FOR '1 day').", s.table.Name),
	}
}

// stopReading gives up open reads; the position says where to go on.
func (s *Subscription) stopReading() {
	s.together.Free()
	if s.cursor != nil {
		s.cursor.Close() // reading only: nothing to lose
		s.cursor = nil
	}
	if s.history != nil {
		s.history.cancel()
		s.history.stop()
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
