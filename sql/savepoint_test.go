package sql

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"

	"tailrace"
)

// parts counts what is in Blob.
func (w *world) parts() int {
	w.t.Helper()
	n := 0
	for _, err := range w.blob.List(w.t.Context(), "") {
		if err != nil {
			w.t.Fatal(err)
		}
		n++
	}
	return n
}

// TestRollbackToDeletesTheParts that were cut after the savepoint, keeps those before, and leaves nothing when the table is dropped, or the block ends badly.
func TestRollbackToDeletesTheParts(t *testing.T) {
	for _, key := range []string{" PRIMARY KEY", ""} {
		w := newWorld(t)
		c := w.client()
		c.must("CREATE TABLE t (a int" + key + ", b text)")
		load := func(from, to int) {
			c.must(fmt.Sprintf("INSERT INTO t SELECT g, repeat('x', 1000) FROM generate_series(%d, %d) g", from, to))
		}
		before := w.parts()
		c.must("BEGIN")
		load(1, 10_000)
		c.must("SAVEPOINT s")
		load(10_001, 20_000)
		c.must("SAVEPOINT s; UPDATE t SET b = 'short' WHERE a = 7")
		load(20_001, 30_000)
		c.must("ROLLBACK TO s; RELEASE s")
		if got := c.rows("SELECT count(*), min(length(b)), max(a) FROM t"); got[0] != "20000|1000|20000" {
			t.Errorf("t (a%s) after the first ROLLBACK TO: got %v", key, got)
		}
		c.must("ROLLBACK TO s; DELETE FROM t WHERE a > 5000; COMMIT")
		if got := c.rows("SELECT count(*), max(a) FROM t"); got[0] != "5000|5000" {
			t.Errorf("t (a%s) after COMMIT: got %v", key, got)
		}
		kept := w.parts()
		if kept <= before {
			t.Errorf("t (a%s): %d parts before, %d after: the rows should be in parts", key, before, kept)
		}
		c.must("BEGIN; SAVEPOINT a")
		load(100_001, 110_000)
		c.must("ROLLBACK TO a; COMMIT")
		c.must("BEGIN; CREATE TABLE u AS SELECT * FROM t; SAVEPOINT a; DROP TABLE u; COMMIT")
		c.must("BEGIN; SAVEPOINT a")
		load(100_001, 110_000)
		c.query("SELECT 1 / 0", "")
		c.must("COMMIT")
		c.must("BEGIN; SAVEPOINT a; CREATE TABLE u AS SELECT * FROM t; ALTER TABLE u ALTER a TYPE text; ROLLBACK")
		if got := w.parts(); got != kept {
			t.Errorf("t (a%s): %d parts were left, there were %d", key, got, kept)
		}
	}
}

// TestASavepointAroundEachStatementIsCheap: what a client like JDBC or psql does with autosave makes no layer for each, and a statement costs what it reads.
func TestASavepointAroundEachStatementIsCheap(t *testing.T) {
	c := newWorld(t).client()
	c.must("CREATE TABLE t (a int PRIMARY KEY, b int)")
	c.must("BEGIN")
	for i := range 500 {
		c.must(fmt.Sprintf("SAVEPOINT s; INSERT INTO t VALUES (%d, 1); RELEASE s", i))
	}
	if n := len(c.txn.tables[c.find("", "t").ID].layers); n > 2 {
		t.Errorf("%d layers, want 1 or 2", n)
	}
	c.must("UPDATE t SET b = 2 WHERE a = 499; COMMIT")
	if got := c.rows("SELECT count(*), sum(b) FROM t"); got[0] != "500|501" {
		t.Errorf("got %v", got)
	}
}

