package tail

import (
	"context"
	"testing"

	"github.com/cockroachdb/datadriven"

	"tailrace"
)

// TestSubscriptionsAreACollection: a subscription of the running subscriptions sees itself, others come and go, each at a time of the log that no earlier
// progress row had promised away, and resumes like any other.
func TestSubscriptionsAreACollection(t *testing.T) {
	ctx := context.Background()
	w := newWorld(t, &datadriven.TestData{CmdArgs: []datadriven.CmdArg{{Key: "a"}}})
	subscribe := func(r Request) *Subscription {
		r.Now = w.tail.Newest()
		s, err := w.tail.Subscribe(ctx, r)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { s.Close() })
		return s
	}
	progress := tailrace.Time(0)
	watch := subscribe(Request{Table: SubscriptionsTable, Snapshot: true, Progress: true})
	// diffs fetches what is there and returns the diffs of its rows.
	diffs := func(s *Subscription) (out []int64) {
		t.Helper()
		rows, _, err := s.Fetch(ctx, -1, 0)
		if err != nil {
			t.Fatal(err)
		}
		for i := range rows.N {
			at := tailrace.Time(tailrace.DecimalBig(rows.Cols[0].Bytes(i)).Uint64())
			if s == watch && at < progress {
				t.Errorf("a row at %d after progress %d", at, progress)
			}
			if rows.Cols[1].Bytes(i)[0] == 1 {
				progress = max(progress, at)
				continue
			}
			out = append(out, rows.Cols[2].Int64s()[i])
		}
		return out
	}
	want := func(what string, got []int64, want ...int64) {
		t.Helper()
		if len(got) != len(want) || len(got) > 0 && got[0] != want[0] {
			t.Errorf("%s: got %v, want %v", what, got, want)
		}
	}
	want("before the next entry", diffs(watch))
	w.apply(w.tail.Newest()+10, nil, nil)
	want("itself", diffs(watch), 1)
	other := subscribe(Request{Table: w.table, Snapshot: true})
	want("another, without a time yet", diffs(watch))
	w.apply(w.tail.Newest()+10, nil, nil)
	want("another", diffs(watch), 1)
	from := w.tail.Newest()
	other.Close()
	w.apply(w.tail.Newest()+10, nil, nil)
	want("and gone", diffs(watch), -1)
	again := subscribe(Request{Table: SubscriptionsTable, Progress: true, AsOf: &from})
	want("resumed before it went", diffs(again), -1)
	both := subscribe(Request{Table: SubscriptionsTable, Snapshot: true, Progress: true, AsOf: &from})
	want("a snapshot of then", diffs(both)[:2], 1, 1)
}
