package sql

import (
	"context"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"tailrace"
)

// copyLines is COPY data of rows with these keys.
func copyLines(keys []int) string {
	var out strings.Builder
	for _, k := range keys {
		fmt.Fprintf(&out, "%d\tx\n", k)
	}
	return out.String()
}

// upTo is from, from+1, ..., to-1.
func upTo(from, to int) []int {
	var out []int
	for i := from; i < to; i++ {
		out = append(out, i)
	}
	return out
}

// TestCopyFindsEveryDuplicateKey loads keys that begin in order, into tables with rows below, above and between them, in one COPY and in two of one
// transaction, and holds the outcome against a plain set of keys.
func TestCopyFindsEveryDuplicateKey(t *testing.T) {
	const batch = 8192 // rows of a full batch of format.CopyReader
	for name, x := range map[string]struct {
		there, first, second []int
	}{
		"in order":                     {nil, upTo(0, 2*batch+10), upTo(2*batch+10, 2*batch+200)},
		"again":                        {nil, upTo(0, 200), upTo(199, 300)},
		"above the table":              {upTo(0, 100), upTo(100, 300), upTo(300, 500)},
		"between rows of the table":    {[]int{0, 1000}, upTo(1, 300), upTo(300, 600)},
		"on a row of the table":        {[]int{0, 250}, upTo(1, 300), nil},
		"twice, a batch apart":         {nil, append(upTo(0, batch+100), 17), nil},
		"once, out of order":           {nil, append(upTo(10, batch+100), 3), []int{4, 5}},
		"out of order, then again":     {nil, append(upTo(10, batch+100), 3), []int{4, 3}},
		"few rows":                     {nil, []int{1, 2, 3}, []int{3}},
		"out of order from the start":  {nil, append([]int{9}, upTo(0, 100)...), nil},
		"equal neighbours":             {nil, append(upTo(0, 100), 99, 100), nil},
		"few rows, then many in order": {nil, []int{5}, upTo(0, 100)},
	} {
		t.Run(name, func(t *testing.T) {
			c := newWorld(t).client()
			c.must("CREATE TABLE t (a int PRIMARY KEY, b text)")
			if x.there != nil {
				c.query("COPY t FROM STDIN", copyLines(x.there))
			}
			seen := map[int]bool{}
			want := ""
			for _, k := range append(append(append([]int{}, x.there...), x.first...), x.second...) {
				if seen[k] && want == "" {
					want = fmt.Sprintf("Key (a)=(%d) already exists.", k)
				}
				seen[k] = true
			}
			c.must("BEGIN")
			var got []string
			for _, keys := range [][]int{x.first, x.second} {
				if got = c.query("COPY t FROM STDIN", copyLines(keys)); strings.HasPrefix(got[0], "ERROR") {
					break
				}
			}
			if line := strings.Join(got, " "); (want == "") == strings.HasPrefix(line, "ERROR") || !strings.Contains(line, want) {
				t.Fatalf("got %q, want %q", line, want)
			}
			c.must("COMMIT")
			rows := len(seen)
			if want != "" {
				rows = len(x.there)
			}
			if got := c.must("SELECT count(*), count(DISTINCT a) FROM t")[1]; got != fmt.Sprintf("%d|%d", rows, rows) {
				t.Errorf("rows and keys in the table: got %s, want %d of both", got, rows)
			}
		})
	}
}

// TestCopyInOrderConflictsWithAnInsertMeanwhile commits a key of a COPY before it: the COPY must not commit it again.
func TestCopyInOrderConflictsWithAnInsertMeanwhile(t *testing.T) {
	w := newWorld(t)
	a, b := w.client(), w.client()
	a.must("CREATE TABLE t (a int PRIMARY KEY, b text)")
	for _, rows := range []int{100, 70_000} { // keys are listed; they are too many for that
		a.must("BEGIN")
		a.query("COPY t FROM STDIN", copyLines(upTo(0, rows)))
		b.must("INSERT INTO t VALUES (50, 'first')")
		if got := strings.Join(a.query("COMMIT", ""), " "); !strings.HasPrefix(got, "ERROR 40001") {
			t.Errorf("%d rows: got %q, want a conflict", rows, got)
		}
		b.must("DELETE FROM t")
	}
}

// prepared runs a prepared statement in a cycle of its own, as the extended protocol does.
func (c *client) prepared(p *Prepared, params ...string) (string, error) {
	ctx := context.Background()
	var ps []Param
	for _, v := range params {
		ps = append(ps, Param{Value: []byte(v)})
	}
	b, err := c.Bind(ctx, p, ps)
	if err != nil {
		return "", err
	}
	r, err := c.Execute(ctx, b)
	if err != nil {
		c.Fail(err)
		return "", err
	}
	tag, err := r.Finish(ctx, 0)
	if err == nil {
		err = c.Sync(ctx)
	}
	return tag, err
}

