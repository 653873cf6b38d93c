package schedule

import (
	"fmt"
	"math/rand/v2"
	"testing"
	"time"
)

const mib = 1 << 20

// oltp is a few spans like those of an order system: two hot ones, some small ones.
func oltp(w *world, stalled func(n int) func(time.Duration) float64) []*fakeSpan {
	var out []*fakeSpan
	for n := range 10 {
		f := &fakeSpan{size: fixed(600), every: 20 * time.Millisecond, rate: stalled(n)}
		if n < 2 {
			f.every = 500 * time.Microsecond // 1.2 MB/s
		}
		out = append(out, w.add(f))
	}
	return out
}

func TestI1StalledSpansHoldUpNobodyElse(t *testing.T) {
	const rate = 20 * mib
	run := func(stalled map[int]bool) []*fakeSpan {
		w := newWorld(t, Config{Pool: 8 * mib, Batch: 256 << 10})
		spans := oltp(w, func(n int) func(time.Duration) float64 {
			if stalled[n] {
				return hung(5*time.Second, 125*time.Second, rate)
			}
			return always(rate)
		})
		w.run(125 * time.Second)
		return spans
	}
	free := run(nil)
	for _, stalled := range []map[int]bool{{0: true}, {1: true}, {5: true}, {0: true, 1: true}, {0: true, 7: true}} {
		got := run(stalled)
		for n, f := range got {
			if stalled[n] {
				continue
			}
			if float64(f.acked) < 0.95*float64(free[n].acked) {
				t.Errorf("stalled %v: span %d sent %d bytes, %d without", stalled, n, f.acked, free[n].acked)
			}
			if p99(f.lags) > p99(free[n].lags)*3/2+time.Second {
				t.Errorf("stalled %v: span %d has p99 lag %s, %s without", stalled, n, p99(f.lags), p99(free[n].lags))
			}
		}
	}
}

func TestI2AndI8MemoryIsBoundedAndComesBack(t *testing.T) {
	for seed := range uint64(60) {
		rng := rand.New(rand.NewPCG(seed, 3))
		pool := int64(1+rng.IntN(32)) * mib / 4
		w := newWorld(t, Config{Pool: pool, Redo: seed%2 == 0, Batch: 64 << 10})
		var spans []*fakeSpan
		for range 1 + rng.IntN(30) {
			most := int64(1 + rng.IntN(20000))
			f := &fakeSpan{
				size: func(n int) int64 { return 1 + (int64(n)*7919+most)%most }, every: time.Duration(1+rng.IntN(5000)) * time.Microsecond * 5,
				until: 2 * time.Second, rate: always(float64(1+rng.IntN(10)) * mib),
			}
			if seed%2 == 1 && len(spans)%5 == 4 { // larger than most grants
				f.size, f.every = func(n int) int64 { return 1 + (int64(n)*7919*64+most)%(700<<10) }, 100*time.Millisecond
			}
			if rng.IntN(4) == 0 {
				f.rate = hung(time.Second, 3*time.Second, 5*mib)
			}
			spans = append(spans, w.add(f))
		}
		for i := range rng.IntN(4) { // some are paused, and one removed, while they are busy
			id := spans[rng.IntN(len(spans))].id
			w.after(time.Duration(rng.IntN(2000))*time.Millisecond, func() { w.s.Pause(w.now, id, true) })
			w.after(time.Duration(2000+100*i)*time.Millisecond, func() { w.s.Pause(w.now, id, false); w.dispatch() })
		}
		w.run(120 * time.Second)
		for _, f := range spans {
			if len(f.arrived) > 0 {
				st, _ := w.s.Span(f.id)
				t.Fatalf("seed %d: span %d still has %d updates: %+v", seed, f.id, len(f.arrived), st)
			}
		}
		if resident, granted, _ := w.s.Pool(); resident != 0 || granted != 0 {
			t.Fatalf("seed %d: at rest %d bytes are resident and %d granted", seed, resident, granted)
		}
		w.s.Remove(w.now, spans[0].id)
	}
}

func TestI3ASlowSpanGetsASliceWithinARound(t *testing.T) {
	w := newWorld(t, Config{Pool: 16 * mib, Batch: 256 << 10})
	for range 40 {
		w.backlog(w.add(&fakeSpan{size: fixed(1000), rate: always(mib)}), 30000)
	}
	slow := w.add(&fakeSpan{size: fixed(100), every: time.Second, rate: always(20 * mib)})
	w.run(20 * time.Second)
	if got := p99(slow.lags); got > time.Second {
		t.Errorf("one update a second among 40 that saturate: p99 lag %s, want at most a second", got)
	}
}

