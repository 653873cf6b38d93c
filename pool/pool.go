package pool

import (
	"context"
	"math"
	"runtime"
	"sync"
	"sync/atomic"
)

// Pool is the workers of a process and what waits for them. Any number of goroutines may call it. A nil *Pool is one without workers.
type Pool struct {
	// Fault, when set, is called by each task of the pool before its work, with false, and after it, with true. Its error or panic is the task's: for tests, which set
	// it before the first flight.
	Fault func(done bool) error

	workers int
	stats   counters

	mu      sync.Mutex // for memory only
	work    sync.Cond  // a task may have become free for a worker
	idle    int        // workers that wait for work
	come    uint64     // tasks queued so far
	flights []*Flight  // those with tasks that wait
}

// counters are Stats as they grow.
type counters struct {
	tasks, helped, failed, panicked atomic.Int64
}

// Stats count tasks since the pool was made. Tasks that a cancel or a Close dropped are in none of them.
type Stats struct {
	Tasks    int64 // done, by whomever
	Helped   int64 // of Tasks: by workers, not by the flight's owner
	Failed   int64 // of Tasks: returned an error, unless their flight was cancelled
	Panicked int64 // of Tasks: panicked
}

// New returns a pool of so many workers; 0 is one for each core, runtime.GOMAXPROCS. It starts nothing; see Run.
func New(workers int) *Pool {
	if workers <= 0 {
		workers = runtime.GOMAXPROCS(0)
	}
	p := &Pool{workers: workers}
	p.work.L = &p.mu
	return p
}

// Workers is how many goroutines Run has.
func (p *Pool) Workers() int {
	if p == nil {
		return 0
	}
	return p.workers
}

// Run is the workers: it does tasks until ctx ends, waits for those that are under way, and returns ctx's error. Flights go on without it.
func (p *Pool) Run(ctx context.Context) error {
	stop := context.AfterFunc(ctx, func() {
		p.mu.Lock()
		defer p.mu.Unlock()
		p.work.Broadcast()
	})
	defer stop()
	var workers sync.WaitGroup
	for range p.workers {
		workers.Go(func() { p.help(ctx) })
	}
	workers.Wait()
	return ctx.Err()
}

// help is one worker.
func (p *Pool) help(ctx context.Context) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for ctx.Err() == nil {
		f := p.first()
		if f == nil {
			p.idle++
			p.work.Wait()
			p.idle--
			continue
		}
		t := f.take()
		f.helpers++
		if p.idle > 0 && p.first() != nil {
			p.work.Signal() // and that one wakes the next, if there is more
		}
		p.mu.Unlock()
		t.run()
		p.mu.Lock()
		f.helpers--
		f.helped.Add(1)
		p.stats.helped.Add(1)
		f.settled(t)
	}
}

// first is the flight whose first task a worker does next, nil when there is none. The flights that wait are as many as loads and flushes are under way: few.
func (p *Pool) first() *Flight {
	var best *Flight
	for _, f := range p.flights {
		if f.helpers < f.helpersMax && (best == nil || f.queue[0].before(best.queue[0])) {
			best = f
		}
	}
	return best
}

// Stats returns the counters now.
func (p *Pool) Stats() Stats {
	if p == nil {
		return Stats{}
	}
	return Stats{
		Tasks: p.stats.tasks.Load(), Helped: p.stats.helped.Load(), Failed: p.stats.failed.Load(), Panicked: p.stats.panicked.Load(),
	}
}

// Flight opens a flight. workers is how many goroutines work for it at a time, the owner, which is the caller, included: 0 for all, 1 for the owner
// alone. The owner calls Close at the end. ctx bounds the flight.
func (p *Pool) Flight(ctx context.Context, workers int) *Flight {
	f := &Flight{pool: p, err: ctx.Err}
	switch {
	case p == nil || workers == 1:
		return f
	case workers <= 0:
		workers = math.MaxInt
	}
	f.helpersMax = workers - 1
	f.moved.L = &p.mu
	return f
}
