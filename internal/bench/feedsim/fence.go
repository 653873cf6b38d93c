package feedsim

import (
	"container/heap"
	"time"
)

const (
	fenceStart  = 5 * time.Second
	fenceGrowth = 1.25
	fenceEach   = time.Minute // between two looks at the interval: how often such schedulers look is our guess
	handBytes   = 2 << 20     // of what is handed on at once
	handRows    = 4096
	connRows    = 16 * batchRows // that wait at a connection before it takes no more
)

// fence is A, and without the fence B: cursors in the order of how far they are behind, memory counted until updates are handed on, and who is refused memory is not in
// line again before its table's resolved time moves.
type fence struct {
	f        *feed
	fenced   bool
	interval time.Duration
	looked   time.Duration
	used     int64
	idle     int
	line     line
	cursors  []*fenceCursor
	waiting  []*fenceCursor // to hand on to a full connection
	scans    int64
	refused  int64
	decoded  int64
}

type fenceCursor struct {
	table   int
	isRedo  bool
	at      int   // rows handed on
	sent    int64 // time up to which all was
	busy    bool
	queued  bool
	pending piece // read, to be handed on
	to      int64
}

// line is cursors by how far they are.
type line []*fenceCursor

func (l line) Len() int           { return len(l) }
func (l line) Less(i, j int) bool { return l[i].sent < l[j].sent }
func (l line) Swap(i, j int)      { l[i], l[j] = l[j], l[i] }
func (l *line) Push(x any)        { *l = append(*l, x.(*fenceCursor)) }
func (l *line) Pop() any {
	old := *l
	x := old[len(old)-1]
	*l = old[:len(old)-1]
	return x
}

func newFence(f *feed, fenced bool) *fence {
	x := &fence{f: f, fenced: fenced, interval: fenceStart / time.Duration(f.Quick), idle: 2 * scanners}
	for n := range f.states {
		for _, isRedo := range []bool{true, false} {
			x.cursors = append(x.cursors, &fenceCursor{table: n, isRedo: isRedo, sent: -(backlog / time.Duration(f.Quick)).Microseconds()})
		}
	}
	f.target.room = x.handOn
	return x
}

// bound is up to where a cursor may read.
func (x *fence) bound(c *fenceCursor) int64 {
	s := x.f.states[c.table]
	to := s.resolved
	if x.fenced {
		least := x.cursors[0].sent
		for _, o := range x.cursors {
			least = min(least, o.sent)
		}
		to = min(to, least+x.interval.Microseconds())
	}
	return to
}

func (x *fence) resolve() {
	if each := fenceEach / time.Duration(x.f.Quick); x.f.now-x.looked >= each {
		x.looked = x.f.now
		if x.used < int64(x.f.PoolMiB)<<20/4 {
			x.interval = time.Duration(float64(x.interval) * fenceGrowth)
		}
	}
	for _, c := range x.cursors {
		x.enter(c)
	}
	x.dispatch()
}

func (x *fence) enter(c *fenceCursor) {
	if !c.busy && !c.queued {
		c.queued = true
		heap.Push(&x.line, c)
	}
}

func (x *fence) dispatch() {
	for x.idle > 0 && len(x.line) > 0 {
		c := heap.Pop(&x.line).(*fenceCursor)
		c.queued = false
		x.scan(c)
	}
}

// scan reads a part of what a cursor may, and hands it on.
func (x *fence) scan(c *fenceCursor) {
	s, r := x.f.states[c.table], x.f.w.tables[c.table]
	bound := x.bound(c)
	if bound <= c.sent {
		return
	}
	end := r.upTo(bound)
	if !c.isRedo {
		end = min(end, s.redone)
	}
	n := end - c.at
	if n <= 0 {
		if c.isRedo || s.redone >= r.upTo(bound) {
			c.sent = bound
		}
		return
	}
	most := handRows
	if x.f.BatchBytes {
		most = max(1, int(handBytes/r.size))
	}
	more := n > most
	n = min(n, most)
	bytes := int64(n) * r.size
	if x.used+bytes > int64(x.f.PoolMiB)<<20 {
		x.refused++
		return // until its resolved time moves
	}
	x.used += bytes
	x.scans++
	x.decoded += bytes
	x.idle--
	c.busy = true
	c.pending, c.to = piece{c.at, c.at + n}, r.at[c.at+n-1]
	if !more && (c.isRedo || s.redone >= r.upTo(bound)) {
		c.to = bound
	}
	x.f.after(scanCall+time.Duration(n)*scanRow, func() {
		if c.isRedo {
			s.redoSent = c.pending.to
			x.f.redo.add(redoPiece{table: c.table, bytes: bytes, end: c.pending.to, to: c.to})
			x.handed(c)
			return
		}
		x.waiting = append(x.waiting, c)
		x.handOn()
	})
}

// handOn gives rows to connections that have room.
func (x *fence) handOn() {
	list := x.waiting
	x.waiting = nil
	for _, c := range list {
		if !x.room(c) {
			x.waiting = append(x.waiting, c)
			continue
		}
		s := x.f.states[c.table]
		s.sent = c.pending.to
		s.flying = append(s.flying, x.f.target.deliver(c.table, c.pending.from, c.pending.to))
		x.handed(c)
	}
}

// room tells that no connection is full that a cursor's rows go to.
func (x *fence) room(c *fenceCursor) bool {
	if n, ok := x.f.target.own(c.table); ok {
		return x.f.target.conns[n].rows < connRows
	}
	full := 0
	for n := range x.f.target.conns {
		if x.f.target.conns[n].rows >= connRows {
			full++
		}
	}
	return full < connections/2
}

// handed takes in that a cursor's rows are somebody else's now.
func (x *fence) handed(c *fenceCursor) {
	x.used -= int64(c.pending.to-c.pending.from) * x.f.w.tables[c.table].size
	c.at, c.sent, c.busy = c.pending.to, c.to, false
	x.idle++
	x.f.after(0, func() {
		x.enter(c)
		x.dispatch()
	})
}

func (x *fence) redone(redoPiece)           {}
func (x *fence) applied(_ *delivery, _ int) {}

func (x *fence) resident() int64 { return x.used }

func (x *fence) counts() (scans, refused, decoded int64) { return x.scans, x.refused, x.decoded }
