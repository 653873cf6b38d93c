package shard

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"math/rand/v2"
	"runtime"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"tailrace"
	"tailrace/budget"
	"tailrace/internal/sim"
	"tailrace/pool"
)

// loadGroup and loadStripe are rows of a page group and a stripe in these tests: as in production, but less.
const (
	loadGroup  = 256
	loadStripe = 4 * loadGroup
)

// newLoad is a set whose stripes are small, and a collection in it.
func newLoad(t testing.TB, blob tailrace.Blob, s *tailrace.Schema, p *pool.Pool, node *budget.Node) *Set {
	t.Helper()
	set := New(blob, "0000000000000001", Options{Pool: p, Budget: node})
	set.limits.group, set.limits.stripe = loadGroup, loadStripe
	set.Define(table, s, time.Hour, 1)
	return set
}

// loadShape is rows of a table: ascending as its runs are sorted, shuffled, or with a step back in the middle.
type loadShape struct {
	name   string
	schema *tailrace.Schema
	rows   *tailrace.Batch
}

func loadShapes(seed uint64, n int) []loadShape {
	rng := rand.New(rand.NewPCG(seed, 3))
	var out []loadShape
	for _, key := range [][]int{nil, {1}, {2, 1}} {
		s := &tailrace.Schema{Version: 1, Key: key}
		for i, k := range []tailrace.Kind{tailrace.KindText, tailrace.KindInt8, tailrace.KindInt4, tailrace.KindFloat8, tailrace.KindNumeric} {
			s.Fields = append(s.Fields, tailrace.Field{ID: tailrace.ColumnID(i + 1), Name: fmt.Sprint("c", i), Type: tailrace.TypeOf(k)})
		}
		ascending := tailrace.NewBatch(s, n)
		for i := range n {
			ascending.Cols[0].AppendString(fmt.Sprintf("row %06d", i))
			ascending.Cols[1].AppendInt64(int64(i))
			ascending.Cols[2].AppendInt32(int32(i / 100))
			for c := 3; c < 5; c++ {
				if rng.IntN(10) == 0 {
					ascending.Cols[c].AppendNull()
				} else {
					appendSome(&ascending.Cols[c], s.Fields[c].Type.Kind, rng.Int64N(1000))
				}
			}
			ascending.AppendDiff(1)
		}
		order := make([]int32, n)
		for i := range order {
			order[i] = int32(i)
		}
		back := slices.Concat(order[n/2:], order[:n/2])
		rng.Shuffle(n, func(i, j int) { order[i], order[j] = order[j], order[i] })
		if key == nil { // rows that are there twice
			copy(order[n-50:], order[:50])
		}
		name := fmt.Sprintf("key %v", key)
		out = append(out, loadShape{name + " ascending", s, ascending}, loadShape{name + " back", s, ascending.Gather(back)},
			loadShape{name + " shuffled", s, ascending.Gather(order)})
	}
	return out
}

// batches cuts the rows where a COPY does.
func (x *loadShape) batches() []*tailrace.Batch {
	var out []*tailrace.Batch
	for from := 0; from < x.rows.N; from += loadGroup {
		out = append(out, slice(x.rows, from, min(x.rows.N, from+loadGroup)))
	}
	return out
}

// writtenHash is the hash of all parts that a writer wrote, by run.
func writtenHash(t *testing.T, blob tailrace.Blob, w *Writer) string {
	t.Helper()
	h := sha256.New()
	for _, r := range w.load.written() {
		fmt.Fprintf(h, "run of %d rows\n", r.rows())
		for _, p := range r.parts {
			raw, err := blob.Get(t.Context(), p.key, 0, -1)
			if err != nil {
				t.Fatal(err)
			}
			fmt.Fprintf(h, "part of %d rows, %x to %x, flags %d\n", p.rows, p.first, p.last, p.flags)
			h.Write(raw)
		}
	}
	return fmt.Sprintf("%x", h.Sum(nil)[:8])
}

