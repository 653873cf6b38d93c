package bench

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"time"
)

// startFresh starts a server on a fresh folder, runs statements, and starts it again: it has the tables, and its memory has seen nothing. The caller stops it.
func startFresh(ctx context.Context, statements ...string) (*Target, error) {
	t, err := StartTailrace()
	if err != nil {
		return nil, err
	}
	if err = t.exec(ctx, statements...); err == nil {
		err = t.Restart(untouched)
	}
	if err != nil {
		return nil, errors.Join(err, t.Stop())
	}
	return t, nil
}

// untouched is what Restart does with a folder between: nothing.
func untouched(string) error { return nil }

// address is where a server listens.
func (t *Target) address() (string, error) {
	u, err := url.Parse(t.URL)
	if err != nil {
		return "", fmt.Errorf("the address of %s: %w", t.Name, err)
	}
	return u.Host, nil
}

// usage is what a server has used so far.
type usage struct {
	cpu           time.Duration
	bytes, writes float64 // to clients
}

func (t *Target) usage(ctx context.Context) (u usage, err error) {
	if u.cpu, err = cpuOf(t.PID); err != nil {
		return u, err
	}
	if u.bytes, err = t.metric(ctx, "tailrace_client_sent_bytes_total"); err != nil {
		return u, err
	}
	u.writes, err = t.metric(ctx, "tailrace_client_writes_total")
	return u, err
}

func (u usage) since(before usage) usage {
	return usage{u.cpu - before.cpu, u.bytes - before.bytes, u.writes - before.writes}
}
