package shard

import (
	"context"
	"errors"
	"fmt"
	"testing"

	"tailrace"
)

func TestCompactPlanTakesSmallNeighbours(t *testing.T) {
	lim := standardLimits()
	m := planned()
	for i := range tailrace.Time(20) {
		r := sized(100<<10, 10*i, 10*i+10)
		r.parts[0].key = fmt.Sprint(i)
		m.history = append(m.history, r)
	}
	m.folded = 119 // up to run 11
	want := func(what string, from, n int) {
		t.Helper()
		got := compactPlan(m, lim)
		if len(got) != n || (n > 0 && got[0] != m.history[from]) {
			t.Errorf("%s: got %d runs, want %d from %d on", what, len(got), n, from)
		}
	}
	want("small runs", 0, 12)
	m.history[3] = sized(5<<20, 30, 40)
	want("a large one among them", 4, 8)
	m.folded = 109
	want("too few", 0, 0)
	m.folded, m.history[3] = 189, sized(100<<10, 30, 31)
	want("a run of one time is taken in", 0, 19)
	m.history[3] = sized(5<<20, 30, 60) // with a run of one time inside
	m.history[5] = sized(100<<10, 50, 51)
	want("not from inside a large one", 6, 13)
	lim.historyRows = 10
	want("at most so many rows", 6, 10)
}

// TestCompactedHistoryReadsTheSame compares Listen and snapshots of old times before and after compaction, and counts runs.
func TestCompactedHistoryReadsTheSame(t *testing.T) {
	ctx := context.Background()
	for _, keyed := range []bool{true, false} {
		w := newWorld(t, 5, keyed)
		for range 12 {
			w.write(ctx, 4)
			w.write(ctx, 4)
			w.try("flush", w.shard().flush(ctx, w.commit, 1))
			w.try("merge", w.shard().merge(ctx, w.commit))
		}
		runs := len(w.shard().current().history)
		w.alter()
		before := w.listened(ctx)
		for range 5 {
			w.try("compact", w.shard().compact(ctx, w.commit))
		}
		if got := len(w.shard().current().history); got > runs/2 {
			t.Errorf("keyed %v: got %d runs of %d", keyed, got, runs)
		}
		if got := w.listened(ctx); got != before {
			t.Errorf("keyed %v: listen after compaction:\n%s\nwant\n%s", keyed, got, before)
		}
		for range 20 {
			w.checkSnapshot(ctx)
			w.checkListen(ctx)
			w.checkLookup(ctx)
		}
		w.checkNoOrphans(ctx)
	}
}

// listened is every update, printed.
func (w *world) listened(ctx context.Context) string {
	out := ""
	err := w.shard().Listen(ctx, w.shard().Since(), w.set.Upper(), nil, func(b *tailrace.Batch) error {
		for i := range b.N {
			out += fmt.Sprintln(b.Times[i], b.Diff(i), show(b, i))
		}
		return nil
	})
	if err != nil {
		w.fatal("listen: %v", err)
	}
	return out
}

func TestCompactedErrorNamesTheOldestTime(t *testing.T) {
	ctx := context.Background()
	w := newWorld(t, 6, true)
	w.write(ctx, 5)
	w.write(ctx, 5)
	w.moveSince(ctx)
	oldest := w.shard().Since()
	_, snapshot := w.shard().Snapshot(ctx, SnapshotOptions{AsOf: oldest - 1})
	listen := w.shard().Listen(ctx, oldest-1, w.now, nil, nil)
	for _, err := range []error{snapshot, listen} {
		var e *CompactedError
		if !errors.As(err, &e) || !errors.Is(err, ErrCompacted) || e.Oldest != oldest || e.Time != oldest-1 {
			t.Errorf("got %v, want a CompactedError with oldest time %d", err, oldest)
		}
	}
}
