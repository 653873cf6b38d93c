package changefeed

import (
	"context"
	"errors"
	"fmt"
	"io"
	"time"

	"golang.org/x/sync/errgroup"

	"tailrace"
	"tailrace/catalog"
	"tailrace/redo"
	"tailrace/schedule"
	"tailrace/shard"
)

// redoBranch writes a feed's updates into its redo log. It reads for itself, on a quarter of the feed's memory and with a scheduler of its own, so that nothing
// of the target's ever holds it up. What it has made durable is what may go to the target:
//
//	tail, shard ──┬─▶ redo log ──▶ durable up to here
//	              └─▶ spans ─────▶ lanes (nothing later) ──▶ target
type redoBranch struct {
	f       *feed
	log     *redo.Writer
	sched   *schedule.Scheduler // the feed's mutex guards it and spans
	spans   map[tailrace.CollectionID]*redoSpan
	problem error // of the store, which is tried again
}

// redoSpan is one table's. What is read of it belongs to the goroutine that scans it.
type redoSpan struct {
	id      tailrace.CollectionID
	version *catalog.Table
	until   tailrace.Time // when it changes next
	altered tailrace.Time // rows of this time follow so many alters, which count as updates of it
	alters  uint64
	reader  reader
	end     tailrace.Time
	based   bool // its snapshot is in the log
	durable schedule.Position
}

// redoMemory is the part of a feed's memory that its redo log has.
const redoMemory = 4

// openRedo opens the redo log of a sink that has one.
func (f *feed) openRedo(ctx context.Context) error {
	if f.sink.Redo == "" {
		return nil
	}
	blob, err := f.f.o.Blob(f.sink.Redo)
	if err != nil {
		return fmt.Errorf("open the redo location of sink %s: %w", f.sink.Name, err)
	}
	r := &redoBranch{f: f, spans: map[tailrace.CollectionID]*redoSpan{}, sched: schedule.New(schedule.Config{Pool: max(f.sink.Memory/redoMemory, 1<<20), Batch: batchBytes})}
	r.log, err = redo.Open(ctx, blob, redo.Options{
		Feed: f.sink.Name, Epoch: uint64(f.claim.Epoch), Logger: f.f.o.Logger, Acked: r.acked, State: r.state, FlushBytes: int(max(f.sink.Memory/redoMemory/4, 256<<10)),
	})
	if err != nil {
		return fmt.Errorf("open the redo log of sink %s: %w", f.sink.Name, err)
	}
	f.redo = r
	return nil
}

// addSpans begins where the log is; a table that it does not have, or not so far as the feed is, begins with a snapshot.
func (r *redoBranch) addSpans() {
	frontiers := r.log.Frontiers()
	for _, id := range r.f.sink.Tables {
		at := schedule.Position(frontiers[id])
		s := &redoSpan{id: id, durable: at, based: whole(at) >= r.f.resolved[id].Time && !r.f.resolved[id].Loading || whole(at) > r.f.resolved[id].Time}
		r.spans[id] = s
		if s.based {
			r.begin(s, at)
		}
	}
}

// begin lets a span be read from a position on. Alters at the position's time count as its first updates.
func (r *redoBranch) begin(s *redoSpan, at schedule.Position) {
	cat := r.f.f.o.Catalog.Current()
	s.version, s.until = cat.TableAt(s.id, whole(at))
	if at.Ordinal > 0 && s.until == at.Time {
		after, _ := cat.TableAt(s.id, at.Time)
		if changes, err := changesBetween(r.f.sinkTable(s.version), r.f.sinkTable(after)); err == nil && at.Ordinal >= uint64(len(changes)) {
			s.altered, s.alters = at.Time, uint64(len(changes))
			s.version, s.until = cat.TableAt(s.id, at.Time)
			at.Ordinal -= s.alters
		} else {
			at.Ordinal = 0 // the alters once more: they come to a target that looks whether it has them
		}
		if at.Ordinal == 0 {
			at = schedule.Position{Time: at.Time - 1}
		}
	}
	s.reader = reader{tail: r.f.f.o.Tail, id: s.id, schema: s.version.Columns, at: at}
	s.end = whole(at)
	r.sched.Add(r.f.now(), s.id, [2]schedule.Position{at, at})
}

