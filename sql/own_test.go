package sql

import (
	"context"
	"fmt"
	"io"
	"math/rand/v2"
	"runtime"
	"strings"
	"testing"

	"tailrace"
)

// TestStatementsOfABlockSeeWhatItWrote runs random keyed statements in one block, with what it wrote kept by key and without, against a map.
func TestStatementsOfABlockSeeWhatItWrote(t *testing.T) {
	for _, large := range []bool{false, true} {
		c := newWorld(t).client()
		c.must("CREATE TABLE t (a int PRIMARY KEY, b int)")
		c.must("INSERT INTO t SELECT g, g FROM generate_series(0, 9) g")
		model := map[int]int{}
		for i := range 10 {
			model[i] = i
		}
		const seed = 17
		r := rand.New(rand.NewPCG(seed, 0))
		c.must("BEGIN")
		for step := range 400 {
			a, to := r.IntN(30), r.IntN(30)
			_, there := model[a]
			_, taken := model[to]
			var text, want string
			switch op := r.IntN(4); {
			case op == 0 && !there:
				text, want, model[a] = fmt.Sprintf("INSERT INTO t VALUES (%d, %d)", a, step), "INSERT 0 1", step
			case op == 1:
				text, want = fmt.Sprintf("UPDATE t SET b = b + 1 WHERE a = %d", a), "UPDATE 0"
				if there {
					want, model[a] = "UPDATE 1", model[a]+1
				}
			case op == 2 && there && !taken:
				text, want, model[to] = fmt.Sprintf("UPDATE t SET a = %d WHERE a = %d", to, a), "UPDATE 1", model[a]
				delete(model, a)
			case op == 3:
				text, want = fmt.Sprintf("DELETE FROM t WHERE a = %d", a), "DELETE 0"
				if there {
					want = "DELETE 1"
				}
				delete(model, a)
			default:
				continue
			}
			if got := c.query(text, ""); len(got) != 1 || got[0] != want {
				t.Fatalf("seed %d, step %d, large %v: %s: got %q, want %s", seed, step, large, text, got, want)
			}
			if w := c.txn.tables[c.find("", "t").ID]; large && w != nil {
				w.layers[0].own, w.layers[0].large = nil, true
			}
		}
		c.must("COMMIT")
		var want []string
		for a := range 30 {
			if b, there := model[a]; there {
				want = append(want, fmt.Sprintf("%d\t%d", a, b))
			}
		}
		if got := c.query("COPY (SELECT * FROM t ORDER BY a) TO STDOUT", ""); strings.Join(got[:len(got)-1], " ") != strings.Join(want, " ") {
			t.Errorf("seed %d, large %v: got %q, want %q", seed, large, got, want)
		}
	}
}

// TestAStatementOfABlockCostsWhatItReads: not all that the block wrote before.
func TestAStatementOfABlockCostsWhatItReads(t *testing.T) {
	c := newWorld(t).client()
	c.must("CREATE TABLE t (a int PRIMARY KEY, b text)")
	c.must("INSERT INTO t SELECT g, repeat('x', 100) FROM generate_series(1, 5000) g")
	c.must("BEGIN")
	next := 0
	bytes := func() uint64 { // allocated by 20 statements
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		for range 20 {
			next++
			c.must(fmt.Sprintf("UPDATE t SET b = 'y' WHERE a = %d", next))
		}
		runtime.ReadMemStats(&after)
		return after.TotalAlloc - before.TotalAlloc
	}
	bytes()
	first := bytes()
	for next < 2000 {
		bytes()
	}
	if last := bytes(); last > 4*first+1<<20 {
		t.Errorf("20 updates after 2,000 in the block: got %d bytes allocated, want about the %d of the first", last, first)
	}
}

// TestRowsThatComeLateAreChangedToo: a row is changed once, in whatever order the engine finds it, also in a block that wrote before.
func TestRowsThatComeLateAreChangedToo(t *testing.T) {
	for _, in := range []string{"SELECT g FROM generate_series(1, 100000) g", "SELECT 100000 - g FROM generate_series(0, 99999) g", "SELECT 1 + g * 7919 % 100000 FROM generate_series(0, 99999) g"} {
		c := newWorld(t).client()
		c.must("CREATE TABLE t (a int PRIMARY KEY, b int)")
		c.must("INSERT INTO t SELECT g, 0 FROM generate_series(1, 30000) g")
		c.must("BEGIN")
		c.must("INSERT INTO t SELECT g, 0 FROM generate_series(30001, 40000) g")
		for range 2 {
			if got := c.query("UPDATE t SET b = b + 1 WHERE a IN ("+in+")", ""); got[0] != "UPDATE 40000" {
				t.Errorf("%s: got %q, want UPDATE 40000", in, got)
			}
		}
		c.must("COMMIT")
		if got := c.query("SELECT count(*), min(b), max(b) FROM t", ""); got[1] != "40000|2|2" {
			t.Errorf("%s: got %q, want 40000|2|2", in, got)
		}
	}
}

