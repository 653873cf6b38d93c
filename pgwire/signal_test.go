package pgwire_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5/pgproto3"
)

// waitActive asks until the session with a PID runs a statement that begins with text.
func (w *wire) waitActive(pid uint32, text string) {
	w.t.Helper()
	query := fmt.Sprintf("SELECT state, query FROM pg_stat_activity WHERE pid = %d", pid)
	for end := time.Now().Add(20 * time.Second); time.Now().Before(end); {
		if got := strings.Join(w.query(query), " "); strings.Contains(got, "active") && strings.Contains(got, text) {
			return
		}
	}
	w.t.Fatalf("session %d never ran %s", pid, text)
}

func TestPgCancelBackendEndsWhateverRuns(t *testing.T) {
	s := startServer(t)
	a, b := dial(t, s.addr), dial(t, s.addr)
	a.startup("user", "a")
	b.startup("user", "b", "application_name", "the victim")
	b.query("CREATE TABLE t (id int PRIMARY KEY, v text)")
	for _, text := range []string{
		"SELECT count(*) FROM generate_series(1, 1000000000) a, generate_series(1, 1000000) b",
		"SUBSCRIBE t",
		"COPY (SUBSCRIBE t) TO STDOUT",
		"COPY t FROM STDIN",
		"INSERT INTO t SELECT g, 'x' FROM generate_series(1, 2000000000) g", // no key twice, which would end it by itself
	} {
		b.front.Send(&pgproto3.Query{String: text})
		b.flush()
		a.waitActive(b.pid, text)
		if got := strings.Join(a.query(fmt.Sprintf("SELECT pg_cancel_backend(%d)", b.pid)), " "); !strings.Contains(got, "t") {
			t.Errorf("%s: pg_cancel_backend says %s", text, got)
		}
		if got := strings.Join(b.untilReady(), " "); !strings.Contains(got, "57014") || !strings.Contains(got, "canceling statement due to user request") {
			t.Errorf("%s: got %s, want 57014", text, got)
		}
		if got := strings.Join(b.query("SELECT 1"), " "); !strings.Contains(got, "SELECT 1") {
			t.Errorf("after %s: the session is of no use: %s", text, got)
		}
	}
	b.query("BEGIN")
	a.query(fmt.Sprintf("SELECT pg_terminate_backend(%d)", b.pid))
	if got := strings.Join(b.until("ErrorResponse"), " "); !strings.Contains(got, "57P01") {
		t.Errorf("terminated: got %s, want 57P01", got)
	}
	for end := time.Now().Add(20 * time.Second); ; {
		got := strings.Join(a.query(fmt.Sprintf("SELECT count(*) FROM pg_stat_activity WHERE pid = %d", b.pid)), " ")
		if strings.Contains(got, "\"0\"") || strings.Contains(got, " 0 ") {
			break
		}
		if time.Now().After(end) {
			t.Fatalf("the terminated session is still there: %s", got)
		}
	}
}
