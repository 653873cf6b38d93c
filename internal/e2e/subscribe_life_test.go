package e2e

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5/pgconn"
)

// columns is what the server says a statement's columns are.
func (c *client) columns(sql string) string {
	c.t.Helper()
	d, err := c.c.PgConn().Prepare(context.Background(), "", sql, nil)
	if err != nil {
		c.t.Fatalf("%s: %s", sql, describe(err))
	}
	var names []string
	for _, f := range d.Fields {
		names = append(names, f.Name)
	}
	return strings.Join(names, " ")
}

func TestFetch(t *testing.T) { onBothPaths(t, fetch) }

func fetch(t *testing.T, s *server) {
	c, w := s.connect(t), s.connect(t)
	w.run("CREATE TABLE t (a int); INSERT INTO t VALUES (1),(2),(3)")
	c.declare("SUBSCRIBE t")
	for i := 1; i <= 3; {
		_, rest := times(c.run("FETCH 1 c WITH (TIMEOUT = '0s')"))
		if len(rest) == 1 {
			wantRows(t, "F01", rest, fmt.Sprintf("1 %d", i))
			i++
		}
	}
	began := time.Now()
	wantRows(t, "F02", c.run("FETCH 1 c WITH (TIMEOUT = '1s')"))
	if d := time.Since(began); d < 900*time.Millisecond {
		t.Fatalf("F02: returned after %v", d)
	}
	c.declare("SUBSCRIBE t")
	began = time.Now()
	if got := c.run("FETCH 4 c WITH (TIMEOUT = '1s')"); len(got) != 3 || time.Since(began) < 900*time.Millisecond {
		t.Fatalf("F03: %d rows after %v", len(got), time.Since(began))
	}
	c.declare("SUBSCRIBE t")
	if got := c.run("FETCH 3 c WITH (TIMEOUT = '1h')"); len(got) != 3 {
		t.Fatalf("F04: %q", got)
	}
	c.declare("SUBSCRIBE t WITH (PROGRESS)")
	for range 3 {
		if got := c.run("FETCH ALL c"); len(got) == 0 {
			t.Fatal("F06: FETCH ALL without rows")
		}
	}
	w.run("CREATE TABLE empty (a int)")
	c.declare("SELECT * FROM empty")
	wantRows(t, "F07", c.run("FETCH c"))
	c.declare("SUBSCRIBE t")
	c.fails("FETCH c WITH (TIMEOUT = '-1s')", "22023", "timeout out of range")
	c.declare("SUBSCRIBE t")
	c.fails("FETCH c WITH (TIMEOUT = '25h')", "22023", "timeout out of range")
	c.declare("VALUES (1),(2),(3)")
	wantRows(t, "F09", c.run("FETCH c"), "1")
	wantRows(t, "F09", c.run("FETCH 2 c"), "2", "3")
	wantRows(t, "F09", c.run("FETCH c"))
	c.run("ROLLBACK")
	c.fails("DECLARE c CURSOR FOR SUBSCRIBE t", "25P01", "")
	c.run("BEGIN; SELECT * FROM t")
	c.fails("SUBSCRIBE t", "25000", "SUBSCRIBE in transactions must be the only read statement")
	c.run("ROLLBACK; BEGIN")
	c.fails("FETCH nosuch", "34000", "")
	c.declare("SUBSCRIBE t")
	c.fails("DECLARE c CURSOR FOR SUBSCRIBE t", "42P03", "")
	c.run("ROLLBACK")
	c.fails("BEGIN; DECLARE c CURSOR WITH HOLD FOR SUBSCRIBE t", "0A000", "")
	c.run("ROLLBACK")
	c.notices = nil
	c.declare("SUBSCRIBE t UP TO " + w.one("SELECT mz_now() + 1"))
	for len(c.run("FETCH ALL c")) > 0 {
	}
	if !strings.Contains(strings.Join(c.notices, "\n"), "SUBSCRIBE has ended") {
		t.Fatalf("end of the stream: notices %q", c.notices)
	}
}

func TestCancelledFetchConsumesNothing(t *testing.T) { onBothPaths(t, cancelledFetchConsumesNothing) }

func cancelledFetchConsumesNothing(t *testing.T, s *server) {
	c, w := s.connect(t), s.connect(t)
	w.run("CREATE TABLE t (a int); INSERT INTO t VALUES (1),(2)")
	c.declare("SUBSCRIBE t")
	wantRows(t, "snapshot", c.data(2), "1 1", "1 2")
	done := make(chan error, 1)
	go func() {
		_, _, err := c.try("FETCH 5 c WITH (TIMEOUT = '1h')")
		done <- err
	}()
	w.run("INSERT INTO t VALUES (3)")
	var err error
	for waiting := true; waiting; { // until the cancel finds the FETCH running
		if cerr := c.c.PgConn().CancelRequest(context.Background()); cerr != nil {
			t.Fatal(cerr)
		}
		select {
		case err = <-done:
			waiting = false
		case <-time.After(50 * time.Millisecond):
		}
	}
	var e *pgconn.PgError
	if !errors.As(err, &e) || e.Code != "57014" || !strings.Contains(e.Message, "canceling statement due to user request") {
		t.Fatalf("cancelled FETCH: %s", describe(err))
	}
	wantRows(t, "the session goes on", c.run("ROLLBACK; SELECT 1"), "1")
}

