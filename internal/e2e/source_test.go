package e2e

import (
	"bytes"
	"context"
	"math/rand/v2"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"tailrace/internal/pgtest"
)

// attach runs `tailrace attach` and returns what it printed.
func (s *server) attach(t testing.TB, args ...string) (string, error) {
	t.Helper()
	cmd := exec.Command(binary, append([]string{"attach", "--server", s.url}, args...)...)
	cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
	out, err := cmd.CombinedOutput()
	return string(out), err
}

// TestAttachFollowsTables is the product in small: attach, subscribe, change a row at the source, see it.
func TestAttachFollowsTables(t *testing.T) {
	src := pgtest.Start(t, "wal_level=logical")
	src.Exec(t, `CREATE TABLE orders (id int PRIMARY KEY, item text, price numeric(12,2), at timestamptz);
		INSERT INTO orders SELECT g, 'item ' || g, g * 1.5, '2026-01-01 00:00+00' FROM generate_series(1, 1000) g;
		CREATE TABLE keyless (v text)`)
	s := start(t)
	out, err := s.attach(t, src.URL())
	if err != nil {
		t.Fatalf("attach: %v\n%s", err, out)
	}
	if !strings.Contains(out, "REPLICA IDENTITY FULL") || !strings.Contains(out, "SUBSCRIBE") {
		t.Fatalf("attach should name the keyless table's ALTER and what to type next:\n%s", out)
	}
	c := s.connect(t)
	wantRows(t, "count", c.run("SELECT count(*) FROM orders"), "1000")
	wantRows(t, "row", c.run("SELECT * FROM orders WHERE id = 7"), "7 item 7 10.50 2026-01-01 00:00:00+00")
	r := s.stream(t, "COPY (SUBSCRIBE orders WITH (SNAPSHOT = false)) TO STDOUT")
	src.Exec(t, "UPDATE orders SET item = 'changed' WHERE id = 7")
	got := []string{r.next(t), r.next(t)}
	if !strings.Contains(strings.Join(got, "|"), "-1 7 item 7 10.50") || !strings.Contains(strings.Join(got, "|"), "1 7 changed 10.50") {
		t.Fatalf("update: got %q", got)
	}
	src.Exec(t, "DELETE FROM orders WHERE id = 8")
	r.want(t, "-1 8 item 8 12.00 2026-01-01 00:00:00+00")
	c.fails("INSERT INTO orders VALUES (9999, 'x', 1, now())", "42809", "copy of a source's table")
	if out, err := s.attach(t, src.URL()); err != nil {
		t.Fatalf("attach again: %v\n%s", err, out)
	}
	c.run("DROP SOURCE postgres")
	for range 100 {
		if rows := src.Query(t, "SELECT count(*) FROM pg_replication_slots"); rows[0][0] == "0" {
			return
		}
		<-time.After(50 * time.Millisecond)
	}
	t.Fatal("DROP SOURCE left a slot behind")
}

