package changefeed

import (
	"context"

	"tailrace"
	"tailrace/schedule"
	"tailrace/steps"
)

// job is work for which a span stands still: nothing of it is on its way while the job runs, and nothing is read.
type job struct {
	span  *span
	at    tailrace.Time // everything before it is in the target
	loads bool          // it may take long: not all connections do such work at once
	sync  bool          // it records a sync point: it is of all spans
	work  func(ctx context.Context, f *feed, conn tailrace.SinkConn) error
	// then is called when the work is done, with the feed's mutex held: where the span goes on.
	then func(f *feed) schedule.Position
}

func (j *job) run(ctx context.Context, f *feed, conn tailrace.SinkConn) error {
	return j.work(ctx, f, conn)
}

// jobDone lets the span go on. The feed's mutex is held.
func (f *feed) jobDone(s *span, j *job) {
	at := j.then(f)
	s.job, s.pause = nil, 0
	f.moved = true
	if whole(at) > whole(s.read) {
		s.rewind(at)
		f.sched.Remove(f.now(), s.id)
		f.sched.Add(f.now(), s.id, [2]schedule.Position{at, at})
		s.read, s.applied = at, at
		s.end = max(s.end, whole(at))
	}
	f.sched.Pause(f.now(), s.id, f.held(s))
	f.sched.Readable(f.now(), s.id, max(s.end, f.newest), true)
	s.end = max(s.end, f.newest)
}

// hugeJob sends the updates of one time that are too many to be held together, in one open transaction of the target: first all that goes, then all that comes.
func hugeJob(s *span, t tailrace.Time) *job {
	return &job{
		span: s, at: t, loads: true,
		work: func(ctx context.Context, f *feed, conn tailrace.SinkConn) error { return s.sendHuge(ctx, f, conn, t) },
		then: func(*feed) schedule.Position { return schedule.Position{Time: t} },
	}
}

// sendHuge is the work of hugeJob.
func (s *span) sendHuge(ctx context.Context, f *feed, conn tailrace.SinkConn, t tailrace.Time) error {
	if err := conn.Begin(ctx); err != nil {
		return err
	}
	err := s.addHuge(ctx, f, conn, t)
	if err != nil {
		_ = conn.Rollback() // err says more
		return err
	}
	return conn.Commit(ctx, []tailrace.SinkProgress{{Span: s.id, Lane: noteHuge, Time: t, Note: "whole"}})
}

// addHuge adds the steps of the time in the order of steps.Order.
func (s *span) addHuge(ctx context.Context, f *feed, conn tailrace.SinkConn, t tailrace.Time) error {
	for n := len(s.tables) - 1; n >= 0; n-- {
		if err := s.addPass(ctx, f, conn, s.tables[n], t, func(tb *table, st *tailrace.SinkStep) bool { return st.Kind == tailrace.SinkDelete && !tb.late() }); err != nil {
			return err
		}
	}
	for _, tb := range s.tables {
		if err := s.addPass(ctx, f, conn, tb, t, func(_ *table, st *tailrace.SinkStep) bool { return st.Kind != tailrace.SinkDelete }); err != nil {
			return err
		}
	}
	for n := len(s.tables) - 1; n >= 0; n-- {
		if err := s.addPass(ctx, f, conn, s.tables[n], t, func(tb *table, st *tailrace.SinkStep) bool { return st.Kind == tailrace.SinkDelete && tb.late() }); err != nil {
			return err
		}
	}
	return nil
}

// late tells that deletes of the table come last.
func (tb *table) late() bool { return steps.Late(tb.target, len(tb.referee) > 0) }

// addPass adds those steps of a table's updates at one time that are wanted.
func (s *span) addPass(ctx context.Context, f *feed, conn tailrace.SinkConn, tb *table, t tailrace.Time, wanted func(*table, *tailrace.SinkStep) bool) error {
	r := reader{tail: f.f.o.Tail, id: tb.id, schema: tb.reader.schema, at: schedule.Position{Time: t - 1}}
	defer r.close()
	for {
		_, ok, err := r.peek(ctx, t)
		if err != nil || !ok {
			return err
		}
		b, from, to := r.take(t, batchRows)
		list, err := hugeSteps(tb, b, from, to)
		if err != nil {
			return err
		}
		for i := range list {
			if wanted(tb, &list[i]) {
				if err := conn.Add(ctx, &list[i]); err != nil {
					return err
				}
			}
		}
	}
}

// hugeSteps are the steps of a piece of a huge time. Where the target has more unique keys, all old rows go before any comes: a value may move between rows of different
// pieces.
func hugeSteps(tb *table, b *tailrace.Batch, from, to int) ([]tailrace.SinkStep, error) {
	list, err := steps.Of(tb.target, steps.Updates{Batch: b, From: from, To: to})
	if err != nil || len(tb.target.Unique) == 0 || len(tb.reader.schema.Key) == 0 {
		return list, err
	}
	var old []int32
	for i := from; i < to; i++ {
		if b.Diff(i) < 0 {
			old = append(old, int32(i))
		}
	}
	gone, err := steps.Of(tb.target, steps.All(b.Gather(old)))
	if err != nil {
		return nil, err
	}
	for _, st := range list {
		if st.Kind != tailrace.SinkDelete {
			gone = append(gone, st)
		}
	}
	return gone, nil
}
