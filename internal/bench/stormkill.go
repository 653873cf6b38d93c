package bench

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"time"
)

// measureKill is the scenario kill:
//
//  1. Clients have their snapshot and follow while rows are written. The server is killed under them, as soon as some rows are on their way.
//  2. Half of the table changes while nobody is there. The server is started once more, so that it has done nothing yet.
//  3. All clients connect, and resume at once from their last progress row. Each has the table, row for row, in the end.
//
// The third step is measured.
func (b Storm) measureKill(ctx context.Context, s *storming, t *Target, clients int) (*stormMeasured, error) {
	job := b.job("kill")
	var err error
	if job.Address, err = t.address(); err != nil {
		return nil, err
	}
	c, err := gather(ctx, s.self, job, clients)
	if err != nil {
		return nil, err
	}
	defer c.end()
	to, err := b.killAndChange(ctx, t, job.Address)
	if err != nil {
		return nil, err
	}
	m := &stormMeasured{}
	if m.idle, err = idleKB(t.PID); err != nil {
		return nil, err
	}
	if err := c.back(to); err != nil {
		return nil, err
	}
	return m, m.run(ctx, t, c)
}

// beforeKill is how long rows are written before the server is killed.
const beforeKill = 300 * time.Millisecond

// killAndChange is the first two steps; it returns what clients need for the third.
func (b Storm) killAndChange(ctx context.Context, t *Target, address string) (to stormResume, err error) {
	w, err := newWriter(address)
	if err != nil {
		return to, err
	}
	defer w.close()
	stop := b.write(ctx, w)
	select {
	case <-time.After(beforeKill):
	case <-ctx.Done():
		return to, errors.Join(ctx.Err(), stop())
	}
	t.stop = t.kill
	err = t.Restart(untouched)
	_ = stop() // its server was killed
	if err != nil {
		return to, err
	}
	if err := t.exec(ctx, fmt.Sprintf("UPDATE storm SET body = repeat('y', %d) WHERE id <= %d", stormBody, b.Rows/2)); err != nil {
		return to, err
	}
	if to.Until, to.Want, err = t.contents(ctx); err != nil {
		return to, err
	}
	if err := t.Restart(untouched); err != nil {
		return to, err
	}
	to.Address, err = t.address()
	return to, err
}

// contents reads the table by a SELECT, which shares nothing with the path that clients are served by.
func (t *Target) contents(ctx context.Context) (at int64, sum rowSum, err error) {
	c, err := t.connect(ctx)
	if err != nil {
		return 0, sum, err
	}
	defer c.Close(context.WithoutCancel(ctx))
	if err := c.QueryRow(ctx, "SELECT mz_now()::text::bigint").Scan(&at); err != nil {
		return 0, sum, fmt.Errorf("read the time of the last commit: %w", err)
	}
	var text bytes.Buffer
	if _, err := c.PgConn().CopyTo(ctx, &text, "COPY (SELECT id, tenant, body FROM storm) TO STDOUT"); err != nil {
		return 0, sum, fmt.Errorf("read the table: %w", err)
	}
	for line := range bytes.Lines(text.Bytes()) {
		sum.add(1, line)
	}
	return at, sum, nil
}
