package server

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"tailrace"
	"tailrace/internal/sim"
	"tailrace/log"
)

// testLease is the lease of nodes in processes of their own: short, so that the test is.
const testLease = 3 * time.Second

// TestMain lets the test binary be a server of its own, on a data folder or on stores that another process serves at a socket, so that a test can kill it.
func TestMain(m *testing.M) {
	dir, socket := os.Getenv("TAILRACE_TEST_DATA"), os.Getenv("TAILRACE_TEST_STORES")
	if dir != "" || socket != "" {
		ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGTERM)
		defer stop()
		o := Options{
			Data: dir, Listen: "127.0.0.1:0", HTTP: "127.0.0.1:0", Drain: 2 * time.Second,
			Ready: func(a Addresses) { fmt.Println("ready", a.Postgres, a.HTTP) },
		}
		if socket != "" {
			remote, err := sim.Dial(socket)
			if err != nil {
				fmt.Println("ended", err)
				os.Exit(1)
			}
			o.Stores = &Stores{Consensus: remote, Blob: remote, Shared: true, Lease: testLease}
		}
		err := Run(ctx, o)
		if err != nil {
			fmt.Println("ended", err)
			os.Exit(1)
		}
		return
	}
	os.Exit(m.Run())
}

// child is a server in a process of its own.
type child struct {
	cmd        *exec.Cmd
	pg, health string
	out        *bufio.Reader
}

// startProcess runs a server on dir and waits until it is ready.
func startProcess(t *testing.T, dir string) *child {
	t.Helper()
	return startWith(t, "TAILRACE_TEST_DATA="+dir)
}

func startWith(t *testing.T, env string) *child {
	t.Helper()
	c := &child{cmd: exec.Command(os.Args[0])}
	c.cmd.Env = append(os.Environ(), env)
	c.cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
	c.cmd.Stderr = os.Stderr
	out, err := c.cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := c.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { c.kill() })
	c.out = bufio.NewReader(out)
	line, err := c.out.ReadString('\n')
	words := strings.Fields(line)
	if err != nil || len(words) != 3 || words[0] != "ready" {
		t.Fatalf("server with %s: got %q, %v, want a ready line", env, line, err)
	}
	c.pg, c.health = words[1], words[2]
	return c
}

// kill is kill -9.
func (c *child) kill() {
	_ = c.cmd.Process.Kill() // it may have ended already
	_ = c.cmd.Wait()
}

func (c *child) connect(t *testing.T) *pgx.Conn {
	t.Helper()
	conn, err := pgx.Connect(t.Context(), "postgres://tester@"+c.pg+"/postgres")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { conn.Close(context.Background()) })
	return conn
}

// TestAcknowledgedRowsSurviveKills kills the process each time a few inserts were acknowledged while more are on their way.
func TestAcknowledgedRowsSurviveKills(t *testing.T) {
	dir := t.TempDir()
	rounds := 4
	if os.Getenv("TAILRACE_LONG") != "" {
		rounds = 100
	}
	acked := 0 // every i below it was acknowledged
	sent := 0  // every i from it on was never sent
	for round := range rounds {
		c := startProcess(t, dir)
		conn := c.connect(t)
		if round == 0 {
			if _, err := conn.Exec(t.Context(), "CREATE TABLE t (a int PRIMARY KEY)"); err != nil {
				t.Fatal(err)
			}
		}
		rows, err := conn.Query(t.Context(), "SELECT a FROM t ORDER BY a")
		if err != nil {
			t.Fatal(err)
		}
		got, err := pgx.CollectRows(rows, pgx.RowTo[int32])
		if err != nil {
			t.Fatal(err)
		}
		if len(got) < acked || len(got) > sent {
			t.Fatalf("round %d: got %d rows, want %d acknowledged and up to %d sent", round, len(got), acked, sent)
		}
		for i, a := range got {
			if int(a) != i {
				t.Fatalf("round %d: row %d is %d: one is missing or twice", round, i, a)
			}
		}
		acked, sent = len(got), len(got)
		for i := range 30 {
			if i == 20 { // ten more are under way when it dies
				time.AfterFunc(time.Millisecond, func() { _ = c.cmd.Process.Kill() })
			}
			sent++
			if _, err := conn.Exec(t.Context(), "INSERT INTO t VALUES ($1)", sent-1); err != nil {
				break
			}
			acked++
		}
		c.kill()
	}
}

