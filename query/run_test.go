package query

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"runtime"
	"sync"
	"testing"
	"time"

	pg_query "github.com/pganalyze/pg_query_go/v6"

	"tailrace"
	"tailrace/format"
)

// plan plans sql or ends the test.
func plan(t testing.TB, e *Engine, r Resolver, sql string, types []tailrace.Type, opts ...Option) *Plan {
	t.Helper()
	tree, err := pg_query.Parse(sql)
	if err != nil {
		t.Fatal(err)
	}
	p, err := e.Plan(t.Context(), tree.Stmts[0].Stmt, sql, r, types, opts...)
	if err != nil {
		t.Fatalf("%s: %v", sql, err)
	}
	return p
}

// count is a table of one bigint column: 0, 1, 2, ..., in batches of 8,192 rows.
type count struct {
	n, at   int64
	given   *int64 // rows handed out, also of earlier scans
	mu      *sync.Mutex
	stopped chan struct{} // closed by Close
	once    sync.Once
}

func (c *count) Next(ctx context.Context) (*tailrace.Batch, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	n := min(8192, c.n-c.at)
	if n == 0 {
		return nil, io.EOF
	}
	b := &tailrace.Batch{N: int(n), Cols: []tailrace.Column{tailrace.MakeColumn(kInt8, int(n))}}
	for i := range n {
		b.Cols[0].AppendInt64(c.at + i)
	}
	c.at += n
	c.mu.Lock()
	*c.given += n
	c.mu.Unlock()
	return b, nil
}

func (c *count) Close() error {
	c.once.Do(func() { close(c.stopped) })
	return nil
}

// counting makes ts["c"] a table of n rows. given is how many were read.
func counting(n int64) (ts tables, given func() int64, stopped chan struct{}) {
	var rows int64
	var mu sync.Mutex
	stopped = make(chan struct{})
	m := &memory{table: Table{ID: 9, Columns: &tailrace.Schema{Fields: []tailrace.Field{{ID: 1, Name: "x", Type: tailrace.TypeOf(kInt8)}}}}}
	m.table.Scan = func(context.Context, []int) (tailrace.Rows, error) {
		return &count{n: n, given: &rows, mu: &mu, stopped: stopped}, nil
	}
	return tables{"c": m}, func() int64 { mu.Lock(); defer mu.Unlock(); return rows }, stopped
}

func TestFirstRowsComeEarlyAndCloseEndsTheScan(t *testing.T) {
	e := engine(t)
	ts, given, stopped := counting(10_000_000)
	start := time.Now()
	rows, err := plan(t, e, ts, "SELECT x, x::text FROM c WHERE x % 3 = 0", nil).Run(t.Context(), nil, nil, nil)
	if err != nil {
		t.Fatal(err)
	}
	b, err := rows.Next(t.Context())
	if err != nil || b.Cols[0].Int64s()[1] != 3 {
		t.Fatalf("got %v, %v, want 3 as the second row", b, err)
	}
	t.Logf("first rows after %v, %d of 10,000,000 rows read", time.Since(start), given())
	if given() > 1_000_000 {
		t.Errorf("got %d rows read before the first came out, want few", given())
	}
	if err := rows.Close(); err != nil {
		t.Error(err)
	}
	<-stopped
}

func TestCancelEndsARunningQuery(t *testing.T) {
	e := engine(t)
	ts, given, stopped := counting(math.MaxInt64)
	ctx, cancel := context.WithCancel(t.Context())
	go func() {
		for given() == 0 {
			runtime.Gosched()
		}
		cancel()
	}()
	rows, err := plan(t, e, ts, "SELECT sum(x) FROM c", nil).Run(ctx, nil, nil, nil)
	if err == nil {
		_, err = rows.Next(ctx)
		_ = rows.Close()
	}
	if !errors.Is(err, context.Canceled) {
		t.Errorf("got %v, want context canceled", err)
	}
	<-stopped
	if a := ask(e, ts, "SELECT 1", nil, nil); a.err != "" {
		t.Errorf("after a cancel: %s", a.err)
	}
}

