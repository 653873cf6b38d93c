package e2e

import (
	"context"
	"fmt"
	"os"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5/pgconn"
)

// TestHugeResultsStream: the first row of a huge SELECT comes at once, the node's memory stays bounded while the rows go by, and closing early
// ends the query. In the long run the results have 100 million rows.
func TestHugeResultsStream(t *testing.T) {
	rows, memory := 3_000_000, int64(600<<20)
	if long {
		rows, memory = 100_000_000, 1<<30
	}
	s := start(t, "--query-memory", "268435456")
	c := s.connect(t)
	c.run("CREATE TABLE big (id bigint PRIMARY KEY, v text)")
	c.run("INSERT INTO big SELECT i, 'a text of row ' || i FROM generate_series(1, 300000) i")
	side := 1000
	for _, q := range []struct {
		name, sql string
		rows      int
	}{
		{"series", fmt.Sprintf("SELECT a, b, a * b FROM generate_series(1, %d) a, generate_series(1, %d) b", rows/side, side), rows},
		{"scan", fmt.Sprintf("SELECT * FROM big, generate_series(1, %d) g", rows/300_000), rows / 300_000 * 300_000},
	} {
		t.Run(q.name, func(t *testing.T) {
			first, all, n := s.drain(t, q.sql)
			t.Logf("%d rows: the first after %v, %.0f rows/s, peak resident %d MiB", n, first, float64(n)/all.Seconds(), s.peak(t)>>20)
			if n != q.rows {
				t.Errorf("got %d rows, want %d", n, q.rows)
			}
			if first > all/3 {
				t.Errorf("got the first row after %v of %v, want it at once", first, all)
			}
			if peak := s.peak(t); peak > memory {
				t.Errorf("got %d MiB resident, want at most %d", peak>>20, memory>>20)
			}
		})
	}
	s.abandon(t, "SELECT a.i, b.i FROM generate_series(1, 1000000) a(i), generate_series(1, 1000000) b(i)")
}

// drain reads all rows of a SELECT, throwing them away.
func (s *server) drain(t *testing.T, sql string) (first, all time.Duration, n int) {
	t.Helper()
	c, err := pgconn.Connect(t.Context(), s.url+"?user=tester&sslmode=disable")
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close(context.Background())
	start := time.Now()
	results := c.Exec(t.Context(), sql)
	for results.NextResult() {
		r := results.ResultReader()
		for r.NextRow() {
			if n++; n == 1 {
				first = time.Since(start)
			}
		}
	}
	if err := results.Close(); err != nil {
		t.Fatalf("%s: %s", sql, describe(err))
	}
	return first, time.Since(start), n
}

// abandon closes the connection after one row of a result without end, and waits for the query to be gone.
func (s *server) abandon(t *testing.T, sql string) {
	t.Helper()
	c, err := pgconn.Connect(t.Context(), s.url+"?user=tester&sslmode=disable")
	if err != nil {
		t.Fatal(err)
	}
	results := c.Exec(t.Context(), sql)
	if !results.NextResult() || !results.ResultReader().NextRow() {
		t.Fatalf("%s: no row", sql)
	}
	_ = c.Conn().Close() // as a client that dies does
	other := s.connect(t)
	closed := time.Now()
	other.until("SELECT count(*) FROM pg_stat_activity WHERE query LIKE '%generate_series(1, 1000000)%' AND query NOT LIKE '%pg_stat_activity%'", "0")
	if took := time.Since(closed); took > 3*time.Second {
		t.Errorf("the query ended %v after its client went away, want at once", took)
	}
}

// peak is the most memory that the process has had resident, in bytes.
func (s *server) peak(t *testing.T) int64 {
	t.Helper()
	status, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", s.cmd.Process.Pid))
	if err != nil {
		t.Fatal(err)
	}
	_, rest, _ := strings.Cut(string(status), "VmHWM:")
	kib, err := strconv.ParseInt(strings.Fields(rest)[0], 10, 64)
	if err != nil {
		t.Fatal(err)
	}
	return kib << 10
}
