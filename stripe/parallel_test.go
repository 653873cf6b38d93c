package stripe

import (
	"bytes"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"pgregory.net/rapid"

	"tailrace"
	"tailrace/pool"
)

// crew is a way to have tasks done.
type crew struct {
	name    string
	flight  *pool.Flight
	panics  bool // each task panics when it is first done
	workers int  // that may help
}

// crews opens flights of every kind; end closes them.
func crews(ctx context.Context) (all []crew, end func()) {
	ctx, cancel := context.WithCancel(ctx)
	var running sync.WaitGroup
	open := func(name string, workers, most int, run, panics bool) {
		p := pool.New(workers)
		c := crew{name: name, flight: p.Flight(ctx, most), panics: panics}
		if run {
			c.workers = workers
			running.Go(func() { _ = p.Run(ctx) }) // ends with cancel
		}
		all = append(all, c)
	}
	open("serial flight", 2, 1, true, false)
	open("1 worker", 1, 0, true, false)
	open("2 workers", 2, 0, true, false)
	open("8 workers", 8, 0, true, false)
	open("starved pool", 2, 0, false, false)
	open("2 workers that panic", 2, 0, true, true)
	open("starved pool that panics", 2, 0, false, true)
	return all, func() {
		for _, c := range all {
			c.flight.Close()
		}
		cancel()
		running.Wait()
	}
}

// panicOnce is a Fault that panics once in every chunk: in some in the verdict, in others in a page.
func panicOnce() func(int, int, int) error {
	var seen sync.Map
	return func(stripe, chunk, page int) error {
		if page != chunk%3-1 {
			return nil
		}
		if _, again := seen.LoadOrStore([2]int{stripe, chunk}, true); !again {
			panic(fmt.Sprintf("injected into stripe %d, chunk %d, page %d", stripe, chunk, page))
		}
		return nil
	}
}

func TestBytesDoNotDependOnWhoEncodes(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		s, b, opts, rng := drawPart(rt)
		if rapid.Bool().Draw(rt, "filters") {
			opts.Filters = ids(s)
		}
		want := sha256.Sum256(write(t, s, b, opts, whole))
		all, end := crews(t.Context())
		defer end()
		most := rapid.SampledFrom([]int{7, 200, 2000, 20000}).Draw(rt, "most updates of a batch")
		for _, c := range all {
			o := opts
			if c.panics {
				o.Fault = panicOnce()
			}
			got, err := encodeBatch(s, b, o, c.flight, func() int { return 1 + rng.IntN(most) })
			if err != nil {
				rt.Fatalf("%s: %v", c.name, err)
			}
			if sha256.Sum256(got) != want {
				rt.Fatalf("%s: other bytes than the plain loop", c.name)
			}
			if c.workers == 0 && c.flight.Helped() != 0 {
				rt.Fatalf("%s: %d tasks helped with, want 0", c.name, c.flight.Helped())
			}
		}
		if out := pageBuffers.out.Load(); out != 0 {
			rt.Fatalf("%d page buffers are out, want 0", out)
		}
	})
}

// TestWorkersHelp: two pieces of work are in progress at one time, so that one of them is a worker's.
func TestWorkersHelp(t *testing.T) {
	s, b := wideBatch(20_000)
	p := pool.New(2)
	ctx, cancel := context.WithCancel(t.Context())
	var running sync.WaitGroup
	running.Go(func() { _ = p.Run(ctx) })
	defer running.Wait()
	defer cancel()
	f := p.Flight(ctx, 0)
	defer f.Close()
	var begun atomic.Int64
	both := make(chan struct{})
	opts := Options{StripeRows: 10_000, Fault: func(int, int, int) error {
		switch begun.Add(1) {
		case 1:
			<-both
		case 2:
			close(both)
		}
		return nil
	}}
	if _, err := encodeBatch(s, b, opts, f, nil); err != nil {
		t.Fatal(err)
	}
	if got := f.Helped(); got == 0 {
		t.Errorf("got %d tasks that workers did of %d, want some", got, p.Stats().Tasks)
	}
}

func TestFaultThatStaysIsTheLowestColumnsError(t *testing.T) {
	s, b := wideBatch(3000)
	for _, x := range []struct {
		fault func(stripe, chunk, page int) bool
		want  string
	}{
		{func(stripe, chunk, page int) bool { return chunk >= 5 && page == 1 }, `write stripe 0: column "c3", page 1: broken`},
		{func(stripe, chunk, page int) bool { return stripe == 1 && page == -1 }, `write stripe 1: time: broken`},
		{func(stripe, chunk, page int) bool { return stripe == 2 && chunk >= 7 && page >= 2 }, `write stripe 2: column "c5", page 2: broken`},
	} {
		all, end := crews(t.Context())
		for _, c := range all {
			opts := Options{StripeRows: 1000, PageRows: 300, Fault: func(stripe, chunk, page int) error {
				if x.fault(stripe, chunk, page) {
					return errors.New("broken")
				}
				return nil
			}}
			_, err := encodeBatch(s, b, opts, c.flight, nil)
			if err == nil || !strings.HasSuffix(err.Error(), x.want) {
				t.Errorf("%s: got error %v, want %s", c.name, err, x.want)
			}
		}
		end()
		if out := pageBuffers.out.Load(); out != 0 {
			t.Fatalf("%d page buffers are out, want 0", out)
		}
	}
}

