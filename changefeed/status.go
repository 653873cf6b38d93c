package changefeed

import (
	"sync"
	"time"

	"tailrace"
	"tailrace/catalog"
	"tailrace/schedule"
	"tailrace/system"
)

// state is how a runner does, for those who ask. Its mutex is never held while something else is waited for.
type state struct {
	mu      sync.Mutex
	name    string
	err     *tailrace.Error
	feed    *feed
	workers []*worker // the feed's mutex guards it
}

func (s *state) set(name string, err *tailrace.Error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.name, s.err = name, err
}

func (s *state) setFeed(f *feed) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.feed = f
}

func (s *state) get() (name string, err *tailrace.Error, f *feed) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.name, s.err, s.feed
}

// why is what is wrong, nil when nothing is.
func (s *state) why() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.err == nil {
		return nil
	}
	return s.err
}

func (s *state) add(w *worker) { s.workers = append(s.workers, w) }

func (s *state) remove(w *worker) {
	for i, o := range s.workers {
		if o == w {
			s.workers = append(s.workers[:i:i], s.workers[i+1:]...)
			return
		}
	}
}

func (s *state) all() []*worker { return s.workers }

// counts are what was sent of each table of a sink, since the node started.
type counts struct {
	mu     sync.Mutex
	tables map[tailrace.CollectionID]*spanCounts
}

func newCounts() *counts { return &counts{tables: map[tailrace.CollectionID]*spanCounts{}} }

// of returns the counts of a table.
func (c *counts) of(id tailrace.CollectionID) *spanCounts {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.tables[id] == nil {
		c.tables[id] = &spanCounts{}
	}
	return c.tables[id]
}

// rateWindow is over how long rates are taken.
const rateWindow = 5 * time.Second

// spanCounts are one table's. All may be called by anyone.
type spanCounts struct {
	mu          sync.Mutex
	rows, bytes int64
	deadLetters int64
	began       time.Time // of the window that runs
	old, older  [2]int64  // rows and bytes at its begin and at that of the one before
	olderAt     time.Time
}

func (c *spanCounts) add(rows, bytes int64, now time.Time) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.turn(now)
	c.rows += rows
	c.bytes += bytes
}

func (c *spanCounts) letter(n int64) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.deadLetters += n
}

// turn begins a new window when the old one is over.
func (c *spanCounts) turn(now time.Time) {
	if now.Sub(c.began) >= rateWindow {
		c.older, c.olderAt = c.old, c.began
		c.old, c.began = [2]int64{c.rows, c.bytes}, now
	}
}

// rates are rows and bytes a second over the last windows.
func (c *spanCounts) rates(now time.Time) (rows, bytes float64) {
	c.turn(now)
	seconds := now.Sub(c.olderAt).Seconds()
	if c.olderAt.IsZero() || seconds <= 0 {
		return 0, 0
	}
	return float64(c.rows-c.older[0]) / seconds, float64(c.bytes-c.older[1]) / seconds
}

// count takes in that a batch is in the target.
func (s *span) count(b *batch, now time.Time) {
	for n, tb := range s.tables {
		rows, bytes := int64(0), int64(0)
		for i := range b.items {
			it := b.items[i]
			if it.table() == tb {
				rows++
				bytes += int64(it.size())
			}
		}
		if rows > 0 {
			s.counts[n].add(rows, bytes, now)
		}
	}
}

// countLoaded takes in rows of a snapshot.
func (f *feed) countLoaded(tb *table, rows *tailrace.Batch) {
	f.counts.of(tb.id).add(int64(rows.N), int64(rows.Size()), time.Now())
}

