package pool

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"runtime"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// running returns a pool of so many workers that runs until the test ends; 0 for one that nobody runs.
func running(t testing.TB, workers int) *Pool {
	t.Helper()
	if workers == 0 {
		return New(4)
	}
	p := New(workers)
	ctx, stop := context.WithCancel(context.Background())
	var under sync.WaitGroup
	under.Go(func() {
		if err := p.Run(ctx); !errors.Is(err, context.Canceled) {
			t.Errorf("Run: got %v, want the context's error", err)
		}
	})
	t.Cleanup(func() { stop(); under.Wait() })
	return p
}

// TestEveryTaskIsDoneOnce with any number of workers, of flights and of owners, tasks that queue others included.
func TestEveryTaskIsDoneOnce(t *testing.T) {
	for _, workers := range []int{0, 1, 2, 8} {
		for _, limit := range []int{0, 1, 2, 5} {
			t.Run(fmt.Sprintf("%d workers, flights of %d", workers, limit), func(t *testing.T) {
				p := running(t, workers)
				var owners sync.WaitGroup
				for range 4 {
					owners.Go(func() { everyTask(t, p, limit) })
				}
				owners.Wait()
				s := p.Stats()
				if want := int64(4 * 2 * 200); s.Tasks != want || s.Failed != 0 || s.Panicked != 0 {
					t.Errorf("got %+v, want %d tasks", s, want)
				}
				if (workers == 0 || limit == 1) && s.Helped != 0 {
					t.Errorf("starved or serial: workers did %d tasks", s.Helped)
				}
			})
		}
	}
}

func everyTask(t *testing.T, p *Pool, limit int) {
	f := p.Flight(t.Context(), limit)
	defer f.Close()
	var inner [200]*Task
	var done [400]atomic.Int32
	var at, most atomic.Int32
	work := func(i int) {
		n := at.Add(1)
		for m := most.Load(); n > m && !most.CompareAndSwap(m, n); m = most.Load() {
		}
		done[i].Add(1)
		at.Add(-1)
	}
	var outer []*Task
	for i := range 200 {
		outer = append(outer, f.Go(int64(i), int64(i%7), func() error {
			inner[i] = f.Go(int64(i), 0, func() error { work(200 + i); return nil })
			work(i)
			return nil
		}))
	}
	for i, task := range outer {
		if err := task.Wait(); err != nil {
			t.Errorf("task %d: %v", i, err)
		}
		if err := inner[i].Wait(); err != nil {
			t.Errorf("task %d's own: %v", i, err)
		}
	}
	for i := range done {
		if n := done[i].Load(); n != 1 {
			t.Errorf("task %d was done %d times", i, n)
		}
	}
	// A task that runs another at once, as a serial flight's do, is counted as two.
	if limit > 1 && int(most.Load()) > limit {
		t.Errorf("%d goroutines at a time, want %d", most.Load(), limit)
	}
}

func TestStarvedFlightRunsInOrder(t *testing.T) {
	f := New(2).Flight(t.Context(), 0)
	defer f.Close()
	var got []string
	add := func(rank, cost int64) *Task {
		return f.Go(rank, cost, func() error { got = append(got, fmt.Sprintf("%d/%d", rank, cost)); return nil })
	}
	last := add(2, 9)
	for _, x := range [][2]int64{{1, 1}, {0, 5}, {1, 3}, {0, 7}, {1, 2}} {
		add(x[0], x[1])
	}
	if err := last.Wait(); err != nil {
		t.Fatal(err)
	}
	if want := []string{"0/7", "0/5", "1/3", "1/2", "1/1", "2/9"}; !slices.Equal(got, want) {
		t.Errorf("got %v, want the smaller rank, then the larger cost: %v", got, want)
	}
	if f.Helped() != 0 {
		t.Errorf("nobody runs the pool, and workers did %d tasks", f.Helped())
	}
}

