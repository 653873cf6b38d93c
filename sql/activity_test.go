package sql

import (
	"fmt"
	"strings"
	"testing"

	"tailrace/system"
)

// newest is the history's last n statements as "status path rows sql".
func newest(e *Engine, n int) []string {
	all := e.History()
	var out []string
	for _, st := range all[max(len(all)-n, 0):] {
		line := fmt.Sprintf("%s %q %d %s", st.Status, st.Path, st.Rows, st.SQL)
		if st.Code != "" {
			line += " " + st.Code + " " + st.Error
		}
		out = append(out, line)
	}
	return out
}

func TestHistoryTellsHowStatementsEnded(t *testing.T) {
	w := newWorld(t)
	c := w.client()
	c.must("CREATE TABLE t (id int PRIMARY KEY, n int)")
	c.must("INSERT INTO t VALUES (1, 1), (2, 2)")
	c.must("SELECT 1")
	c.must("SELECT * FROM t WHERE id = 2")
	c.must("SELECT * FROM t")
	c.query("SELECT nosuch FROM t", "")
	c.query("SELEC 1", "")
	c.query("SET statement_timeout = 1; SELECT count(*) FROM generate_series(1, 100000000) a, generate_series(1, 100000000) b", "")
	want := []string{
		`success "" 0 CREATE TABLE t (id int PRIMARY KEY, n int)`,
		`success "values" 2 INSERT INTO t VALUES (1, 1), (2, 2)`,
		`success "constant" 1 SELECT 1`,
		`success "key lookup" 1 SELECT * FROM t WHERE id = 2`,
		`success "query" 2 SELECT * FROM t`,
		`error "" 0 SELECT nosuch FROM t 42703 column "nosuch" does not exist`,
		`error "" 0 SELEC 1 42601 syntax error at or near "SELEC"`,
		`success "" 0 SET statement_timeout = 1`,
		`canceled "query" 0 SELECT count(*) FROM generate_series(1, 100000000) a, generate_series(1, 100000000) b 57014 canceling statement due to statement timeout`,
	}
	got := newest(w.engine, len(want))
	for i := range want {
		if i >= len(got) || got[i] != want[i] {
			t.Errorf("statement %d:\ngot  %s\nwant %s", i, strings.Join(got[min(i, len(got)):min(i+1, len(got))], ""), want[i])
		}
	}
	for i, st := range w.engine.History() {
		if st.Began.IsZero() || st.Ended.Before(st.Began) || st.Session == "" {
			t.Errorf("statement %d began %v, ended %v, in session %q", i, st.Began, st.Ended, st.Session)
		}
	}
}

func TestHistoryHoldsNoSecrets(t *testing.T) {
	w := newWorld(t)
	c := w.client()
	for _, text := range []string{
		"CREATE SECRET s AS 'hunter2'", "CREATE SECRET s AS 'hunter2' nonsense", "CREATE SECRET s AS 'hunter2", "CREATE SECRET s AS $$hunter2$$",
		"CREATE CONNECTION c TO POSTGRES (HOST 'h', PASSWORD 'hunter2')", "CREATE USER u PASSWORD 'hunter2'", "ALTER ROLE u WITH PASSWORD 'hunter2'",
		"CREATE SUBSCRIPTION s CONNECTION 'password=hunter2' PUBLICATION p", "CREATE SECRET s AS E'hunter2' ;", "ALTER USER u PASSWORD 'hunter2' !",
	} {
		c.query(text, "")
	}
	for _, st := range w.engine.History() {
		if strings.Contains(st.SQL, "hunter2") || strings.Contains(st.Error, "hunter2") {
			t.Errorf("the secret is in %q, error %q", st.SQL, st.Error)
		}
	}
	for _, a := range w.engine.Activity() {
		if strings.Contains(a.Query, "hunter2") {
			t.Errorf("the secret is in pg_stat_activity: %q", a.Query)
		}
	}
	if n := len(w.engine.History()); n != 10 {
		t.Errorf("got %d statements, want 10", n)
	}
}

