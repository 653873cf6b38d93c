package log

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"tailrace"
)

// TickInterval is how long the log may be idle before an entry without transactions moves every collection's upper. It is the environment's: of several
// nodes one ticks, and they take turns.
const TickInterval = time.Second

// Run waits until what was in the log at Open is applied, opens this node's session (when it has the store alone, ending all others in the same entry), and
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
	r := &runner{Log: l, token: make(chan struct{}, 1)}
	err := r.run(ctx)
	why := ErrClosed
	if errors.Is(err, ErrEnded) {
		why = ErrEnded
	}
	l.shut(slices.DeleteFunc(r.backlog, func(c *commit) bool { return c.duty }), why)
	if ctx.Err() != nil && errors.Is(err, ctx.Err()) {
		return nil
	}
	return err
}

// runner is the thin loop around a committer. Who has its token may use it: Run's goroutine, or a caller of Commit (lead.go).
type runner struct {
	*Log
	token     chan struct{}
	committer committer
	backlog   []*commit     // taken from waiting, not yet in an entry
	leading   bool          // a caller of Commit has the token; it applies what it appends
	failed    error         // why a leader could not go on, and Run cannot
	isFull    bool          // the last append was refused for space, which is said once
	losses    int           // appends in a row that came too late
	appended  time.Duration // monotonic time of the newest append's outcome
}

func (r *runner) run(ctx context.Context) error {
	if err := r.begin(ctx); err != nil {
		return err
	}
	if !r.shared {
		return r.loop(ctx)
	}
	looking, stop := context.WithCancel(ctx)
	looked := make(chan struct{})
	go func() {
		defer close(looked)
		r.lookOut(looking)
	}()
	err := r.loop(ctx)
	stop()
	<-looked
	if err == nil {
		err = r.leave(ctx)
	}
	return err
}

// loop commits until ctx is done. It returns with the token: nobody leads after it.
func (r *runner) loop(ctx context.Context) error {
	longer, cancel := outlive(ctx)
	defer cancel()
	if !r.shared {
		r.mayLead(longer)
	}
	tick := time.NewTimer(TickInterval)
	defer tick.Stop()
	for {
		// Those who were woken by the last entry are about to commit again. Let them: else the first of them would get an entry, and an
		// fsync, of its own, and the rest wait for two.
		r.yield()
		r.take()
		isBusy, err := r.step(ctx, longer)
		if err != nil || ctx.Err() != nil {
			return ifAlive(ctx, err)
		}
		tick.Reset(r.untilDue())
		r.give()
		if isBusy {
			continue
		}
		select {
		case <-r.wake:
		case <-tick.C:
		case <-ctx.Done():
		}
	}
}

// step does what is next: folds others' entries, or appends one. false: there is nothing to do.
func (r *runner) step(ctx, longer context.Context) (isBusy bool, err error) {
	r.backlog = r.takeWaiting(r.backlog)
	if r.failed != nil {
		return false, r.failed
	}
	if r.isBehind() {
		return true, r.catchUp(ctx)
	}
	if r.look.turn.wanted.Swap(false) && r.losses == 0 {
		if err := r.letIn(ctx); err != nil {
			return true, err
		}
	}
	if len(r.backlog) == 0 && r.untilDue() > 0 {
		return false, nil
	}
	return true, r.round(longer)
}

// ifAlive is err, unless that is no more than the end of ctx.
func ifAlive(ctx context.Context, err error) error {
	if ctx.Err() != nil && errors.Is(err, ctx.Err()) {
		return nil
	}
	return err
}

// untilDue is how long the log may stay idle.
func (r *runner) untilDue() time.Duration {
	_, mono := r.clocks()
	if r.committer.leases == nil {
		return r.appended + TickInterval - mono
	}
	return r.committer.leases.due(time.Duration(r.look.resumed.Load())) - mono
}

// begin waits for the replay and opens the session.
func (r *runner) begin(ctx context.Context) error {
	r.mu.Lock()
	head, last := r.head, r.last
	r.mu.Unlock()
	if _, err := r.reach(ctx, head); err != nil {
		return err
	}
	r.mu.Lock()
	folded := r.applied.state.clone()
	r.mu.Unlock()
	r.committer = committer{session: r.session, head: head, clock: clock{last: last}, recent: newRecent(last), state: folded}
	if r.shared {
		_, mono := r.clocks()
		r.committer.leases = newLeases(r.session, r.lease, folded.sessions, mono)
		r.look.contact.Store(int64(mono))
	}
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

// openSession appends the entry that opens this node's session. Who has the store alone, by a lock of some kind, knows that all others are dead.
func (r *runner) openSession(ctx context.Context) error {
	records := []Record{SessionChange{Session: r.session}.Record()}
	if r.shared {
		records = append(records, SessionChange{Session: r.session, Reads: max(r.reads(), 1)}.Record())
	} else {
		records = append(r.committer.state.sessions.ending(r.session), records...)
	}
	open := ownCommit(records)
	r.backlog = []*commit{open}
	longer, cancel := outlive(ctx)
	defer cancel()
	for len(r.backlog) > 0 {
		if err := r.round(longer); err != nil {
			return err
		}
		if ctx.Err() != nil {
			return ctx.Err()
		}
	}
	if open.err != nil {
		return fmt.Errorf("open session %s: %w", r.session, open.err)
	}
	return nil
}

// leaveTries is how often a leaving node tries to get its session's end in among others' entries.
const leaveTries = 10

// leave ends this node's session, so that others need not wait for its lease to run out. ctx has ended; the append outlives it a little.
func (r *runner) leave(ctx context.Context) error {
	waiting := r.backlog
	r.backlog = []*commit{ownCommit([]Record{SessionChange{Session: r.session, Ended: true}.Record()})}
	longer, cancel := outlive(ctx)
	defer cancel()
	var err error
	for try := 0; try < leaveTries && len(r.backlog) > 0 && err == nil; try++ {
		err = r.round(longer)
	}
	if err != nil && !errors.Is(err, ErrEnded) || len(r.backlog) > 0 {
		r.logger.Warn("the session's end is not in the log: others wait until its lease runs out", "session", r.session, "error", err)
	}
	r.backlog = waiting
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