func TestFailedTaskIsLoggedAndDoneAgain(t *testing.T) {
	s, b := wideBatch(3000)
	p := pool.New(2)
	f := p.Flight(t.Context(), 0)
	defer f.Close()
	var text bytes.Buffer
	part := NewPart(s, Options{StripeRows: 1500}, nil)
	var once sync.Once
	opts := Options{StripeRows: 1500, Fault: func(stripe, chunk, page int) error {
		if stripe == 1 && chunk == 4 {
			once.Do(func() { panic("out of luck") })
		}
		return nil
	}}
	w := NewWriter(s, opts, f, part.Add)
	w.Logger = slog.New(slog.NewTextHandler(&text, nil))
	if err := errors.Join(w.Append(b), w.Finish()); err != nil {
		t.Fatal(err)
	}
	if got := text.String(); strings.Count(got, "level=WARN") != 1 || !strings.Contains(got, `stripe=1 column=c2 error="a task panicked: out of luck"`) {
		t.Errorf("got log %q, want one warning that names stripe, column and cause", got)
	}
	if st := p.Stats(); st.Panicked != 1 || st.Helped != 0 {
		t.Errorf("got %+v, want 1 panicked, none helped", st)
	}
	got, _, err := part.Finish()
	if err != nil {
		t.Fatal(err)
	}
	if want := write(t, s, b, Options{StripeRows: 1500}, whole); !bytes.Equal(got, want) {
		t.Error("other bytes than without the fault")
	}
}

// TestGivingUpLeavesNothing: closed or cancelled after any piece of work, no task runs and every buffer is back.
func TestGivingUpLeavesNothing(t *testing.T) {
	s, b := wideBatch(4000)
	rng := rand.New(rand.NewPCG(17, 1))
	for i := range 50 {
		ctx, cancel := context.WithCancel(t.Context())
		p := pool.New(2)
		var running sync.WaitGroup
		workers, stop := context.WithCancel(t.Context())
		if i%3 > 0 {
			running.Go(func() { _ = p.Run(workers) })
		}
		f := p.Flight(ctx, 0)
		left := atomic.Int64{}
		left.Store(rng.Int64N(300))
		cancels := i%2 == 0
		broken := errors.New("disk full")
		opts := Options{StripeRows: 500, PageRows: 100, Fault: func(int, int, int) error {
			if left.Add(-1) == 0 && cancels {
				cancel()
			}
			return nil
		}}
		emitted := rng.IntN(5)
		w := NewWriter(s, opts, f, func(x *Stripe) error {
			x.Release()
			if emitted--; emitted < 0 && !cancels {
				return broken
			}
			return nil
		})
		w.Logger = slog.New(slog.DiscardHandler)
		err := w.Append(b)
		if err == nil && i%4 != 3 {
			err = w.Finish()
		}
		if err != nil && !errors.Is(err, broken) && !errors.Is(err, context.Canceled) {
			t.Errorf("seed 17, round %d: got error %v", i, err)
		}
		w.Close()
		if out := pageBuffers.out.Load(); out != 0 {
			t.Errorf("seed 17, round %d: %d page buffers are out, want 0", i, out)
		}
		before := p.Stats()
		f.Close()
		if after := p.Stats(); after != before {
			t.Errorf("seed 17, round %d: tasks ran after Close: %+v, then %+v", i, before, after)
		}
		cancel()
		stop()
		running.Wait()
	}
}

// TestTakenBatchesAreFreed: each batch that the Writer took is given back once, after the last stripe that needs it.
func TestTakenBatchesAreFreed(t *testing.T) {
	s, b := wideBatch(5000)
	for _, c := range []int{1, 37, 100, 640, 3000} {
		p := pool.New(0)
		f := p.Flight(t.Context(), 0)
		freed := map[*tailrace.Batch]int{}
		var given []*tailrace.Batch
		opts := Options{StripeRows: 700, PageRows: 100}
		part := NewPart(s, opts, nil)
		w := NewWriter(s, opts, f, part.Add)
		w.Free = func(b *tailrace.Batch) { freed[b]++ }
		for from := 0; from < 1000; from += c {
			given = append(given, slice(b, from, min(1000, from+c)))
			if err := w.Take(given[len(given)-1]); err != nil {
				t.Fatal(err)
			}
		}
		if err := w.Finish(); err != nil {
			t.Fatal(err)
		}
		f.Close()
		for i, g := range given {
			if freed[g] != 1 {
				t.Errorf("batches of %d: batch %d was freed %d times, want once", c, i, freed[g])
			}
		}
	}
}