// TestKillWithSource kills the server at random points while pgbench runs on its source; then the tables must be equal, and the
// subscriptions' copies too.
func TestKillWithSource(t *testing.T) {
	rounds, scale := 8, 1
	if long {
		rounds, scale = 100, 5
	}
	seed := uint64(time.Now().UnixNano())
	t.Logf("seed %d", seed)
	rng := rand.New(rand.NewPCG(seed, 1))
	src := pgtest.Start(t, "wal_level=logical")
	pgbench(t, src, "-i", "-s", strconv.Itoa(scale))
	src.Exec(t, "ALTER TABLE pgbench_history REPLICA IDENTITY FULL")
	dir := t.TempDir()
	s := startIn(t, dir)
	// the first kills fall into the snapshot
	for range 2 {
		ctx, cancel := context.WithCancel(context.Background())
		attach := exec.CommandContext(ctx, binary, "attach", "--server", s.url, src.URL())
		attach.Start()
		<-time.After(time.Duration(100+rng.IntN(500)) * time.Millisecond)
		s.kill()
		cancel()
		attach.Wait()
		s = startIn(t, dir)
	}
	if out, err := s.attach(t, src.URL()); err != nil {
		t.Fatalf("attach: %v\n%s", err, out)
	}
	load := exec.Command(filepath.Join(src.Bin(), "pgbench"), "-n", "-c", "2", "-T", "3600", "-h", "127.0.0.1", "-p", strconv.Itoa(src.Port()), "-U", "postgres", "postgres")
	load.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
	var output bytes.Buffer
	load.Stdout, load.Stderr = &output, &output
	if err := load.Start(); err != nil {
		t.Fatal(err)
	}
	tables := []string{"pgbench_accounts", "pgbench_tellers", "pgbench_branches", "pgbench_history"}
	followers := []*follower{{table: "pgbench_tellers"}, {table: "pgbench_history"}}
	for range rounds {
		ctx, cancel := context.WithCancel(context.Background())
		var wg sync.WaitGroup
		for _, f := range followers {
			wg.Go(func() { f.follow(ctx, s.url) })
		}
		<-time.After(time.Duration(200+rng.IntN(600)) * time.Millisecond)
		s.kill()
		cancel()
		wg.Wait()
		s = startIn(t, dir)
	}
	<-time.After(500 * time.Millisecond)
	load.Process.Signal(syscall.SIGINT)
	load.Wait()
	c := s.connect(t)
	s.waitCaughtUp(t, c, src)
	ctx, cancel := context.WithCancel(context.Background())
	var wg sync.WaitGroup
	defer wg.Wait()
	defer cancel()
	for _, f := range followers {
		wg.Go(func() { f.follow(ctx, s.url) })
	}
	for _, table := range tables {
		equalTables(t, c, src, table)
	}
	now, _ := strconv.ParseUint(c.one("SELECT mz_now()"), 10, 64)
	for _, f := range followers {
		compare(t, f, f.wait(t, now), c.run("SELECT * FROM "+f.table))
	}
	t.Logf("%d rounds, %s history rows", rounds, c.one("SELECT count(*) FROM pgbench_history"))
}

func pgbench(t testing.TB, src *pgtest.Server, args ...string) {
	t.Helper()
	args = append(args, "-q", "-h", "127.0.0.1", "-p", strconv.Itoa(src.Port()), "-U", "postgres", "postgres")
	if out, err := exec.Command(filepath.Join(src.Bin(), "pgbench"), args...).CombinedOutput(); err != nil {
		t.Fatalf("pgbench %v: %v\n%s", args, err, out)
	}
}

// waitCaughtUp marks the source with a last row and waits until it is here.
func (s *server) waitCaughtUp(t testing.TB, c *client, src *pgtest.Server) {
	t.Helper()
	mark := strconv.FormatInt(time.Now().UnixNano()%1e9, 10)
	src.Exec(t, "UPDATE pgbench_branches SET filler = '"+mark+"' WHERE bid = 1")
	for range 1200 {
		if rows := c.run("SELECT trim(filler) FROM pgbench_branches WHERE bid = 1"); len(rows) == 1 && rows[0] == mark {
			return
		}
		<-time.After(50 * time.Millisecond)
	}
	t.Fatalf("the source's last change is not here after 60 s\n%s", s.log)
}

// equalTables compares every row's text.
func equalTables(t testing.TB, c *client, src *pgtest.Server, table string) {
	t.Helper()
	count := map[string]int{}
	for _, row := range src.Query(t, "SELECT * FROM "+table) {
		for i := range row {
			if row[i] == "NULL" {
				row[i] = "_" // as client.run prints it
			}
		}
		count[strings.Join(row, " ")]++
	}
	for _, row := range c.run("SELECT * FROM " + table) {
		count[row]--
	}
	for row, n := range count {
		if n != 0 {
			t.Fatalf("%s: row %q is at the source %d times more often than here", table, row, n)
		}
	}
}
