package feedsim

import (
	"math/rand/v2"
	"slices"
	"time"
)

// Case is one run.
type Case struct {
	Scheduler  string // A, B or C
	Scenario   string
	PoolMiB    int
	BatchBytes bool // slices are handed on by bytes, else by count
	Quick      int  // every duration is divided by it
	Seed       uint64
	Redo       time.Duration // flush interval
	Broken     string        // what is broken on purpose: "credit", "refused", "flush"
}

const (
	scanners    = 4
	scanCall    = 50 * time.Microsecond
	scanRow     = time.Microsecond
	resolveEach = 100 * time.Millisecond
	resolveLag  = 150 * time.Millisecond
)

// feed is what the three schedulers share: tables, target, redo log, and how far each table is.
type feed struct {
	Case
	engine
	w      *workload
	target *target
	redo   *redoLog
	states []*state
	figures
}

// state is one table's.
type state struct {
	id        int
	received  int   // rows known
	resolved  int64 // time known
	redoSent  int   // rows given to the redo log
	redone    int   // rows durable there
	sent      int   // rows given to the target
	applied   int   // rows durable there, without a gap
	flying    []*delivery
	rowsSince int // counts of rows, for isolation
}

// driver decides who reads.
type driver interface {
	resolve()                                // every table's resolved time has moved
	redone(p redoPiece)                      // the redo log has more
	applied(d *delivery, rows int)           // the target has more
	resident() (bytes int64)                 // that are in memory
	counts() (scans, refused, decoded int64) // decoded in bytes
}

func newFeed(c Case, w *workload) *feed {
	f := &feed{Case: c, w: w, engine: engine{rng: rand.New(rand.NewPCG(c.Seed, 7))}}
	f.target = newTarget(&f.engine, w, c.Scenario, c.Quick)
	f.redo = &redoLog{e: &f.engine, every: c.Redo, bandwidth: redoBandwidth, outage: c.Scenario == "R3"}
	if c.Scenario == "R2" {
		f.redo.bandwidth = 0.95 * 15500 * 277
	}
	for n := range w.tables {
		f.states = append(f.states, &state{id: n})
	}
	return f
}

// run runs a case and returns its figures.
func run(c Case, w *workload) *Run {
	f := newFeed(c, w)
	var d driver
	if c.Scheduler == "C" {
		d = newOurs(f)
	} else {
		d = newFence(f, c.Scheduler == "A")
	}
	f.redo.acked = func(p redoPiece) {
		s := f.states[p.table]
		s.redone = max(s.redone, p.end)
		d.redone(p)
	}
	f.target.acked = func(dl *delivery, rows int) {
		s := f.states[dl.table]
		s.rowsSince += rows
		for len(s.flying) > 0 && s.flying[0].left == 0 {
			s.applied, s.flying = s.flying[0].end, s.flying[1:]
		}
		d.applied(dl, rows)
	}
	var tick func()
	tick = func() {
		for _, s := range f.states {
			s.resolved = (f.now - resolveLag).Microseconds()
			s.received = w.tables[s.id].upTo(s.resolved)
		}
		d.resolve()
		f.sample(f, d)
		f.after(resolveEach, tick)
	}
	f.after(0, tick)
	f.run(w.length)
	f.drain(w)
	return f.report(f, d)
}

// drain lets everything come to the target after the end, for the final comparison, as long as something comes.
func (f *feed) drain(w *workload) {
	for had := int64(-1); had < f.target.rows && slices.ContainsFunc(f.states, func(s *state) bool { return s.applied < len(w.tables[s.id].at) }); {
		had = f.target.rows
		f.run(f.now + 30*time.Second)
	}
}
