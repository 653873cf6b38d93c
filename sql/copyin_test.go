package sql

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"math/rand/v2"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"tailrace"
	"tailrace/budget"
	"tailrace/pool"
)

// workers runs a pool of n until the test ends; for 0 nobody runs it.
func workers(t testing.TB, n int) *pool.Pool {
	p := pool.New(max(n, 2))
	if n == 0 {
		return p
	}
	ctx, stop := context.WithCancel(context.Background())
	var wait sync.WaitGroup
	wait.Go(func() { _ = p.Run(ctx) }) // it says that ctx ended
	t.Cleanup(func() { stop(); wait.Wait() })
	return p
}

// load runs a COPY with data in pieces of n bytes, up to its end or an error.
func (c *client) load(ctx context.Context, text string, data []byte, n int) (string, error) {
	c.t.Helper()
	sts, err := c.Parse(text)
	if err != nil {
		c.t.Fatal(err)
	}
	r, err := c.Run(ctx, sts[0], true)
	if err != nil {
		return "", err
	}
	defer r.Close()
	for at := 0; err == nil && at < len(data); at += n {
		err = r.CopyIn.Write(ctx, data[at:min(len(data), at+n)])
	}
	rows := int64(0)
	if err == nil {
		rows, err = r.CopyIn.Done(ctx)
	}
	if err != nil {
		r.CopyIn.Fail()
		c.Fail(err)
		return "", err
	}
	tag, err := r.Finish(ctx, rows)
	if err != nil {
		c.Fail(err)
	}
	return tag, err
}

// loadRows are rows for load's table: a key, and what is not in order.
func loadRows(n int) []byte {
	rng := rand.New(rand.NewPCG(5, 5))
	var out []byte
	for i := range n {
		out = fmt.Appendf(out, "%d,%d,text number %d,%d.%02d,2024-01-%02d\n", i, rng.IntN(1000), rng.IntN(5000), rng.IntN(90), rng.IntN(100), 1+rng.IntN(28))
	}
	return out
}

const (
	loadTable = "CREATE TABLE t (a int PRIMARY KEY, n int, s text NOT NULL CHECK (s <> 'bad'), m numeric(8,2), d date, x int DEFAULT 7)"
	loadCopy  = "COPY t (a, n, s, m, d) FROM STDIN (FORMAT csv)"
)

// partSums are the SHA-256 of the world's parts, in order.
func (w *world) partSums() []string {
	w.t.Helper()
	var out []string
	for key, err := range w.blob.List(w.t.Context(), "part/") {
		if err != nil {
			w.t.Fatal(err)
		}
		raw, err := w.blob.Get(w.t.Context(), key, 0, -1)
		if err != nil {
			w.t.Fatal(err)
		}
		out = append(out, fmt.Sprintf("%x", sha256.Sum256(raw)))
	}
	slices.Sort(out)
	return out
}

// TestCopyIsTheSameForAnyNumberOfWorkers loads one file with no pool, a starved one, and several workers: the same rows in the same parts, byte by byte.
func TestCopyIsTheSameForAnyNumberOfWorkers(t *testing.T) {
	const rows = 150_000
	data := loadRows(rows)
	var want []string
	for _, x := range []struct {
		name    string
		pool    func(testing.TB) *pool.Pool
		setting string
		helped  bool
	}{
		{"no pool", func(testing.TB) *pool.Pool { return nil }, "0", false},
		{"starved", func(t testing.TB) *pool.Pool { return workers(t, 0) }, "0", false},
		{"2 workers", func(t testing.TB) *pool.Pool { return workers(t, 2) }, "0", true},
		{"8 workers", func(t testing.TB) *pool.Pool { return workers(t, 8) }, "0", true},
		{"8 workers, serial", func(t testing.TB) *pool.Pool { return workers(t, 8) }, "1", false},
	} {
		t.Run(x.name, func(t *testing.T) {
			p := x.pool(t)
			w := newWorldWith(t, p)
			c := w.client()
			c.must("SET flush_workers = " + x.setting)
			c.must(loadTable)
			if tag, err := c.load(t.Context(), loadCopy, data, 100_000); err != nil || tag != fmt.Sprintf("COPY %d", rows) {
				t.Fatalf("got %q, %v", tag, err)
			}
			got := append(w.partSums(), c.must("SELECT count(*), sum(a), sum(n), sum(m), min(d), max(s), sum(x) FROM t")[1])
			if want == nil {
				want = got
			}
			if !slices.Equal(got, want) || len(got) < 2 {
				t.Errorf("parts and sums: got %q, want %q", got, want)
			}
			if helped := p.Stats().Helped; helped > 0 != x.helped {
				t.Errorf("tasks that workers did: got %d, want some: %v", helped, x.helped)
			}
		})
	}
}

