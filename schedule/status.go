package schedule

import (
	"time"

	"tailrace"
)

// Reason is why a cursor does not read.
type Reason string

// The reasons.
const (
	Reading      Reason = ""
	NoData       Reason = "no data"
	NoCredit     Reason = "no credit"
	RedoFrontier Reason = "redo frontier"
	Barrier      Reason = "barrier"
	Target       Reason = "target"
	Paused       Reason = "paused"
)

// Unflushed tells what a branch's sink or writer holds that it has not sent yet, in bytes.
func (s *Scheduler) Unflushed(_ time.Duration, b Branch, bytes int64) { s.branch[b].unflushed = bytes }

// Flush tells which branches are to send what they hold now: somebody was refused credit, and it is there. Asking counts as telling.
func (s *Scheduler) Flush(now time.Duration) (normal, redo bool) {
	return s.branch[Normal].flush(now), s.branch[Redo].flush(now)
}

func (b *branchState) flush(now time.Duration) bool {
	if !b.starved || b.unflushed == 0 || b.ever && now-b.flushed < flushEvery {
		return false
	}
	b.starved, b.flushed, b.ever = false, now, true
	return true
}

// Wake is when Flush may say something new although nothing happens; ok is false when it will not.
func (s *Scheduler) Wake(now time.Duration) (at time.Duration, ok bool) {
	for i := range s.branch {
		b := &s.branch[i]
		if b.starved && b.unflushed > 0 && now-b.flushed < flushEvery {
			return b.flushed + flushEvery, true
		}
	}
	return 0, false
}

// Barrier says that others wait for a span to come to a time: it reads before them.
func (s *Scheduler) Barrier(_ time.Duration, id SpanID, waiting bool) {
	if sp := s.spans[id]; sp != nil {
		sp.barrier = waiting
	}
}

// Pause keeps a span's branch Normal from reading, or lets it go on. What is resident stays until it is acknowledged.
func (s *Scheduler) Pause(now time.Duration, id SpanID, paused bool) {
	sp := s.spans[id]
	if sp == nil || sp.paused == paused {
		return
	}
	sp.paused = paused
	if paused {
		sp.cur[Normal].leave()
	}
	for b := range s.branches() {
		s.enter(now, &sp.cur[b])
	}
}

// Pool is what is resident, what is granted, and what there may be of both together but for one item of each branch that is larger than its grant, in bytes.
func (s *Scheduler) Pool() (resident, granted, size int64) { return s.resident, s.granted, s.c.Pool }

// Status is how a span does.
type Status struct {
	Received tailrace.Time // its readable end
	Read     [2]Position   // by branch
	Resident int64         // bytes that a branch has not acknowledged
	Granted  int64
	Cap      int64 // of resident and granted
	Reserve  int64
	Why      Reason // the branch Normal does not read
	Since    time.Duration
	Drain    float64 // bytes a second that the target takes, 0: not known
}

// Span is how a span does; ok is false when there is none of that ID.
func (s *Scheduler) Span(id SpanID) (st Status, ok bool) {
	sp := s.spans[id]
	if sp == nil {
		return Status{}, false
	}
	st = Status{
		Received: sp.end, Read: [2]Position{sp.cur[0].read, sp.cur[1].read}, Granted: sp.granted, Cap: s.capOf(sp), Reserve: s.Reserve(), Drain: sp.drain,
		Why: sp.cur[Normal].why, Since: sp.cur[Normal].since,
	}
	for i := range sp.queue {
		st.Resident += sp.queue[i].bytes()
	}
	switch c := &sp.cur[Normal]; {
	case c.scanning:
		st.Why = Reading
	case sp.paused:
		st.Why = Paused
	case c.more && c.in == nil:
		st.Why = RedoFrontier
	}
	return st, true
}