// TestPartsAreTheSameForAnyWorkers writes rows with pools of every size, starved, with tasks that panic, taken and appended piece by piece.
func TestPartsAreTheSameForAnyWorkers(t *testing.T) {
	seed := rand.Uint64()
	pools := []struct {
		name    string
		pool    *pool.Pool
		workers int
		panics  bool
		pieces  bool
	}{
		{name: "no pool"},
		{name: "one worker", pool: runningPool(t, 1)},
		{name: "two", pool: runningPool(t, 2)},
		{name: "eight", pool: runningPool(t, 8)},
		{name: "serial", pool: runningPool(t, 2), workers: 1},
		{name: "starved", pool: pool.New(2)},
		{name: "panics", pool: runningPool(t, 2), panics: true},
		{name: "pieces", pool: runningPool(t, 2), pieces: true},
	}
	helped := map[string]int64{}
	for _, shape := range loadShapes(seed, 5*loadStripe/2+77) {
		want := ""
		for _, p := range pools {
			blob := sim.NewBlob()
			set := newLoad(t, blob, shape.schema, p.pool, nil)
			o := WriteOptions{Workers: p.workers}
			if p.panics {
				var done sync.Map
				o.Stripe.Fault = func(stripe, chunk, page int) error {
					if page == chunk%2-1 { // in a verdict, or in the first page
						if _, was := done.LoadOrStore([2]int{stripe, chunk}, true); !was {
							panic("of the test")
						}
					}
					return nil
				}
			}
			w := set.NewWriter(table, shape.schema, o)
			rng := rand.New(rand.NewPCG(seed, 9))
			for _, b := range shape.batches() {
				if !p.pieces {
					if err := w.Take(t.Context(), b); err != nil {
						t.Fatal(err)
					}
					continue
				}
				for from := 0; from < b.N; {
					to := min(b.N, from+1+rng.IntN(700))
					if err := w.Append(t.Context(), slice(b, from, to)); err != nil {
						t.Fatal(err)
					}
					from = to
				}
			}
			if err := w.Cut(t.Context()); err != nil {
				t.Fatal(err)
			}
			got := writtenHash(t, blob, w)
			if want == "" {
				want = got
			}
			if got != want {
				t.Errorf("seed %d, %s, %s: got parts %s, want %s", seed, shape.name, p.name, got, want)
			}
			helped[p.name] += w.load.tasks.flight.Helped()
			if p.pool == nil {
				readBack(t, w, &shape)
			}
			w.Abort(t.Context())
		}
	}
	for _, p := range pools {
		if alone := p.pool == nil || p.workers == 1 || p.name == "starved"; alone != (helped[p.name] == 0) {
			t.Errorf("%s: workers did %d tasks", p.name, helped[p.name])
		}
	}
}

// readBack holds what was written against the rows.
func readBack(t *testing.T, w *Writer, shape *loadShape) {
	t.Helper()
	var got []*tailrace.Batch
	if err := w.Each(t.Context(), func(b *tailrace.Batch) error { got = append(got, b); return nil }); err != nil {
		t.Fatal(err)
	}
	l := newLayout(shape.schema)
	if diff := sameUpdates(plainSort(l, got, false), plainSort(l, []*tailrace.Batch{shape.rows}, false)); diff != "" {
		t.Errorf("%s: %s", shape.name, diff)
	}
}

// TestRowsInOrderAreOneRun counts the runs of each shape: keyed or not, rows in order need no sort.
func TestRowsInOrderAreOneRun(t *testing.T) {
	for _, shape := range loadShapes(1, 4*loadStripe) {
		set := newLoad(t, sim.NewBlob(), shape.schema, nil, nil)
		w := set.NewWriter(table, shape.schema, WriteOptions{})
		for _, b := range shape.batches() {
			if err := w.Take(t.Context(), b); err != nil {
				t.Fatal(err)
			}
		}
		if err := w.Cut(t.Context()); err != nil {
			t.Fatal(err)
		}
		want := map[string]int{"key [] ascending": 1, "key [1] ascending": 1, "key [2 1] ascending": 1, "key [] back": 2, "key [1] back": 2, "key [2 1] back": 2}[shape.name]
		if want == 0 {
			want = 4
		}
		if got := len(w.load.written()); got != want {
			t.Errorf("%s: got %d runs, want %d", shape.name, got, want)
		}
		w.Abort(t.Context())
	}
}

// stepBlob calls before at each Put, which fails with what that returns.
type stepBlob struct {
	tailrace.Blob
	before func() error
}

func (b stepBlob) Put(ctx context.Context, key string, raw []byte) error {
	if err := b.before(); err != nil {
		return fmt.Errorf("put: %w", err)
	}
	return b.Blob.Put(ctx, key, raw)
}

// flat reports goroutines and objects that a load left behind.
func flat(t *testing.T, what string, blob *sim.Blob, node *budget.Node, goroutines int) {
	t.Helper()
	for key := range blob.List(t.Context(), "") {
		t.Errorf("%s: %s is left", what, key)
	}
	if u := node.Share(budget.Transactions).Usage(); u.Used != 0 {
		t.Errorf("%s: %d bytes of memory are not given back", what, u.Used)
	}
	for end := time.Now().Add(10 * time.Second); time.Now().Before(end); runtime.Gosched() { // a goroutine that was waited for may still be on its way out
		if runtime.NumGoroutine() <= goroutines {
			return
		}
	}
	t.Errorf("%s: %d goroutines, %d before", what, runtime.NumGoroutine(), goroutines)
}

