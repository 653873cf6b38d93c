package tail

import "context"

// Pusher sends messages of so many rows as far as that goes without waiting, and keeps the rest for the client's own goroutine. It reports false when there is a rest, or the
// client is gone: then nothing more is pushed to it before that goroutine has looked. It does not keep the messages.
type Pusher func(messages []byte, rows int) bool

// pushState is where a subscription is.
type pushState byte

const (
	awake  pushState = iota // its goroutine has it
	parked                  // it has everything
	due                     // there is something for it
	taken                   // it is being pushed to
)

// parking is what a subscription needs to be parked.
type parking struct {
	push  Pusher // nil: it is never parked
	state pushState
	in    *window
	place int // in the window's list
	seen  int // of the window's items, counted from the start
	woken chan struct{}
	back  chan struct{} // closed when it is no longer taken; nil: nobody waits for that
}

// PushTo lets what comes be pushed once the subscription has everything. It is called at most once, after Encode and before NextEncoded.
func (s *Subscription) PushTo(push Pusher) {
	s.parking.push, s.parking.woken = push, make(chan struct{}, 1)
}

// park sleeps until the subscription has been woken, which may have been pushed to meanwhile. It returns at once, false, when the subscription can not be parked, or there is
// something for it already.
func (s *Subscription) park(ctx context.Context) bool {
	t := s.tail
	t.mu.Lock()
	w := t.windows[s.table.ID]
	if w == nil || !s.parkable(w) {
		t.mu.Unlock()
		return false
	}
	s.parking.in, s.parking.seen = w, w.count
	s.list(parked)
	t.mu.Unlock()
	select {
	case <-s.parking.woken:
	case <-s.drained:
		s.takeBack()
	case <-ctx.Done():
		s.takeBack()
	}
	return true
}

// parkable says that s has everything, and that nothing but rows can come.
func (s *Subscription) parkable(w *window) bool {
	t := s.tail
	able := s.parking.push != nil && s.wire != nil && t.pushers > 0 && !s.bounded && s.history == nil && (s.shape.sel == nil || s.shape.sel.Equal == nil)
	has := !s.ended && !s.pos.snapshot && s.pos.rows == nil && s.pos.given == 0 && w.lower <= s.pos.after && len(w.since(s.pos.after, t.newest)) == 0
	return able && has && len(w.endings) == 0 && s.table.ID != SubscriptionsID
}

// takeBack makes the subscription its goroutine's again.
func (s *Subscription) takeBack() {
	t := s.tail
	t.mu.Lock()
	defer t.mu.Unlock()
	if s.parking.state == taken {
		back := make(chan struct{})
		s.parking.back = back
		t.mu.Unlock()
		<-back
		t.mu.Lock()
	}
	s.unlist()
	select {
	case <-s.parking.woken:
	default:
	}
}

// list puts s into a list of its window.
func (s *Subscription) list(state pushState) {
	p := &s.parking
	of := p.in.listed(state)
	p.state, p.place = state, len(*of)
	*of = append(*of, s)
}

// unlist takes s out of the list that it is in, if it is in one.
func (s *Subscription) unlist() {
	p := &s.parking
	if p.state != parked && p.state != due {
		p.state = awake
		return
	}
	of := p.in.listed(p.state)
	last := len(*of) - 1
	(*of)[p.place] = (*of)[last]
	(*of)[p.place].parking.place = p.place
	(*of)[last] = nil
	*of = (*of)[:last]
	p.state = awake
}

func (w *window) listed(state pushState) *[]*Subscription {
	if state == due {
		return &w.due
	}
	return &w.parked
}

// wakeUp lets the goroutine of s go on.
func (s *Subscription) wakeUp() {
	s.parking.state = awake
	select {
	case s.parking.woken <- struct{}{}:
	default:
	}
}
