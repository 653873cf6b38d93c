package changefeed

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"golang.org/x/sync/errgroup"

	"tailrace"
	"tailrace/catalog"
	"tailrace/schedule"
	"tailrace/tail"
)

// scanners is how many slices are read at once.
const scanners = 2

// feed is one try of a runner: from when the target was reached until something is wrong with it as a whole.
type feed struct {
	*runner
	cat      *catalog.Catalog // as it was at the start: which tables there are
	name     string           // at the target
	target   tailrace.Sink
	limits   tailrace.SinkLimits
	began    time.Time
	follower *tail.Follower
	spans    []*span
	byTable  map[tailrace.CollectionID]*span

	mu       sync.Mutex // for memory only
	changed  *sync.Cond
	over     bool
	sched    *schedule.Scheduler
	newest   tailrace.Time // everything at or before it is known here
	workers  int
	loads    int           // jobs that load, under way
	turn     int           // the span that a connection looks at first
	syncAt   tailrace.Time // no later item goes into a lane: a sync point; 0: there is none
	syncDue  time.Time     // when the next sync point is due; while there is one, when it began
	syncJob  *job          // to record it, under way or waiting
	resolved map[tailrace.CollectionID]catalog.SinkSpan
	noted    time.Time // when the log last heard
	moved    bool      // something came to the target since
	said     []func()  // what is to be logged, without the mutex
}

// feed feeds the sink until ctx is done or its target as a whole does not go on.
func (r *runner) feed(ctx context.Context) (err error) {
	cat := r.f.o.Catalog.Current()
	if cat.Sinks[r.sink.ID] != r.sink {
		return wait(ctx, time.Minute) // another runner is about to take over
	}
	adapter, err := r.f.open(cat, r.sink)
	if err != nil {
		return err
	}
	f := &feed{runner: r, cat: cat, name: r.f.nameOf(r.sink), target: adapter, began: time.Now(), byTable: map[tailrace.CollectionID]*span{}}
	defer func() { err = errors.Join(err, adapter.Close()) }()
	f.changed = sync.NewCond(&f.mu)
	if err := f.startRedo(ctx); err != nil {
		return err
	}
	progress, err := adapter.Prepare(ctx, f.name, uint64(r.claim.Epoch))
	if err != nil {
		return fmt.Errorf("prepare the target of sink %s: %w", r.sink.Name, err)
	}
	f.limits = adapter.Limits()
	anew, err := f.settle(ctx)
	if err != nil {
		return err
	}
	if anew {
		progress = nil
	}
	if err := f.startRedo(ctx); err != nil {
		return err
	}
	if err := f.makeSpans(ctx, progress); err != nil {
		return err
	}
	r.state.setFeed(f)
	defer r.state.setFeed(nil)
	r.state.set("running", nil)
	return f.run(ctx)
}

// run runs what a feed consists of, and notes at the end how far it came.
func (f *feed) run(ctx context.Context) error {
	ids := make([]tailrace.CollectionID, 0, len(f.byTable))
	for id := range f.byTable {
		ids = append(ids, id)
	}
	f.follower = f.f.o.Tail.Follow(ids)
	defer f.follower.Close()
	group, ctx := errgroup.WithContext(ctx)
	defer context.AfterFunc(ctx, f.end)()
	if f.redo() != nil {
		defer f.redo().tell(f)()
	}
	group.Go(func() error { return f.watch(ctx) })
	for range scanners {
		group.Go(func() error { return f.scans(ctx) })
	}
	f.mu.Lock()
	for range f.sink.Connections {
		f.addWorker(ctx, group)
	}
	f.mu.Unlock()
	group.Go(func() error { return f.look(ctx, group) })
	group.Go(func() error { return f.checkpoints(ctx) })
	err := group.Wait()
	for _, s := range f.spans {
		s.close()
	}
	if !errors.Is(err, errFailed) {
		f.lastCheckpoint(ctx)
	}
	return err
}

// end makes everybody who waits look again.
func (f *feed) end() {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.over = true
	f.changed.Broadcast()
}

// now is the scheduler's clock.
func (f *feed) now() time.Duration { return time.Since(f.began) }

// watch tells the scheduler what there is to read.
func (f *feed) watch(ctx context.Context) error {
	for {
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-f.follower.Wake():
		}
		newest, changed := f.follower.Take()
		f.mu.Lock()
		f.newest = max(f.newest, newest)
		for _, id := range changed {
			if s := f.byTable[id]; s != nil && newest > s.end {
				s.end = newest
				f.sched.Readable(f.now(), s.id, newest, true)
			}
		}
		f.changed.Broadcast()
		f.mu.Unlock()
	}
}