func TestI4ColdSpansAreCurrent(t *testing.T) {
	for _, redo := range []bool{false, true} {
		w := newWorld(t, Config{Pool: 24 * mib, Redo: redo, Batch: 256 << 10})
		hot := w.add(&fakeSpan{size: fixed(600), every: 200 * time.Microsecond, rate: always(2 * mib)}) // 3 MB/s in, 2 out
		var cold []*fakeSpan
		for range 24 {
			cold = append(cold, w.add(&fakeSpan{size: fixed(500), every: 2 * time.Second, rate: always(20 * mib)}))
		}
		w.run(20 * time.Second)
		for _, f := range cold {
			if got := p99(f.lags); got > time.Second {
				t.Errorf("redo %v: a cold span has p99 lag %s", redo, got)
			}
		}
		if hot.acked < 18*2*mib {
			t.Errorf("redo %v: the hot span sent %d bytes in 20 s at 2 MiB/s", redo, hot.acked)
		}
	}
}

func TestI9NoWakeUpIsLost(t *testing.T) {
	w := newWorld(t, Config{Pool: mib, Batch: 64 << 10})
	f := w.add(&fakeSpan{size: fixed(1000), rate: hung(0, 10*time.Second, 10*mib)})
	w.backlog(f, 20000) // far beyond its cap; then the source is silent
	w.run(5 * time.Second)
	if st, _ := w.s.Span(f.id); st.Why != NoCredit {
		t.Errorf("beside a target that hangs: got %+v, want no credit", st)
	}
	w.run(60 * time.Second)
	if len(f.arrived) > 0 {
		t.Errorf("after the target came back %d updates are still there", len(f.arrived))
	}
}

func TestI10RedoGoesOnWithoutTheTarget(t *testing.T) {
	w := newWorld(t, Config{Pool: 8 * mib, Redo: true, Batch: 256 << 10})
	var spans []*fakeSpan
	for range 6 {
		spans = append(spans, w.add(&fakeSpan{size: fixed(600), every: time.Millisecond, rate: hung(2*time.Second, 15*time.Second, 20*mib)}))
	}
	for step := range 13 {
		w.run(time.Duration(step+2) * time.Second)
		for _, f := range spans {
			if behind := w.now - time.Duration(f.redone)*time.Microsecond; behind > 500*time.Millisecond {
				t.Fatalf("at %s the redo log of span %d is %s behind", w.now, f.id, behind)
			}
		}
	}
	if w.peak > 8*mib+2*w.large {
		t.Errorf("peak %d of %d bytes", w.peak, 8*mib)
	}
	for _, f := range spans {
		w.s.Readable(w.now, f.id, f.arrived[len(f.arrived)-1].at, true)
		f.until = w.now
	}
	w.run(40 * time.Second)
	for _, f := range spans {
		if len(f.arrived) > 0 {
			t.Errorf("span %d still has %d updates after the target came back", f.id, len(f.arrived))
		}
	}
}

func TestI11AScanStartsAtOnce(t *testing.T) {
	w := newWorld(t, Config{Pool: 16 * mib, Batch: 256 << 10})
	f := w.add(&fakeSpan{size: fixed(100), every: 100 * time.Millisecond, rate: always(20 * mib)})
	w.run(10 * time.Second)
	for _, lag := range f.lags {
		if lag > 5*time.Millisecond {
			t.Fatalf("with idle workers and credit an update took %s", lag)
		}
	}
}

func TestI12BackloggedSpansShareAlike(t *testing.T) {
	w := newWorld(t, Config{Pool: 32 * mib, Batch: 256 << 10})
	var spans []*fakeSpan
	for n := range 12 {
		f := w.add(&fakeSpan{size: fixed(int64(100 + 900*(n%3))), rate: always(200 * mib)}) // rows of 100 to 1,900 bytes
		w.backlog(f, 400000/(1+9*(n%3)))
		spans = append(spans, f)
	}
	w.run(120 * time.Millisecond)
	least, most := int64(1<<62), int64(0)
	for _, f := range spans {
		least, most = min(least, f.acked), max(most, f.acked)
	}
	if most > least+4*maxQuantum {
		t.Errorf("bytes of spans that are all behind: from %d to %d", least, most)
	}
}

