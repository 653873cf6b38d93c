package shard

import (
	"testing"
	"time"

	"tailrace"
)

func sized(size int64, lower, upper tailrace.Time) *run {
	return &run{lower: lower, upper: upper, order: []tailrace.ColumnID{1}, parts: []*part{{key: "p", size: size, rows: 1}}}
}

func planned() *manifest {
	return newManifest(&tailrace.Schema{Fields: []tailrace.Field{{ID: 1, Type: tailrace.TypeOf(tailrace.KindInt4)}}}, time.Second, 10)
}

func TestMergePlanTakesInRunsOfLikeSize(t *testing.T) {
	lim := standardLimits()
	m := planned()
	m.state = []*run{sized(100<<20, 0, 0), sized(5<<20, 0, 0), sized(3<<20, 0, 0)}
	m.history = []*run{sized(2<<20, 20, 30)}
	j := mergePlan(m, 31, lim)
	if j == nil || j.keep != 1 || j.from != 9 || j.to != 30 || len(j.history) != 1 {
		t.Fatalf("got %+v, want the two small runs and the history up to 30", j)
	}
	m.history = []*run{sized(60<<20, 20, 30)}
	if j := mergePlan(m, 31, lim); !j.whole() {
		t.Fatalf("got keep %d, want all merged with history of 60 MiB", j.keep)
	}
	m.history = []*run{sized(1<<10, 20, 30)}
	if j := mergePlan(m, 31, lim); j != nil {
		t.Fatalf("got %+v, want no merge of a kibibyte", j)
	}
}

func TestMergePlanStopsBelowTheMemtable(t *testing.T) {
	m := planned()
	m.history = []*run{sized(2<<20, 20, 21), sized(2<<20, 40, 41)}
	m.mem = []*memBatch{{time: 35}}
	j := mergePlan(m, 51, standardLimits())
	if j == nil || j.to != 34 || len(j.history) != 1 {
		t.Fatalf("got %+v, want history up to 34 only", j)
	}
	if plan := flushPlan(m, 51, 1<<30, standardLimits()); len(plan) != 1 {
		t.Fatalf("flush plan: got %d runs, want the memtable that blocks a merge flushed", len(plan))
	}
}

func TestMergePlanRewritesRunsInAnOldOrder(t *testing.T) {
	m := planned()
	old := sized(100<<20, 0, 0)
	old.order = []tailrace.ColumnID{9, 1}
	m.state = []*run{old, sized(1<<20, 0, 0)}
	if j := mergePlan(m, 31, standardLimits()); j == nil || !j.whole() {
		t.Fatalf("got %+v, want the state written anew", j)
	}
}

func TestFlushPlanCutsAtTimes(t *testing.T) {
	m := planned()
	lim := standardLimits()
	lim.run = 10
	for _, at := range []tailrace.Time{11, 11, 11, 12, 13, 14} {
		m.mem = append(m.mem, &memBatch{time: at, raw: make([]byte, 6)})
		m.memSize += 6
	}
	plan := flushPlan(m, 14, 1, lim)
	var got []int
	for _, p := range plan {
		got = append(got, len(p))
	}
	if len(got) != 2 || got[0] != 3 || got[1] != 2 {
		t.Fatalf("batches per run: got %v, want [3 2]: 11 whole, then 12 and 13", got)
	}
	if flushPlan(m, 14, 1000, lim) != nil {
		t.Fatal("a memtable below the threshold is flushed")
	}
}

func TestSincePlan(t *testing.T) {
	m := planned()
	s := tailrace.Time(time.Second.Microseconds())
	for _, c := range []struct {
		upper  tailrace.Time
		leases []tailrace.Time
		holds  map[string]tailrace.Time
		want   tailrace.Time
	}{
		{5, nil, nil, 10},
		{s + 100, nil, nil, 99},
		{s + 100, []tailrace.Time{50, 70}, nil, 50},
		{s + 100, []tailrace.Time{50}, map[string]tailrace.Time{"a": 40}, 40},
		{s + 100, []tailrace.Time{2}, nil, 10},
	} {
		m.holds = c.holds
		if got := sincePlan(m, c.upper, c.leases); got != c.want {
			t.Errorf("upper %d, leases %v, holds %v: got %d, want %d", c.upper, c.leases, c.holds, got, c.want)
		}
	}
}

// TestOldRecordsChangeNothing: a flush or merge made for another manifest is refused by all nodes alike.
func TestOldRecordsChangeNothing(t *testing.T) {
	m := planned()
	if _, ok := m.withFlush(&flushRecord{lower: 9, upper: 12}); ok {
		t.Error("a flush of another memtable was taken")
	}
	if _, ok := m.withMerge(&mergeRecord{merges: 1, folded: 12}); ok {
		t.Error("a merge of another state was taken")
	}
	if _, ok := m.withMerge(&mergeRecord{folded: 12, keep: 1}); ok {
		t.Error("a merge that keeps runs that are not there was taken")
	}
}
