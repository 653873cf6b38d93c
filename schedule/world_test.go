package schedule

import (
	"container/heap"
	"slices"
	"sort"
	"testing"
	"time"

	"tailrace"
)

// world is spans that get updates, two scan workers, a target and a redo log, in virtual time.
type world struct {
	t      testing.TB
	s      *Scheduler
	now    time.Duration
	events events
	spans  map[SpanID]*fakeSpan
	order  []SpanID
	idle   int // scan workers
	seq    int
	redo   time.Duration // how long the redo log takes for a slice
	peak   int64
	large  int64 // the largest item
	scans  int
}

// fakeSpan is one span: updates of size bytes each come at a rate, and its target takes so many bytes a second.
type fakeSpan struct {
	id       SpanID
	size     func(n int) int64
	every    time.Duration // between two updates; 0: all of its backlog is there at once
	until    time.Duration // when updates stop; 0: never
	arrived  []arrival
	first    int                             // of arrived: ordinal of arrived[0]
	rate     func(now time.Duration) float64 // of the target, bytes a second; 0: it hangs
	busy     bool
	waiting  []delivery
	acked    int64
	lags     []time.Duration
	lastScan time.Duration
	read     tailrace.Time
	redone   tailrace.Time
	held     []delivery // wait for the redo log
}

type arrival struct {
	at   tailrace.Time
	size int64
}

type delivery struct {
	bytes int64
	to    tailrace.Time
}

type event struct {
	at  time.Duration
	seq int
	do  func()
}

type events []event

func (e events) Len() int { return len(e) }
func (e events) Less(i, j int) bool {
	return e[i].at < e[j].at || e[i].at == e[j].at && e[i].seq < e[j].seq
}
func (e events) Swap(i, j int) { e[i], e[j] = e[j], e[i] }
func (e *events) Push(x any)   { *e = append(*e, x.(event)) }
func (e *events) Pop() any {
	old := *e
	x := old[len(old)-1]
	*e = old[:len(old)-1]
	return x
}

func newWorld(t testing.TB, c Config) *world {
	return &world{t: t, s: New(c), spans: map[SpanID]*fakeSpan{}, idle: 2, redo: 30 * time.Millisecond}
}

func (w *world) after(d time.Duration, do func()) {
	w.seq++
	heap.Push(&w.events, event{w.now + d, w.seq, do})
}

func (w *world) add(f *fakeSpan) *fakeSpan {
	f.id = SpanID(len(w.spans) + 1)
	w.spans[f.id] = f
	w.order = append(w.order, f.id)
	w.s.Add(w.now, f.id, [2]Position{{Time: 1}, {Time: 1}})
	f.read, f.redone = 1, 1
	if f.every > 0 {
		w.after(f.every, func() { w.arrive(f) })
	}
	return f
}

func (w *world) arrive(f *fakeSpan) {
	at := tailrace.Time(w.now/time.Microsecond) + 2
	f.arrived = append(f.arrived, arrival{at, f.size(f.first + len(f.arrived))})
	w.s.Readable(w.now, f.id, at, true)
	if f.until == 0 || w.now < f.until {
		w.after(f.every, func() { w.arrive(f) })
	}
	w.dispatch()
}

// backlog gives a span n updates at once.
func (w *world) backlog(f *fakeSpan, n int) {
	at := tailrace.Time(w.now/time.Microsecond) + 2
	for i := range n {
		f.arrived = append(f.arrived, arrival{at + tailrace.Time(i), f.size(i)})
	}
	w.s.Readable(w.now, f.id, at+tailrace.Time(n), true)
	w.dispatch()
}

