package log

import (
	"encoding/binary"
	"math/rand/v2"
	"time"

	"tailrace"
)

// committer is what is known at the log's head, as needed to append after it: no I/O, no goroutine, no lock. Run drives it:
//
//	plan ─▶ compare-and-set ─▶ done:     fold the entry
//	                           not done: fold the entry that is there instead, plan again
//
// It folds every entry in the log, its own and others', and nothing else changes it, so what plan validates against is the log.
type committer struct {
	session string
	head    tailrace.SeqNo
	clock   clock
	recent  *recent
	ended   bool // the session was, by another
}

// plan is an entry to be appended and who waits for it.
type plan struct {
	value   []byte
	members []*commit // of the entry's transactions, in order
	refused []*commit // in conflict
	rest    []*commit // did not fit
}

// plan makes the next entry of waiting, in order: each is validated against the log and those before it, and given its time. The
// clocks read wall and mono. Without members the value is a tick.
func (c *committer) plan(waiting []*commit, wall tailrace.Time, mono time.Duration) plan {
	now := c.clock.read(wall, mono)
	e := Entry{Seq: c.head + 1}
	group := newRecent(0)
	var p plan
	var bodies [][]byte
	size := entryHeader + binary.MaxVarintLen64
	for i, w := range waiting {
		if w.withdrawn.Load() {
			w.dropped = true
			continue
		}
		if w.after != nil && w.after.dropped || c.recent.conflicts(w.txn) || group.conflicts(w.txn) {
			w.dropped = true
			p.refused = append(p.refused, w)
			continue
		}
		if size += binary.MaxVarintLen64 + len(w.body); size > MaxEntry {
			p.rest = waiting[i:]
			break
		}
		t := c.clock.next(now)
		group.add(t, w.txn.Records)
		e.Txns = append(e.Txns, Committed{Time: t})
		bodies = append(bodies, w.body)
		p.members = append(p.members, w)
	}
	e.Time = endOf(e.Txns, c.clock.last)
	if len(p.members) == 0 {
		e.Time = c.clock.next(now)
	}
	p.value = appendEntry(make([]byte, 0, min(size, MaxEntry)), &e, bodies, rand.Uint64(), c.session)
	return p
}

// fold takes an entry that is in the log.
func (c *committer) fold(e *Entry) error {
	c.head = e.Seq
	c.clock.last = max(c.clock.last, e.Time)
	for i := range e.Txns {
		c.recent.add(e.Txns[i].Time, e.Txns[i].Records)
	}
	return eachSession(e, func(change SessionChange) {
		c.ended = c.ended || change.Ended && change.Session == c.session
	})
}