func TestLife(t *testing.T) { onBothPaths(t, life) }

func life(t *testing.T, s *server) {
	c, w := s.connect(t), s.connect(t)
	w.run("CREATE TABLE t (a int); INSERT INTO t VALUES (1)")
	t.Run("X01", func(t *testing.T) {
		c.declare("SUBSCRIBE t")
		c.data(1)
		w.run("DROP TABLE t")
		c.fails("FETCH 1 c", "42704", "was dropped")
		c.run("ROLLBACK")
	})
	t.Run("X02 X03", func(t *testing.T) {
		for _, sql := range []string{"SUBSCRIBE u", "COPY (SUBSCRIBE u) TO STDOUT"} {
			w.run("CREATE TABLE u (a int); INSERT INTO u VALUES (1)")
			r := s.stream(t, sql)
			r.want(t, "1 1")
			w.run("DROP TABLE u")
			var e *pgconn.PgError
			if err := r.end(t); !errors.As(err, &e) || e.Code != "42704" || !strings.Contains(e.Message, "was dropped") {
				t.Fatalf("%s: ended with %s", sql, describe(err))
			}
			if sql == "SUBSCRIBE u" && !strings.Contains(strings.Join(r.notices, "\n"), "streaming SUBSCRIBE rows directly requires a client that does not buffer output") {
				t.Fatalf("%s: notices %q", sql, r.notices)
			}
		}
	})
	t.Run("column", func(t *testing.T) {
		w.run("CREATE TABLE v (a int, b int); INSERT INTO v VALUES (1, 1)")
		r := s.stream(t, "COPY (SUBSCRIBE v) TO STDOUT")
		r.want(t, "1 1 1")
		w.run("ALTER TABLE v ADD COLUMN c int; ALTER TABLE v RENAME COLUMN a TO aa; INSERT INTO v VALUES (2, 2, 2)")
		r.want(t, "1 2 2")
		w.run("INSERT INTO v VALUES (3, 3, 3)")
		w.run("ALTER TABLE v DROP COLUMN b")
		r.want(t, "1 3 3")
		var e *pgconn.PgError
		if err := r.end(t); !errors.As(err, &e) || e.Code != "0A000" || !strings.Contains(e.Detail, "AS OF") {
			t.Fatalf("ended with %s", describe(err))
		}
	})
	t.Run("X05", func(t *testing.T) {
		w.run("CREATE TABLE x (a int)")
		c.declare("SUBSCRIBE x")
		c.run("FETCH 0 c")
		wantRows(t, "while it runs", w.run("SELECT count(*) FROM mz_internal.mz_subscriptions"), "1")
		c.run("COMMIT")
		wantRows(t, "after COMMIT", w.run("SELECT count(*) FROM mz_internal.mz_subscriptions"), "0")
	})
	t.Run("X06", func(t *testing.T) {
		r := s.stream(t, "COPY (SUBSCRIBE mz_internal.mz_subscriptions) TO STDOUT")
		if row := r.next(t); !strings.HasPrefix(row, "1 ") {
			t.Fatalf("own row: got %q", row)
		}
		c.declare("SUBSCRIBE x")
		c.run("FETCH 0 c")
		if row := r.next(t); !strings.HasPrefix(row, "1 ") {
			t.Fatalf("another comes: got %q", row)
		}
		c.run("COMMIT")
		if row := r.next(t); !strings.HasPrefix(row, "-1 ") {
			t.Fatalf("and goes: got %q", row)
		}
	})
	t.Run("X04", func(t *testing.T) {
		r := s.stream(t, "COPY (SUBSCRIBE x) TO STDOUT")
		r.c.PgConn().Conn().Close()
		open := s.stream(t, "COPY (SUBSCRIBE x WITH (PROGRESS)) TO STDOUT")
		open.next(t)
		if err := s.stop(); err != nil {
			t.Fatalf("SIGTERM: %v", err)
		}
		var e *pgconn.PgError
		if err := open.end(t); !errors.As(err, &e) || e.Code != "57P01" || !strings.Contains(e.Hint, "AS OF") {
			t.Fatalf("drained: ended with %s", describe(err))
		}
	})
}

func TestTimesOfClauses(t *testing.T) { onBothPaths(t, timesOfClauses) }

func timesOfClauses(t *testing.T, s *server) {
	c := s.connect(t)
	c.run("CREATE TABLE t (a int); INSERT INTO t VALUES (1)")
	now := c.one("SELECT mz_now()")
	for _, asOf := range []string{now, "'" + now + "'", "mz_now()"} {
		c.declare("SUBSCRIBE t AS OF " + asOf)
		wantRows(t, "AS OF "+asOf, c.data(1), "1 1")
	}
	c.run("ROLLBACK")
	c.fails("SUBSCRIBE t AS OF 'yesterdayish'", "22023", "invalid timestamp")
	c.fails("SUBSCRIBE t ENVELOPE UPSERT", "42601", "syntax error")
	c.fails("SUBSCRIBE nosuch", "42P01", `"nosuch" does not exist`)
}