// TestCancelLeavesNothing cancels a load within each of the steps that it takes: tasks and puts. Then no goroutine, no memory and no object is left.
func TestCancelLeavesNothing(t *testing.T) {
	node, err := budget.New(budget.Least, nil)
	if err != nil {
		t.Fatal(err)
	}
	p := runningPool(t, 2)
	shapes := loadShapes(2, 3*loadStripe)
	var heap [2]uint64
	canceled, goroutines := 0, runtime.NumGoroutine()+2
	for round := range 50 {
		ctx, stop := context.WithCancel(t.Context())
		var steps atomic.Int64
		last := int64(1 + round*2)
		step := func() error {
			if steps.Add(1) == last {
				stop()
			}
			return nil
		}
		blob := sim.NewBlob()
		shape := &shapes[round%len(shapes)]
		set := newLoad(t, stepBlob{blob, step}, shape.schema, p, node)
		o := WriteOptions{}
		o.Stripe.Fault = func(int, int, int) error { return step() }
		w := set.NewWriter(table, shape.schema, o)
		err := error(nil)
		for _, b := range shape.batches() {
			if err = w.Take(ctx, b); err != nil {
				break
			}
		}
		if err == nil {
			_, err = w.Records(ctx)
		}
		if err != nil && !errors.Is(err, context.Canceled) {
			t.Errorf("round %d: got %v, want the context's error", round, err)
		}
		if err != nil {
			canceled++
		}
		w.Abort(context.WithoutCancel(ctx))
		stop()
		flat(t, fmt.Sprintf("round %d", round), blob, node, goroutines)
		if round == 9 || round == 49 {
			var m runtime.MemStats
			runtime.GC()
			runtime.GC() // what pools kept
			runtime.ReadMemStats(&m)
			heap[round/40] = m.HeapAlloc
		}
	}
	if canceled < 20 {
		t.Errorf("%d of 50 loads were canceled, want many", canceled)
	}
	if heap[1] > heap[0]+4<<20 {
		t.Errorf("after 50 cancels %d bytes are in use, after 10 %d", heap[1], heap[0])
	}
}

// TestFullDiskIsACleanError at every put.
func TestFullDiskIsACleanError(t *testing.T) {
	node, err := budget.New(budget.Least, nil)
	if err != nil {
		t.Fatal(err)
	}
	p := runningPool(t, 2)
	goroutines := runtime.NumGoroutine() + 2
	for _, shape := range loadShapes(3, 3*loadStripe) {
		for fails, failed := 0, true; failed; fails++ {
			puts := 0
			blob := sim.NewBlob()
			set := newLoad(t, stepBlob{blob, func() error {
				if puts++; puts > fails {
					return tailrace.ErrFull
				}
				return nil
			}}, shape.schema, p, node)
			w := set.NewWriter(table, shape.schema, WriteOptions{})
			err := error(nil)
			for _, b := range shape.batches() {
				if err = w.Take(t.Context(), b); err != nil {
					break
				}
			}
			if err == nil {
				_, err = w.Records(t.Context())
			}
			if failed = err != nil; failed && !errors.Is(err, tailrace.ErrFull) {
				t.Errorf("%s: put %d fails: got %v, want ErrFull", shape.name, fails, err)
			}
			w.Abort(t.Context())
			flat(t, fmt.Sprintf("%s: put %d fails", shape.name, fails), blob, node, goroutines)
			if fails == 0 && !failed {
				t.Errorf("%s: no put failed", shape.name)
			}
		}
	}
}

// TestSpareBatchesComeBack: a load of many batches is done with the memory of a few.
func TestSpareBatchesComeBack(t *testing.T) {
	for _, shape := range loadShapes(4, 8*loadStripe) {
		set := newLoad(t, sim.NewBlob(), shape.schema, runningPool(t, 2), nil)
		w := set.NewWriter(table, shape.schema, WriteOptions{})
		made, back := map[*byte]bool{}, 0
		for _, x := range shape.batches() {
			b := w.Spare()
			if b == nil {
				b = tailrace.NewBatch(shape.schema, x.N)
			} else {
				back++
				for c := range b.Cols {
					b.Cols[c].Reset()
				}
				b.N = 0
			}
			appendBatch(b, x)
			made[&b.Cols[1].Data[:1][0]] = true
			if err := w.Take(t.Context(), b); err != nil {
				t.Fatal(err)
			}
		}
		if err := w.Cut(t.Context()); err != nil {
			t.Fatal(err)
		}
		if back < 8 || len(made) > 30 {
			t.Errorf("%s: %d batches came back, %d were made, want a stripe's worth or two", shape.name, back, len(made))
		}
		readBack(t, w, &shape)
		w.Abort(t.Context())
	}
}
