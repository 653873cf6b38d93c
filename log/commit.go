package log

import (
	"context"
	"fmt"
	"slices"
	"sync/atomic"

	"tailrace"
)

// commit is one call of Commit on its way.
type commit struct {
	txn  *Txn
	body []byte // its records, encoded
	// claims are the changes of claims among the records.
	claims []claimChange
	// duty: it is the node's own, made anew for each entry (leases.duties). Nobody waits for it.
	duty bool
	// withdrawn: nobody waits any more. If that is seen before it is planned, it is left out.
	withdrawn atomic.Bool
	// after must be committed first: when it is dropped, so is this one (CommitAll). Only Run's goroutine looks at dropped.
	after   *commit
	dropped bool

	done chan struct{} // closed when time and err are final
	time tailrace.Time
	err  error
}

// newCommit encodes a transaction.
func newCommit(txn *Txn) (*commit, error) {
	size := recordsSize(txn.Records)
	if size > 2*MaxEntry {
		return nil, fmt.Errorf("%d bytes: %w", size, ErrTooLarge)
	}
	c := &commit{txn: txn, body: appendRecords(make([]byte, 0, size), txn.Records), done: make(chan struct{})}
	if len(c.body) > maxTxn {
		return nil, fmt.Errorf("%d bytes: %w", len(c.body), ErrTooLarge)
	}
	for i := range txn.Records {
		if txn.Records[i].Kind == KindClaim {
			change, err := decodeClaim(txn.Records[i].Payload)
			if err != nil {
				return nil, err
			}
			c.claims = append(c.claims, change)
		}
	}
	return c, nil
}

// touches says whether what the commit relies on or changes is among the claims.
func (c *commit) touches(claims map[string]bool) bool {
	return len(claims) > 0 && (claims[c.txn.Claim.Name] ||
		slices.ContainsFunc(c.claims, func(change claimChange) bool { return claims[change.name] }))
}

func (c *commit) refuse(err error) {
	c.err, c.dropped = err, true
	close(c.done)
}

// Commit appends the transaction, and returns its time once it is durable and Applied covers it: a read that begins now sees it. When
// ctx ends first the outcome is unknown to the caller, and Commit returns ctx's error. Of the errors only ErrUnknown leaves it open too.
//
// The caller does not change txn until the outcome is known, which after an error of ctx is never.
func (l *Log) Commit(ctx context.Context, txn Txn) (tailrace.Time, error) {
	c, err := newCommit(&txn)
	if err != nil {
		return 0, err
	}
	if err := l.room.Acquire(ctx, int64(len(c.body))); err != nil {
		return 0, err
	}
	defer l.room.Release(int64(len(c.body)))
	if err := l.enqueue(c); err != nil {
		return 0, err
	}
	if !l.tryLead() {
		l.wakeRun()
	}
	select {
	case <-c.done:
		return c.time, c.err
	case <-l.gone:
		return l.abandoned(c)
	case <-ctx.Done():
		c.withdrawn.Store(true)
		return 0, ctx.Err()
	}
}

// Abandon says that Applied will not be called any more: whoever waits for it is told that the outcome is unknown. It is called once, when the
// apply loop has ended.
func (l *Log) Abandon() { close(l.gone) }

// abandoned is the outcome of a commit that nobody applies: Run may have appended it.
func (l *Log) abandoned(c *commit) (tailrace.Time, error) {
	select {
	case <-c.done:
		return c.time, c.err
	case <-l.over: // then everything that was not appended is refused
	}
	select {
	case <-c.done:
		return c.time, c.err
	default:
		return 0, fmt.Errorf("commit on a node that stops: %w", ErrUnknown)
	}
}

// enqueue adds c to what waits. The caller sees to it that somebody takes it.
func (l *Log) enqueue(c *commit) error {
	l.mu.Lock()
	if l.closed != nil {
		defer l.mu.Unlock()
		return l.closed
	}
	l.waiting = append(l.waiting, c)
	l.mu.Unlock()
	return nil
}

// takeWaiting adds what waits to backlog.
func (l *Log) takeWaiting(backlog []*commit) []*commit {
	l.mu.Lock()
	defer l.mu.Unlock()
	backlog = append(backlog, l.waiting...)
	clear(l.waiting)
	l.waiting = l.waiting[:0]
	return backlog
}

// shut refuses with why all that waits and all that comes.
func (l *Log) shut(backlog []*commit, why error) {
	l.mu.Lock()
	l.closed = why
	backlog = append(backlog, l.waiting...)
	l.waiting = nil
	l.mu.Unlock()
	for _, c := range backlog {
		c.refuse(why)
	}
	close(l.over)
}

// closedBy is why nothing more is committed.
func (l *Log) closedBy() error {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.closed
}
