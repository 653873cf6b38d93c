package e2e

import (
	"fmt"
	"math/rand/v2"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"tailrace/internal/mytest"
	"tailrace/internal/pgtest"
)

// redoFrontier waits until the redo log of a sink has everything that was committed before.
func (c *client) redoFrontier(sink string) {
	c.t.Helper()
	now := c.one("SELECT mz_now()")
	eventually(c.t, "redo frontier", func() []string {
		return c.run("SELECT redo_frontier >= " + now + " FROM mz_internal.mz_sinks WHERE name = '" + sink + "'")
	}, "t")
}

// TestRedoLogBringsASecondTargetToTheSameState kills the server while it feeds a target and writes its redo log, locks and stops the target, and applies the log, more than
// once and killed in between, to another database.
func TestRedoLogBringsASecondTargetToTheSameState(t *testing.T) {
	rounds := 3
	if long {
		rounds = 30
	}
	first, second := mytest.Start(t), pgtest.Start(t)
	s := start(t)
	folder := filepath.Join(t.TempDir(), "redo")
	c := s.connect(t)
	c.run("CREATE TABLE keyed (id int PRIMARY KEY, n int, v text)")
	c.run("CREATE TABLE bag (v text, n int)")
	c.run("INSERT INTO keyed SELECT g, 0, 'v' FROM generate_series(1, 5000) g")
	c.run(fmt.Sprintf("CREATE SINK copy FROM keyed, bag INTO MARIADB (URL '%s') WITH (REDO = 'file://%s')", first.URL(), folder))
	c.caughtUp("copy")
	rng := rand.New(rand.NewPCG(7, 7))
	columns := 0
	for round := range rounds {
		ended := make(chan struct{})
		w := s.connect(t)
		go func() {
			defer close(ended)
			for i := 0; ; i++ {
				sql := fmt.Sprintf("BEGIN; UPDATE keyed SET n = n + 1 WHERE id %% 97 = %d; DELETE FROM keyed WHERE id = %d; INSERT INTO bag (v, n) SELECT 'r%d', g FROM generate_series(1, 20) g; COMMIT", i%97, 100*round+i, round)
				if i%10 == 9 {
					columns++
					sql = fmt.Sprintf("ALTER TABLE keyed ADD COLUMN c%d int DEFAULT %[1]d; ALTER TABLE bag ADD COLUMN c%[1]d int", columns)
				}
				if _, _, err := w.try(sql); err != nil {
					return
				}
			}
		}()
		<-time.After(time.Duration(rng.IntN(int(500 * time.Millisecond))))
		s.kill()
		<-ended
		s = startIn(t, s.dir)
		c = s.connect(t)
	}
	first.Stop() // the log goes on without the target
	c.run("INSERT INTO bag (v, n) VALUES ('without the target', 1); UPDATE keyed SET v = 'late' WHERE id = 4000")
	c.redoFrontier("copy")
	apply := func(kill bool) {
		t.Helper()
		cmd := exec.Command(binary, "redo", "apply", "--from", folder, "--feed", "copy", "--to", second.URL())
		if kill {
			time.AfterFunc(time.Duration(rng.IntN(int(300*time.Millisecond))), func() { _ = cmd.Process.Kill() })
		}
		if out, err := cmd.CombinedOutput(); err != nil && !kill {
			t.Fatalf("redo apply: %v\n%s", err, out)
		}
	}
	for range rounds {
		apply(true)
	}
	apply(false)
	sameRows(t, c, second, "SELECT * FROM keyed")
	sameRows(t, c, second, "SELECT v, n, count(*) FROM bag GROUP BY v, n")
	c.run("INSERT INTO bag (v, n) VALUES ('once more', 2)")
	c.redoFrontier("copy")
	apply(false)
	apply(false)
	sameRows(t, c, second, "SELECT v, n, count(*) FROM bag GROUP BY v, n")
	out, err := exec.Command(binary, "redo", "info", "--from", folder).CombinedOutput()
	if err != nil || !strings.Contains(string(out), "keyed") {
		t.Errorf("redo info: %v\n%s", err, out)
	}
	first.Restart(t)
	c.caughtUp("copy")
	sameRows(t, c, first, "SELECT * FROM keyed")
	sameRows(t, c, first, "SELECT v, n, count(*) FROM bag GROUP BY v, n")
}