// dispatch gives slices to idle workers.
func (w *world) dispatch() {
	for w.idle > 0 {
		sl, ok := w.s.Next(w.now)
		if !ok {
			return
		}
		w.idle--
		w.scans++
		f := w.spans[sl.Span]
		f.lastScan = w.now
		used, to, rows, more := int64(0), sl.From.Time, 0, false
		for _, a := range f.arrived[sort.Search(len(f.arrived), func(i int) bool { return f.arrived[i].at > sl.From.Time }):] {
			if a.at > sl.End {
				break
			}
			if used+a.size > sl.Bytes && (rows > 0 || !sl.Large) || rows >= sl.Rows {
				more = true
				break
			}
			used, to, rows = used+a.size, a.at, rows+1
		}
		if more && rows == 0 {
			w.after(50*time.Microsecond, func() {
				w.idle++
				w.s.TooLarge(w.now, sl)
				w.dispatch()
			})
			continue
		}
		if !more {
			to = max(to, sl.End)
		}
		w.after(50*time.Microsecond+time.Duration(used)*5, func() { // 200 MB/s
			w.idle++
			w.s.Finish(w.now, sl, used, Position{Time: to}, more)
			w.check(max(0, used-sl.Bytes))
			d := delivery{used, to}
			if sl.Redo {
				w.after(w.redo, func() { w.redoAcked(f, d) })
			}
			if sl.Normal && used > 0 {
				f.held = append(f.held, d)
				w.release(f)
			}
			w.dispatch()
		})
	}
}

func (w *world) redoAcked(f *fakeSpan, d delivery) {
	f.redone = max(f.redone, d.to)
	w.s.Acked(w.now, f.id, Redo, d.bytes, Position{Time: d.to})
	w.release(f)
	w.dispatch()
}

// release sends what the redo log has.
func (w *world) release(f *fakeSpan) {
	for len(f.held) > 0 && (!w.s.c.Redo || f.held[0].to <= f.redone) {
		f.waiting = append(f.waiting, f.held[0])
		f.held = f.held[1:]
	}
	w.serve(f)
}

// serve has the target take what waits.
func (w *world) serve(f *fakeSpan) {
	if f.busy || len(f.waiting) == 0 {
		return
	}
	rate := f.rate(w.now)
	f.busy = true
	if rate == 0 {
		w.after(50*time.Millisecond, func() { f.busy = false; w.serve(f) })
		return
	}
	d := f.waiting[0]
	f.waiting = f.waiting[1:]
	for len(f.waiting) > 0 && d.bytes < 256<<10 { // batches are cut late
		d.bytes, d.to, f.waiting = d.bytes+f.waiting[0].bytes, f.waiting[0].to, f.waiting[1:]
	}
	w.after(time.Millisecond+time.Duration(float64(d.bytes)/rate*float64(time.Second)), func() {
		f.busy = false
		f.acked += d.bytes
		for len(f.arrived) > 0 && f.arrived[0].at <= d.to {
			f.lags = append(f.lags, w.now-time.Duration(f.arrived[0].at)*time.Microsecond)
			f.arrived, f.first = f.arrived[1:], f.first+1
		}
		w.s.Acked(w.now, f.id, Normal, d.bytes, Position{Time: d.to})
		w.serve(f)
		w.dispatch()
	})
}

// check holds the pool (I2): at every instant, but for one item of each branch that is larger than its grant, by so many bytes.
func (w *world) check(over int64) {
	w.large = max(w.large, over)
	resident, granted, size := w.s.Pool()
	w.peak = max(w.peak, resident+granted)
	if resident < 0 || granted < 0 || resident+granted > size+int64(w.s.branches())*w.large {
		w.t.Fatalf("at %s: resident %d and granted %d of %d", w.now, resident, granted, size)
	}
}

// run goes on until a time, or until nothing happens any more.
func (w *world) run(until time.Duration) {
	w.dispatch()
	for len(w.events) > 0 && w.events[0].at <= until {
		e := heap.Pop(&w.events).(event)
		w.now = e.at
		e.do()
	}
	w.now = max(w.now, until)
}

func fixed(n int64) func(int) int64                { return func(int) int64 { return n } }
func always(r float64) func(time.Duration) float64 { return func(time.Duration) float64 { return r } }
func hung(from, to time.Duration, r float64) func(time.Duration) float64 {
	return func(now time.Duration) float64 {
		if now >= from && now < to {
			return 0
		}
		return r
	}
}

// p99 is the 99th percentile of lags after a moment's warm-up.
func p99(lags []time.Duration) time.Duration {
	if len(lags) == 0 {
		return 0
	}
	sorted := slices.Clone(lags)
	slices.Sort(sorted)
	return sorted[len(sorted)*99/100]
}
