package duckdb

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// numbers is a Source of the integers below n, as a BIGINT, as text, and as their half, NULL when odd.
type numbers struct {
	n     int
	open  atomic.Int64
	most  atomic.Int64 // rows given by any scan
	block chan struct{}
}

func (s *numbers) Columns() []Type { return []Type{BigInt, Varchar, Integer} }

func (s *numbers) Open(projection []int) (Scan, error) {
	s.open.Add(1)
	return &numbersScan{s: s, projection: projection}, nil
}

type numbersScan struct {
	s          *numbers
	projection []int
	at         int
}

func (c *numbersScan) Close() error { c.s.open.Add(-1); return nil }

func (c *numbersScan) Fill(out []*Vector) (int, error) {
	if c.s.block != nil {
		<-c.s.block
	}
	n := min(MaxRows, c.s.n-c.at)
	for i, p := range c.projection {
		switch p {
		case 0:
			for k := range Values[int64](out[i], n) {
				Values[int64](out[i], n)[k] = int64(c.at + k)
			}
		case 1:
			var data []byte
			offsets := []int32{0}
			for k := range n {
				data = fmt.Appendf(data, "number %d", c.at+k)
				offsets = append(offsets, int32(len(data)))
			}
			out[i].SetTexts(data, offsets)
		case 2:
			for k := range n {
				if (c.at+k)%2 == 1 {
					out[i].SetNull(k)
				} else {
					Values[int32](out[i], n)[k] = int32((c.at + k) / 2)
				}
			}
		}
	}
	c.at += n
	c.s.most.Add(int64(n))
	return n, nil
}

func open(t testing.TB) *Engine {
	e, err := Open(Options{Threads: 2, TempDir: t.TempDir()})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := e.Close(); err != nil {
			t.Error(err)
		}
	})
	return e
}

// rowsOf runs sql, whose columns are all texts, and joins the rows.
func rowsOf(t testing.TB, e *Engine, sql string) string {
	t.Helper()
	s, err := try(e, sql)
	if err != nil {
		t.Fatalf("%s: %v", sql, err)
	}
	return s
}

func try(e *Engine, sql string) (string, error) {
	ctx := context.Background()
	r, err := e.Query(ctx, sql)
	if err != nil {
		return "", err
	}
	defer r.Close()
	var rows []string
	for {
		vs, n, err := r.Next(ctx)
		if errors.Is(err, io.EOF) {
			return strings.Join(rows, " "), nil
		}
		if err != nil {
			return "", err
		}
		for i := range n {
			var cells []string
			for _, v := range vs {
				if v.IsNull(i) {
					cells = append(cells, "NULL")
				} else {
					cells = append(cells, string(v.Bytes(i)))
				}
			}
			rows = append(rows, strings.Join(cells, ","))
		}
	}
}

func TestScanGivesProjectedColumns(t *testing.T) {
	e := open(t)
	s := &numbers{n: 10_000}
	id, free := e.Serve(s)
	defer free()
	for _, c := range [][2]string{
		{"SELECT count(*)::VARCHAR FROM tr_scan(%s)", "10000"},
		{"SELECT sum(c0)::VARCHAR, count(c2)::VARCHAR FROM tr_scan(%s)", "49995000,5000"},
		{"SELECT c1 FROM tr_scan(%s) WHERE c0 IN (3, 4711, 9999)", "number 3 number 4711 number 9999"},
		{"SELECT max(a.c1) FROM tr_scan(%[1]s) a JOIN tr_scan(%[1]s) b ON a.c0 = b.c2", "number 999"},
	} {
		if got := rowsOf(t, e, fmt.Sprintf(c[0], id)); got != c[1] {
			t.Errorf("%s: got %q, want %q", c[0], got, c[1])
		}
	}
	if n := s.open.Load(); n != 0 {
		t.Errorf("got %d scans left open, want 0", n)
	}
}

func TestResultStreams(t *testing.T) {
	e := open(t)
	s := &numbers{n: 10_000_000}
	id, free := e.Serve(s)
	defer free()
	ctx := t.Context()
	start := time.Now()
	r, err := e.Query(ctx, "SELECT c0, c1 FROM tr_scan("+id+") WHERE c0 % 2 = 0")
	if err != nil {
		t.Fatal(err)
	}
	_, n, err := r.Next(ctx)
	if err != nil || n == 0 {
		t.Fatalf("got %d rows, error %v", n, err)
	}
	t.Logf("first rows after %v, %d scanned", time.Since(start), s.most.Load())
	if got := s.most.Load(); got > 1_000_000 {
		t.Errorf("got %d rows scanned before the first came out, want few", got)
	}
	_ = r.Close()
	if n := s.open.Load(); n != 0 {
		t.Errorf("got %d scans left open after Close, want 0", n)
	}
}

