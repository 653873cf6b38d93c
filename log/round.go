package log

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"tailrace"
)

// round appends one entry of the backlog, a tick when it is empty, and puts back what did not get in. ctx outlives Run's, so that the append's outcome is
// found out.
func (r *runner) round(ctx context.Context) error {
	wall, mono := r.clocks()
	p := r.committer.plan(append(r.duty(mono), r.backlog...), wall, mono)
	r.backlog = p.rest
	r.noteJump(wall)
	for _, c := range p.refused {
		c.refuse(c.why)
	}
	if len(p.members) == 0 && len(p.refused) > 0 {
		return nil
	}
	outcome, cause := r.settle(ctx, logKey, r.committer.head, p.value)
	_, r.appended = r.clocks()
	switch outcome {
	case ours:
		r.isFull, r.losses = false, 0
		return r.arrived(p, mono)
	case theirs:
		return r.lost(ctx, p)
	case full:
		r.refuseFull(p.members, cause)
		return nil
	default:
		for _, c := range p.members {
			c.refuse(ErrUnknown)
		}
		return fmt.Errorf("append log entry %d: %w: %w", r.committer.head+1, ErrUnknown, cause)
	}
}

// duty is the commit that goes along with this node's entries on a shared store, if one is due.
func (r *runner) duty(mono time.Duration) []*commit {
	if r.committer.leases == nil {
		return nil
	}
	resumed := time.Duration(r.look.resumed.Load())
	if r.silence() > r.lease.gap() { // it has not been seen yet whether the others could append
		resumed = mono
	}
	records := r.committer.leases.duties(mono, resumed, r.reads())
	if len(records) == 0 {
		return nil
	}
	c := ownCommit(records)
	c.duty = true
	return []*commit{c}
}

// ownCommit is a commit of the log's own.
func ownCommit(records []Record) *commit {
	return &commit{txn: &Txn{Records: records}, body: appendRecords(nil, records), done: make(chan struct{})}
}

// lost folds what another appended in our place and puts the members back in front.
func (r *runner) lost(ctx context.Context, p plan) error {
	r.backlog = append(slices.DeleteFunc(p.members, func(c *commit) bool { return c.duty }), p.rest...)
	if r.shared {
		r.answered()
	}
	if r.losses++; r.losses%turnAfter == 0 && len(r.backlog) > 0 {
		if err := r.askTurn(ctx); err != nil {
			r.logger.Debug("ask for a turn", "error", err) // it only comes later
		}
	}
	return r.catchUp(ctx)
}

// clocks reads the wall clock and the monotonic one.
func (l *Log) clocks() (tailrace.Time, time.Duration) {
	now := l.now()
	wall := now
	if l.ahead != nil {
		wall = wall.Add(l.ahead())
	}
	return tailrace.Time(max(0, wall.UnixMicro())), now.Sub(l.start)
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

// arrived makes an entry of ours that is durable known; it was planned at mono. It is read back from its bytes, so that followers get here exactly what
// they would get from Consensus, and nothing that a committer still holds.
func (r *runner) arrived(p plan, planned time.Duration) error {
	e, by, err := decodeSlot(tailrace.Versioned{Seq: r.committer.head + 1, Value: p.value})
	if err != nil {
		return err
	}
	for i, c := range p.members {
		c.time = e.Txns[i].Time
	}
	if err := r.committer.fold(e, by, r.appended); err != nil {
		return err
	}
	if r.shared {
		r.answered()
		r.look.own.Add(1)
		if len(p.members) > 0 && p.members[0].duty {
			r.committer.leases.promised = planned
		}
	}
	r.publish(e, len(p.value), p.members)
	if !r.leading {
		r.wakeApply()
	}
	return nil
}

// isBehind says whether entries are known to be there that are not folded.
func (r *runner) isBehind() bool {
	v := r.look.ahead.Load()
	return v != nil && v.Seq > r.committer.head
}

// catchUpPage is how many entries catchUp reads at once when they are small: as many as it takes not to fall behind who appends them. It begins with
// followPage and goes up as long as a page is less than catchUpBytes.
const (
	catchUpPage  = 256
	catchUpBytes = 1 << 20
)

// catchUp folds the entries that others appended.
func (r *runner) catchUp(ctx context.Context) error {
	limit := followPage
	for {
		next := r.committer.head + 1
		if v := r.look.ahead.Load(); v != nil && v.Seq == next {
			return r.foldPage([]tailrace.Versioned{*v})
		}
		page, err := r.consensus.Scan(ctx, logKey, next, limit)
		if err != nil || len(page) == 0 {
			if !pause(ctx, firstPause) {
				return fmt.Errorf("read log from %d: %w", next, errors.Join(err, ctx.Err()))
			}
			return nil // the next round is not appended either, and comes here again
		}
		if err := r.foldPage(page); err != nil || len(page) < limit {
			return err
		}
		size := 0
		for _, v := range page {
			size += len(v.Value)
		}
		if limit = followPage; size < catchUpBytes {
			limit = min(2*len(page), catchUpPage)
		}
	}
}

// foldPage folds and publishes a page of others' entries.
func (r *runner) foldPage(page []tailrace.Versioned) error {
	for _, v := range page {
		if next := r.committer.head + 1; v.Seq != next {
			return fmt.Errorf("read log from %d: the next is %d: %w", next, v.Seq, ErrTruncated)
		}
		e, by, err := decodeSlot(v)
		if err != nil {
			return err
		}
		_, mono := r.clocks()
		if err := r.committer.fold(e, by, mono); err != nil {
			return err
		}
		r.publish(e, len(v.Value), nil)
		r.wakeApply()
		if r.committer.ended() {
			return fmt.Errorf("commit in session %s: %w", r.session, ErrEnded)
		}
	}
	return nil
}