// scans reads slices as the scheduler says.
func (f *feed) scans(ctx context.Context) error {
	for {
		s, sl, ok := f.nextSlice()
		if !ok {
			return ctx.Err()
		}
		out, more, j, err := s.scan(ctx, sl, f.f.o.Catalog.Current(), time.Now)
		if err != nil && ctx.Err() != nil {
			return ctx.Err()
		}
		f.scanned(s, sl, out, more, j, err)
	}
}

// nextSlice waits for a slice; ok is false at the end.
func (f *feed) nextSlice() (s *span, sl schedule.Slice, ok bool) {
	f.mu.Lock()
	defer f.mu.Unlock()
	for !f.over {
		if sl, ok := f.sched.Next(f.now()); ok {
			s := f.byTable[sl.Span]
			s.scanning = true
			return s, sl, true
		}
		f.changed.Wait()
	}
	return nil, sl, false
}

// scanned takes in what a scan brought.
func (f *feed) scanned(s *span, sl schedule.Slice, out *slice, more bool, j *job, err error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	defer f.changed.Broadcast()
	s.scanning, s.scannedAt = false, time.Now()
	if errors.Is(err, errTooLarge) {
		f.sched.TooLarge(f.now(), sl)
		return
	}
	if err != nil {
		s.rewind(s.read)
		f.sched.Finish(f.now(), sl, 0, s.read, true)
		f.fail(s, f.readError(s, err))
		return
	}
	s.read = out.to
	out.pending = len(out.items)
	s.queue = append(s.queue, out)
	if j != nil {
		s.job = j
		f.sched.Pause(f.now(), s.id, true)
	}
	f.sched.Finish(f.now(), sl, out.bytes, out.to, more)
	f.route(s)
}

// fail stops a span: nothing of it is sent until it is tried again.
func (f *feed) fail(s *span, err error) {
	s.failed = err
	f.sched.Pause(f.now(), s.id, true)
	s.pause = min(max(2*s.pause, firstBackoff), f.f.o.Backoff)
	s.retryAt = time.Now().Add(s.pause)
	if !retriable(err) {
		s.retryAt = time.Time{}
		f.said = append(f.said, func() {
			f.f.o.Logger.Warn("table of a sink stopped", "sink", f.sink.Name, "table", f.describe(s), "error", err)
		})
	}
}

// recover lets a span that failed go on.
func (f *feed) recover(s *span) {
	s.failed, s.retryAt = nil, time.Time{}
	if s.job == nil {
		f.sched.Pause(f.now(), s.id, f.held(s))
	}
	f.route(s)
}

// held tells that a table of the span is paused by itself.
func (f *feed) held(s *span) bool {
	for _, tb := range s.tables {
		if f.sink.Held[tb.id] {
			return true
		}
	}
	return false
}

// route moves items into lanes as far as nothing holds them up, and drops slices that are done.
func (f *feed) route(s *span) {
	redone := f.redone(s)
	for s.routed < len(s.queue) && s.failed == nil {
		sl := s.queue[s.routed]
		for sl.next < len(sl.items) {
			it := sl.items[sl.next]
			l := s.lanes[it.lane]
			if l.covers(it) {
				sl.next++
				sl.pending--
				continue
			}
			if f.syncAt != 0 && it.time > f.syncAt || it.time > redone || !s.locks.free(it) {
				f.settleQueue(s)
				return
			}
			s.locks.take(it)
			l.items = append(l.items, it)
			sl.next++
		}
		s.routed++
	}
	f.settleQueue(s)
}

// settleQueue drops slices of which nothing is on its way any more: their bytes are free.
func (f *feed) settleQueue(s *span) {
	for len(s.queue) > 0 && s.queue[0].pending == 0 && s.routed > 0 {
		sl := s.queue[0]
		s.queue[0] = nil
		s.queue = s.queue[1:]
		s.routed--
		s.applied = sl.to
		f.sched.Acked(f.now(), s.id, schedule.Normal, sl.bytes, sl.to)
	}
	f.changed.Broadcast()
}

// frontier is the time at or before which everything of a span is in the target; 0 while its snapshot is on the way.
func (f *feed) frontier(s *span) tailrace.Time {
	if f.resolved[s.tables[0].id].Loading {
		return 0 // not even the snapshot is there
	}
	at := whole(s.applied)
	if len(s.queue) == 0 && !s.scanning && s.job == nil && s.failed == nil && at >= s.end {
		return max(at, f.newest)
	}
	return at
}

func (f *feed) describe(s *span) string {
	out := ""
	for _, tb := range s.tables {
		if out != "" {
			out += ", "
		}
		out += f.tableName(tb.id)
	}
	return out
}

// tableName is the name of a table when the feed began: what statements of users call it.
func (f *feed) tableName(id tailrace.CollectionID) string { return f.cat.Tables[id].Name }