// Status tells how the sinks that this node feeds do, for mz_internal.mz_sinks and mz_sink_spans.
func (f *Feeds) Status() []system.Sink {
	f.mu.Lock()
	running := make(map[catalog.ID]*runner, len(f.running))
	for id, r := range f.running {
		running[id] = r
	}
	f.mu.Unlock()
	out := make([]system.Sink, 0, len(running))
	for id, r := range running {
		name, err, feed := r.state.get()
		st := system.Sink{ID: id, State: name, Memory: r.sink.Memory}
		if err != nil {
			st.Reason, st.Hint = err.Message, err.Hint
		}
		if current := f.o.Catalog.Current().Sinks[id]; current != r.sink {
			st = system.Sink{ID: id, State: "starting", Memory: r.sink.Memory} // it was altered: another runner is about to take over
		} else if feed != nil {
			feed.describeInto(&st)
		}
		if redo := r.redo(); redo != nil {
			redo.describeInto(&st)
		}
		out = append(out, st)
	}
	return out
}

// describeInto fills in what a running feed knows.
func (f *feed) describeInto(st *system.Sink) {
	f.mu.Lock()
	defer f.mu.Unlock()
	now := time.Now()
	st.Resident, _, _ = f.sched.Pool()
	loading, stopped := false, ""
	for i, s := range f.spans {
		at := f.frontier(s)
		if i == 0 || at < st.Checkpoint {
			st.Checkpoint = at
		}
		for n, tb := range s.tables {
			sp := f.describeSpan(s, n, at, now)
			sp.Table = tb.id
			st.Spans = append(st.Spans, sp)
			if sp.State == "error" {
				stopped, st.Hint = sp.Reason, sp.Hint
			}
		}
		loading = loading || s.job != nil && s.job.loads
	}
	st.Lag = lagOf(f.newest, st.Checkpoint)
	switch {
	case stopped != "":
		st.State, st.Reason = "degraded", stopped
	case loading:
		st.State = "snapshot"
	case st.Lag > behindLag:
		st.State = "behind"
	}
}

// behindLag is from when on a sink or a table counts as behind.
const behindLag = time.Minute

func lagOf(newest, at tailrace.Time) time.Duration {
	if at >= newest {
		return 0
	}
	return time.Duration(newest-at) * time.Microsecond
}

// describeSpan describes table n of a span.
func (f *feed) describeSpan(s *span, n int, at tailrace.Time, now time.Time) system.SinkSpan {
	c := s.counts[n]
	c.mu.Lock()
	sp := system.SinkSpan{State: "running", Checkpoint: at, Lag: lagOf(f.newest, at), Received: max(s.end, at), Sent: at, Rows: c.rows, Bytes: c.bytes, DeadLetters: c.deadLetters}
	sp.RowsPerSecond, sp.BytesPerSecond = c.rates(now)
	c.mu.Unlock()
	if st, ok := f.sched.Span(s.id); ok {
		sp.Resident, sp.Credit = st.Resident, max(0, st.Cap-st.Resident-st.Granted)
	}
	sp.Waiting = string(f.reasonOf(s))
	if sp.Waiting != "" && !s.waitsSince.IsZero() {
		sp.WaitingSince = s.waitsSince
	}
	switch {
	case s.failed != nil:
		e := explainedSpan(s.failed)
		sp.State, sp.Reason, sp.Hint = "error", e.Message, e.Hint
		if e.Detail != "" {
			sp.Reason += " " + e.Detail
		}
	case f.sink.Held[s.tables[n].id]:
		sp.State = "paused"
	case s.job != nil && s.job.loads:
		sp.State = "snapshot"
	case sp.Lag > behindLag:
		sp.State = "behind"
	}
	return sp
}

// conflict is what an item waits for that must not overtake another one.
const conflict = schedule.Reason("conflict")

// reasonOf is why a span does not send just now.
func (f *feed) reasonOf(s *span) schedule.Reason {
	switch {
	case s.failed != nil || s.calls > 0:
		return schedule.Target
	case s.job != nil || f.syncAt != 0:
		return schedule.Barrier
	case f.held(s):
		return schedule.Paused
	case s.routed < len(s.queue) && f.redo() != nil && s.queue[s.routed].next < len(s.queue[s.routed].items) && s.queue[s.routed].items[s.queue[s.routed].next].time > f.redone(s):
		return schedule.RedoFrontier
	case s.routed < len(s.queue):
		return conflict
	case len(s.queue) > 0:
		return schedule.Target
	}
	st, _ := f.sched.Span(s.id)
	return st.Why
}
