package server

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"

	"tailrace/budget"
)

// usage is mz_internal.mz_memory, by share.
func usage(t *testing.T, c *pgx.Conn) map[string]budget.Usage {
	t.Helper()
	rows, err := c.Query(t.Context(), "SELECT share, used_bytes, limit_bytes, peak_bytes, waits, refusals FROM mz_internal.mz_memory")
	if err != nil {
		t.Fatal(err)
	}
	all, err := pgx.CollectRows(rows, func(r pgx.CollectableRow) (u budget.Usage, err error) {
		return u, r.Scan(&u.Name, &u.Used, &u.Limit, &u.Peak, &u.Waits, &u.Refusals)
	})
	if err != nil {
		t.Fatal(err)
	}
	out := map[string]budget.Usage{}
	for _, u := range all {
		out[u.Name] = u
	}
	return out
}

// refused checks that a statement failed with a code, and with a hint that names what to do.
func refused(t *testing.T, what string, err error, code, hint string) {
	t.Helper()
	var e *pgconn.PgError
	if !errors.As(err, &e) || e.Code != code || !strings.Contains(e.Hint, hint) {
		t.Errorf("%s: got %v, want %s and a hint with %q", what, err, code, hint)
	}
}

// TestEachShareIsKeptByStatements that would take more: they spill, are refused with a hint, and give all of it back.
func TestEachShareIsKeptByStatements(t *testing.T) {
	s := start(t, Options{Data: t.TempDir(), Shares: map[string]int64{
		budget.Query: 48 << 20, budget.Spill: 256 << 20, budget.Transactions: 2 << 20, budget.Messages: 2 << 20, budget.Snapshots: 4 << 20,
		budget.Memtables: 1 << 20, budget.Windows: 256 << 10, budget.Merges: 4 << 20, budget.Pages: 1 << 20,
	}})
	url := "postgres://tester@" + s.Postgres + "/postgres"
	c, err := connect(t, url)
	if err != nil {
		t.Fatal(err)
	}
	look, err := connect(t, url)
	if err != nil {
		t.Fatal(err)
	}
	must := func(sql string) {
		t.Helper()
		if _, err := c.Exec(t.Context(), sql); err != nil {
			t.Fatalf("%.80s: %v", sql, err)
		}
	}
	must("CREATE TABLE t (a int8 PRIMARY KEY, b text)")
	must("INSERT INTO t SELECT (g * 7919) % 60013, repeat('x', 100) FROM generate_series(1::int8, 60000) g") // 7 MB in no order: spills
	_, err = c.Exec(t.Context(), "UPDATE t SET a = a + 100000")
	refused(t, "keys that move", err, "53200", "--memory")
	var n int
	if err := c.QueryRow(t.Context(), "SELECT count(*) FROM t x JOIN t y USING (a)").Scan(&n); err != nil || n != 60000 {
		t.Errorf("two scans side by side: got %d, %v, want 60000", n, err)
	}
	for range 12 {
		must("UPDATE t SET b = 'y' || b WHERE a < 1000") // 200 kB each: the memtables are flushed on the way
	}

	const sorted = "SELECT count(*) FROM (SELECT row_number() OVER (ORDER BY md5(g::text)) n, md5(g::text) || repeat('x', 60) x FROM generate_series(1, %) g) q WHERE x <> ''"
	spilled := make(chan int64)
	ctx, stop := context.WithCancel(t.Context())
	go func() {
		most := int64(0)
		for ctx.Err() == nil {
			used := int64(0) // stays so when the disk is full at this moment: then this query finds none either
			_ = look.QueryRow(t.Context(), "SELECT used_bytes FROM mz_internal.mz_memory WHERE share = $1", budget.Spill).Scan(&used)
			most = max(most, used)
			pause(ctx, 20*time.Millisecond)
		}
		spilled <- most
	}()
	must(strings.ReplaceAll(sorted, "%", "600000"))
	_, err = c.Exec(t.Context(), strings.ReplaceAll(sorted, "%", "9000000"))
	stop()
	if got := <-spilled; got == 0 {
		t.Error("nothing was seen to spill")
	}
	refused(t, "a sort that does not fit on disk", err, "53100", "mz_memory")

	_, err = c.Exec(t.Context(), "SELECT '"+strings.Repeat("x", 3<<20)+"'")
	if err == nil { // what it was told is lost when it is still writing: the refusal is counted below
		t.Error("a large message: got no error")
	}

	_, metrics := get(t, "http://"+s.HTTP+"/metrics")
	for _, want := range []string{`tailrace_memory_bytes{share="frames"}`, `tailrace_memory_limit_bytes{share="spill"} 2.68435456e+08`, "tailrace_memory_waits_total "} {
		if !strings.Contains(metrics, want) {
			t.Errorf("metrics: no %s", want)
		}
	}
	var first string
	if err := look.QueryRow(t.Context(), "SHOW memory_budget").Scan(&first, nil, nil, nil, nil, nil); err != nil || first != budget.Memtables {
		t.Errorf("SHOW memory_budget: got %q, %v", first, err)
	}
	rested := []string{budget.Transactions, budget.Messages, budget.Spill, budget.Frames, budget.Snapshots, budget.Merges}
	var all map[string]budget.Usage
	for until := time.Now().Add(20 * time.Second); time.Now().Before(until); pause(t.Context(), 50*time.Millisecond) {
		all = usage(t, look) // upkeep may be at work
		sum := int64(0)
		for _, name := range rested {
			sum += all[name].Used
		}
		if sum == 0 {
			break
		}
	}
	for _, u := range all {
		if u.Peak > u.Limit {
			t.Errorf("%+v: above its limit", u)
		}
	}
	for _, name := range rested {
		if all[name].Used != 0 {
			t.Errorf("%s: got %+v, want nothing used", name, all[name])
		}
	}
	for _, name := range []string{budget.Transactions, budget.Messages} {
		if all[name].Refusals == 0 {
			t.Errorf("%s: got %+v, want it to have been used up", name, all[name])
		}
	}
}

