package e2e

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"tailrace/internal/mytest"
)

// TestLockedTableHoldsUpNobodyElse locks one of the target's tables while all are written to: the others stay as near as they were, and the locked one comes after, in
// order, within the sink's memory.
func TestLockedTableHoldsUpNobodyElse(t *testing.T) {
	tables, lock := 12, 4*time.Second
	if long {
		tables, lock = 50, time.Minute
	}
	const memory = 8 << 20
	to := mytest.Start(t)
	s := start(t)
	c := s.connect(t)
	names := make([]string, tables)
	for i := range names {
		names[i] = fmt.Sprintf("t%d", i)
		c.run(fmt.Sprintf("CREATE TABLE %s (id int PRIMARY KEY, n bigint, v text)", names[i]))
	}
	c.run(fmt.Sprintf("CREATE SINK copy FROM %s INTO MARIADB (URL '%s') WITH (MEMORY = '%dMiB')", strings.Join(names, ", "), to.URL(), memory>>20))
	c.caughtUp("copy")
	stop, ended := make(chan struct{}), make(chan struct{})
	go func() { // each table changes all the time, the one that will be locked a lot
		defer close(ended)
		w := s.connect(t)
		for i := 0; ; i++ {
			select {
			case <-stop:
				return
			default:
			}
			w.run(fmt.Sprintf("INSERT INTO t0 SELECT g, %d, repeat('x', 200) FROM generate_series(1, 200) g ON CONFLICT (id) DO UPDATE SET n = excluded.n", i))
			for _, name := range names[1:] {
				w.run(fmt.Sprintf("INSERT INTO %s VALUES (%d, %[2]d, 'v') ON CONFLICT (id) DO UPDATE SET n = excluded.n", name, i%100))
			}
		}
	}()
	free := c.lagOfOthers(lock/2, memory)
	unlock := to.Lock(t, "t0")
	locked := c.lagOfOthers(lock, memory)
	wantRows(t, "the locked table waits", c.run("SELECT lag_us > 1000000 FROM mz_internal.mz_sink_spans WHERE table_name = 't0'"), "t")
	unlock()
	close(stop)
	<-ended
	c.caughtUp("copy")
	for _, name := range names {
		sameRows(t, c, to, "SELECT * FROM "+name)
	}
	t.Logf("p95 lag of the others: %s free, %s beside a locked table", free, locked)
	if locked > 2*free+time.Second {
		t.Errorf("p95 lag of the others: got %s beside a locked table and %s without, want at most twice that and a second", locked, free)
	}
}

// lagOfOthers samples the lags of all tables but t0 for a while and returns their 95th percentile. Memory is checked on the way.
func (c *client) lagOfOthers(during time.Duration, memory int) time.Duration {
	c.t.Helper()
	var lags []int
	for began := time.Now(); time.Since(began) < during; {
		for _, row := range c.run("SELECT lag_us FROM mz_internal.mz_sink_spans WHERE table_name <> 't0'") {
			n, err := strconv.Atoi(row)
			if err != nil {
				c.t.Fatalf("lag: %v", err)
			}
			lags = append(lags, n)
		}
		if n, _ := strconv.Atoi(c.one("SELECT resident_bytes FROM mz_internal.mz_sinks")); n > memory+(1<<20) {
			c.t.Errorf("bytes on their way: got %d, want at most %d", n, memory)
		}
		<-time.After(20 * time.Millisecond)
	}
	slices.Sort(lags)
	return time.Duration(lags[len(lags)*95/100]) * time.Microsecond
}
