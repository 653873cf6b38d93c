package e2e

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/jackc/pgx/v5/pgconn"
)

// TestSubscribeToQueries: views, constants and expressions, which only the dataflow path serves.
func TestSubscribeToQueries(t *testing.T) {
	s := start(t)
	c, w := s.connect(t), s.connect(t)
	w.run("CREATE TABLE t (a int PRIMARY KEY, b int, c text); INSERT INTO t VALUES (1, 10, 'x'), (2, 20, 'y'); CREATE TABLE k (n bigint)")
	w.run("CREATE VIEW three AS VALUES (1), (2), (3); CREATE VIEW halves AS SELECT a, b / a AS half FROM t; CREATE VIEW few AS SELECT c, a FROM t WHERE b > 10")
	t.Run("S11", func(t *testing.T) {
		c.declare("SUBSCRIBE three")
		wantRows(t, "constants", c.data(3), "1 1", "1 2", "1 3")
		wantRows(t, "after them", c.run("FETCH 1 c"))
		c.run("COMMIT")
		c.declare("SUBSCRIBE three WITH (SNAPSHOT = false)")
		wantRows(t, "without them", c.run("FETCH 1 c"))
		c.run("COMMIT")
	})
	t.Run("X09", func(t *testing.T) {
		c.declare("SUBSCRIBE halves")
		wantRows(t, "halves", c.data(2), "1 1 10", "1 2 10")
		w.run("INSERT INTO t VALUES (0, 5, 'z')")
		c.fails("FETCH 1 c", "22012", "division by zero")
		c.run("ROLLBACK")
		w.run("DELETE FROM t WHERE a = 0")
	})
	t.Run("union", func(t *testing.T) {
		c.declare("SUBSCRIBE (SELECT n, 'k' AS of FROM k UNION ALL SELECT a::bigint, c FROM t WHERE a > 1)")
		wantRows(t, "union", c.data(1), "1 2 y")
		w.run("BEGIN; INSERT INTO k VALUES (7); UPDATE t SET c = 'yy' WHERE a = 2; COMMIT")
		wantRows(t, "one time of both", c.data(3), "-1 2 y", "1 2 yy", "1 7 k")
		c.run("COMMIT")
	})
	t.Run("rows move in and out", func(t *testing.T) {
		c.declare("SUBSCRIBE few ENVELOPE UPSERT (KEY (a))")
		wantRows(t, "view over a part", c.data(1), "upsert 2 yy")
		w.run("UPDATE t SET b = 11 WHERE a = 1")
		wantRows(t, "in", c.data(1), "upsert 1 x")
		w.run("UPDATE t SET b = 0 WHERE a = 2")
		wantRows(t, "out", c.data(1), "delete 2 _")
		c.run("COMMIT")
	})
	t.Run("paths are shown", func(t *testing.T) {
		c.declare("SUBSCRIBE halves")
		c.data(1)
		wantRows(t, "path", w.run("SELECT path FROM mz_internal.mz_subscriptions"), "dataflow")
		c.run("COMMIT")
		wantRows(t, "none left", w.run("SELECT count(*) FROM mz_internal.mz_subscriptions"), "0")
	})
}

// TestNothingIsMissedAfterTheFirstProgress is X10: what is committed the moment the first progress row of a SUBSCRIBE without snapshot arrives comes through it.
func TestNothingIsMissedAfterTheFirstProgress(t *testing.T) {
	rounds := 150
	if long {
		rounds = 5000 // on each path
	}
	onBothPaths(t, func(t *testing.T, s *server) {
		c, w := s.connect(t), s.connect(t)
		w.run("CREATE TABLE t (a int)")
		for i := range rounds {
			c.declare("SUBSCRIBE t WITH (SNAPSHOT = false, PROGRESS)")
			if rows := c.run("FETCH 1 c"); len(rows) != 1 || !strings.Contains(rows[0], " t ") {
				t.Fatalf("round %d: first row %q, want progress", i, rows)
			}
			w.run(fmt.Sprintf("INSERT INTO t VALUES (%d)", i))
			for {
				rows := c.run("FETCH 1 c WITH (TIMEOUT = '10s')")
				if len(rows) == 0 {
					t.Fatalf("round %d: the row did not come", i)
				}
				if strings.HasSuffix(rows[0], fmt.Sprintf(" f 1 %d", i)) {
					break
				}
			}
			c.run("COMMIT")
		}
	})
}

