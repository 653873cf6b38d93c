package bench

import (
	"context"
	"fmt"
	"io"
	"sync"
	"sync/atomic"
	"time"
)

// Start is `tailrace bench start`: how long a server takes to be ready after many commits, killed and stopped.
type Start struct {
	Commits int // single-row transactions, half of them updates of a keyed table
	Writers int // connections that make them
	Rounds  int // starts of each kind
}

// startRows are the rows of the keyed table.
const startRows = 10_000

// Run makes the commits, then starts the server again and again.
func (s Start) Run(ctx context.Context, t *Target, log io.Writer) (*Report, error) {
	r := &Report{Name: "start", Settings: fmt.Sprintf("commits %d, writers %d, rounds %d", s.Commits, s.Writers, s.Rounds)}
	fmt.Fprintf(log, "commit %d transactions\n", s.Commits)
	began := time.Now()
	if err := s.commit(ctx, t); err != nil {
		return nil, err
	}
	r.add("commits_per_s", t.Name, float64(s.Commits)/time.Since(began).Seconds(), true)
	for round := range s.Rounds {
		fmt.Fprintf(log, "round %d of %d: kill and start, stop and start\n", round+1, s.Rounds)
		for _, name := range []string{"start_after_kill_s", "start_after_stop_s"} {
			if err := s.dirty(ctx, t); err != nil {
				return nil, err
			}
			if name == "start_after_kill_s" {
				t.stop = t.kill
			}
			if err := t.Restart(func(string) error { began = time.Now(); return nil }); err != nil {
				return nil, err
			}
			r.add(name, t.Name, time.Since(began).Seconds(), false)
			if err := s.check(ctx, t); err != nil {
				return nil, err
			}
		}
	}
	return r, nil
}

// commit runs the transactions.
func (s Start) commit(ctx context.Context, t *Target) error {
	err := t.exec(ctx, "CREATE TABLE bench_start (id bigint PRIMARY KEY, n bigint)", "CREATE TABLE bench_event (id bigint, v text)",
		fmt.Sprintf("INSERT INTO bench_start SELECT g, 0 FROM generate_series(0, %d) t(g)", startRows-1))
	if err != nil {
		return err
	}
	var next atomic.Int64
	errs := make([]error, s.Writers)
	var writers sync.WaitGroup
	for w := range s.Writers {
		writers.Go(func() {
			c, err := t.connect(ctx)
			if err != nil {
				errs[w] = err
				return
			}
			defer c.Close(context.WithoutCancel(ctx))
			for i := next.Add(1); i <= int64(s.Commits); i = next.Add(1) {
				sql, arg := "INSERT INTO bench_event VALUES ($1, 'an event')", i
				if i%2 == 0 {
					sql, arg = "UPDATE bench_start SET n = n + 1 WHERE id = $1", i/2%startRows
				}
				if _, err := c.Exec(ctx, sql, arg); err != nil {
					errs[w] = fmt.Errorf("%s: %s: %w", t.Name, sql, err)
					return
				}
			}
		})
	}
	writers.Wait()
	for _, err := range errs {
		if err != nil {
			return err
		}
	}
	return nil
}

// dirty leaves something that no checkpoint has.
func (s Start) dirty(ctx context.Context, t *Target) error {
	return t.exec(ctx, "INSERT INTO bench_event SELECT -1, 'just before the end' FROM generate_series(1, 1000)")
}

// check reads back that every update is there.
func (s Start) check(ctx context.Context, t *Target) error {
	c, err := t.connect(ctx)
	if err != nil {
		return err
	}
	defer c.Close(context.WithoutCancel(ctx))
	var sum, events int64
	if err := c.QueryRow(ctx, "SELECT (SELECT sum(n)::bigint FROM bench_start), (SELECT count(*) FROM bench_event WHERE id > 0)").Scan(&sum, &events); err != nil {
		return fmt.Errorf("%s: read back: %w", t.Name, err)
	}
	if got, want := sum+events, int64(s.Commits); got != want {
		return fmt.Errorf("%s: %d of %d commits are there after the restart", t.Name, got, want)
	}
	return nil
}
