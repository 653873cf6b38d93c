package changefeed

import (
	"context"
	"errors"
	"fmt"
	"io"
	"sync"
	"time"

	"tailrace"
	"tailrace/catalog"
	"tailrace/redo"
	"tailrace/schedule"
	"tailrace/shard"
	"tailrace/system"
)

// redoBranch writes a feed's updates into its redo log. It reads for itself, on a quarter of the feed's memory and with a scheduler of its own, so that nothing
// of the target's ever holds it up. What it has made durable is what may go to the target:
//
//	tail, shard ──┬─▶ redo log ──▶ durable up to here
//	              └─▶ spans ─────▶ lanes (nothing later) ──▶ target
type redoBranch struct {
	*runner
	cat   *catalog.Catalog
	log   *redo.Writer
	base  map[tailrace.CollectionID]tailrace.Time // the times of snapshots
	spans map[tailrace.CollectionID]*redoSpan
	began time.Time

	mu      sync.Mutex // for memory only; a feed's may be held when it is taken
	changed *sync.Cond
	over    bool
	reading *redoSpan // by the scanner; nil: none
	sched   *schedule.Scheduler
	newest  tailrace.Time
	feeding *feed // hears of what becomes durable
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
	unread  bool // there is something after end
	readAt  time.Time
	table   *tailrace.SinkTable // of version
	durable schedule.Position
}

// redoMemory is the part of a feed's memory that its redo log has.
const redoMemory = 4

// startRedo starts the redo log of a sink that has one, if it does not run yet: as soon as it is known where the tables begin, whether the target can be reached or not.
// It runs until ctx, which is that of the claim, ends.
func (f *feed) startRedo(ctx context.Context) error {
	if f.sink.Redo == "" || f.redo() != nil {
		return nil
	}
	begin, anew := f.places()
	if anew {
		return nil // the target is to forget first
	}
	if err := f.begin(ctx, begin); err != nil {
		return err
	}
	if err := f.readable(ctx); err != nil {
		return err
	}
	blob, err := f.f.o.Blob(f.sink.Redo)
	if err != nil {
		return fmt.Errorf("open the redo location of sink %s: %w", f.sink.Name, err)
	}
	memory := f.sink.Memory / redoMemory
	r := &redoBranch{runner: f.runner, cat: f.cat, base: map[tailrace.CollectionID]tailrace.Time{}, spans: map[tailrace.CollectionID]*redoSpan{}, began: time.Now()}
	r.changed = sync.NewCond(&r.mu)
	r.sched = schedule.New(schedule.Config{Pool: memory, Batch: batchBytes})
	r.log, err = redo.Open(ctx, blob, redo.Options{
		Feed: f.sink.Name, Epoch: uint64(f.claim.Epoch), Logger: f.f.o.Logger, Acked: r.acked, State: r.state, FlushBytes: int(max(memory/4, 256<<10)),
	})
	if err != nil {
		return fmt.Errorf("open the redo log of sink %s: %w", f.sink.Name, err)
	}
	frontiers := r.log.Frontiers()
	for _, id := range f.sink.Tables {
		span, at := f.resolved[id], schedule.Position(frontiers[id])
		r.base[id] = span.Time
		// A table that the log does not have, or not so far as the feed is, begins with a snapshot.
		s := &redoSpan{id: id, durable: at, based: whole(at) >= span.Time && at.Time != 0}
		r.spans[id] = s
		if s.based {
			r.begin(s, at)
		}
	}
	f.redoing.Store(r)
	r.start(ctx)
	return nil
}