func TestHistoryStaysWithinItsBytes(t *testing.T) {
	h := &history{}
	long := strings.Repeat("é", HistoryTextBytes)
	const n = 3 * HistoryBytes / (historyRow + HistoryTextBytes)
	for i := range n {
		h.add(&system.Statement{ID: uint64(i), SQL: cutText(long)})
	}
	if h.bytes > HistoryBytes || h.bytes < HistoryBytes/2 {
		t.Errorf("the history takes %d bytes, want just below %d", h.bytes, HistoryBytes)
	}
	if last := h.rows[len(h.rows)-1]; last.ID != n-1 || len(last.SQL) > HistoryTextBytes+3 {
		t.Errorf("the last statement is %d with %d bytes of text", last.ID, len(last.SQL))
	}
}

func TestActivityFollowsTheSession(t *testing.T) {
	w := newWorld(t)
	c := w.client()
	state := func() string {
		for _, a := range w.engine.Activity() {
			if a.Session == c.uuid {
				return fmt.Sprintf("%s %q xact=%v app=%s", a.State, a.Query, !a.XactStart.IsZero(), a.Application)
			}
		}
		return "gone"
	}
	for _, step := range []struct{ text, want string }{
		{"SET application_name = 'test'", `idle "SET application_name = 'test'" xact=false app=test`},
		{"BEGIN", `idle in transaction "BEGIN" xact=true app=test`},
		{"SELECT 1/0", `idle in transaction (aborted) "SELECT 1/0" xact=true app=test`},
		{"ROLLBACK", `idle "ROLLBACK" xact=false app=test`},
	} {
		c.query(step.text, "")
		if got := state(); got != step.want {
			t.Errorf("after %s:\ngot  %s\nwant %s", step.text, got, step.want)
		}
	}
	if got, want := strings.Join(c.must("SELECT state, query FROM pg_stat_activity WHERE state = 'active'"), " "), "active|SELECT state, query"; !strings.Contains(got, want) {
		t.Errorf("a session sees itself as %s, want %s", got, want)
	}
	c.Close()
	if got := state(); got != "gone" {
		t.Errorf("after Close: %s", got)
	}
}

func TestSignalReachesTheSessionOfAPID(t *testing.T) {
	w := newWorld(t)
	var got []string
	for pid := range int32(3) {
		s, err := w.engine.NewSession(SessionOptions{
			ID: pid + 10, Cancel: func() { got = append(got, fmt.Sprint("cancel ", pid+10)) }, Terminate: func() { got = append(got, fmt.Sprint("terminate ", pid+10)) },
		})
		if err != nil {
			t.Fatal(err)
		}
		defer s.Close()
	}
	c := w.client()
	lines := c.must("SELECT pg_cancel_backend(11), pg_terminate_backend(12), pg_cancel_backend(99)")
	if want := "WARNING 01000: PID 99 is not a PostgreSQL server process"; lines[0] != want && !strings.Contains(strings.Join(lines, "\n"), want) {
		t.Errorf("got %q, want a warning %q", lines, want)
	}
	if want := "t|t|f"; !strings.Contains(strings.Join(lines, "\n"), want) {
		t.Errorf("got %q, want %s", lines, want)
	}
	if text := fmt.Sprint(got); text != "[cancel 11 terminate 12]" {
		t.Errorf("signals: %s", text)
	}
}

// BenchmarkHistory is what noting a statement costs it.
func BenchmarkHistory(b *testing.B) {
	w := newWorld(b)
	c := w.client()
	sts, err := c.Parse("SELECT a, b FROM some_table WHERE id = 1234567 AND another_column = 'a value'")
	if err != nil {
		b.Fatal(err)
	}
	b.ReportAllocs()
	for b.Loop() {
		c.record(sts[0])
		c.finished("SELECT 1")
	}
}