// TestWorkerTakesTheOldestOfAllFlights once it is free.
func TestWorkerTakesTheOldestOfAllFlights(t *testing.T) {
	p := running(t, 1)
	a, b := p.Flight(t.Context(), 0), p.Flight(t.Context(), 0)
	defer a.Close()
	defer b.Close()
	begun, hold := make(chan bool), make(chan bool)
	a.Go(0, 0, func() error { close(begun); <-hold; return nil })
	<-begun
	var mu sync.Mutex
	var got []string
	var all sync.WaitGroup
	add := func(f *Flight, name string, rank, cost int64) {
		all.Add(1)
		f.Go(rank, cost, func() error {
			defer all.Done()
			mu.Lock()
			defer mu.Unlock()
			got = append(got, name)
			return nil
		})
	}
	add(a, "a5", 5, 0)
	add(a, "a3", 3, 0)
	add(b, "b4", 4, 0)
	add(b, "b3", 3, 1)
	close(hold)
	all.Wait()
	if want := []string{"b3", "a3", "b4", "a5"}; !slices.Equal(got, want) {
		t.Errorf("got %v, want %v", got, want)
	}
}

func TestPanicIsTheTasksError(t *testing.T) {
	for _, limit := range []int{0, 1} {
		for _, workers := range []int{0, 2} {
			p := running(t, workers)
			f := p.Flight(t.Context(), limit)
			bad := f.Go(0, 0, func() error { panic("of the test") })
			good := f.Go(0, 0, func() error { return nil })
			failed := f.Go(0, 0, func() error { return errors.ErrUnsupported })
			var why *Panic
			if err := bad.Wait(); !errors.As(err, &why) || why.Value != "of the test" || !strings.Contains(string(why.Stack), "pool_test.go") {
				t.Errorf("got %v, want a Panic with the stack of the test", err)
			}
			if err := good.Wait(); err != nil {
				t.Errorf("the task after it: %v", err)
			}
			if err := failed.Wait(); !errors.Is(err, errors.ErrUnsupported) {
				t.Errorf("got %v, want the task's error", err)
			}
			f.Close()
			if s := p.Stats(); s.Tasks != 3 || s.Panicked != 1 || s.Failed != 1 {
				t.Errorf("got %+v, want 3 tasks, 1 failed, 1 panicked", s)
			}
		}
	}
}

// TestFaultFailsTasksBeforeOrAfterTheirWork, and counts as their own.
func TestFaultFailsTasksBeforeOrAfterTheirWork(t *testing.T) {
	for _, workers := range []int{0, 2} {
		for _, limit := range []int{0, 1} {
			for _, after := range []bool{false, true} {
				p := running(t, workers)
				p.Fault = func(done bool) error {
					if done == after {
						return errors.ErrUnsupported
					}
					return nil
				}
				f := p.Flight(t.Context(), limit)
				did := false
				if err := f.Go(0, 0, func() error { did = true; return nil }).Wait(); !errors.Is(err, errors.ErrUnsupported) || did != after {
					t.Errorf("%d workers, flight of %d, after %v: got %v, work done %v", workers, limit, after, err, did)
				}
				f.Close()
				if s := p.Stats(); s.Tasks != 1 || s.Failed != 1 {
					t.Errorf("got %+v, want 1 task, failed", s)
				}
			}
		}
	}
}

// TestCancelAtEveryStep ends the context within, or after, the nth task, of 30: Wait returns its error, and nothing runs any more.
func TestCancelAtEveryStep(t *testing.T) {
	for _, workers := range []int{0, 1, 2, 8} {
		p := running(t, workers)
		for step := range 31 {
			ctx, stop := context.WithCancel(t.Context())
			f := p.Flight(ctx, 0)
			var begun, under atomic.Int32
			var tasks []*Task
			for range 30 {
				tasks = append(tasks, f.Go(0, 0, func() error {
					under.Add(1)
					defer under.Add(-1)
					if int(begun.Add(1)) == step {
						stop()
					}
					return nil
				}))
			}
			if step == 0 {
				stop()
			}
			var err error
			for _, task := range tasks {
				if err = task.Wait(); err != nil {
					break
				}
			}
			if step < 30 && !errors.Is(err, context.Canceled) {
				t.Errorf("step %d: got %v, want the context's error", step, err)
			}
			if err != nil && under.Load() != 0 {
				t.Errorf("step %d: %d tasks run after the context's error", step, under.Load())
			}
			f.Close()
			if under.Load() != 0 || f.helpers != 0 || len(f.queue) != 0 {
				t.Errorf("step %d: %d tasks run and %d wait after Close", step, under.Load(), len(f.queue))
			}
			stop()
		}
		if p.mu.Lock(); len(p.flights) != 0 {
			t.Errorf("%d flights are left in the pool", len(p.flights))
		}
		p.mu.Unlock()
	}
}

