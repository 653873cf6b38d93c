package changefeed

import (
	"context"
	"errors"
	"fmt"
	"time"

	"golang.org/x/sync/errgroup"

	"tailrace"
)

const (
	// stuckTime is how long a call of the target takes before another connection takes the place of the one that waits for it.
	stuckTime = time.Second
	// stuckConnections is how many times as many connections there are at most when many are stuck.
	stuckConnections = 4
	// lookEvery is how often calls and spans that wait are looked at.
	lookEvery = 50 * time.Millisecond
)

// worker has one connection to the target.
type worker struct {
	f        *feed
	conn     tailrace.SinkConn
	span     *span // of the call under way, nil when there is none
	began    time.Time
	replaced bool // it is stuck, and another one has its place
}

// addWorker starts one more. The feed's mutex is held.
func (f *feed) addWorker(ctx context.Context, group *errgroup.Group) {
	f.workers++
	w := &worker{f: f}
	f.state.add(w)
	group.Go(func() error { return w.run(ctx) })
}

// run does what there is to do until the feed is over. An error is one of the feed as a whole.
func (w *worker) run(ctx context.Context) (err error) {
	f := w.f
	defer func() {
		f.mu.Lock()
		f.workers--
		f.state.remove(w)
		f.mu.Unlock()
		if w.conn != nil {
			_ = w.conn.Close() // everything that matters was acknowledged before
		}
	}()
	for {
		b, j, ok := w.next()
		if !ok {
			return ctx.Err()
		}
		if w.conn == nil {
			if w.conn, err = f.target.Connect(ctx); err != nil {
				w.conn = nil
			}
		}
		switch {
		case err != nil:
		case j != nil:
			err = j.run(ctx, f, w.conn)
		default:
			err = w.apply(ctx, b)
		}
		if err != nil && w.conn != nil {
			_ = w.conn.Close() // whatever state it is in; a new one is opened when it is needed
			w.conn = nil
		}
		if err = w.finish(ctx, b, j, err); err != nil {
			return err
		}
	}
}

// next waits for something to do; ok is false at the end.
func (w *worker) next() (b *batch, j *job, ok bool) {
	f := w.f
	f.mu.Lock()
	defer f.mu.Unlock()
	for !f.over {
		if w.replaced && f.workers > f.sink.Connections {
			return nil, nil, false
		}
		w.replaced = false
		if b, j = f.pull(); b != nil {
			w.span, w.began = b.span, time.Now()
			return b, nil, true
		}
		if j != nil {
			w.span, w.began = j.span, time.Now()
			return nil, j, true
		}
		f.changed.Wait()
	}
	return nil, nil, false
}

// apply sends a batch.
func (w *worker) apply(ctx context.Context, b *batch) error {
	txn, err := b.txn()
	if err != nil {
		return err
	}
	if err := w.conn.Apply(ctx, txn); err != nil {
		if se := (*tailrace.SinkError)(nil); errors.As(err, &se) && se.Fault == tailrace.SinkRowFault && w.f.sink.DeadLetter && parts(b) == 1 {
			return w.bury(ctx, b, se)
		}
		return err
	}
	rows := 0
	for i := range txn.Steps {
		rows += txn.Steps[i].Rows.N
	}
	w.f.mu.Lock()
	defer w.f.mu.Unlock()
	b.span.count(b, time.Now())
	w.f.done(b, txn.Progress)
	return nil
}

// finish takes in how a call ended.
func (w *worker) finish(ctx context.Context, b *batch, j *job, err error) error {
	f := w.f
	f.mu.Lock()
	defer f.mu.Unlock()
	defer f.changed.Broadcast()
	s := w.span
	w.span = nil
	s.calls--
	if w.replaced {
		s.stuck--
	}
	if j != nil {
		s.jobRuns = false
		if j.loads {
			f.loads--
		}
		if j.sync && f.syncJob == j {
			f.endSyncPoint()
		}
		if err == nil {
			if !j.sync {
				f.jobDone(s, j)
			}
			return nil
		}
	} else if err == nil {
		return nil
	} else {
		f.undone(b)
	}
	if ctx.Err() != nil {
		return ctx.Err()
	}
	return f.refused(s, b, err)
}

// refused decides what an error of a call is to a span. An error that it returns ends the feed.
func (f *feed) refused(s *span, b *batch, err error) error {
	var se *tailrace.SinkError
	switch {
	case errors.Is(err, tailrace.ErrSinkFenced):
		return fmt.Errorf("sink %s: %w: another server feeds this target under the same name", f.sink.Name, err)
	case errors.Is(err, tailrace.ErrSinkMoved):
		return err
	case !errors.As(err, &se):
		f.fail(s, err)
		return nil
	}
	switch {
	case se.Fault == tailrace.SinkDown:
		return err
	case se.Fault == tailrace.SinkRowFault && b != nil && parts(b) > 1:
		s.limit = max(1, len(b.items)/2) // until the row that is refused is alone
	case se.Fault == tailrace.SinkRowFault && b != nil:
		f.fail(s, &rowError{table: f.tableName(b.items[0].table().id), time: b.items[0].time, size: b.size(), sink: f.sink.Name, err: se})
	default:
		f.fail(s, err)
		if se.After > 0 && !s.retryAt.IsZero() {
			s.retryAt = time.Now().Add(se.After)
		}
	}
	return nil
}

// retriable tells that it is worth to try again without anybody having mended anything.
func retriable(err error) bool {
	var se *tailrace.SinkError
	if !errors.As(err, &se) {
		return true
	}
	return se.Fault == tailrace.SinkRetry || se.Fault == tailrace.SinkTableFault
}

// parts is how many transactions a batch could be cut into.
func parts(b *batch) int {
	if !b.span.tied() {
		return len(b.items)
	}
	n := 0
	for i := range b.items {
		if i == 0 || b.items[i].time != b.items[i-1].time || b.items[i].lane != b.items[i-1].lane {
			n++
		}
	}
	return n
}

func (b *batch) size() int {
	n := 0
	for i := range b.items {
		n += b.items[i].size()
	}
	return n
}

// look looks at calls and spans that wait: who is stuck, and what is tried again.
func (f *feed) look(ctx context.Context, group *errgroup.Group) error {
	tick := time.NewTicker(lookEvery)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return ctx.Err()
		case now := <-tick.C:
			f.mu.Lock()
			f.lookAt(ctx, group, now)
			said := f.said
			f.said = nil
			f.mu.Unlock()
			for _, say := range said {
				say()
			}
		}
	}
}

// lookAt is look, once. The feed's mutex is held.
func (f *feed) lookAt(ctx context.Context, group *errgroup.Group, now time.Time) {
	for _, w := range f.state.all() {
		if w.span == nil || w.replaced || now.Sub(w.began) < stuckTime || f.workers >= stuckConnections*f.sink.Connections {
			continue
		}
		w.replaced = true
		w.span.stuck++
		f.addWorker(ctx, group)
	}
	for _, s := range f.spans {
		if why := f.reasonOf(s); why != s.waits {
			s.waits, s.waitsSince = why, now
		}
		if !s.scanning && now.Sub(s.scannedAt) > openTime {
			s.close()
		}
		if s.failed != nil && !s.retryAt.IsZero() && now.After(s.retryAt) {
			f.recover(s)
		}
	}
	f.lookAtSyncPoint(now)
	f.changed.Broadcast()
}
