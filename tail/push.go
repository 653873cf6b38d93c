package tail

import (
	"context"
	"slices"

	"tailrace"
)

// A subscriber who has everything is parked: what comes next is pushed to it, while the goroutine that reads for it sleeps on. Of thousands who follow a table each change
// then costs one write a client, and nobody is woken:
//
//	Apply ──▶ window: parked ──▶ due ──▶ Push: frame, one write each ──▶ parked
//	                                        │ the client is slow, or the change is not for pushing
//	                                        └─▶ its goroutine wakes and reads by itself, until it has everything again
//
// Who pushes has taken the subscription meanwhile; its own goroutine waits for that when it must go. The tail's mutex guards all that is said here.

const (
	// pushMost is how many subscribers are pushed to before others may be parked or go.
	pushMost = 64
	// pushBytes is the most that is pushed to a client at once; what is more is read.
	pushBytes = 64 << 10
)

// Push pushes to parked subscribers until ctx is done. Several may run; without any nobody is parked.
func (t *Tail) Push(ctx context.Context) error {
	t.mu.Lock()
	t.pushers++
	t.mu.Unlock()
	defer t.stopPushing()
	for {
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-t.pushable:
		}
		for t.pushSome() && ctx.Err() == nil {
		}
	}
}

// stopPushing wakes everybody when nobody is left who pushes.
func (t *Tail) stopPushing() {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.pushers--; t.pushers > 0 {
		return
	}
	for _, w := range t.windows {
		for _, s := range slices.Concat(w.parked, w.due) {
			s.unlist()
			s.wakeUp()
		}
	}
}

// wake lets everybody who waits for the window look again, and has pushed to those who are parked.
func (t *Tail) wake(w *window) {
	w.wake()
	if len(w.parked) > 0 {
		t.queuePush(w)
	}
}

// queuePush makes those who push look at the window: there is something for who is parked.
func (t *Tail) queuePush(w *window) {
	w.more = true
	if !w.queued {
		w.queued = true
		t.toPush = append(t.toPush, w)
	}
	select {
	case t.pushable <- struct{}{}:
	default: // there is a token, whose taker passes it on
	}
}

// pushSome pushes to some who are due; false when there is nobody.
func (t *Tail) pushSome() bool {
	r := t.takeDue()
	if r == nil {
		return false
	}
	for _, s := range r.to {
		if !r.pushTo(s) {
			r.wake = append(r.wake, s)
		}
	}
	t.putBack(r)
	return true
}

// pushing is a round of pushing to some subscribers of a window.
type pushing struct {
	tail  *Tail
	w     *window
	to    []*Subscription
	items []*item       // of the window, all
	first int           // the number of the first of them
	limit tailrace.Time // everything at or before it is in them
	made  []*pushed
	wake  []*Subscription
}

// pushed is what is pushed to those of a wire who have seen as many items.
type pushed struct {
	wire   *wire
	seen   int
	bytes  []byte
	closed []byte // bytes and the progress row; nil until it is wanted
	rows   int
	ok     bool // false: it is not for pushing
}

// takeDue takes some who are due; nil when nobody is.
func (t *Tail) takeDue() *pushing {
	t.mu.Lock()
	defer t.mu.Unlock()
	for len(t.toPush) > 0 {
		w := t.toPush[0]
		w.nextRound()
		n := max(0, len(w.due)-pushMost)
		r := &pushing{tail: t, w: w, to: slices.Clone(w.due[n:]), items: w.items, first: w.count - len(w.items), limit: t.newest}
		clear(w.due[n:])
		w.due = w.due[:n]
		if len(w.due) == 0 && !w.more {
			w.queued = false
			t.toPush = slices.Delete(t.toPush, 0, 1)
		}
		if len(t.toPush) > 0 {
			select {
			case t.pushable <- struct{}{}: // for the others who push
			default:
			}
		}
		ends := len(w.endings) > 0
		for _, s := range r.to {
			if s.parking.state = taken; ends {
				s.wakeUp()
			}
		}
		if len(r.to) > 0 && !ends {
			return r
		}
	}
	return nil
}

// putBack parks those who were pushed to, or has them pushed to once more, and wakes the others.
func (t *Tail) putBack(r *pushing) {
	t.mu.Lock()
	defer t.mu.Unlock()
	for _, s := range r.wake {
		s.wakeUp()
	}
	w := r.w
	again, missed := len(w.endings) > 0 || t.pushers == 0, false
	for _, s := range r.to {
		switch {
		case s.parking.back != nil:
			close(s.parking.back)
			s.parking.state, s.parking.back = awake, nil
		case s.parking.state == awake:
		case again:
			s.wakeUp()
		default:
			s.list(parked)
			missed = missed || w.count > s.parking.seen
		}
	}
	if missed {
		t.queuePush(w)
	}
}

// nextRound makes all who are parked due, if there is something for them and all who were due have had their turn: nobody is pushed to twice before others are once.
func (w *window) nextRound() {
	if len(w.due) > 0 || !w.more {
		return
	}
	w.more = false
	w.parked, w.due = w.due, w.parked
	for _, s := range w.due {
		s.parking.state = due
	}
}

// pushTo pushes what s has not seen. It reports false when s is to read by itself.
func (r *pushing) pushTo(s *Subscription) bool {
	m := r.messages(s)
	if !m.ok {
		return false
	}
	bytes, rows, p := m.bytes, m.rows, r.limit+1
	if s.shape.progress && p > s.pos.progress && (rows > 0 || p-s.pos.progress >= beat || s.pos.progress <= s.asOf) {
		if m.closed == nil {
			m.closed = append(bytes[:len(bytes):len(bytes)], s.wire.progressAt(p)...)
		}
		bytes, rows = m.closed, rows+1
		s.pos.progress = p
	}
	s.pos.after, s.parking.seen = r.limit, r.first+len(r.items)
	s.show()
	if rows == 0 {
		return true
	}
	s.shown.rows.Add(int64(rows))
	return s.parking.push(bytes, rows)
}

// messages are the rows that s has not seen.
func (r *pushing) messages(s *Subscription) *pushed {
	for _, m := range r.made {
		if m.wire == s.wire && m.seen == s.parking.seen {
			return m
		}
	}
	m := &pushed{wire: s.wire, seen: s.parking.seen, ok: s.parking.seen >= r.first}
	for _, it := range r.items[max(0, m.seen-r.first):] {
		if m.ok = m.ok && !it.ref && it.size <= pushBytes && len(m.bytes) <= pushBytes; !m.ok {
			break
		}
		f, err := it.frame(r.tail.cache, m.wire, 0, func(rows *tailrace.Batch) error { return m.wire.shape.appendItem(rows, it) })
		if m.ok = err == nil && f != nil; !m.ok {
			break // an error is for its own goroutine to tell
		}
		m.bytes, m.rows = append(m.bytes, f.bytes...), m.rows+f.rows
		f.drop()
	}
	r.made = append(r.made, m)
	return m
}