func TestCloseWaitsAndDrops(t *testing.T) {
	p := running(t, 1)
	f := p.Flight(t.Context(), 0)
	begun, hold := make(chan bool), make(chan bool)
	var ended, dropped atomic.Bool
	f.Go(0, 0, func() error {
		close(begun)
		<-hold
		f.Go(0, 0, func() error { dropped.Store(true); return nil })
		ended.Store(true)
		return nil
	})
	<-begun
	waiting := f.Go(1, 0, func() error { dropped.Store(true); return nil })
	var closer sync.WaitGroup
	closer.Go(func() {
		for closed := false; !closed; runtime.Gosched() {
			p.mu.Lock()
			closed = f.closed
			p.mu.Unlock()
		}
		close(hold)
	})
	f.Close()
	closer.Wait()
	if !ended.Load() || dropped.Load() {
		t.Errorf("Close returned with the task that ran ended %v, one that waited done %v; want true, false", ended.Load(), dropped.Load())
	}
	if err := waiting.Wait(); err == nil {
		t.Error("the task that was dropped has no error")
	}
	if err := f.Go(0, 0, func() error { return nil }).Wait(); err == nil {
		t.Error("a task queued after Close was done")
	}
	f.Close()
}

func TestRandomFlights(t *testing.T) {
	seed := rand.Uint64()
	p := running(t, 3)
	var owners sync.WaitGroup
	for owner := range 6 {
		owners.Go(func() {
			rnd := rand.New(rand.NewPCG(seed, uint64(owner)))
			for range 60 {
				randomFlight(t, p, rnd, seed)
			}
		})
	}
	owners.Wait()
}

// randomFlight queues tasks that take some time, nest, fail and panic, waits for some, and closes or is cancelled.
func randomFlight(t *testing.T, p *Pool, rnd *rand.Rand, seed uint64) {
	ctx, stop := context.WithCancel(t.Context())
	defer stop()
	f := p.Flight(ctx, rnd.IntN(5))
	var under atomic.Int32
	var tasks []*Task
	for range rnd.IntN(30) {
		spin, kind := rnd.IntN(1000), rnd.IntN(20)
		tasks = append(tasks, f.Go(int64(rnd.IntN(4)), int64(spin), func() error {
			under.Add(1)
			defer under.Add(-1)
			for x := range spin {
				_ = x * x
			}
			switch kind {
			case 0:
				return errors.ErrUnsupported
			case 1:
				panic("of the test")
			case 2, 3:
				f.Go(0, 0, func() error { return nil })
			case 4:
				stop()
			}
			return nil
		}))
		if rnd.IntN(4) == 0 {
			tasks[rnd.IntN(len(tasks))].Wait()
		}
	}
	if rnd.IntN(2) == 0 {
		for _, task := range tasks {
			task.Wait()
		}
	}
	f.Close()
	if n := under.Load(); n != 0 {
		t.Errorf("seed %d: %d tasks run after Close", seed, n)
	}
}

func TestNilFlightRunsAtOnce(t *testing.T) {
	var f *Flight
	ran := false
	task := f.Go(3, 4, func() error { ran = true; return errors.ErrUnsupported })
	if !ran || !errors.Is(task.Wait(), errors.ErrUnsupported) {
		t.Errorf("ran %v, error %v; want it done within Go", ran, task.Wait())
	}
	if f.Close(); f.Helped() != 0 {
		t.Error("nobody can have helped")
	}
	var p *Pool
	if g := p.Flight(t.Context(), 0); g.Go(0, 0, func() error { return nil }).Wait() != nil || p.Stats() != (Stats{}) {
		t.Error("a nil pool's flight is not serial")
	}
}
