package bench

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"time"
)

// stormBody is what a row has besides its id and its tenant, in bytes: about 64 with them.
const stormBody = 52

// dataflowClients is how many clients the dataflow path is measured with at most: each has the whole table there.
const dataflowClients = 1024

// Storm is `tailrace bench storm`: many clients that subscribe to one table at the same moment, beside a bare loop that writes the same bytes to as many sockets.
// Every round has a server process of its own, so that its peak of memory is not hidden by what earlier rounds have left.
type Storm struct {
	Clients   []int    // numbers of them; a scenario is run with each
	Scenarios []string // names; none: all
	Rows      int
	Rounds    int // interleaved; medians are reported
	WriteRate int // rows a second in the scenarios writes and kill
}

// StormScenarios are the names of the scenarios, and what each is.
var StormScenarios = [][2]string{
	{"storage", "the whole table, from storage"},
	{"dataflow", "the whole table, on the dataflow path; up to 1,024 clients"},
	{"writes", "the whole table, while rows are written"},
	{"kill", "what they missed, by everybody at once, after the server was killed (kill -9) and half the table has changed"},
	{"tenants", "each client the rows of a tenant of its own"},
}

// storming is a Storm or a Live under way.
type storming struct {
	r    *Report
	log  io.Writer
	self string // this binary
}

func newStorming(r *Report, log io.Writer) (*storming, error) {
	self, err := os.Executable()
	if err != nil {
		return nil, fmt.Errorf("find this binary: %w", err)
	}
	return &storming{r, log, self}, raiseFiles()
}

// Run measures servers that it starts, and tells progress to log.
func (b Storm) Run(ctx context.Context, log io.Writer) (*Report, error) {
	settings := fmt.Sprintf("%d rows, clients %v, %d rounds, scenarios %s", b.Rows, b.Clients, b.Rounds, strings.Join(b.names(), " "))
	s, err := newStorming(&Report{Name: "storm", Settings: settings}, log)
	if err != nil {
		return nil, err
	}
	for _, n := range b.Clients {
		for range b.Rounds {
			for _, name := range b.names() {
				if name == "dataflow" && n > dataflowClients {
					continue
				}
				if err := b.round(ctx, s, name, n); err != nil {
					return nil, fmt.Errorf("%s, %d clients: %w", name, n, err)
				}
			}
		}
		for _, name := range b.names() {
			s.conclude(name, n)
		}
	}
	return s.r, nil
}

func (b Storm) names() []string {
	if len(b.Scenarios) > 0 {
		return b.Scenarios
	}
	var out []string
	for _, s := range StormScenarios {
		out = append(out, s[0])
	}
	return out
}

// job is what the clients of a scenario do.
func (b Storm) job(name string) stormJob {
	job := stormJob{Statement: "COPY (SUBSCRIBE storm WITH (PROGRESS)) TO STDOUT", Killed: name == "kill"}
	switch name {
	case "dataflow":
		job.Settings = "SET subscribe_path = dataflow"
	case "tenants":
		job.Statement = "COPY (SUBSCRIBE (SELECT id, tenant, body FROM storm WHERE tenant = %d) WITH (PROGRESS)) TO STDOUT"
	}
	return job
}

// round runs a scenario once, and then the bare loop with the bytes and the writes that it took.
func (b Storm) round(ctx context.Context, s *storming, name string, clients int) error {
	m, err := b.measure(ctx, s, name, clients)
	if err != nil {
		return err
	}
	prefix := fmt.Sprintf("%s_%d_", name, clients)
	s.file(prefix, ours, m.outcome, m.used.cpu.Seconds())
	memory := float64(m.peak-m.idle) / 1024
	s.r.add(prefix+"memory_mib", ours, memory, false)
	bare := bareJob{Clients: clients, Bytes: int(m.used.bytes) / clients, Writes: max(1, int(m.used.writes+float64(clients)/2)/clients)}
	s.r.add(prefix+"bytes_a_client", ours, float64(bare.Bytes), false)
	s.r.add(prefix+"writes_a_client", ours, float64(bare.Writes), false)
	if bare.Bytes > 0 {
		o, cpu, err := s.bareLoop(ctx, bare)
		if err != nil {
			return fmt.Errorf("the bare loop: %w", err)
		}
		s.file(prefix, bareName, o, cpu)
	}
	fmt.Fprintf(s.log, "%s, %d clients: p50 %.0f ms, p95 %.0f ms, whole %.2f s, CPU %.2f s (bare loop: p95 %.0f ms, CPU %.2f s), %.0f MiB\n", name, clients,
		s.r.last(prefix+"p50_ms", ours), s.r.last(prefix+"p95_ms", ours), m.whole.Seconds(), m.used.cpu.Seconds(),
		s.r.last(prefix+"p95_ms", bareName), s.r.last(prefix+"cpu_s", bareName), memory)
	return nil
}

// stormMeasured is what a server did in a round.
type stormMeasured struct {
	*outcome
	used       usage
	idle, peak int // of memory, in KiB
}

// measure runs a scenario once on a server of its own.
func (b Storm) measure(ctx context.Context, s *storming, name string, clients int) (m *stormMeasured, err error) {
	fill := fmt.Sprintf("INSERT INTO storm SELECT g, g %% %d, repeat('x', %d) FROM generate_series(1, %d) g", clients, stormBody, b.Rows)
	t, err := startFresh(ctx, "CREATE TABLE storm (id int PRIMARY KEY, tenant int, body text)", fill)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, t.Stop()) }()
	if name == "kill" {
		return b.measureKill(ctx, s, t, clients)
	}
	job := b.job(name)
	if job.Address, err = t.address(); err != nil {
		return nil, err
	}
	var w *writer
	if name == "writes" {
		if w, err = newWriter(job.Address); err != nil {
			return nil, err
		}
		defer w.close()
	}
	m = &stormMeasured{}
	if m.idle, err = idleKB(t.PID); err != nil {
		return nil, err
	}
	c, err := gather(ctx, s.self, job, clients)
	if err != nil {
		return nil, err
	}
	defer c.end()
	stop := func() error { return nil }
	if w != nil {
		stop = b.write(ctx, w)
	}
	return m, errors.Join(m.run(ctx, t, c), stop())
}

// run lets the crowd go and notes what that took.
func (m *stormMeasured) run(ctx context.Context, t *Target, c *crowd) error {
	before, err := t.usage(ctx)
	if err != nil {
		return err
	}
	if m.outcome, err = c.run(); err != nil {
		return err
	}
	after, err := t.usage(ctx)
	if err != nil {
		return err
	}
	m.used = after.since(before)
	m.peak, err = peakKB(t.PID)
	return err
}

// write updates rows, one a transaction, until the function that it returns is called.
func (b Storm) write(ctx context.Context, w *writer) (stop func() error) {
	ctx, cancel := context.WithCancel(ctx)
	ended := make(chan error, 1)
	go func() {
		_, err := w.run(ctx, b.WriteRate, 0, func(i int, _ time.Time) string {
			return fmt.Sprintf("UPDATE storm SET body = '%d' WHERE id = %d", i, i%b.Rows+1)
		})
		ended <- err
	}()
	return func() error {
		cancel()
		return <-ended
	}
}
