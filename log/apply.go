package log

import (
	"context"
	"errors"

	"tailrace"
)

// applier gives the entries to one function, in order, one at a time. Who has its token may: Apply's goroutine, or a caller of Commit that has just
// appended an entry to an idle log (lead.go), so that a lone writer waits for no other goroutine to wake up, and for none to wake it.
//
//	lone     Commit ─ round ─ takes the token ─ applies ─ returns
//	else     Commit or Run ─ round ─ wakes Apply
type applier struct {
	fn    func(*Entry) error
	token chan struct{}
	wake  chan struct{} // holds a token when there are entries that nobody applies

	// Of who has the token.
	next tailrace.SeqNo
	err  error // of fn: nothing is applied any more
}

// errPanicked is what is left of a panic in a function that a caller of Commit called; the panic goes on there.
var errPanicked = errors.New("it panicked")

// Apply calls fn with every entry after the given one, in order and one at a time, until ctx is done, or fn or reading fails: then it returns that error,
// those of Follow among them. fn calls Applied. It runs on Apply's goroutine or on one that calls Commit, and so must not commit or wait for a commit; what
// it does in one call is seen in the next. Apply is called once.
func (l *Log) Apply(ctx context.Context, after tailrace.SeqNo, fn func(*Entry) error) error {
	a := &applier{fn: fn, token: make(chan struct{}, 1), wake: make(chan struct{}, 1), next: after + 1}
	l.applier.Store(a)
	for {
		a.token <- struct{}{}
		if err := l.applyAll(ctx, a); err != nil {
			return err // with the token: nobody applies after it
		}
		<-a.token
		select {
		case <-a.wake:
		case <-ctx.Done():
		}
	}
}

// applyAll applies all entries that there are.
func (l *Log) applyAll(ctx context.Context, a *applier) error {
	var entries []*Entry
	for {
		if err := ctx.Err(); err != nil {
			return err
		}
		if a.err != nil {
			return a.err
		}
		l.mu.Lock()
		head := l.head
		entries = l.window.from(entries[:0], a.next)
		l.mu.Unlock()
		if a.next > head {
			return nil
		}
		if len(entries) == 0 {
			var err error
			if entries, err = l.scan(ctx, entries, a.next, head); err != nil {
				return err
			}
		}
		a.apply(entries)
		clear(entries)
	}
}

// apply applies entries, the first of which is the next. The caller has the token.
func (a *applier) apply(entries []*Entry) {
	for _, e := range entries {
		if a.err != nil {
			return
		}
		a.err = errPanicked // unless fn returns
		a.err = a.fn(e)
		a.next = e.Seq + 1
	}
}

// applyHere applies what the caller has just appended, if nobody else is at it; what remains is Apply's.
func (l *Log) applyHere() {
	a := l.applier.Load()
	if a == nil {
		return
	}
	select {
	case a.token <- struct{}{}:
	default:
		a.nudge()
		return
	}
	defer func() {
		if a.err != nil {
			a.nudge() // Apply tells it
		}
		<-a.token
	}()
	var page [followPage]*Entry // on the stack
	l.mu.Lock()
	entries, head := l.window.from(page[:0], a.next), l.head
	l.mu.Unlock()
	a.apply(entries)
	if a.next <= head {
		a.nudge()
	}
}

// nudge wakes Apply.
func (a *applier) nudge() {
	select {
	case a.wake <- struct{}{}:
	default:
	}
}

// wakeApply tells Apply of entries.
func (l *Log) wakeApply() {
	if a := l.applier.Load(); a != nil {
		a.nudge()
	}
}