func TestCancelInterruptsACount(t *testing.T) {
	e := open(t)
	ctx, cancel := context.WithCancel(t.Context())
	s := &numbers{n: 1 << 60, block: make(chan struct{})}
	id, free := e.Serve(s)
	defer free()
	go func() {
		s.block <- struct{}{} // the scan is under way
		cancel()
		close(s.block)
	}()
	r, err := e.Query(ctx, "SELECT count(*) FROM tr_scan("+id+") WHERE c0 >= 0")
	if err == nil {
		_, _, err = r.Next(ctx)
		_ = r.Close()
	}
	if !errors.Is(err, context.Canceled) {
		t.Errorf("got %v, want context canceled", err)
	}
}

// TestCancelBeforeTheQueryBegins: DuckDB forgets an interrupt that came too early, and the query is one that does not end.
func TestCancelBeforeTheQueryBegins(t *testing.T) {
	e := open(t)
	c, err := e.acquire()
	if err != nil {
		t.Fatal(err)
	}
	r := &Rows{e: e, c: c}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	stop := r.watch(ctx)
	err = r.start("SELECT count(*) FROM range(100000000) a, range(100000000) b")
	stop()
	if err == nil || !strings.Contains(err.Error(), "nterrupt") {
		t.Errorf("got %v, want an interrupt", err)
	}
	_ = r.Close()
}

func TestPanicsBecomeErrors(t *testing.T) {
	e := open(t)
	if err := e.RegisterScalar(&Scalar{
		Name: "boom", Params: []Type{BigInt}, Returns: BigInt,
		Eval: func([]*Vector, *Vector, int) error { panic("as planned") },
	}); err != nil {
		t.Fatal(err)
	}
	if _, err := try(e, "SELECT boom(1)"); err == nil || !strings.Contains(err.Error(), "as planned") {
		t.Errorf("got %v, want the panic's text", err)
	}
	if got := rowsOf(t, e, "SELECT 'alive'"); got != "alive" {
		t.Errorf("got %q after a panic", got)
	}
}

func TestDatabaseIsLockedDown(t *testing.T) {
	e := open(t)
	for _, sql := range []string{
		"SELECT * FROM read_csv('/etc/passwd')", "INSTALL httpfs", "LOAD httpfs", "SET memory_limit = '100GB'", "SET lock_configuration = false",
		"ATTACH '/tmp/x.db'", "COPY (SELECT 1) TO '/tmp/x.csv'", "SELECT content FROM read_text('/etc/passwd')",
	} {
		if got, err := try(e, sql); err == nil {
			t.Errorf("%s: got %.50q, want an error", sql, got)
		}
	}
}

// joined is an aggregate that joins texts.
type joined struct{ b []byte }

func (s *joined) Add(args []*Vector, i int) error { s.b = append(s.b, args[0].Bytes(i)...); return nil }
func (s *joined) Merge(o State) error             { s.b = append(s.b, o.(*joined).b...); return nil }
func (s *joined) Result(out *Vector, i int) error { out.SetBytes(i, s.b); return nil }

func TestAggregatesInGo(t *testing.T) {
	e := open(t)
	err := e.RegisterAggregate(&Aggregate{Name: "joined", Params: []Type{Varchar}, Returns: Varchar, New: func() State { return &joined{} }})
	if err != nil {
		t.Fatal(err)
	}
	id, free := e.Serve(&numbers{n: 3})
	defer free()
	if got, want := rowsOf(t, e, "SELECT joined(c1) FROM tr_scan("+id+")"), "number 0number 1number 2"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
	got := rowsOf(t, e, "SELECT joined(c1) OVER (ORDER BY c0) FROM tr_scan("+id+")")
	if want := "number 0 number 0number 1 number 0number 1number 2"; got != want {
		t.Errorf("window: got %q, want %q", got, want)
	}
	if got := rowsOf(t, e, "SELECT joined(c1) FROM tr_scan("+id+") WHERE c0 > 5"); got != "" {
		t.Errorf("no rows: got %q, want an empty text", got)
	}
}

func TestConcurrentQueriesKeepTheirSources(t *testing.T) {
	e := open(t)
	var wg sync.WaitGroup
	for k := range 16 {
		wg.Go(func() {
			for range 5 {
				id, free := e.Serve(&numbers{n: 1000 + k})
				got, err := try(e, "SELECT count(*)::VARCHAR FROM tr_scan("+id+") WHERE c0 >= 0")
				free()
				if want := fmt.Sprint(1000 + k); err != nil || got != want {
					t.Errorf("got %q, %v, want %s", got, err, want)
				}
			}
		})
	}
	wg.Wait()
}