func TestI13BytesAreReadOnceWhileBothBranchesKeepUp(t *testing.T) {
	w := newWorld(t, Config{Pool: 16 * mib, Redo: true, Batch: 256 << 10})
	f := w.add(&fakeSpan{size: fixed(600), every: time.Millisecond, until: 10 * time.Second, rate: always(20 * mib)})
	both := 0
	w.run(0)
	for w.now < 12*time.Second {
		w.run(w.now + 10*time.Millisecond)
		if st, _ := w.s.Span(f.id); st.Read[Normal] != st.Read[Redo] {
			both++
		}
	}
	if both > 0 {
		t.Errorf("the branches were apart %d times", both)
	}
}

func TestI15IdleSpansCostNothing(t *testing.T) {
	s := New(Config{Pool: 16 * mib})
	const n = 100_000
	for id := range SpanID(n) {
		s.Add(0, id+1, [2]Position{{Time: 1}, {Time: 1}})
	}
	allocs := testing.AllocsPerRun(100, func() {
		s.Readable(time.Second, 77, 100, true)
		sl, ok := s.Next(time.Second)
		if !ok || sl.Span != 77 {
			t.Fatalf("got %+v, %v", sl, ok)
		}
		s.Finish(time.Second, sl, 0, Position{Time: 100}, false)
	})
	if allocs > 1 {
		t.Errorf("a slice among %d idle spans: %v allocations", n, allocs)
	}
}

func TestFlushIsAskedForWhenCreditIsHeldUpThere(t *testing.T) {
	s := New(Config{Pool: mib, Redo: true})
	s.Add(0, 1, [2]Position{{Time: 1}, {Time: 1}})
	s.Readable(0, 1, 100, true)
	total := int64(0)
	for {
		sl, ok := s.Next(0)
		if !ok {
			break
		}
		s.Finish(0, sl, sl.Bytes, Position{Time: sl.From.Time + 1}, true)
		total += sl.Bytes
	}
	if _, redo := s.Flush(0); redo {
		t.Error("nothing is unflushed: got a request to flush")
	}
	s.Unflushed(0, Redo, total)
	if _, redo := s.Flush(time.Millisecond); !redo {
		t.Error("a cursor is refused and its bytes are unflushed: got no request")
	}
	s.Acked(2*time.Millisecond, 1, Normal, total, Position{})
	s.Next(2 * time.Millisecond)
	if _, redo := s.Flush(2 * time.Millisecond); redo {
		t.Error("got a second request 1 ms after the first")
	}
	if at, ok := s.Wake(2 * time.Millisecond); !ok || at != 51*time.Millisecond {
		t.Errorf("wake: got %s, %v, want 51ms", at, ok)
	}
}

func TestLateSpansWeighMore(t *testing.T) {
	s := New(Config{Pool: 1 << 30})
	for id := SpanID(1); id <= 3; id++ {
		s.Add(0, id, [2]Position{{Time: 1}, {Time: 1}})
	}
	s.Readable(0, 1, 100, true)
	s.Readable(0, 2, 21_000_000, true) // 21 s behind
	s.Readable(0, 3, 100, true)
	s.Barrier(0, 3, true)
	var got []string
	for range 3 {
		sl, _ := s.Next(0)
		got = append(got, fmt.Sprint(sl.Span, ":", sl.Bytes/maxQuantum))
	}
	if want := "[1:1 2:5 3:2]"; fmt.Sprint(got) != want {
		t.Errorf("quanta by span: got %v, want %s", got, want)
	}
}

func BenchmarkSlice(b *testing.B) {
	for _, idle := range []int{100, 100_000} {
		b.Run(fmt.Sprintf("idle=%d", idle), func(b *testing.B) {
			s := New(Config{Pool: 64 * mib})
			for id := range SpanID(idle) {
				s.Add(0, id+1, [2]Position{{Time: 1}, {Time: 1}})
			}
			at := Position{Time: 1}
			for b.Loop() {
				at.Time++
				s.Readable(time.Second, 7, at.Time, true)
				sl, _ := s.Next(time.Second)
				s.Finish(time.Second, sl, 1000, at, false)
				s.Acked(time.Second, 7, Normal, 1000, at)
			}
		})
	}
}