// TestLargeTransactionsStayInTheirBudget: a smaller version of what docs/memory.md tells: the whole process stays below a bound.
func TestLargeTransactionsStayInTheirBudget(t *testing.T) {
	if os.Getenv("TAILRACE_LONG") == "" {
		t.Skip("writes two million rows: set TAILRACE_LONG=1")
	}
	const rows, most = "2000000", 500 << 20
	t.Setenv("GOMEMLIMIT", "384MiB")
	p := startProcess(t, t.TempDir())
	c := p.connect(t)
	for _, sql := range []string{
		"CREATE TABLE t (a int8 PRIMARY KEY, b int, c text)",
		"INSERT INTO t SELECT (g::int8 * 7919) % 2000003, g % 1000, 'row number ' || g FROM generate_series(1, " + rows + ") g",
		"UPDATE t SET b = b + 1",
		"UPDATE t SET a = a + 1 WHERE a > 1000000", // each new key is there already, but for the last
		"BEGIN; INSERT INTO t SELECT g, 1, 'own' FROM generate_series(3000000, 4000000) g; SELECT count(*) FROM t; ROLLBACK",
		"DELETE FROM t",
	} {
		if _, err := c.Exec(t.Context(), sql); err != nil {
			t.Fatalf("%.60s: %v", sql, err)
		}
		if got := peakOf(t, p.cmd.Process.Pid); got > most {
			t.Errorf("%.60s: the process took %s, want %s at most", sql, budget.Format(got), budget.Format(most))
		}
	}
}

// peakOf is the most that a process had in memory, in bytes.
func peakOf(t *testing.T, pid int) int64 {
	t.Helper()
	raw, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
	if err != nil {
		t.Fatal(err)
	}
	_, rest, _ := strings.Cut(string(raw), "VmHWM:")
	var kib int64
	if _, err := fmt.Sscan(rest, &kib); err != nil {
		t.Fatal(err)
	}
	return kib << 10
}