// run writes the log until ctx ends.
func (r *redoBranch) run(ctx context.Context, group *errgroup.Group) {
	group.Go(func() error {
		err := r.log.Run(ctx)
		if errors.Is(err, tailrace.ErrSinkFenced) {
			return fmt.Errorf("sink %s: %w", r.f.sink.Name, err)
		}
		return err
	})
	group.Go(func() error { return r.scans(ctx) })
	group.Go(func() error { return r.snapshots(ctx) })
}

// readable tells that there is more of a table. The feed's mutex is held.
func (r *redoBranch) readable(id tailrace.CollectionID, newest tailrace.Time) {
	if s := r.spans[id]; s != nil && newest > s.end && s.based {
		s.end = newest
		r.sched.Readable(r.f.now(), id, newest, true)
	}
}

// scans reads slices into the log.
func (r *redoBranch) scans(ctx context.Context) error {
	for {
		s, sl, ok := r.next()
		if !ok {
			return ctx.Err()
		}
		used, to, more, err := r.scan(ctx, s, sl)
		if err != nil {
			return fmt.Errorf("write table %s to the redo log: %w", r.f.tableName(s.id), err)
		}
		r.f.mu.Lock()
		r.sched.Finish(r.f.now(), sl, used, to, more)
		r.f.mu.Unlock()
	}
}

// next waits for a slice; ok is false at the end.
func (r *redoBranch) next() (s *redoSpan, sl schedule.Slice, ok bool) {
	f := r.f
	f.mu.Lock()
	defer f.mu.Unlock()
	for !f.over {
		r.sched.Unflushed(f.now(), schedule.Normal, r.log.Unflushed())
		if sl, ok := r.sched.Next(f.now()); ok {
			return r.spans[sl.Span], sl, true
		}
		if flush, _ := r.sched.Flush(f.now()); flush {
			r.log.Flush()
		}
		f.changed.Wait()
	}
	return nil, sl, false
}

// scan adds a slice of a table to the log.
func (r *redoBranch) scan(ctx context.Context, s *redoSpan, sl schedule.Slice) (used int64, to schedule.Position, more bool, err error) {
	began := time.Now()
	for rows := 0; ; {
		s.version, s.until = r.f.f.o.Catalog.Current().TableAt(s.id, max(whole(s.reader.at), s.altered))
		_, ok, err := s.reader.peek(ctx, min(sl.End, s.until-1))
		switch {
		case err != nil:
			return used, s.reader.at, true, err
		case !ok && s.until <= sl.End:
			if err := r.alter(ctx, s); err != nil {
				return used, s.reader.at, true, err
			}
			continue
		case !ok:
			to := schedule.Position{Time: sl.End}
			r.log.Resolved(s.id, to.Time)
			return used, to, false, nil
		case rows > 0 && (used >= sl.Bytes || rows >= sl.Rows || time.Since(began) > sl.Time):
			return used, s.reader.at, true, nil
		}
		b, from, end := s.reader.take(min(sl.End, s.until-1), sl.Rows)
		piece := section(b, from, end)
		at := s.reader.at
		if at.Time == s.altered && at.Ordinal > 0 {
			at.Ordinal += s.alters
		}
		if err := r.log.Add(ctx, s.id, redo.Piece{Kind: redo.Changes, Table: r.f.sinkTable(s.version), Rows: piece, To: redo.Position(at)}); err != nil {
			return used, s.reader.at, true, err
		}
		used, rows = used+int64(piece.Size()), rows+piece.N
	}
}

// alter adds the change of a table at s.until.
func (r *redoBranch) alter(ctx context.Context, s *redoSpan) error {
	at := s.until
	after, until := r.f.f.o.Catalog.Current().TableAt(s.id, at)
	changes, err := changesBetween(r.f.sinkTable(s.version), r.f.sinkTable(after))
	if err != nil {
		return err
	}
	for i := range changes {
		p := redo.Piece{Kind: redo.Alter, Alter: &changes[i], To: redo.Position{Time: at, Ordinal: uint64(i + 1)}}
		if err := r.log.Add(ctx, s.id, p); err != nil {
			return err
		}
	}
	s.reader.close()
	s.reader.at, s.reader.schema = schedule.Position{Time: at - 1}, after.Columns
	s.version, s.until, s.altered, s.alters = after, until, at, uint64(len(changes))
	return nil
}

