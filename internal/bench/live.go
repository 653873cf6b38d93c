package bench

import (
	"context"
	"fmt"
	"io"
	"net/url"
	"os"
	"slices"
	"strings"
	"time"
)

// The goals of live rows: what a client that follows and gets nothing takes, in KiB, and CPU against the bare loop.
const (
	goalLiveIdle = 16.0
	goalLiveCPU  = 1.3
)

// Live is `tailrace bench live`: many clients that follow a table while rows are written to it.
type Live struct {
	Clients []int
	Rates   []int // rows a second, one a transaction; each is measured with each number of clients
	Seconds time.Duration
	Rounds  int
}

// Run measures on t, a server that the benchmark started, and tells progress to log.
func (b Live) Run(ctx context.Context, t *Target, log io.Writer) (*Report, error) {
	self, err := os.Executable()
	if err != nil {
		return nil, fmt.Errorf("find this binary: %w", err)
	}
	if err := raiseFiles(); err != nil {
		return nil, err
	}
	r := &Report{Name: "live", Settings: fmt.Sprintf("clients %v, %v rows/s, %v a run, %d rounds", b.Clients, b.Rates, b.Seconds, b.Rounds)}
	s := &storming{r: r, log: log, t: t, self: self}
	if err := t.exec(ctx, "CREATE TABLE live (id int PRIMARY KEY, body text)"); err != nil {
		return nil, err
	}
	for _, n := range b.Clients {
		for _, rate := range b.Rates {
			prefix := fmt.Sprintf("live_%d_%d_", n, rate)
			for range b.Rounds {
				if err := b.round(ctx, s, prefix, n, rate); err != nil {
					return nil, fmt.Errorf("%d clients, %d rows/s: %w", n, rate, err)
				}
			}
			r.set(prefix+"cpu", r.vs(prefix+"cpu_s", ours, bareName))
			r.set(prefix+"idle_kib", r.median(prefix+"idle_kib_a_client", ours))
			r.atMost(prefix+"cpu", goalLiveCPU)
			r.atMost(prefix+"idle_kib", goalLiveIdle)
		}
	}
	return r, nil
}

// round lets clients follow while rows are written, then runs the bare loop with the bytes and the writes that it took.
func (b Live) round(ctx context.Context, s *storming, prefix string, clients, rate int) error {
	if err := s.t.exec(ctx, "DELETE FROM live"); err != nil {
		return err
	}
	at, err := url.Parse(s.t.URL)
	if err != nil {
		return err
	}
	idle, err := procKB(s.t.PID, "VmRSS")
	if err != nil {
		return err
	}
	rows := max(1, int(b.Seconds.Seconds()*float64(rate)))
	job := stormJob{Address: at.Host, Statement: "COPY (SUBSCRIBE live WITH (PROGRESS, SNAPSHOT = false)) TO STDOUT", Live: rows}
	var before serverState
	wrote := make(chan error, 1)
	o, err := s.clients(ctx, job, clients, func() error {
		full, err := procKB(s.t.PID, "VmRSS")
		if err != nil {
			return err
		}
		s.r.add(prefix+"idle_kib_a_client", ours, float64(full-idle)/float64(clients), false)
		if before, err = s.state(ctx); err != nil {
			return err
		}
		go func() { wrote <- s.insert(ctx, rows, rate) }()
		return nil
	})
	if err != nil {
		return err
	}
	if err := <-wrote; err != nil {
		return err
	}
	slices.Sort(o.done.Millis)
	n := len(o.done.Millis)
	s.r.add(prefix+"p50_ms", ours, o.done.Millis[n/2], false)
	s.r.add(prefix+"p99_ms", ours, o.done.Millis[n*99/100], false)
	s.r.add(prefix+"rows_per_s", ours, float64(rows*clients)/o.whole.Seconds(), true)
	s.r.add(prefix+"writes_per_s", ours, (o.after.writes-before.writes)/o.whole.Seconds(), true)
	cpu := (o.after.cpu - before.cpu).Seconds()
	s.r.add(prefix+"cpu_s", ours, cpu, false)
	bytes, writes := int(o.after.bytes-before.bytes)/clients, max(1, int(o.after.writes-before.writes)/clients)
	if err := s.bareLoop(ctx, bareJob{clients, bytes, writes, o.whole.Seconds()}, func(_ *stormOutcome, bare float64) { s.r.add(prefix+"cpu_s", bareName, bare, false) }); err != nil {
		return fmt.Errorf("the bare loop: %w", err)
	}
	fmt.Fprintf(s.log, "%d clients, %d rows/s: p50 %.1f ms, p99 %.1f ms, %.0f rows/s in %.0f writes/s, CPU %.2f s (bare loop %.2f s), %.1f KiB a client\n", clients, rate,
		o.done.Millis[n/2], o.done.Millis[n*99/100], last(s.r, prefix+"rows_per_s", ours), last(s.r, prefix+"writes_per_s", ours), cpu, last(s.r, prefix+"cpu_s", bareName),
		last(s.r, prefix+"idle_kib_a_client", ours))
	return nil
}

// insert writes rows at a rate, one a transaction.
func (s *storming) insert(ctx context.Context, rows, rate int) error {
	c, err := s.t.connect(ctx)
	if err != nil {
		return err
	}
	defer c.Close(context.WithoutCancel(ctx))
	began := time.Now()
	for i := range rows {
		due := began.Add(time.Duration(i) * time.Second / time.Duration(rate))
		select {
		case <-time.After(time.Until(due)):
		case <-ctx.Done():
			return ctx.Err()
		}
		if _, err := c.Exec(ctx, "INSERT INTO live VALUES ($1, $2)", i, strings.Repeat("x", stormBody)); err != nil {
			return err
		}
	}
	return nil
}
