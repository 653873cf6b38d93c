package server

import (
	"bufio"
	"context"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
)

// TestMain lets the test binary be a server of its own, so that a test can kill it.
func TestMain(m *testing.M) {
	if dir := os.Getenv("TAILRACE_TEST_DATA"); dir != "" {
		ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGTERM)
		defer stop()
		err := Run(ctx, Options{
			Data: dir, Listen: "127.0.0.1:0", HTTP: "127.0.0.1:0", Drain: 2 * time.Second,
			Ready: func(a Addresses) { fmt.Println("ready", a.Postgres, a.HTTP) },
		})
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
}

// startProcess runs a server on dir and waits until it is ready.
func startProcess(t *testing.T, dir string) *child {
	t.Helper()
	c := &child{cmd: exec.Command(os.Args[0])}
	c.cmd.Env = append(os.Environ(), "TAILRACE_TEST_DATA="+dir)
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
	line, err := bufio.NewReader(out).ReadString('\n')
	words := strings.Fields(line)
	if err != nil || len(words) != 3 || words[0] != "ready" {
		t.Fatalf("server on %s: got %q, %v, want a ready line", dir, line, err)
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