// TestLateBatchesGoToTheSecondWalk gives the batches in the wrong order.
func TestLateBatchesGoToTheSecondWalk(t *testing.T) {
	c := newWorld(t).client()
	c.must("CREATE TABLE t (a int PRIMARY KEY, b int)")
	c.must("INSERT INTO t SELECT g, 0 FROM generate_series(0, 9) g")
	c.must("BEGIN")
	c.must("INSERT INTO t VALUES (10, 0)")
	ctx := t.Context()
	table := c.find("", "t")
	number := func(list ...int64) *tailrace.Batch {
		b := &tailrace.Batch{N: len(list), Cols: []tailrace.Column{tailrace.MakeColumn(tailrace.KindInt8, len(list))}}
		for _, n := range list {
			b.Cols[0].AppendInt64(n)
		}
		return b
	}
	sts, err := c.Parse("DELETE FROM t")
	if err != nil {
		t.Fatal(err)
	}
	st := &statement{Statement: sts[0]}
	d, err := c.resolveDelete(t.Context(), st, sts[0].Tree.GetDeleteStmt())
	if err != nil {
		t.Fatal(err)
	}
	plan, err := c.planChange(ctx, st, d)
	if err != nil {
		t.Fatal(err)
	}
	w := &walk{s: c.Session, c: d, last: -1}
	defer w.close()
	n, err := c.applyAsRead(ctx, plan, &batches{number(9, 8), number(2, 4), number(1), number(5), number(3, 10)}, w)
	if err != nil || n != 8 {
		t.Fatalf("table %s: got %d, %v, want 8 rows deleted", table.Name, n, err)
	}
	c.must("COMMIT")
	if got := c.query("COPY (SELECT a FROM t ORDER BY a) TO STDOUT", ""); strings.Join(got, " ") != "0 6 7 COPY 3" {
		t.Errorf("left: got %q, want 0 6 7", got)
	}
}

// batches are rows, one batch after the other.
type batches []*tailrace.Batch

func (b *batches) Next(context.Context) (*tailrace.Batch, error) {
	if len(*b) == 0 {
		return nil, io.EOF
	}
	first := (*b)[0]
	*b = (*b)[1:]
	return first, nil
}

func (b *batches) Close() error { return nil }

func TestChangesOfTooManyRowsAreRefused(t *testing.T) {
	w := newWorld(t)
	w.engine.changeBytes = 1 << 20
	c := w.client()
	c.must("CREATE TABLE t (a int PRIMARY KEY, b text)")
	c.must("INSERT INTO t SELECT g, 'x' FROM generate_series(1, 100000) g")
	const want = "ERROR 53200: out of memory: the statement changes more rows than fit in 1 MiB"
	for _, text := range []string{
		"UPDATE t SET b = (SELECT max(b) FROM t)", "UPDATE t SET a = a + 1 WHERE a <= 60000", "DELETE FROM t WHERE b IN (SELECT b FROM t)",
	} {
		if got := c.query(text, ""); len(got) != 1 || got[0] != want {
			t.Errorf("%s: got %q, want %s", text, got, want)
		}
	}
	if got := c.query("SELECT count(*), min(a), max(a), max(b) FROM t", ""); got[1] != "100000|1|100000|x" {
		t.Errorf("after the refusals: got %q", got)
	}
	c.must("UPDATE t SET a = a + 1 WHERE a <= 100000 AND a > 80000")
	c.must("UPDATE t SET b = b || 'y'") // it reads its table alone, once, and holds nothing
	if got := c.query("SELECT count(*), min(a), max(a), min(b) FROM t WHERE a <= 100000", ""); got[1] != "99999|1|100000|xy" {
		t.Errorf("after the others: got %q", got)
	}
	if got := c.query("DELETE FROM t WHERE b = 'xy'", ""); got[0] != "DELETE 100000" {
		t.Errorf("delete of all: got %q", got)
	}
}

// TestABlockReadsAllThatItWrote from the parts that it is in, and not from memory.
func TestABlockReadsAllThatItWrote(t *testing.T) {
	w := newWorld(t)
	w.engine.overlayBytes = 1 << 20 // 2 MB are written
	c := w.client()
	c.must("CREATE TABLE t (a int PRIMARY KEY, b text)")
	c.must("INSERT INTO t SELECT g, 'old' FROM generate_series(1, 30000) g")
	c.must("BEGIN")
	c.must("INSERT INTO t SELECT g, repeat('x', 100) FROM generate_series(40000, 60000) g")
	c.must("UPDATE t SET b = 'new' WHERE a <= 10")
	c.must("CREATE TABLE fresh (a int, b text)")
	c.must("INSERT INTO fresh SELECT g % 10000, repeat('y', 100) FROM generate_series(1, 20000) g")
	for _, q := range [][2]string{
		{"SELECT count(*), count(*) FILTER (WHERE b = 'new'), max(a) FROM t", "50001|10|60000"},
		{"SELECT b FROM t WHERE a = 3", "new"},
		{"SELECT length(b) FROM t WHERE a = 50000", "100"},
		{"SELECT count(*), count(DISTINCT a) FROM fresh", "20000|10000"},
	} {
		if got := c.query(q[0], ""); len(got) < 2 || got[1] != q[1] {
			t.Errorf("%s: got %q, want %s", q[0], got, q[1])
		}
	}
	c.must("COMMIT")
	if got := c.query("SELECT count(*) FROM t", ""); got[1] != "50001" {
		t.Errorf("committed: got %q, want 50001 rows", got)
	}
}
