package log

import (
	"cmp"
	"context"
	"slices"

	"tailrace"
)

// asking is the Syncs that one call of Head answers.
type asking struct {
	done chan struct{} // closed when seq and err are final
	seq  tailrace.SeqNo
	err  error
}

// Sync is a strict read's first step: it waits until all that was durable when it was called is applied, and returns Newest. Nothing that
// was acknowledged before, by any node, is missing at that time.
//
// A node that has the store alone is the only one that appends, so it knows the head, and this is free. On a shared store it is one call of Head, which
// all share that wait for it; a Sync joins the next call, never one in flight, which may have been answered before a commit that the reader knows of.
// ErrUnreachable when the store does not answer for the time of a lease, ErrEnded or ErrClosed when Run has returned.
func (l *Log) Sync(ctx context.Context) (tailrace.Time, error) {
	l.mu.Lock()
	if !l.shared {
		seq := l.head
		l.mu.Unlock()
		return l.reach(ctx, seq)
	}
	if l.closed != nil {
		defer l.mu.Unlock()
		return 0, l.closed
	}
	if l.asked == nil {
		l.asked = &asking{done: make(chan struct{})}
	}
	a := l.asked
	l.mu.Unlock()
	l.look.wake()
	select {
	case <-a.done:
	case <-l.over:
		return 0, l.closedBy()
	case <-ctx.Done():
		return 0, ctx.Err()
	}
	if a.err != nil {
		return 0, a.err
	}
	return l.reach(ctx, a.seq)
}

// reach waits until the entry seq is applied and returns Newest.
func (l *Log) reach(ctx context.Context, seq tailrace.SeqNo) (tailrace.Time, error) {
	l.mu.Lock()
	a := &l.applied
	if a.seq >= seq {
		l.mu.Unlock()
		return l.Newest(), nil
	}
	at, found := slices.BinarySearchFunc(a.syncs, seq, func(x arrival, seq tailrace.SeqNo) int { return cmp.Compare(x.seq, seq) })
	if !found {
		a.syncs = slices.Insert(a.syncs, at, arrival{seq, make(chan struct{})})
	}
	done := a.syncs[at].done
	isKnown := seq <= l.head
	l.mu.Unlock()
	over := l.over
	if isKnown { // followers get it whether Run goes on or not
		over = nil
	}
	select {
	case <-done:
		return l.Newest(), nil
	case <-over:
		return 0, l.closedBy()
	case <-ctx.Done():
		return 0, ctx.Err()
	}
}
