package log

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"time"

	"tailrace"
)

// TickInterval is how long the log may be idle before an entry without transactions moves every collection's upper.
const TickInterval = time.Second

// Run waits until what was in the log at Open is applied, opens this node's session, ending those of dead nodes in the same entry, and
// commits until ctx is done: then it finds out the outcome of the append in flight, refuses what waits with ErrClosed, and returns nil.
// Any other end is an error after which the process starts anew. Run is called once.
func (l *Log) Run(ctx context.Context) error {
	l.mu.Lock()
	again := l.running || l.closed != nil
	l.running = true
	l.mu.Unlock()
	if again {
		return errors.New("run log: it has run before")
	}
	r := &runner{Log: l, tick: time.NewTimer(TickInterval)}
	defer r.tick.Stop()
	err := r.run(ctx)
	why := ErrClosed
	if errors.Is(err, ErrEnded) {
		why = ErrEnded
	}
	l.shut(r.backlog, why)
	if ctx.Err() != nil && errors.Is(err, ctx.Err()) {
		return nil
	}
	return err
}

// runner is the thin loop around a committer. Only Run's goroutine has it.
type runner struct {
	*Log
	committer committer
	backlog   []*commit // taken from waiting, not yet in an entry
	tick      *time.Timer
	isFull    bool // the last append was refused for space, which is said once
}

func (r *runner) run(ctx context.Context) error {
	if err := r.begin(ctx); err != nil {
		return err
	}
	for {
		// Those who were woken by the last entry are about to commit again. Let them: else the first of them would get an entry, and an
		// fsync, of its own, and the rest wait for two.
		runtime.Gosched()
		r.backlog = r.takeWaiting(r.backlog)
		if len(r.backlog) == 0 {
			select {
			case <-r.wake:
				continue
			case <-r.tick.C:
			case <-ctx.Done():
				return nil
			}
		}
		if err := r.round(ctx); err != nil {
			return err
		}
		if ctx.Err() != nil {
			return nil
		}
	}
}

// begin waits for the replay and opens the session.
func (r *runner) begin(ctx context.Context) error {
	r.mu.Lock()
	head, last := r.head, r.last
	r.mu.Unlock()
	if _, err := r.Sync(ctx); err != nil {
		return err
	}
	r.committer = committer{session: r.session, head: head, clock: clock{last: last}, recent: newRecent(last)}
	for {
		err := r.openSession(ctx)
		if !errors.Is(err, tailrace.ErrFull) {
			return err
		}
		for _, c := range r.takeWaiting(nil) { // reads go on meanwhile; nobody waits for space
			c.refuse(err)
		}
		if !pause(ctx, TickInterval) {
			return ctx.Err()
		}
	}
}

// openSession appends the entry that opens this node's session and ends all others.
func (r *runner) openSession(ctx context.Context) error {
	r.mu.Lock()
	records := r.applied.sessions.opening(r.session)
	r.mu.Unlock()
	open := &commit{txn: &Txn{Records: records}, body: appendRecords(nil, records), done: make(chan struct{})}
	r.backlog = []*commit{open}
	for len(r.backlog) > 0 {
		if err := r.round(ctx); err != nil {
			return err
		}
	}
	if open.err != nil {
		return fmt.Errorf("open session %s: %w", r.session, open.err)
	}
	return nil
}

// round appends one entry of the backlog, a tick when it is empty, and puts back what did not get in.
func (r *runner) round(ctx context.Context) error {
	wall, mono := r.clocks()
	p := r.committer.plan(r.backlog, wall, mono)
	r.backlog = p.rest
	r.noteJump(wall)
	for _, c := range p.refused {
		c.refuse(ErrConflict)
	}
	if len(p.members) == 0 && len(p.refused) > 0 {
		return nil
	}
	longer, cancel := outlive(ctx)
	defer cancel()
	outcome, cause := r.settle(longer, logKey, r.committer.head, p.value)
	switch outcome {
	case ours:
		r.tick.Reset(TickInterval)
		r.isFull = false
		return r.arrived(p)
	case theirs:
		r.backlog = append(p.members, p.rest...)
		return r.catchUp(longer)
	case full:
		r.tick.Reset(TickInterval)
		r.refuseFull(p.members, cause)
		return nil
	default:
		for _, c := range p.members {
			c.refuse(ErrUnknown)
		}
		return fmt.Errorf("append log entry %d: %w: %w", r.committer.head+1, ErrUnknown, cause)
	}
}

// clocks reads the wall clock and the monotonic one.
func (l *Log) clocks() (tailrace.Time, time.Duration) {
	now := l.now()
	return tailrace.Time(max(0, now.UnixMicro())), now.Sub(l.start)
}

// noteJump keeps what ClockJump tells, and says it once.
func (r *runner) noteJump(wall tailrace.Time) {
	var ahead time.Duration
	if r.committer.clock.jumped {
		ahead = time.Duration(int64(wall)-int64(r.committer.clock.last)) * time.Microsecond
	}
	if before := r.jump.Swap(int64(ahead)); (before == 0) != (ahead == 0) {
		r.logger.Warn("wall clock jumped; commit times follow the monotonic clock until it is back, or until a restart",
			"jumped", ahead != 0, "ahead", ahead)
	}
}

// arrived makes an entry of ours that is durable known. It is read back from its bytes, so that followers get here exactly what they
// would get from Consensus, and nothing that a committer still holds.
func (r *runner) arrived(p plan) error {
	e, err := decodeSlot(tailrace.Versioned{Seq: r.committer.head + 1, Value: p.value})
	if err != nil {
		return err
	}
	for i, c := range p.members {
		c.time = e.Txns[i].Time
	}
	if err := r.committer.fold(e); err != nil {
		return err
	}
	r.publish(e, len(p.value), p.members)
	return nil
}

// catchUp folds the entries that others appended.
func (r *runner) catchUp(ctx context.Context) error {
	next := r.committer.head + 1
	page, err := r.consensus.Scan(ctx, logKey, next, followPage)
	if err != nil {
		if !pause(ctx, firstPause) {
			return fmt.Errorf("read log from %d: %w", next, err)
		}
		return nil // the next round is not appended either, and comes here again
	}
	for i, v := range page {
		if v.Seq != next+tailrace.SeqNo(i) {
			return fmt.Errorf("read log from %d: %w", next, ErrTruncated)
		}
		e, err := decodeSlot(v)
		if err == nil {
			err = r.committer.fold(e)
		}
		if err != nil {
			return err
		}
		r.publish(e, len(v.Value), nil)
		if r.committer.ended {
			return fmt.Errorf("commit in session %s: %w", r.session, ErrEnded)
		}
	}
	return nil
}

func (r *runner) refuseFull(members []*commit, cause error) {
	if !r.isFull {
		r.logger.Error("the log's store is full: commits are refused until there is space", "error", cause)
	}
	r.isFull = true
	for _, c := range members {
		c.refuse(fmt.Errorf("commit: %w", cause))
	}
}