// TestUpsertsOfOneRowAllSucceed: single statements run again until they are first, with RETURNING too, by the simple protocol and by the extended one when Sync comes right behind.
func TestUpsertsOfOneRowAllSucceed(t *testing.T) {
	const sessions, each = 4, 30
	w := newWorld(t)
	setup := w.client()
	setup.must("CREATE TABLE t (a int PRIMARY KEY, n int)")
	var mu sync.Mutex
	seen := map[string]int{}
	var wait sync.WaitGroup
	for i := range sessions {
		c := w.client()
		wait.Go(func() {
			for range each {
				var lines []string
				if i%2 == 0 {
					lines = c.query("INSERT INTO t VALUES (1, 1) ON CONFLICT (a) DO UPDATE SET n = t.n + 1 RETURNING n", "")
				} else {
					var err error
					if lines, err = c.executeLast("INSERT INTO t VALUES ($1, 1) ON CONFLICT (a) DO UPDATE SET n = t.n + excluded.n RETURNING n", "1"); err != nil {
						t.Error(err)
						return
					}
				}
				if len(lines) != 3 || lines[2] != "INSERT 0 1" {
					t.Errorf("got %q", lines)
					return
				}
				mu.Lock()
				seen[lines[1]]++
				mu.Unlock()
			}
		})
	}
	wait.Wait()
	if got := setup.rows("SELECT n FROM t"); got[0] != fmt.Sprint(sessions*each) || len(seen) != sessions*each {
		t.Errorf("n is %v, %d different ones were returned; want %d", got, len(seen), sessions*each)
	}
}

// executeLast is execute of a statement that Sync follows at once.
func (c *client) executeLast(text string, params ...string) ([]string, error) {
	c.last = true
	defer func() { c.last = false }()
	return c.execute(text, params...)
}

// TestReturningIsDescribedAndComplete: Describe gives its columns, all rows are there at the first Execute, whatever happens to them, and many wait outside of memory, in order.
func TestReturningIsDescribedAndComplete(t *testing.T) {
	w := newWorld(t)
	c := w.client()
	c.must("CREATE TABLE t (a int PRIMARY KEY, b text)")
	ctx := t.Context()
	p, err := c.Prepare(ctx, "INSERT INTO t SELECT g, repeat('y', 2000) FROM generate_series(1, $1::int) g RETURNING a, b, a % 7 AS m", nil)
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, col := range p.Columns {
		names = append(names, col.Name+" "+col.Type.String())
	}
	if got := strings.Join(names, ", "); got != "a integer, b text, m integer" {
		t.Errorf("columns: got %s", got)
	}
	before := w.parts()
	const rows = 18_000 // 36 MB, more than returningBytes
	b, err := c.Bind(ctx, p, []Param{{Value: []byte(fmt.Sprint(rows))}})
	if err != nil {
		t.Fatal(err)
	}
	r, err := c.ExecuteLast(ctx, b)
	if err != nil {
		t.Fatal(err)
	}
	other := w.client()
	if got := other.rows("SELECT count(*) FROM t"); got[0] != fmt.Sprint(rows) {
		t.Errorf("before a row was read: another session sees %v rows", got)
	}
	next := int32(1)
	for {
		got, err := r.Rows.Next(ctx)
		if err != nil {
			break
		}
		for _, a := range got.Cols[0].Int32s()[:got.N] {
			if a != next {
				t.Fatalf("row %d came where %d should", a, next)
			}
			next++
		}
	}
	if tag, err := r.Finish(ctx, int64(next-1)); err != nil || tag != fmt.Sprintf("INSERT 0 %d", rows) || next != rows+1 {
		t.Errorf("got %s, %v, %d rows", tag, err, next-1)
	}
	if err := c.Sync(ctx); err != nil {
		t.Fatal(err)
	}
	during := w.parts()
	c.must("TRUNCATE t")
	if during <= before {
		t.Errorf("%d parts before, %d after", before, during)
	}
	if got := c.query("DELETE FROM t RETURNING a", ""); !slices.Equal(got, []string{"-- a:integer", "DELETE 0"}) {
		t.Errorf("got %q", got)
	}
	p, err = c.Prepare(ctx, "DELETE FROM t RETURNING *", nil)
	if err != nil {
		t.Fatal(err)
	}
	other.must("ALTER TABLE t ALTER b TYPE int USING 1; INSERT INTO t VALUES (1, 1)")
	if b, err = c.Bind(ctx, p, nil); err != nil {
		t.Fatal(err)
	}
	_, err = c.ExecuteLast(ctx, b)
	var e *tailrace.Error
	if !errors.As(err, &e) || e.Code != "0A000" {
		t.Errorf("another result type: got %v", err)
	}
	c.Fail(err)
	if got := other.rows("SELECT count(*) FROM t"); got[0] != "1" {
		t.Errorf("the statement deleted rows before it failed: %v are left", got)
	}
}
