// Package schedule decides which span of a changefeed is read next, and how much of it.
package schedule

import (
	"time"

	"tailrace"
)

type SpanID = tailrace.CollectionID
type Branch uint8

const (
	Normal Branch = 0
	Redo   Branch = 1
)

type Position struct {
	Time    tailrace.Time
	Ordinal uint64
}

type Config struct {
	Pool   int64
	Redo   bool
	Atomic bool
	Batch  int64
}

type span struct {
	id       SpanID
	read     Position
	end      tailrace.Time
	more     bool
	busy     bool
	queued   bool
	paused   bool
	resident int64
	granted  int64
}

type Scheduler struct {
	c        Config
	spans    map[SpanID]*span
	queue    []*span
	resident int64
	granted  int64
}

func New(c Config) *Scheduler { return &Scheduler{c: c, spans: map[SpanID]*span{}} }

func (s *Scheduler) Add(now time.Duration, id SpanID, at [2]Position) {
	s.spans[id] = &span{id: id, read: at[0], end: at[0].Time}
}
func (s *Scheduler) Remove(now time.Duration, id SpanID) {
	if sp := s.spans[id]; sp != nil {
		s.resident -= sp.resident
		s.granted -= sp.granted
		delete(s.spans, id)
		sp.paused = true
	}
}
func (s *Scheduler) enqueue(sp *span) {
	if sp.more && !sp.busy && !sp.queued && !sp.paused {
		sp.queued = true
		s.queue = append(s.queue, sp)
	}
}
func (s *Scheduler) Readable(now time.Duration, id SpanID, end tailrace.Time, data bool) {
	sp := s.spans[id]
	if sp == nil {
		return
	}
	sp.end = end
	if data {
		sp.more = true
	} else if !sp.more && !sp.busy {
		sp.read = Position{Time: end}
	}
	s.enqueue(sp)
}

type Slice struct {
	Span         SpanID
	Normal, Redo bool
	From         Position
	End          tailrace.Time
	Bytes        int64
	Rows         int
	Time         time.Duration
}

func (s *Scheduler) Next(now time.Duration) (Slice, bool) {
	for i, sp := range s.queue {
		q := int64(256 << 10)
		if s.resident+s.granted+q > s.c.Pool || sp.resident > 0 && sp.resident+q > s.c.Pool/4 {
			continue
		}
		s.queue = append(s.queue[:i:i], s.queue[i+1:]...)
		sp.queued, sp.busy = false, true
		sp.granted = q
		s.granted += q
		return Slice{Span: sp.id, Normal: true, Redo: s.c.Redo, From: sp.read, End: sp.end, Bytes: q, Rows: 4096, Time: 20 * time.Millisecond}, true
	}
	return Slice{}, false
}
func (s *Scheduler) Finish(now time.Duration, sl Slice, used int64, to Position, more bool) {
	sp := s.spans[sl.Span]
	if sp == nil {
		return
	}
	s.granted -= sp.granted
	sp.granted, sp.busy = 0, false
	sp.resident += used
	s.resident += used
	sp.read = to
	sp.more = more || sp.end > sl.End
	s.enqueue(sp)
}
func (s *Scheduler) Acked(now time.Duration, id SpanID, b Branch, bytes int64, to Position) {
	if sp := s.spans[id]; sp != nil && b == Normal {
		sp.resident -= bytes
		s.resident -= bytes
	}
}
func (s *Scheduler) Unflushed(now time.Duration, b Branch, bytes int64)              {}
func (s *Scheduler) Flush(now time.Duration) (normal, redo bool)                     { return }
func (s *Scheduler) Barrier(now time.Duration, span SpanID, waiting bool)            {}
func (s *Scheduler) Wake(now time.Duration) (time.Duration, bool)                    { return 0, false }
func (s *Scheduler) Pool() (resident, granted, size int64)                           { return s.resident, s.granted, s.c.Pool }
func (s *Scheduler) Pause(now time.Duration, id SpanID, paused bool) {
	if sp := s.spans[id]; sp != nil {
		sp.paused = paused
		s.enqueue(sp)
	}
}
