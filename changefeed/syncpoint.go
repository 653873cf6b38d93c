package changefeed

import (
	"context"
	"fmt"
	"time"

	"tailrace"
)

// syncPatience is how long the tables of a sync point wait for the slowest of them before it is given up: one that is stopped does not stop the others.
const syncPatience = 10 * time.Second

// scheduleSyncPoint sets when the next sync point is due.
func (f *feed) scheduleSyncPoint() { f.syncDue = time.Now().Add(f.sink.SyncEvery) }

// lookAtSyncPoint begins a sync point that is due: nothing after its time is sent until every span has come to it. Then it is recorded. The feed's mutex is held.
func (f *feed) lookAtSyncPoint(now time.Time) {
	switch {
	case f.sink.SyncEvery == 0:
	case f.syncAt == 0 && now.After(f.syncDue) && f.newest > 0:
		f.syncAt, f.syncDue = f.newest, now
	case f.syncAt != 0 && now.Sub(f.syncDue) > syncPatience:
		at := f.syncAt
		f.said = append(f.said, func() {
			f.f.o.Logger.Warn("sync point given up: a table does not come to its time", "sink", f.sink.Name, "time", uint64(at))
		})
		f.endSyncPoint()
	case f.syncAt != 0 && f.syncJob == nil:
		for _, s := range f.spans {
			if s.calls > 0 || s.job != nil || f.reached(s) < f.syncAt {
				return
			}
		}
		f.syncJob = syncJob(f.spans[0], f.syncAt)
	}
}

// syncJob records that the target's tables are equal to those here at a time.
func syncJob(s *span, at tailrace.Time) *job {
	return &job{span: s, at: at, sync: true, work: func(ctx context.Context, _ *feed, conn tailrace.SinkConn) error {
		note := fmt.Sprintf("sync point: equal to the tables here at %d, recorded %s", at, time.Now().UTC().Format(time.RFC3339Nano))
		return conn.Apply(ctx, &tailrace.SinkTxn{Progress: []tailrace.SinkProgress{{Span: 0, Lane: noteSync, Time: at, Note: note}}})
	}}
}

// endSyncPoint lets everything go on.
func (f *feed) endSyncPoint() {
	f.syncAt, f.syncJob = 0, nil
	f.scheduleSyncPoint()
	for _, s := range f.spans {
		f.route(s)
	}
}

// reached is the time at or before which everything of a span is in the target, when what follows waits for a sync point.
func (f *feed) reached(s *span) tailrace.Time {
	if len(s.queue) == 0 {
		return f.frontier(s)
	}
	first := s.queue[0]
	if first.next < len(first.items) && first.pending == len(first.items)-first.next {
		return max(whole(s.applied), first.items[first.next].time-1)
	}
	return whole(s.applied)
}