// TestFirstBadRowDecides has two bad rows: the error is the first one's, whatever is wrong with either, and however far apart they are.
func TestFirstBadRowDecides(t *testing.T) {
	bad := map[string]struct{ line, want string }{
		"syntax":    {"x,1,s,1,2024-01-01", `22P02 COPY t, line %d, column a: "x"`},
		"extra":     {"900001,1,s,1,2024-01-01,2", `22P04 COPY t, line %d: "900001,1,s,1,2024-01-01,2"`},
		"quote":     {`900003,1,s"x"y,1,2024-01-32`, `22008 COPY t, line %d, column d: "2024-01-32"`},
		"not null":  {"900004,1,,1,2024-01-01", `23502 COPY t, line %d: "900004,1,,1,2024-01-01"`},
		"check":     {"900005,1,bad,1,2024-01-01", `23514 COPY t, line %d: "900005,1,bad,1,2024-01-01"`},
		"duplicate": {"0,1,s,1,2024-01-01", `23505 `},
	}
	const rows = 40_000
	lines := strings.SplitAfter(strings.TrimSuffix(string(loadRows(rows)), "\n"), "\n")
	c := newWorldWith(t, workers(t, 2)).client()
	c.must(loadTable)
	seed := rand.Uint64()
	rng := rand.New(rand.NewPCG(seed, 0))
	for first, a := range bad {
		for second, b := range bad {
			i := 1 + rng.IntN(rows-2)
			k := i + 1 + rng.IntN(min(rows-1-i, 1+rng.IntN(20_000)))
			data := slices.Clone(lines)
			data[i], data[k] = a.line+"\n", b.line+"\n"
			_, err := c.load(t.Context(), loadCopy, []byte(strings.Join(data, "")), 64<<10)
			var e *tailrace.Error
			if !errors.As(err, &e) {
				t.Fatalf("%s in line %d, %s in line %d: got %v, want an error", first, i+1, second, k+1, err)
			}
			want := a.want
			if strings.Contains(want, "%d") {
				want = fmt.Sprintf(want, i+1)
			}
			if got := e.Code + " " + e.Where; got != want {
				t.Errorf("%s in line %d, %s in line %d (seed %d): got %s, want %s", first, i+1, second, k+1, seed, got, want)
			}
		}
	}
	if got := c.must("SELECT count(*) FROM t")[1]; got != "0" {
		t.Errorf("rows that were left: got %s, want 0", got)
	}
}