// snapshots writes the tables that the log does not have, as of the time at which the feed begins, one after the other.
func (r *redoBranch) snapshots(ctx context.Context) error {
	for _, id := range r.f.sink.Tables {
		s := r.spans[id]
		if s.based {
			continue
		}
		r.f.mu.Lock()
		at := r.f.resolved[id].Time
		r.f.mu.Unlock()
		if err := r.snapshot(ctx, s, at); err != nil {
			return fmt.Errorf("write the snapshot of table %s to the redo log: %w", r.f.tableName(id), err)
		}
		r.f.mu.Lock()
		s.based = true
		r.begin(s, schedule.Position{Time: at})
		r.readable(id, r.f.newest)
		r.f.changed.Broadcast()
		r.f.mu.Unlock()
	}
	return nil
}

func (r *redoBranch) snapshot(ctx context.Context, s *redoSpan, at tailrace.Time) error {
	version, _ := r.f.f.o.Catalog.Current().TableAt(s.id, at)
	sh := r.f.f.o.Shards.Shard(s.id)
	if sh == nil {
		return shard.ErrDropped
	}
	cursor, err := sh.Snapshot(ctx, shard.SnapshotOptions{AsOf: at, Schema: version.Columns, PieceBytes: minSliceBytes})
	if err != nil {
		return err
	}
	defer cursor.Close()
	table, done := r.f.sinkTable(version), uint64(0)
	had := uint64(0)
	if s.durable.Time == at {
		had = s.durable.Ordinal // so many rows are there
	}
	for {
		rows, err := cursor.Next(ctx)
		if errors.Is(err, io.EOF) {
			return r.log.Add(ctx, s.id, redo.Piece{Kind: redo.Snapshot, Table: table, To: redo.Position{Time: at}})
		}
		if err != nil {
			return err
		}
		if done += uint64(rows.N); done <= had {
			continue
		}
		if n := rows.N - int(done-max(had, done-uint64(rows.N))); n > 0 {
			rows = section(rows, n, rows.N)
		}
		rows = &tailrace.Batch{N: rows.N, IDs: rows.IDs, Cols: rows.Cols, Diffs: rows.Diffs}
		if err := r.log.Add(ctx, s.id, redo.Piece{Kind: redo.Snapshot, Table: table, Rows: rows, To: redo.Position{Time: at, Ordinal: done}}); err != nil {
			return err
		}
	}
}

// minSliceBytes is how large a piece of a snapshot is, in bytes.
const minSliceBytes = 1 << 20

// acked takes in that a span's updates are durable.
func (r *redoBranch) acked(id tailrace.CollectionID, bytes int64, to redo.Position) {
	f := r.f
	f.mu.Lock()
	defer f.mu.Unlock()
	s := r.spans[id]
	if s == nil {
		return
	}
	s.durable = schedule.Position(to)
	r.sched.Acked(f.now(), id, schedule.Normal, bytes, s.durable)
	if sp := f.byTable[id]; sp != nil {
		f.route(sp)
	}
	f.changed.Broadcast()
}

// state takes in how the store does.
func (r *redoBranch) state(err error) {
	r.f.mu.Lock()
	defer r.f.mu.Unlock()
	r.problem = err
}

// redone is the time up to which all of a span's tables are durable in the redo log: what may go to the target. The feed's mutex is held.
func (f *feed) redone(s *span) tailrace.Time {
	least := tailrace.MaxTime
	if f.redo != nil {
		for _, tb := range s.tables {
			least = min(least, whole(f.redo.spans[tb.id].durable))
		}
	}
	return least
}

// frontier is the redo frontier: the state that the log can bring a target to. The feed's mutex is held.
func (r *redoBranch) frontier() tailrace.Time {
	least := tailrace.MaxTime
	for _, s := range r.spans {
		at := whole(s.durable)
		if !s.based {
			at = 0
		}
		least = min(least, at)
	}
	return least
}

// resolve tells the log that tables which nobody changes are known up to now. The feed's mutex is held.
func (r *redoBranch) resolve() {
	for id, s := range r.spans {
		st, ok := r.sched.Span(id)
		if ok && s.based && st.Why == schedule.NoData && whole(st.Read[schedule.Normal]) >= s.end && r.f.newest > s.end {
			r.log.Resolved(id, r.f.newest)
		}
	}
}
