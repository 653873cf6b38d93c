package world

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"time"

	"tailrace"
	"tailrace/log"
)

// adapter is the upstream as one life of a node sees it: a tailrace.Source.
type adapter struct {
	*upstream
	life   *life
	chance *rand.Rand // guarded by mu, as the upstream is
}

func (u *upstream) open(l *life) tailrace.Source {
	l.adapters++
	return &adapter{u, l, u.world.rand(fmt.Sprint("adapter ", l.name, l.adapters))}
}

var errUpstream = errors.New("the upstream closed the connection")

// pass waits while the node is stopped and fails when it is dead.
func (a *adapter) pass(ctx context.Context) error {
	sleep(ctx, a.latency())
	if err := a.life.pass("upstream"); err != nil {
		return err
	}
	return ctx.Err()
}

func (a *adapter) latency() time.Duration {
	a.mu.Lock()
	defer a.mu.Unlock()
	return upTo(a.chance, 3*time.Millisecond)
}

// breaks tells whether the connection breaks now.
func (a *adapter) breaks(of int) bool {
	if a.world.calm() {
		return false
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.world.weather() == sluggish {
		of = 8
	}
	return a.chance.IntN(of) == 0
}

// Tables implements tailrace.Source.
func (a *adapter) Tables(ctx context.Context, _ tailrace.Selection) ([]*tailrace.SourceTable, error) {
	if err := a.pass(ctx); err != nil {
		return nil, err
	}
	return described[:], nil
}

// Snapshot implements tailrace.Source.
func (a *adapter) Snapshot(ctx context.Context, tables []*tailrace.SourceTable, to tailrace.SnapshotTo) error {
	if err := a.pass(ctx); err != nil {
		return err
	}
	a.mu.Lock()
	at := len(a.txns)
	if at < a.confirmed {
		a.world.fail("source: a snapshot at %d after %d was confirmed", at, a.confirmed)
	}
	rows := [2][]string{a.state[upKeyed].sorted(), a.state[upBag].sorted()}
	a.mu.Unlock()
	if err := to.Begin(position(at)); err != nil {
		return err
	}
	for i, t := range tables {
		for from := 0; from < len(rows[i]); from += 7 {
			if err := a.pass(ctx); err != nil {
				return err
			}
			if a.breaks(15) {
				return errUpstream
			}
			b := rowsOf(t)
			for _, r := range rows[i][from:min(from+7, len(rows[i]))] {
				appendRow(b, t, r, nil)
			}
			if err := to.Rows(ctx, i, 0, b); err != nil {
				return err
			}
		}
		if err := to.Done(ctx, i, nil); err != nil {
			return err
		}
	}
	return nil
}

// Read implements tailrace.Source.
func (a *adapter) Read(ctx context.Context, from []byte, _ []*tailrace.SourceTable, deliver func(*tailrace.SourcePiece) error) error {
	at, ok := placeOf(from)
	if !ok {
		a.world.fail("source: asked to read from %q", from)
	}
	if err := a.pass(ctx); err != nil {
		return err
	}
	a.mu.Lock()
	isGone := at < a.confirmed
	a.mu.Unlock()
	switch {
	case isGone && a.life.slept.Load(): // it was stopped before it asked; another node follows now
		return errUpstream
	case isGone:
		a.world.fail("source: asked to read from %d, of which more was confirmed", at)
	}
	if err := deliver(&tailrace.SourcePiece{Position: from}); err != nil {
		return err
	}
	for {
		a.mu.Lock()
		grew := a.grew
		news := a.txns[at:]
		a.mu.Unlock()
		for _, t := range news {
			at++
			if err := a.pass(ctx); err != nil {
				return err
			}
			if a.breaks(60) {
				return errUpstream
			}
			if err := a.deliver(at, t, deliver); err != nil {
				return err
			}
		}
		select {
		case <-grew:
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

// deliver gives transaction n to the node.
func (a *adapter) deliver(n int, t upTxn, to func(*tailrace.SourcePiece) error) error {
	times := 1
	switch {
	case a.world.bug == Redelivered && n%every == 0:
		times = 2
	case a.world.bug == HastyConfirm:
		a.confirm(n)
	}
	for range times {
		for _, p := range a.pieces(n, t) {
			if err := to(p); err != nil {
				return err
			}
		}
	}
	return nil
}

// pieces is transaction n in one piece or, if it is long, in two.
func (a *adapter) pieces(n int, t upTxn) []*tailrace.SourcePiece {
	last := &tailrace.SourcePiece{Changes: changesOf(t), End: true, Position: position(n), Bytes: 200}
	if len(t) < 5 {
		return []*tailrace.SourcePiece{last}
	}
	first := &tailrace.SourcePiece{Changes: changesOf(t[:3]), Bytes: 100}
	last.Changes = changesOf(t[3:])
	return []*tailrace.SourcePiece{first, last}
}

// Confirm implements tailrace.Source. What is confirmed must be in the log.
func (a *adapter) Confirm(at []byte) {
	n, _ := placeOf(at)
	if !a.world.disk.has(log.KindPosition, at) {
		a.world.fail("source: position %d is confirmed and is not in the log", n)
	}
	if !a.life.dead.Load() {
		a.confirm(n)
	}
}

func (a *adapter) confirm(n int) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.confirmed = max(a.confirmed, n)
}

// Drop implements tailrace.Source.
func (a *adapter) Drop(context.Context) error { return nil }