func TestErrorOfAScanComesOutAsItWas(t *testing.T) {
	e := engine(t)
	want := errors.New("the disk is on fire")
	m := &memory{table: Table{Columns: &tailrace.Schema{Fields: []tailrace.Field{{ID: 1, Name: "x", Type: tailrace.TypeOf(kInt8)}}}}}
	m.table.Scan = func(context.Context, []int) (tailrace.Rows, error) { return nil, want }
	rows, err := plan(t, e, tables{"c": m}, "SELECT * FROM c", nil).Run(t.Context(), nil, nil, nil)
	if err == nil {
		_, err = rows.Next(t.Context())
		_ = rows.Close()
	}
	if !errors.Is(err, want) {
		t.Errorf("got %v, want %v", err, want)
	}
}

func TestConcurrentQueriesLeaveNothingBehind(t *testing.T) {
	e := engine(t)
	ts, _, _ := counting(20_000)
	p := plan(t, e, ts, "SELECT count(*), max(x)::text || $1 FROM c WHERE x >= $2", nil)
	var wg sync.WaitGroup
	for k := range 8 {
		wg.Go(func() {
			for i := range 10 {
				params := &tailrace.Batch{N: 1, Cols: []tailrace.Column{tailrace.MakeColumn(kText, 1), tailrace.MakeColumn(kInt8, 1)}}
				params.Cols[0].AppendString(fmt.Sprint("-", k))
				params.Cols[1].AppendInt64(int64(i))
				rows, err := p.Run(context.Background(), params, nil, nil)
				if err != nil {
					t.Error(err)
					return
				}
				b, err := rows.Next(context.Background())
				if err != nil {
					t.Error(err)
				} else if got, want := b.Cols[0].Int64s()[0], int64(20_000-i); got != want || string(b.Cols[1].Bytes(0)) != fmt.Sprint("19999-", k) {
					t.Errorf("got %d and %s, want %d and 19999-%d", got, b.Cols[1].Bytes(0), want, k)
				}
				_ = rows.Close()
			}
		})
	}
	wg.Wait()
	left := 0
	e.runs.Range(func(any, any) bool { left++; return true })
	if left != 0 {
		t.Errorf("got %d runs left registered, want 0", left)
	}
}

func TestParametersTakeTheirTypesFromTheContext(t *testing.T) {
	e := engine(t)
	ts, _, _ := counting(10)
	for _, c := range []struct {
		sql    string
		params []string
		types  string
		want   string
	}{
		{"SELECT x FROM c WHERE x = $1", []string{"3"}, "[bigint]", "3"},
		{"SELECT $1", []string{"a"}, "[text]", "a"},
		{"SELECT $1::int + $2", []string{"1", "2"}, "[integer integer]", "3"},
		{"SELECT x FROM c ORDER BY x LIMIT $1 OFFSET $2", []string{"1", "2"}, "[bigint bigint]", "2"},
		{"SELECT $1 || 'x'", []string{"a"}, "[text]", "ax"},
		{"SELECT upper($1)", []string{"a"}, "[text]", "A"},
		{"SELECT date '2024-01-03' - $1", []string{"2024-01-01"}, "[date]", "2"},
		{"SELECT x FROM c WHERE x IN ($1, $2) ORDER BY x", []string{"1", "2"}, "[bigint bigint]", "1,2"},
		{"SELECT $2::numeric * $1", []string{"1.10", "2.0"}, "[numeric numeric]", "2.200"},
		{"SELECT coalesce($1, 5)", []string{"4"}, "[integer]", "4"},
		{"SELECT CASE WHEN $1 THEN $2 ELSE 'no' END", []string{"t", "yes"}, "[boolean text]", "yes"},
		{"SELECT $1 = 'it''s', $1", []string{"it's"}, "[text]", "t|it's"},
		{"SELECT x FROM (VALUES ($1::uuid)) v(x)", []string{"00112233-4455-6677-8899-aabbccddeeff"}, "[uuid]", "00112233-4455-6677-8899-aabbccddeeff"},
		{"SELECT 1 UNION ALL SELECT $1", []string{"7"}, "[integer]", "1,7"},
		{"SELECT count(*) FROM generate_series(1, $1) g", []string{"5"}, "[integer]", "5"},
	} {
		p := plan(t, e, ts, c.sql, nil)
		if got := fmt.Sprint(p.Params()); got != c.types {
			t.Errorf("%s: got parameters %s, want %s", c.sql, got, c.types)
		}
		a := ask(e, ts, c.sql, c.params, nil)
		got := a.err
		for i, r := range a.rows {
			if i > 0 {
				got += ","
			}
			got += r
		}
		if got != c.want {
			t.Errorf("%s: got %q, want %q", c.sql, got, c.want)
		}
	}
}

