package schedule

import (
	"time"

	"tailrace"
)

const (
	minReserve = 64 << 10  // bytes that a cursor may have whatever the others do
	reserveOf  = 256 << 10 // bytes of pool for each cursor that has a reserve
	minQuantum = 64 << 10
	maxQuantum = 256 << 10

	sliceRows = 4096                  // and
	sliceTime = 20 * time.Millisecond // bound a slice besides its bytes

	lagStep     = 5 * time.Second // of lag for each step of weight
	maxWeight   = 8
	fewActive   = 3                      // up to so many active spans the cap of each is half the pool, else a quarter
	flushEvery  = 50 * time.Millisecond  // between two requests to flush
	drainAhead  = 2 * time.Second        // of its own drain that a span may have resident
	drainWindow = 500 * time.Millisecond // over which drain is measured
	leastGrant  = 1 << 10                // bytes: less is no credit
)

// SpanID names a span: the collection of its first table.
type SpanID = tailrace.CollectionID

// Branch is where a cursor's updates go.
type Branch uint8

// The branches.
const (
	Normal Branch = 0 // to the target
	Redo   Branch = 1 // to the redo log
)

// Position is a place in a span: every update before Time is passed, and of Time the first Ordinal; all of them when Ordinal is 0.
type Position struct {
	Time    tailrace.Time
	Ordinal uint64
}

// Before tells that p is before q.
func (p Position) Before(q Position) bool {
	if p.Time != q.Time {
		return p.Time < q.Time
	}
	return p.Ordinal != 0 && (q.Ordinal == 0 || p.Ordinal < q.Ordinal)
}

// Config is what a Scheduler works with.
type Config struct {
	Pool  int64 // bytes
	Redo  bool  // there is a redo log
	Batch int64 // bytes of a full batch of the target: what a span may always have resident
}

// Scheduler decides who reads. The zero value is of no use; see New.
type Scheduler struct {
	c        Config
	spans    map[SpanID]*span
	ready    list // cursors that wait for their turn, in order
	refused  list // cursors that waited and got no credit, longest first
	active   int  // spans that have something to read or resident
	resident int64
	granted  int64
	normal   int64   // resident for the branch Normal
	large    [2]bool // by branch: an item larger than its grant is being read, or resident
	branch   [2]branchState
}

// branchState is what a Scheduler knows of a branch as a whole.
type branchState struct {
	unflushed int64
	starved   bool // a cursor was refused since the last flush
	flushed   time.Duration
	ever      bool
}

// span is one span with its cursors.
type span struct {
	id      SpanID
	end     tailrace.Time
	cur     [2]cursor
	barrier bool
	paused  bool
	active  bool
	queue   []chunk // what was read, oldest first
	granted int64   // of the slice under way
	large   bool    // its next item is larger than what was granted for it
	// of the feedback
	acked   int64
	since   time.Duration
	drain   float64 // bytes a second, 0: not known
	drained bool
}

// cursor is one branch of a span.
type cursor struct {
	span     *span
	branch   Branch
	read     Position
	more     bool // there are updates between read and the span's end
	scanning bool
	large    bool // a Large slice
	deficit  int64
	resident int64
	since    time.Duration // that it waits
	why      Reason

	in         *list // nil: in none
	prev, next *cursor
}

// chunk is what one slice brought: bytes are resident until both branches have acknowledged them.
type chunk struct {
	left  [2]int64
	large [2]bool // it is what Scheduler.large tells of
}

func (c *chunk) bytes() int64 { return max(c.left[0], c.left[1]) }

// Slice is a bounded scan of a span: from a position up to a time, and no more than so many bytes, rows and time.
type Slice struct {
	Span         SpanID
	Normal, Redo bool // which branches it is for
	From         Position
	End          tailrace.Time
	Bytes        int64
	Large        bool // its first item may be larger than Bytes
	Rows         int
	Time         time.Duration
}

// New returns a Scheduler without spans.
func New(c Config) *Scheduler {
	return &Scheduler{c: c, spans: map[SpanID]*span{}}
}

// Add adds a span that goes on at a position, of each branch.
func (s *Scheduler) Add(_ time.Duration, id SpanID, at [2]Position) {
	sp := &span{id: id, end: at[0].Time}
	for b := range sp.cur {
		sp.cur[b] = cursor{span: sp, branch: Branch(b), read: at[b], why: NoData}
	}
	s.spans[id] = sp
}

// Remove forgets a span. What it holds is free, and what is still acknowledged for it says nothing.
func (s *Scheduler) Remove(_ time.Duration, id SpanID) {
	sp := s.spans[id]
	if sp == nil {
		return
	}
	delete(s.spans, id)
	for b := range sp.cur {
		sp.cur[b].leave()
	}
	for i := range sp.queue {
		s.resident -= sp.queue[i].bytes()
		s.normal -= sp.queue[i].left[Normal]
		s.settleLarge(&sp.queue[i], true)
	}
	s.granted -= sp.granted
	for b := range sp.cur {
		if sp.cur[b].large {
			s.large[b] = false
		}
	}
	if sp.active {
		s.active--
	}
	s.credit()
}

// Readable moves the end up to which a span's updates are known; data says that there are some between the old end and this one. Without, a span that has read all
// has read up to here.
func (s *Scheduler) Readable(now time.Duration, id SpanID, end tailrace.Time, data bool) {
	sp := s.spans[id]
	if sp == nil || end < sp.end {
		return
	}
	sp.end = end
	for b := range s.branches() {
		c := &sp.cur[b]
		if data {
			c.more = true
		} else if !c.more && !c.scanning {
			c.read = Position{Time: end}
		}
		s.enter(now, c)
	}
}

// branches is how many branches there are.
func (s *Scheduler) branches() int {
	if s.c.Redo {
		return 2
	}
	return 1
}

// enter puts a cursor in line if it has something to read and may.
func (s *Scheduler) enter(now time.Duration, c *cursor) {
	if !c.more || c.scanning || c.in != nil || c.span.paused && c.branch == Normal {
		return
	}
	if c.branch == Normal && s.c.Redo && !s.joint(c.span) && whole(c.span.cur[Redo].read) <= whole(c.read) {
		return // what it would read alone was not read for the redo log yet
	}
	c.since, c.why = now, NoCredit
	s.ready.push(c)
	s.activate(c.span)
}

// joint tells that one scan does for both branches.
func (s *Scheduler) joint(sp *span) bool {
	return s.c.Redo && sp.cur[Normal].read == sp.cur[Redo].read && !sp.paused
}

// activate keeps count of the spans that are active.
func (s *Scheduler) activate(sp *span) {
	is := len(sp.queue) > 0 || sp.granted > 0 || sp.cur[Normal].more || s.c.Redo && sp.cur[Redo].more
	if is != sp.active {
		sp.active = is
		if s.active++; !is {
			s.active -= 2
		}
	}
}
