package e2e

import (
	"bufio"
	"fmt"
	"os/exec"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"
)

// TestStoppedClientGoesOnExactly: the process of a client is stopped (SIGSTOP) in the middle of its snapshot while rows are written beyond the window, and then
// goes on: it has each row once, in order. Others are served meanwhile.
func TestStoppedClientGoesOnExactly(t *testing.T) {
	stop := 2 * time.Second
	if long {
		stop = 3 * time.Minute
	}
	s := start(t, "--memory", strconv.Itoa(256<<20)) // windows of 16 MiB
	c := s.connect(t)
	c.run("CREATE TABLE t (a int PRIMARY KEY, b text)")
	const old, each = 30_000, 2_000
	c.run(fmt.Sprintf("INSERT INTO t SELECT g, repeat('x', 1000) FROM generate_series(0, %d) g", old-1))

	psql := exec.Command("psql", "-X", "-q", s.asTester(), "-c", "COPY (SUBSCRIBE t) TO STDOUT")
	psql.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
	out, err := psql.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := psql.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		psql.Process.Kill()
		psql.Wait()
	})
	lines := bufio.NewScanner(out)
	next := 0
	read := func(upTo int) {
		t.Helper()
		for ; next < upTo; next++ {
			if !lines.Scan() {
				t.Fatalf("psql ended before row %d: %v", next, lines.Err())
			}
			if f := strings.Split(lines.Text(), "\t"); len(f) != 4 || f[1] != "1" || f[2] != strconv.Itoa(next) {
				t.Fatalf("row %d: got %.60q", next, lines.Text())
			}
		}
	}
	read(100)
	if err := psql.Process.Signal(syscall.SIGSTOP); err != nil {
		t.Fatal(err)
	}
	fast := s.stream(t, "COPY (SUBSCRIBE t WITH (SNAPSHOT = false)) TO STDOUT")
	untilTrue(t, "the fast one is there", func() bool {
		return c.one("SELECT count(*) FROM mz_internal.mz_subscriptions WHERE state = 'live'") == "1"
	})
	last := old
	for began := time.Now(); last < old+20*each || time.Since(began) < stop; last += each {
		c.run(fmt.Sprintf("INSERT INTO t SELECT g, repeat('y', 1000) FROM generate_series(%d, %d) g", last, last+each-1))
		for range each {
			fast.next(t)
		}
	}
	if got := c.one("SELECT state FROM mz_internal.mz_subscriptions WHERE state <> 'live'"); got != "snapshot" {
		t.Errorf("the stopped one: got state %q, want snapshot", got)
	}
	if err := psql.Process.Signal(syscall.SIGCONT); err != nil {
		t.Fatal(err)
	}
	read(last - 100) // psql keeps the last lines until it ends
	untilTrue(t, "the stopped one has caught up", func() bool {
		return c.one("SELECT count(*) FROM mz_internal.mz_subscriptions WHERE state = 'live' AND lag_us < 2000000") == "2"
	})
	c.close()
	if err := s.stop(); err != nil {
		t.Fatal(err)
	}
	read(last)
}