func TestRowRefNumbersTheRowsOfTheScan(t *testing.T) {
	e := engine(t)
	s := &tailrace.Schema{Fields: []tailrace.Field{{ID: 1, Name: "a", Type: tailrace.TypeOf(kInt4)}}}
	b := tailrace.NewBatch(s, 3)
	for i, d := range []tailrace.Diff{1, 3, 1} {
		b.Cols[0].AppendInt32(int32(10 * i))
		b.AppendDiff(d)
	}
	ts := tables{}
	ts.add("t", 1, s, b)
	p := plan(t, e, ts, "SELECT a + 1 FROM t WHERE a > 5", nil, RowRef)
	if got := p.Columns()[0].Name; got != "tr_row" || len(p.Columns()) != 2 {
		t.Fatalf("got first column %q of %d, want tr_row of 2", got, len(p.Columns()))
	}
	rows, err := p.Run(t.Context(), nil, nil, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer rows.Close()
	got, err := rows.Next(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if s := fmt.Sprint(got.Cols[0].Int64s(), got.Cols[1].Int32s()); s != "[1 1 1 2] [11 11 11 21]" {
		t.Errorf("got %s, want [1 1 1 2] [11 11 11 21]", s)
	}
}

func TestSessionFunctions(t *testing.T) {
	e := engine(t)
	env := &Env{
		Now: time.Date(2024, 5, 6, 7, 8, 9, 0, time.UTC), Logical: 1714979289000001, User: "o'neil", Database: "db", PID: 42,
		Setting: func(name string) (string, bool) { return "on", name == "x" },
	}
	sql := "SELECT now(), mz_now(), current_user, current_database(), pg_backend_pid(), current_setting('X'), current_setting('y', true), version()"
	rows, err := plan(t, e, tables{}, sql, nil).Run(t.Context(), nil, format.Default(), env)
	if err != nil {
		t.Fatal(err)
	}
	defer rows.Close()
	b, err := rows.Next(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	want := []string{"2024-05-06 07:08:09+00", "1714979289000001", "o'neil", "db", "42", "on", "", Version}
	for i, c := range plan(t, e, tables{}, sql, nil).Columns() {
		got := ""
		if !b.Cols[i].IsNull(0) {
			got = string(format.AppendText(nil, c.Type, &b.Cols[i], 0, format.Default()))
		}
		if got != want[i] {
			t.Errorf("%s: got %q, want %q", c.Name, got, want[i])
		}
	}
}

func BenchmarkSelectOnePlusOne(b *testing.B) {
	e := engine(b)
	tree, err := pg_query.Parse("SELECT 1 + 1, now()")
	if err != nil {
		b.Fatal(err)
	}
	for b.Loop() {
		p, err := e.Plan(b.Context(), tree.Stmts[0].Stmt, "", tables{}, nil)
		if err != nil {
			b.Fatal(err)
		}
		rows, err := p.Run(b.Context(), nil, nil, nil)
		if err != nil {
			b.Fatal(err)
		}
		if _, err := rows.Next(b.Context()); err != nil {
			b.Fatal(err)
		}
		_ = rows.Close()
	}
}

func BenchmarkSumOfTenMillion(b *testing.B) {
	e := engine(b)
	ts, _, _ := counting(10_000_000)
	for _, sql := range []string{"SELECT sum(x) FROM c", "SELECT sum(x::numeric) FROM c WHERE x < 1000000", "SELECT count(*) FROM c WHERE x % 7 = 1"} {
		b.Run(sql, func(b *testing.B) {
			for b.Loop() {
				if a := ask(e, ts, sql, nil, nil); a.err != "" {
					b.Fatal(a.err)
				}
			}
		})
	}
}
