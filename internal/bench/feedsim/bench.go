package feedsim

import (
	"fmt"
	"io"
	"math"
	"runtime"
	"strings"
	"sync"
	"time"
)

// Bench is `tailrace bench feed --virtual`.
type Bench struct {
	Full   bool
	Quick  int    // every duration of the workload is divided by it; 0 is 1
	Seed   uint64 // of the workload
	Broken string // what is broken on purpose in C, for tests: "credit", "refused", "flush"
	Only   func(Case) bool
}

// Criterion is something that must hold.
type Criterion struct {
	Name  string  `json:"name"`
	Value float64 `json:"value"`
	Want  string  `json:"want"`
	Met   bool    `json:"met"`
}

// Result is what a Bench came to.
type Result struct {
	Bench      string      `json:"bench"`
	Settings   string      `json:"settings"`
	Runs       []*Run      `json:"runs"`
	FenceRatio float64     `json:"fence_ratio"` // sink rows of A against B, S3
	OursRatio  float64     `json:"ours_ratio"`  // the lowest of C against B over H, S2, S3
	GapS       float64     `json:"gap_s"`       // of C in H, the redo branch
	Isolation  float64     `json:"isolation"`   // the least, C in B1 and B3
	PeakRatio  float64     `json:"peak_ratio"`  // the largest of C: (peak resident - one item) / pool
	RedoLagS   float64     `json:"redo_lag_s"`  // the largest, C in B2
	Criteria   []Criterion `json:"criteria"`
}

// Failed lists the criteria that are not met.
func (r *Result) Failed() (out []string) {
	for _, c := range r.Criteria {
		if !c.Met {
			out = append(out, fmt.Sprintf("%s: got %.3g, want %s", c.Name, c.Value, c.Want))
		}
	}
	return out
}

const (
	pool       = 96 // MiB
	flushEvery = 2 * time.Second
)

// cases are the runs.
func (b *Bench) cases() (out []Case) {
	add := func(scheduler, scenario string, mib int, bytes bool, every time.Duration) {
		c := Case{Scheduler: scheduler, Scenario: scenario, PoolMiB: mib, BatchBytes: bytes, Quick: max(1, b.Quick), Seed: b.Seed, Redo: every}
		if scheduler == "C" {
			c.Broken = b.Broken
		}
		if b.Only == nil || b.Only(c) {
			out = append(out, c)
		}
	}
	scenarios := []string{"H", "S2", "S3", "B1", "B2", "B3"}
	for _, scheduler := range []string{"A", "B", "C"} {
		for _, scenario := range scenarios {
			add(scheduler, scenario, pool, true, flushEvery)
		}
	}
	for _, mib := range []int{24, 12} {
		add("C", "H", mib, true, flushEvery)
	}
	if b.Full {
		for _, scheduler := range []string{"A", "B", "C"} {
			for _, scenario := range scenarios {
				add(scheduler, scenario, pool, false, flushEvery)
			}
			for _, scenario := range []string{"R2", "R3", "E"} {
				add(scheduler, scenario, pool, true, flushEvery)
			}
			add(scheduler, "H", pool, true, 200*time.Millisecond)
		}
	}
	return out
}

// Run runs all cases, as many at once as there are cores.
func (b *Bench) Run(log io.Writer) *Result {
	w := newWorkload(max(1, b.Quick), b.Seed)
	cases := b.cases()
	r := &Result{Bench: "feed-virtual", Settings: fmt.Sprintf("%d rows of %d tables in %s of virtual time, seed %d", w.total, len(w.tables), w.length, b.Seed), Runs: make([]*Run, len(cases))}
	var wg sync.WaitGroup
	slots := make(chan struct{}, runtime.GOMAXPROCS(0))
	var mu sync.Mutex
	for n, c := range cases {
		wg.Add(1)
		slots <- struct{}{}
		go func() {
			defer wg.Done()
			defer func() { <-slots }()
			began := time.Now()
			r.Runs[n] = run(c, w)
			mu.Lock()
			defer mu.Unlock()
			fmt.Fprintf(log, "%s %-2s %2d MiB  %6.0f rows/s  gap %6.2f s  lag p95 %6.2f s, peak %6.2f  redo lag %5.2f s  cold %5.2f s  resident %5.1f MiB  (%.1f s)\n", c.Scheduler, c.Scenario, c.PoolMiB,
				r.Runs[n].SinkRowsPerS, r.Runs[n].GapS, r.Runs[n].LagP95S, r.Runs[n].LagPeakS, r.Runs[n].RedoLagS, r.Runs[n].ColdLagP99S, r.Runs[n].PeakResident, time.Since(began).Seconds())
		}()
	}
	wg.Wait()
	r.conclude(w, b)
	return r
}

// find is a run of the default kind, nil when it was not asked for.
func (r *Result) find(scheduler, scenario string, mib int) *Run {
	for _, x := range r.Runs {
		if x.Scheduler == scheduler && x.Scenario == scenario && x.PoolMiB == mib && x.BatchBytes {
			return x
		}
	}
	return nil
}