// begin lets a span be read from a position on. Alters at the position's time count as its first updates.
func (r *redoBranch) begin(s *redoSpan, at schedule.Position) {
	cat := r.f.o.Catalog.Current()
	s.version, s.until = cat.TableAt(s.id, whole(at))
	if at.Ordinal > 0 && s.until == at.Time {
		after, _ := cat.TableAt(s.id, at.Time)
		if changes, err := changesBetween(sinkTableOf(r.cat, s.version), sinkTableOf(r.cat, after)); err == nil && at.Ordinal >= uint64(len(changes)) {
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
	s.reader = reader{tail: r.f.o.Tail, id: s.id, schema: s.version.Columns, at: at}
	s.end = whole(at)
	r.sched.Add(r.now(), s.id, [2]schedule.Position{at, at})
}

// start writes the log until ctx ends.
func (r *redoBranch) start(ctx context.Context) {
	r.group.Go(func() error {
		err := r.log.Run(ctx)
		if errors.Is(err, tailrace.ErrSinkFenced) {
			return fmt.Errorf("sink %s: %w", r.sink.Name, err)
		}
		return err
	})
	stop := context.AfterFunc(ctx, r.end)
	r.group.Go(func() error { return r.watch(ctx) })
	r.group.Go(func() error { return r.snapshots(ctx) })
	r.group.Go(func() error {
		defer stop()
		defer r.close()
		return r.scans(ctx)
	})
}

// close gives up what is being read. Nobody scans any more.
func (r *redoBranch) close() {
	for _, s := range r.spans {
		s.reader.close()
	}
}

// end makes who waits look again.
func (r *redoBranch) end() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.over = true
	r.changed.Broadcast()
}

func (r *redoBranch) now() time.Duration { return time.Since(r.began) }

// resolveEvery is how often tables that nobody changes are said to be known up to now.
const resolveEvery = time.Second

// watch tells the scheduler what there is to read, and the log how far it is all known.
func (r *redoBranch) watch(ctx context.Context) error {
	follower := r.f.o.Tail.Follow(r.sink.Tables)
	defer follower.Close()
	tick := time.NewTicker(resolveEvery)
	defer tick.Stop()
	for {
		idle := false
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-tick.C:
			idle = true
		case <-follower.Wake():
		}
		newest, changed := follower.Take()
		r.mu.Lock()
		r.newest = max(r.newest, newest)
		for _, id := range changed {
			r.dirty(r.spans[id])
		}
		if idle {
			r.resolve()
		}
		r.changed.Broadcast()
		r.mu.Unlock()
	}
}

// dirty notes that there is more of a table. The mutex is held.
func (r *redoBranch) dirty(s *redoSpan) {
	if s.unread = true; s.based && r.newest > s.end {
		s.end, s.unread = r.newest, false
		r.sched.Readable(r.now(), s.id, s.end, true)
	}
}

// tell has a feed hear of what becomes durable, until the returned function is called.
func (r *redoBranch) tell(f *feed) (stop func()) {
	set := func(f *feed) {
		r.mu.Lock()
		defer r.mu.Unlock()
		r.feeding = f
	}
	set(f)
	return func() { set(nil) }
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
			return fmt.Errorf("write table %s to the redo log: %w", r.cat.Tables[s.id].Name, err)
		}
		r.mu.Lock()
		r.reading, s.readAt = nil, time.Now()
		r.sched.Finish(r.now(), sl, used, to, more)
		r.mu.Unlock()
	}
}

// next waits for a slice; ok is false at the end.
func (r *redoBranch) next() (s *redoSpan, sl schedule.Slice, ok bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for !r.over {
		r.sched.Unflushed(r.now(), schedule.Normal, r.log.Unflushed())
		if sl, ok := r.sched.Next(r.now()); ok {
			r.reading = r.spans[sl.Span]
			return r.reading, sl, true
		}
		if flush, _ := r.sched.Flush(r.now()); flush {
			r.log.Flush()
		}
		r.changed.Wait()
	}
	return nil, sl, false
}

// scan adds a slice of a table to the log.
func (r *redoBranch) scan(ctx context.Context, s *redoSpan, sl schedule.Slice) (used int64, to schedule.Position, more bool, err error) {
	began := time.Now()
	for rows := 0; ; {
		r.look(s)
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
		case rows > 0 && (used+s.reader.rowSize() > sl.Bytes || rows >= sl.Rows || time.Since(began) > sl.Time):
			return used, s.reader.at, true, nil
		}
		fit := max(1, (sl.Bytes-used)/s.reader.rowSize()) // one that is larger than the slice too: this is the only scan
		b, from, end := s.reader.take(min(sl.End, s.until-1), int(min(fit, int64(sl.Rows-rows))))
		piece := section(b, from, end)
		at := s.reader.at
		if at.Time == s.altered && at.Ordinal > 0 {
			at.Ordinal += s.alters
		}
		if err := r.log.Add(ctx, s.id, redo.Piece{Kind: redo.Changes, Table: s.table, Rows: piece, To: redo.Position(at)}); err != nil {
			return used, s.reader.at, true, err
		}
		used, rows = used+int64(piece.Size()), rows+piece.N
	}
}