// TestResumingIsExact is X11: a client that is cancelled, timed out and cut off at random, and goes on from its last progress, has every update once.
func TestResumingIsExact(t *testing.T) {
	onBothPaths(t, func(t *testing.T, s *server) {
		w := s.connect(t)
		w.run("CREATE TABLE t (a int PRIMARY KEY, b int); INSERT INTO t SELECT g, 0 FROM generate_series(1, 50) g")
		span := 4 * time.Second
		if long {
			span = time.Minute
		}
		ctx, stop := context.WithTimeout(t.Context(), span)
		defer stop()
		var writing sync.WaitGroup
		defer writing.Wait()
		writing.Go(func() {
			rng := rand.New(rand.NewPCG(1, 1))
			for i := 1; ctx.Err() == nil; i++ {
				a := rng.IntN(60)
				sql := fmt.Sprintf("INSERT INTO t VALUES (%d, %d) ON CONFLICT (a) DO UPDATE SET b = %d", a, i, i)
				if i%7 == 0 {
					sql = fmt.Sprintf("DELETE FROM t WHERE a = %d", a)
				}
				w.run(sql)
			}
		})
		f := &resumer{sum: map[string]int{}}
		rng := rand.New(rand.NewPCG(2, 2))
		cuts := 0
		for ctx.Err() == nil {
			f.read(t, s, rng)
			cuts++
		}
		writing.Wait()
		f.finish(t, s, w)
		if cuts < 5 {
			t.Fatalf("only %d readings in %v", cuts, span)
		}
		want := w.run("SELECT a, b FROM t ORDER BY a, b")
		var got []string
		for row, n := range f.sum {
			if n != 1 {
				t.Fatalf("row %q is there %d times after %d readings", row, n, cuts)
			}
			got = append(got, row)
		}
		slices.Sort(got)
		slices.Sort(want)
		wantRows(t, fmt.Sprintf("sum of %d readings", cuts), got, want...)
	})
}

// resumer adds up updates up to its last progress and goes on from there.
type resumer struct {
	sum      map[string]int
	frontier uint64 // everything below is in sum; 0: nothing is
}

// statement is the SUBSCRIBE that goes on.
func (f *resumer) statement() string {
	if f.frontier == 0 {
		return "COPY (SUBSCRIBE t WITH (PROGRESS)) TO STDOUT"
	}
	return fmt.Sprintf("COPY (SUBSCRIBE t WITH (PROGRESS, SNAPSHOT = false) AS OF %d) TO STDOUT", f.frontier-1)
}

// read reads until it is cancelled, times out, or its socket is closed, whichever chance chooses.
func (f *resumer) read(t *testing.T, s *server, rng *rand.Rand) {
	sql, after := f.statement(), time.Duration(20+rng.IntN(300))*time.Millisecond
	way := rng.IntN(3)
	if way == 0 {
		sql = fmt.Sprintf("SET statement_timeout = %d; ", after.Milliseconds()) + sql
	}
	c := s.connect(t)
	defer c.close()
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	switch way {
	case 1:
		defer time.AfterFunc(after, func() { _ = c.c.PgConn().CancelRequest(context.Background()) }).Stop() // a test that ends has no use for it
	case 2:
		defer time.AfterFunc(after, func() { c.c.PgConn().Conn().Close() }).Stop()
	}
	r := &reading{f: f, pending: map[string]int{}}
	if way == 0 {
		c.run(strings.Split(sql, "; ")[0])
		sql = strings.Split(sql, "; ")[1]
	}
	_, err := c.c.PgConn().CopyTo(ctx, lines(func(line []byte) { r.take(t, string(line)) }), sql)
	var e *pgconn.PgError
	if errors.As(err, &e) && e.Code != "57014" {
		t.Fatalf("%s: ended with %s", sql, describe(err))
	}
	if err == nil {
		t.Fatalf("%s: ended", sql)
	}
}

// reading is one SUBSCRIBE of a resumer.
type reading struct {
	f       *resumer
	opened  bool           // the first progress row came, which tells of nothing yet
	pending map[string]int // updates that no progress row has passed
}

// take adds one line: pending updates count once a progress row has passed them.
func (r *reading) take(t *testing.T, line string) {
	cells := strings.Split(strings.TrimSpace(line), "\t")
	at, err := strconv.ParseUint(cells[0], 10, 64)
	if err != nil {
		t.Errorf("line %q: %v", line, err)
		return
	}
	switch {
	case cells[1] != "t":
		n, err := strconv.Atoi(cells[2])
		if err != nil {
			t.Errorf("line %q: %v", line, err)
		}
		r.pending[strings.Join(cells[3:], " ")] += n
	case !r.opened:
		r.opened = true
	default:
		for row, n := range r.pending {
			if r.f.sum[row] += n; r.f.sum[row] == 0 {
				delete(r.f.sum, row)
			}
		}
		clear(r.pending)
		r.f.frontier = at
	}
}

// finish reads up to now.
func (f *resumer) finish(t *testing.T, s *server, w *client) {
	now := w.run("SELECT mz_now()")[0]
	c := s.connect(t)
	r := &reading{f: f, pending: map[string]int{}}
	sql := strings.Replace(f.statement(), ") TO STDOUT", " UP TO "+now+" + 1) TO STDOUT", 1)
	if _, err := c.c.PgConn().CopyTo(t.Context(), lines(func(line []byte) { r.take(t, string(line)) }), sql); err != nil {
		t.Fatalf("%s: %s", sql, describe(err))
	}
}