func (r *Result) check(name string, value float64, want string, met bool) {
	r.Criteria = append(r.Criteria, Criterion{name, value, want, met})
}

func (r *Result) atLeast(name string, value, limit float64) {
	r.check(name, value, fmt.Sprintf(">= %g", limit), value >= limit)
}

func (r *Result) atMost(name string, value, limit float64) {
	r.check(name, value, fmt.Sprintf("<= %g", limit), value <= limit)
}

// conclude derives the ratios and the criteria from the runs.
func (r *Result) conclude(w *workload, b *Bench) {
	quick := float64(max(1, b.Quick))
	ratio := func(a, b *Run) float64 { // two digits: who still has some of the backlog when the measure begins sends that besides the input
		if a == nil || b == nil || b.SinkRowsPerS == 0 {
			return 0
		}
		return math.Round(100*a.SinkRowsPerS/b.SinkRowsPerS) / 100
	}
	if a, without := r.find("A", "S3", pool), r.find("B", "S3", pool); a != nil && without != nil {
		r.FenceRatio = ratio(a, without)
		r.atMost("harness: A shows the fault, sink rows of A against B in S3", r.FenceRatio, 0.5)
		r.atLeast("harness: A shows the fault, median gap of A in S3, s", a.GapS, 30/quick)
	}
	r.OursRatio = 1e9
	for scenario, least := range map[string]float64{"H": 1, "S2": 1, "S3": 0.98} {
		if ours, peer := r.find("C", scenario, pool), r.find("B", scenario, pool); ours != nil && peer != nil {
			r.OursRatio = min(r.OursRatio, ratio(ours, peer))
			r.atLeast(scenario+": sink rows of C against B", ratio(ours, peer), least)
		}
	}
	if r.OursRatio == 1e9 {
		r.OursRatio = 0
	}
	if h := r.find("C", "H", pool); h != nil {
		r.GapS = h.GapRedoS
		r.atMost("H: median gap of C, s", h.GapRedoS, 1)
		if peer := r.find("B", "H", pool); peer != nil {
			r.atMost("H: catch-up of C against B", h.CatchUpS/max(0.1, peer.CatchUpS), 1.01)
		}
	}
	loop := flushEvery.Seconds() + 0.5
	if s3 := r.find("C", "S3", pool); s3 != nil {
		r.atMost("S3: lag of the tables that are not slow, s", s3.OthersLagS, loop+1)
		if a := r.find("A", "S3", pool); a != nil {
			r.atLeast("S3: sink rows of C against A", ratio(s3, a), 3)
		}
	}
	if s2 := r.find("C", "S2", pool); s2 != nil {
		r.atMost("S2: p99 lag of cold tables, s", s2.ColdLagP99S, loop+1)
	}
	r.isolate(w)
	if b2 := r.find("C", "B2", pool); b2 != nil {
		r.RedoLagS = b2.RedoLagS
		r.atMost("B2: redo lag, s", b2.RedoLagS, flushEvery.Seconds()+2)
	}
	for _, x := range r.Runs {
		if x.Scheduler != "C" {
			continue
		}
		r.PeakRatio = max(r.PeakRatio, float64(x.peak-handBytes)/float64(x.PoolMiB<<20))
		if bad := x.Lost + x.Doubled + x.Disordered + x.Resets + x.Drops; bad > 0 {
			r.check(fmt.Sprintf("%s %d MiB: lost, doubled, disordered", x.Scenario, x.PoolMiB), float64(bad), "0", false)
		}
		if strings.HasPrefix(x.Scenario, "B") && x.Scenario != "B2" {
			r.atMost(x.Scenario+": windows of 30 s without a row", float64(x.EmptyWindows), 0)
		}
		if full := r.find("C", "H", pool); x.PoolMiB < pool && full != nil {
			r.atLeast(fmt.Sprintf("H, %d MiB: sink rows against %d MiB", x.PoolMiB, pool), ratio(x, full), 0.98)
		}
	}
	r.atMost("peak resident of C against its pool", r.PeakRatio, 1)
}

// isolate compares what tables that are not blocked got while others were, with the run in which none was.
func (r *Result) isolate(w *workload) {
	free := r.find("C", "H", pool)
	r.Isolation = 1e9
	for scenario, blocked := range map[string][]int{"B1": {stock}, "B3": {stock, customer}} {
		x := r.find("C", scenario, pool)
		if x == nil || free == nil {
			continue
		}
		x.Isolation = 1e9
		for n := range w.tables {
			if free.blocked[n] < 30 || n == blocked[0] || n == blocked[len(blocked)-1] {
				continue
			}
			x.Isolation = min(x.Isolation, float64(x.blocked[n])/float64(free.blocked[n]))
		}
		r.Isolation = min(r.Isolation, x.Isolation)
		r.atLeast(scenario+": isolation", x.Isolation, 0.95)
	}
	if r.Isolation == 1e9 {
		r.Isolation = 0
	}
}