// TestWhatAPreparedStatementKeepsFollowsTheTable changes what a kept statement was made from between its runs.
func TestWhatAPreparedStatementKeepsFollowsTheTable(t *testing.T) {
	ctx := context.Background()
	w := newWorld(t)
	c, other := w.client(), w.client()
	other.must("CREATE TABLE t (a int PRIMARY KEY, d date)")
	prepare := func(text string) *Prepared {
		p, err := c.Prepare(ctx, text, nil)
		if err != nil {
			t.Fatalf("prepare %s: %v", text, err)
		}
		return p
	}
	insert := prepare("INSERT INTO t VALUES ($1, '02/03/2001')")
	update := prepare("UPDATE t SET d = '04/05/2002' WHERE a = $1")
	remove := prepare("DELETE FROM t WHERE a = $1")
	run := func(p *Prepared, param, want string) {
		t.Helper()
		got, err := c.prepared(p, param)
		if err != nil {
			got = tailrace.Code(err)
		}
		if got != want {
			t.Errorf("got %q, want %q", got, want)
		}
	}
	rows := func(want string) {
		t.Helper()
		if got := strings.Join(other.must("SELECT * FROM t ORDER BY a")[1:], " "); got != want {
			t.Errorf("rows: got %q, want %q", got, want)
		}
	}
	run(insert, "1", "INSERT 0 1")
	run(insert, "1", "23505")
	run(insert, "2", "INSERT 0 1")
	run(update, "2", "UPDATE 1")
	run(update, "3", "UPDATE 0")
	run(remove, "1", "DELETE 1")
	run(remove, "1", "DELETE 0")
	rows("2|2002-04-05 SELECT 1")

	c.must("SET DateStyle = 'ISO, DMY'")
	run(insert, "1", "INSERT 0 1")
	run(update, "2", "UPDATE 1")
	rows("1|2001-03-02 2|2002-05-04 SELECT 2")

	other.must("ALTER TABLE t ADD COLUMN e int DEFAULT 7")
	run(insert, "3", "INSERT 0 1")
	rows("1|2001-03-02|7 2|2002-05-04|7 3|2001-03-02|7 SELECT 3")
	other.must("ALTER TABLE t RENAME COLUMN d TO f")
	run(update, "3", "42703")
	run(remove, "3", "DELETE 1")
	other.must("DROP TABLE t")
	run(remove, "2", "42P01")
	other.must("CREATE TABLE t (a int PRIMARY KEY, d date)")
	run(insert, "9", "INSERT 0 1")
	run(update, "9", "UPDATE 1")
	rows("9|2002-05-04 SELECT 1")
	other.must("DROP TABLE t; CREATE TABLE t (a int, d date)")
	run(insert, "9", "INSERT 0 1")
	run(remove, "9", "DELETE 1")
}

func BenchmarkCopyIn(b *testing.B) {
	const rows = 100_000
	rng := rand.New(rand.NewPCG(1, 1))
	shuffled := rng.Perm(rows)
	for _, x := range []struct {
		name, key string
		keys      []int
	}{{"in-order", "PRIMARY KEY", upTo(0, rows)}, {"shuffled", "PRIMARY KEY", shuffled}, {"no-key", "", shuffled}} {
		b.Run(x.name, func(b *testing.B) {
			var data []byte
			for _, k := range x.keys {
				data = fmt.Appendf(data, "%d\t%d\t%x some text that goes with it\n", k, k%1000, rng.Uint64())
			}
			c := newWorld(b).client()
			c.must("CREATE TABLE t (a bigint " + x.key + ", n int, b text)")
			sts, err := c.Parse("COPY t FROM STDIN")
			if err != nil {
				b.Fatal(err)
			}
			b.SetBytes(int64(len(data)))
			b.ReportAllocs()
			ctx := context.Background()
			for b.Loop() {
				c.must("BEGIN")
				r, err := c.Run(ctx, sts[0], true)
				for at := 0; err == nil && at < len(data); at += 64 << 10 {
					err = r.CopyIn.Write(ctx, data[at:min(len(data), at+64<<10)])
				}
				if err == nil {
					_, err = r.CopyIn.Done(ctx)
				}
				if err != nil {
					b.Fatal(err)
				}
				c.must("ROLLBACK")
			}
			b.ReportMetric(rows*float64(b.N)/b.Elapsed().Seconds(), "rows/s")
		})
	}
}

// BenchmarkPrepared is one statement a transaction through the extended protocol; "anew" forgets what the run before kept.
func BenchmarkPrepared(b *testing.B) {
	for _, x := range []struct{ name, text string }{
		{"insert", "INSERT INTO u VALUES ($1, 'a row of a commit benchmark')"},
		{"update", "UPDATE t SET n = n + 1 WHERE a = $1"},
	} {
		for _, how := range []string{"kept", "anew"} {
			b.Run(x.name+"/"+how, func(b *testing.B) {
				c := newWorld(b).client()
				c.must("CREATE TABLE u (a bigint, b text); CREATE TABLE t (a bigint PRIMARY KEY, n int, b text)")
				c.must("INSERT INTO t SELECT g, 0, 'text' FROM generate_series(0, 9999) g")
				p, err := c.Prepare(context.Background(), x.text, nil)
				if err != nil {
					b.Fatal(err)
				}
				b.ReportAllocs()
				n := 0
				for b.Loop() {
					if how == "anew" {
						p.kept = kept{}
					}
					n++
					if _, err := c.prepared(p, fmt.Sprint(n%10_000)); err != nil {
						b.Fatal(err)
					}
				}
			})
		}
	}
}
