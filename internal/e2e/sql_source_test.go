package e2e

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5/pgconn"

	"tailrace/internal/pgtest"
)

// until runs sql until its rows are want.
func (c *client) until(sql string, want ...string) {
	c.t.Helper()
	var got []string
	for range 400 {
		if got = c.run(sql); strings.Join(got, "\n") == strings.Join(want, "\n") {
			return
		}
		<-time.After(25 * time.Millisecond)
	}
	c.t.Fatalf("%s: after 10 s still %q, want %q", sql, got, want)
}

// TestSourceBySQL makes, pauses, resumes and drops a source with statements alone.
func TestSourceBySQL(t *testing.T) {
	src := pgtest.Start(t, "wal_level=logical")
	src.Exec(t, "CREATE TABLE items (id int PRIMARY KEY, v text); INSERT INTO items VALUES (1, 'one'); CREATE TABLE other (id int PRIMARY KEY)")
	t.Setenv("SHOP_PASSWORD", "not asked for")
	s := start(t)
	c := s.connect(t)
	c.run("CREATE SECRET shop AS 'env:SHOP_PASSWORD'")
	c.run(fmt.Sprintf("CREATE CONNECTION shop TO POSTGRES (HOST '127.0.0.1', PORT %d, DATABASE 'postgres', USER 'postgres', PASSWORD SECRET shop)", src.Port()))
	c.run("CREATE SOURCE shop FROM POSTGRES CONNECTION shop (PUBLICATION 'tailrace') FOR TABLES (public.items) WITH (RETAIN HISTORY FOR '2 hours')")
	c.until("SELECT table_name, state FROM mz_internal.mz_source_tables", "items live")
	wantRows(t, "snapshot", c.run("SELECT * FROM items"), "1 one")
	c.fails("SELECT * FROM other", "42P01", "does not exist")
	c.run("ALTER SOURCE shop PAUSE")
	c.until("SELECT state FROM mz_internal.mz_sources", "paused")
	src.Exec(t, "INSERT INTO items VALUES (2, 'two')")
	c.run("ALTER SOURCE shop RESUME")
	c.until("SELECT * FROM items ORDER BY id", "1 one", "2 two")
	c.fails("DROP CONNECTION shop", "2BP01", "")
	c.run("DROP SOURCE shop; DROP CONNECTION shop; DROP SECRET shop")
	c.fails("SELECT * FROM items", "42P01", "does not exist")
	if rows := src.Query(t, "SELECT slot_name FROM pg_replication_slots"); len(rows) != 0 {
		t.Fatalf("slots left behind: %v", rows)
	}
}

// TestCancelEndsAnIdleStream: B11, and the session goes on.
func TestCancelEndsAnIdleStream(t *testing.T) {
	s := start(t)
	s.connect(t).run("CREATE TABLE t (a int); INSERT INTO t VALUES (1)")
	for _, sql := range []string{"SUBSCRIBE t", "COPY (SUBSCRIBE t) TO STDOUT"} {
		r := s.stream(t, sql)
		r.want(t, "1 1")
		if err := r.c.PgConn().CancelRequest(t.Context()); err != nil {
			t.Fatal(err)
		}
		var e *pgconn.PgError
		if err := r.end(t); !errors.As(err, &e) || e.Code != "57014" || e.Message != "canceling statement due to user request" {
			t.Fatalf("%s: ended with %s", sql, describe(err))
		}
		var one int
		if err := r.c.QueryRow(t.Context(), "SELECT 1").Scan(&one); err != nil || one != 1 {
			t.Fatalf("%s: the session after the cancel: %d, %v", sql, one, err)
		}
	}
	r := s.stream(t, "SET statement_timeout = '200ms'; SUBSCRIBE t")
	r.want(t, "1 1")
	var e *pgconn.PgError
	if err := r.end(t); !errors.As(err, &e) || e.Code != "57014" || !strings.Contains(e.Message, "statement timeout") {
		t.Fatalf("statement_timeout: ended with %s", describe(err))
	}
}
