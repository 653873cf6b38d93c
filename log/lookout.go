package log

import (
	"context"
	"fmt"
	"sync/atomic"
	"time"

	"tailrace"
)

// How often a node on a shared store asks for entries of others when nobody calls Sync. After news it asks again soon, then ever more seldom. A store that
// tells by itself (tailrace.Watcher) is only asked to see that it is still there.
const (
	firstPoll   = 5 * time.Millisecond
	lastPoll    = 100 * time.Millisecond
	watchedPoll = time.Second
)

// headPatience bounds one call of Head, so that one whose answer is lost does not keep all strict reads waiting.
const headPatience = 2 * time.Second

// lookout is a node's eye on a shared store: the one place that calls Head of the log, for strict reads and to learn of others' entries.
//
//	Sync ──▶ asked ─┐
//	Watch, poll ────┴─▶ Head ─▶ answers the Syncs; ahead, wake ─▶ Run folds the entries and publishes them
//
// The entries themselves are taken by Run's goroutine only, so that an entry is never applied before the commits in it are known to be.
type lookout struct {
	nudge   chan struct{}                      // holds a token when somebody asked
	ahead   atomic.Pointer[tailrace.Versioned] // the newest head seen
	contact atomic.Int64                       // monotonic time of the newest answer of the store
	resumed atomic.Int64                       // monotonic time of the newest answer that came lease.gap after the one before
	seen    chan struct{}                      // holds a token when there is a newer head
	own     atomic.Int64                       // entries this node appended
	turn    turn
}

// wake has Head called soon. It does not block.
func (o *lookout) wake() {
	select {
	case o.nudge <- struct{}{}:
	default:
	}
}

// answered notes that the store answered.
func (l *Log) answered() {
	_, mono := l.clocks()
	if before := l.look.contact.Swap(int64(mono)); int64(mono)-before > int64(l.lease.gap()) {
		l.look.resumed.Store(int64(mono))
	}
}

// silence is how long the store has not answered.
func (l *Log) silence() time.Duration {
	_, mono := l.clocks()
	return mono - time.Duration(l.look.contact.Load())
}

// lookOut runs the lookout until ctx is done.
func (l *Log) lookOut(ctx context.Context) {
	poll, longest := firstPoll, lastPoll
	if w, ok := l.consensus.(tailrace.Watcher); ok {
		longest = watchedPoll
		watched := make(chan struct{})
		go func() {
			defer close(watched)
			l.watch(ctx, w)
		}()
		defer func() { <-watched }()
	}
	timer := time.NewTimer(poll)
	defer timer.Stop()
	var waiting []*asking // not answered yet because Head failed
	for {
		timer.Reset(poll)
		select {
		case <-l.look.nudge:
		case <-timer.C:
		case <-ctx.Done():
			return
		}
		l.mu.Lock()
		known := l.head
		if l.asked != nil {
			waiting, l.asked = append(waiting, l.asked), nil
		}
		l.mu.Unlock()
		if len(waiting) == 0 && l.isTurnWanted(ctx) {
			poll = firstPoll // it has stopped appending to let another in, and waits for that
		}
		v, err := l.callHead(ctx, logKey)
		switch {
		case ctx.Err() != nil:
			return
		case err == nil:
			l.seeHead(v)
			waiting = answer(waiting, v.Seq, nil)
			if poll = min(2*poll, longest); v.Seq > known {
				poll = firstPoll
			}
		default:
			poll = min(2*poll, lastPoll)
			if l.silence() >= l.lease.time() {
				waiting = answer(waiting, 0, fmt.Errorf("read the log's head: %w: %w", ErrUnreachable, err))
			}
		}
	}
}

// answer gives the Syncs their answer.
func answer(waiting []*asking, seq tailrace.SeqNo, err error) []*asking {
	for _, a := range waiting {
		a.seq, a.err = seq, err
		close(a.done)
	}
	return nil
}

// callHead is Consensus.Head, which ends in time.
func (l *Log) callHead(ctx context.Context, key string) (tailrace.Versioned, error) {
	ctx, cancel := context.WithTimeout(ctx, headPatience)
	defer cancel()
	v, err := l.consensus.Head(ctx, key)
	if err == nil {
		l.answered()
	}
	return v, err
}

// seeHead tells Run of a head that it has not folded.
func (l *Log) seeHead(v tailrace.Versioned) {
	l.mu.Lock()
	isNews := v.Seq > l.head
	l.mu.Unlock()
	if !isNews {
		return
	}
	l.look.ahead.Store(&v)
	l.wakeRun()
	select {
	case l.look.seen <- struct{}{}:
	default:
	}
}

// watch nudges the lookout each time the store tells of an entry that this node did not append.
func (l *Log) watch(ctx context.Context, w tailrace.Watcher) {
	for ctx.Err() == nil {
		head, own := l.Head(), l.look.own.Load()
		if v := l.look.ahead.Load(); v != nil {
			head = max(head, v.Seq)
		}
		if err := w.Watch(ctx, logKey, head); err != nil {
			pause(ctx, lastPoll)
			continue
		}
		if l.look.own.Load() != own {
			continue
		}
		l.look.wake()
		timer := time.NewTimer(lastPoll)
		select {
		case <-l.look.seen:
		case <-timer.C:
		case <-ctx.Done():
		}
		timer.Stop()
	}
}

// wakeRun wakes Run's goroutine.
func (l *Log) wakeRun() {
	select {
	case l.wake <- struct{}{}:
	default: // it is going to look anyway
	}
}
