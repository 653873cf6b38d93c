package bench

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"
)

// liveMeasured is what a server did in a run.
type liveMeasured struct {
	*outcome
	wrote   written
	used    usage
	idleKiB float64 // of memory, for a client that has got nothing yet
	rows    int     // to all clients
}

// fileLive files what clients measured.
func (s *storming) fileLive(prefix, target string, m *liveMeasured) {
	s.fileErrors(prefix, target, m.outcome)
	s.r.add(prefix+"written_per_s", target, m.wrote.perSecond(), true)
	if len(m.done.Millis) == 0 {
		return // they all failed
	}
	s.r.add(prefix+"p50_ms", target, percentile(m.done.Millis, 50), false)
	s.r.add(prefix+"p99_ms", target, percentile(m.done.Millis, 99), false)
	s.r.add(prefix+"due_p50_ms", target, percentile(m.done.DueMillis, 50), false)
	s.r.add(prefix+"due_p99_ms", target, percentile(m.done.DueMillis, 99), false)
	s.r.add(prefix+"rows_per_s", target, float64(m.rows)/m.whole.Seconds(), true)
}

// tellLive tells of a run that was filed.
func (s *storming) tellLive(prefix, target string, scenario liveScenario, m *liveMeasured) {
	fmt.Fprintf(s.log, "%s, %s: p50 %.1f ms, p99 %.1f ms, from due %.1f and %.1f ms, %.0f of %d rows/s written, %.0f read\n", scenario.name, target,
		s.r.last(prefix+"p50_ms", target), s.r.last(prefix+"p99_ms", target), s.r.last(prefix+"due_p50_ms", target), s.r.last(prefix+"due_p99_ms", target),
		m.wrote.perSecond(), scenario.rate, s.r.last(prefix+"rows_per_s", target))
}

// liveSamples is about how many rows all clients time.
const liveSamples = 100_000

// job is what the clients of a scenario do with a server.
func (scenario liveScenario) job(address string) stormJob {
	rows := scenario.rows()
	return stormJob{
		Address: address, Statement: "COPY (SUBSCRIBE live WITH (PROGRESS, SNAPSHOT = false)) TO STDOUT",
		Live: rows, Every: max(1, rows*scenario.clients/liveSamples),
	}
}

// rows is how many are written.
func (scenario liveScenario) rows() int {
	return max(1, int(scenario.length.Seconds()*float64(scenario.rate)))
}

// liveTable is the table that they follow; a row is about 64 bytes.
const liveTable = "CREATE TABLE live (id int PRIMARY KEY, due bigint, body text)"

// liveBody is what a row has besides its id and the moment that it was due.
var liveBody = strings.Repeat("x", stormBody-17)

func insertLive(i int, due time.Time) string {
	return fmt.Sprintf("INSERT INTO live VALUES (%d, %d, '%s')", i, due.UnixMicro(), liveBody)
}

// measureLive runs a scenario once on a server of its own, with slow clients beside it unless slow is nil.
func (s *storming) measureLive(ctx context.Context, scenario liveScenario, slow *slowClients) (m *liveMeasured, err error) {
	t, err := startFresh(ctx, liveTable)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, t.Stop()) }()
	address, err := t.address()
	if err != nil {
		return nil, err
	}
	w, err := newWriter(address)
	if err != nil {
		return nil, err
	}
	defer w.close()
	idle, err := residentKB(t.PID)
	if err != nil {
		return nil, err
	}
	job := scenario.job(address)
	c, err := gather(ctx, s.self, job, scenario.clients)
	if err != nil {
		return nil, err
	}
	defer c.end()
	full, err := residentKB(t.PID)
	if err != nil {
		return nil, err
	}
	m = &liveMeasured{idleKiB: float64(full-idle) / float64(scenario.clients), rows: job.Live * scenario.clients}
	if err := slow.follow(job); err != nil {
		return nil, err
	}
	defer slow.close()
	before, err := t.usage(ctx)
	if err != nil {
		return nil, err
	}
	if err := m.run(c, func() (written, error) { return w.run(ctx, scenario.rate, job.Live, insertLive) }); err != nil {
		return nil, err
	}
	m.done.Errors = append(m.done.Errors, slow.catchUp()...)
	after, err := t.usage(ctx)
	m.used = after.since(before)
	return m, err
}

// run lets the crowd read what write writes. When that fails, nobody waits for the rest.
func (m *liveMeasured) run(c *crowd, write func() (written, error)) error {
	failed := make(chan error, 1)
	go func() {
		var err error
		if m.wrote, err = write(); err != nil {
			c.kill()
		}
		failed <- err
	}()
	var err error
	m.outcome, err = c.run()
	return errors.Join(<-failed, err)
}