// look finds the version of a table where its reader is.
func (r *redoBranch) look(s *redoSpan) {
	cat := r.f.o.Catalog.Current()
	version, until := cat.TableAt(s.id, max(whole(s.reader.at), s.altered))
	if s.until = until; s.table == nil || version != s.version {
		s.version, s.table = version, sinkTableOf(cat, version)
	}
}

// alter adds the change of a table at s.until.
func (r *redoBranch) alter(ctx context.Context, s *redoSpan) error {
	at := s.until
	cat := r.f.o.Catalog.Current()
	after, _ := cat.TableAt(s.id, at)
	changes, err := changesBetween(s.table, sinkTableOf(cat, after))
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
	s.altered, s.alters = at, uint64(len(changes))
	return nil
}

// snapshots writes the tables that the log does not have, as of the time at which the feed begins, one after the other.
func (r *redoBranch) snapshots(ctx context.Context) error {
	for _, id := range r.sink.Tables {
		s := r.spans[id]
		if s.based {
			continue
		}
		at := r.base[id]
		if err := r.snapshot(ctx, s, at); err != nil {
			return fmt.Errorf("write the snapshot of table %s to the redo log: %w", r.cat.Tables[id].Name, err)
		}
		r.mu.Lock()
		r.begin(s, schedule.Position{Time: at})
		s.based = true
		if s.unread {
			r.dirty(s)
		}
		r.changed.Broadcast()
		r.mu.Unlock()
	}
	return nil
}

func (r *redoBranch) snapshot(ctx context.Context, s *redoSpan, at tailrace.Time) error {
	version, _ := r.f.o.Catalog.Current().TableAt(s.id, at)
	sh := r.f.o.Shards.Shard(s.id)
	if sh == nil {
		return shard.ErrDropped
	}
	cursor, err := sh.Snapshot(ctx, shard.SnapshotOptions{AsOf: at, Schema: version.Columns, PieceBytes: minSliceBytes})
	if err != nil {
		return err
	}
	defer cursor.Close()
	table, done := sinkTableOf(r.cat, version), uint64(0)
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
	f := r.returned(id, bytes, schedule.Position(to))
	if f == nil {
		return
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	if sp := f.byTable[id]; sp != nil {
		f.route(sp)
	}
}

// returned gives credit back and tells which feed wants to hear of it.
func (r *redoBranch) returned(id tailrace.CollectionID, bytes int64, to schedule.Position) *feed {
	r.mu.Lock()
	defer r.mu.Unlock()
	if s := r.spans[id]; s != nil {
		s.durable = to
		r.sched.Acked(r.now(), id, schedule.Normal, bytes, to)
		r.changed.Broadcast()
	}
	return r.feeding
}

// state takes in how the store does.
func (r *redoBranch) state(err error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.problem = err
}

// redone is the time up to which all of a span's tables are durable in the redo log: what may go to the target.
func (f *feed) redone(s *span) tailrace.Time {
	r := f.redo()
	if r == nil {
		return tailrace.MaxTime
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	least := tailrace.MaxTime
	for _, tb := range s.tables {
		least = min(least, whole(r.spans[tb.id].durable))
	}
	return least
}

// describeInto fills in the redo frontier, the time of the state that the log can bring a target to; what is on its way to the log; and what is wrong with its store.
func (r *redoBranch) describeInto(st *system.Sink) {
	r.mu.Lock()
	defer r.mu.Unlock()
	st.Redo = tailrace.MaxTime
	for _, s := range r.spans {
		at := whole(s.durable)
		if !s.based {
			at = 0
		}
		st.Redo = min(st.Redo, at)
	}
	resident, _, _ := r.sched.Pool()
	st.Resident += resident
	if r.problem != nil {
		e := explained(r.problem)
		st.State, st.Reason, st.Hint = "degraded", "the redo log: "+e.Message, e.Hint
	}
}

// resolve tells the log that tables which nobody changes are known up to now, and closes what is open and not read. The mutex is held.
func (r *redoBranch) resolve() {
	for id, s := range r.spans {
		if s != r.reading && s.based && time.Since(s.readAt) > openTime {
			s.reader.close()
		}
		st, ok := r.sched.Span(id)
		if ok && s.based && !s.unread && st.Why == schedule.NoData && whole(st.Read[schedule.Normal]) >= s.end && r.newest > s.end {
			r.log.Resolved(id, r.newest)
		}
	}
}