// TestCanceledCopyLeavesNothing cancels COPYs anywhere: no goroutine, no memory of the node and no object is left.
func TestCanceledCopyLeavesNothing(t *testing.T) {
	p := workers(t, 2)
	w := newWorldWith(t, p)
	node, err := budget.New(budget.Least, nil)
	if err != nil {
		t.Fatal(err)
	}
	w.engine.Budget = node
	c := w.client()
	c.must(loadTable)
	data := loadRows(150_000)
	seed := rand.Uint64()
	rng := rand.New(rand.NewPCG(seed, 0))
	before := runtime.NumGoroutine()
	for range 50 {
		ctx, stop := context.WithCancel(t.Context())
		timer := time.AfterFunc(time.Duration(rng.IntN(60_000))*time.Microsecond, stop)
		_, err := c.load(ctx, loadCopy, data[:len(data)-3], 1+rng.IntN(200_000)) // its last row is bad
		timer.Stop()
		stop()
		if code := tailrace.Code(err); code != "57014" && code != "22007" {
			t.Fatalf("seed %d: got %v, want a cancel", seed, err)
		}
		if used := node.Share(budget.Transactions).Usage().Used; used != 0 {
			t.Fatalf("seed %d: %d bytes of memory are held", seed, used)
		}
		if parts := w.partSums(); len(parts) != 0 {
			t.Fatalf("seed %d: %d objects are left", seed, len(parts))
		}
	}
	for try := 0; runtime.NumGoroutine() > before; try++ { // timers that fired end by themselves
		if try == 1000 {
			t.Fatalf("seed %d: %d goroutines, %d before", seed, runtime.NumGoroutine(), before)
		}
		runtime.Gosched()
	}
	if _, err := c.load(t.Context(), loadCopy, data, 64<<10); err != nil {
		t.Errorf("a COPY afterwards: %v", err)
	}
}

// TestCopyIntoANewTableRollsBack loads into a table of the same transaction, and undoes both.
func TestCopyIntoANewTableRollsBack(t *testing.T) {
	p := workers(t, 2)
	w := newWorldWith(t, p)
	c := w.client()
	data := loadRows(150_000)
	for _, end := range []string{"ROLLBACK", "COMMIT"} {
		c.must("BEGIN")
		c.must(loadTable)
		if _, err := c.load(t.Context(), loadCopy, data, 64<<10); err != nil {
			t.Fatal(err)
		}
		c.must(end)
		if n := len(w.partSums()); n > 0 != (end == "COMMIT") {
			t.Errorf("after %s: %d parts", end, n)
		}
	}
	if got := c.must("SELECT count(*) FROM t")[1]; got != "150000" {
		t.Errorf("rows: got %s, want 150000", got)
	}
	if p.Stats().Helped == 0 {
		t.Error("no worker helped")
	}
}

func TestWriteSettings(t *testing.T) {
	c := newWorld(t).client()
	for _, x := range []struct{ sql, want string }{
		{"SHOW flush_workers", "0"},
		{"SHOW fsst_min_gain_percent", "5"},
		{"SHOW encoding_sample_values", "64"},
		{"SET flush_workers = 3; SHOW flush_workers", "3"},
		{"SET flush_workers = -1", "ERROR 22023: -1 is outside the valid range for parameter \"flush_workers\" (0 .. 1024)"},
		{"SET fsst_min_gain_percent = 101", "ERROR 22023: 101 is outside the valid range for parameter \"fsst_min_gain_percent\" (0 .. 100)"},
		{"SET encoding_sample_values = 7", "ERROR 22023: 7 is outside the valid range for parameter \"encoding_sample_values\" (8 .. 1024)"},
		{"SET encoding_sample_values = 'many'", "ERROR 22023: invalid value for parameter \"encoding_sample_values\": \"many\""},
		{"RESET flush_workers; SHOW flush_workers", "0"},
		{"SELECT setting FROM pg_settings WHERE name = 'fsst_min_gain_percent'", "5"},
	} {
		if got := c.query(x.sql, ""); !slices.Contains(got, x.want) {
			t.Errorf("%s: got %q, want %q", x.sql, got, x.want)
		}
	}
	c.must("SET fsst_min_gain_percent = 0; SET encoding_sample_values = 8; SET flush_workers = 2")
	if o := c.writing; o.Workers != 2 || o.Stripe.FSSTMinGainPercent != -1 || o.Stripe.SampleValues != 8 {
		t.Errorf("options of writers: got %+v", o)
	}
}