func TestSigtermDrainsAndExitsZero(t *testing.T) {
	dir := t.TempDir()
	c := startProcess(t, dir)
	idle := c.connect(t)
	stream := c.connect(t)
	if _, err := idle.Exec(t.Context(), "CREATE TABLE t (a int)"); err != nil {
		t.Fatal(err)
	}
	reader := stream.PgConn().Exec(t.Context(), "COPY (SUBSCRIBE t WITH (PROGRESS)) TO STDOUT")
	if err := c.cmd.Process.Signal(syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	for reader.NextResult() {
	}
	err := reader.Close()
	if err == nil || !strings.Contains(err.Error(), "57P01") {
		t.Errorf("the subscription: got %v, want 57P01", err)
	}
	if _, err := idle.Exec(t.Context(), "SELECT 1"); err == nil {
		t.Error("the idle session goes on after SIGTERM")
	}
	if err := c.cmd.Wait(); err != nil {
		t.Errorf("exit: got %v, want 0", err)
	}
}

// Two processes share stores. One is stopped (SIGSTOP) with a transaction open and updates under way; the other goes on and, after the lease, keeps house.
// The first wakes up (SIGCONT): it commits nothing, says why, and exits.
func TestSigstoppedOwnerWakesUpAndEnds(t *testing.T) {
	consensus := sim.NewConsensus()
	socket := filepath.Join(t.TempDir(), "stores")
	l, err := net.Listen("unix", socket)
	if err != nil {
		t.Fatal(err)
	}
	var serving sync.WaitGroup
	serving.Go(func() { sim.Serve(l, consensus, sim.NewBlob()) })
	t.Cleanup(func() {
		_ = l.Close() // nobody is to come any more
		serving.Wait()
	})
	a := startWith(t, "TAILRACE_TEST_STORES="+socket)
	block, busy := a.connect(t), a.connect(t)
	ctx, cancel := context.WithTimeout(t.Context(), 50*time.Second)
	defer cancel()
	for _, sql := range []string{"CREATE TABLE t (id int PRIMARY KEY, n int)", "INSERT INTO t VALUES (1, 0)", "BEGIN", "INSERT INTO t VALUES (2, 0)"} {
		if _, err := block.Exec(ctx, sql); err != nil {
			t.Fatalf("%s: got %v, want none", sql, err)
		}
	}
	acked := make(chan int, 1)
	go func() {
		n := 0
		for {
			if _, err := busy.Exec(ctx, "UPDATE t SET n = n + 1 WHERE id = 1"); err != nil {
				acked <- n
				return
			}
			n++
		}
	}()
	b := startWith(t, "TAILRACE_TEST_STORES="+socket)
	other := b.connect(t)
	if err := a.cmd.Process.Signal(syscall.SIGSTOP); err != nil {
		t.Fatal(err)
	}
	var before int
	if err := other.QueryRow(ctx, "SELECT n FROM t WHERE id = 1").Scan(&before); err != nil { // what was sent before the stop is done by now, or never
		t.Fatal(err)
	}
	end := waitForEnd(t, ctx, consensus, 1)
	if _, err := other.Exec(ctx, "INSERT INTO t VALUES (3, 0)"); err != nil {
		t.Fatalf("commit through the other process: got %v, want none", err)
	}
	if err := a.cmd.Process.Signal(syscall.SIGCONT); err != nil {
		t.Fatal(err)
	}
	if _, err := block.Exec(ctx, "COMMIT"); err == nil {
		t.Error("COMMIT on the process that was stopped: got none, want an error")
	}
	said, _ := io.ReadAll(a.out)
	if err := a.cmd.Wait(); err == nil || !strings.Contains(string(said), "ended its session") {
		t.Errorf("the process that was stopped: got %v and %q, want an exit that says why", err, said)
	}
	var rows, n int
	if err := other.QueryRow(ctx, "SELECT count(*), max(n) FROM t").Scan(&rows, &n); err != nil {
		t.Fatal(err)
	}
	if got := <-acked; rows != 2 || n < got || n > got+1 || n < before {
		t.Errorf("after it woke up: got %d rows and n %d, want 2 rows, and n the %d acknowledged or one more", rows, n, got)
	}
	for _, v := range scanLog(t, consensus) {
		if _, _, by, err := log.DecodeEntry(v.Value); err != nil || v.Seq > end.Seq && by == end.session {
			t.Errorf("entry %d, after the end of session %s in entry %d: got one of that session, %v", v.Seq, end.session, end.Seq, err)
		}
	}
}

// sessionEnd is where a session ended in the log.
type sessionEnd struct {
	session string
	tailrace.Versioned
}

// waitForEnd waits until n sessions have ended and returns the last.
func waitForEnd(t *testing.T, ctx context.Context, c *sim.Consensus, n int) (last sessionEnd) {
	t.Helper()
	for seen := tailrace.SeqNo(0); ; {
		ended := 0
		for _, v := range scanLog(t, c) {
			e, _, _, err := log.DecodeEntry(v.Value)
			if err != nil {
				t.Fatal(err)
			}
			for _, txn := range e.Txns {
				for _, r := range txn.Records {
					if r.Kind != log.KindSession {
						continue
					}
					if change, err := log.DecodeSession(r.Payload); err == nil && change.Ended {
						ended, last = ended+1, sessionEnd{change.Session, v}
					}
				}
			}
			seen = v.Seq
		}
		if ended >= n {
			return last
		}
		if err := c.Watch(ctx, "log", seen); err != nil {
			t.Fatalf("waiting for the end of %d sessions: got %d, %v", n, ended, err)
		}
	}
}

func scanLog(t *testing.T, c *sim.Consensus) []tailrace.Versioned {
	t.Helper()
	page, err := c.Scan(context.Background(), "log", 0, 1<<30)
	if err != nil {
		t.Fatal(err)
	}
	return page
}
