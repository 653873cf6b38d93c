package log

import (
	"encoding/binary"
	"fmt"
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
	state   state
	leases  *leases // nil when this node has the store alone
}

// plan is an entry to be appended and who waits for it.
type plan struct {
	value   []byte
	members []*commit // of the entry's transactions, in order
	refused []refusal
	rest    []*commit // did not fit
}

// refusal is a commit that is not done, and why.
type refusal struct {
	*commit
	why error
}

// plan makes the next entry of waiting, in order: each is validated against the log and those before it, and given its time. The
// clocks read wall and mono. Without members the value is a tick.
func (c *committer) plan(waiting []*commit, wall tailrace.Time, mono time.Duration) plan {
	now := c.clock.read(wall, mono)
	e := Entry{Seq: c.head + 1}
	group := newRecent(0)
	moved := map[string]bool{} // claims that change in this entry
	var p plan
	var bodies [][]byte
	size := entryHeader + binary.MaxVarintLen64
	for i, w := range waiting {
		if w.withdrawn.Load() {
			w.dropped = true
			continue
		}
		if w.touches(moved) { // what holds then is not known before this entry is in the log
			p.rest = waiting[i:]
			break
		}
		if why := c.refuses(w, group); why != nil {
			w.dropped = true
			p.refused = append(p.refused, refusal{w, why})
			continue
		}
		if size += binary.MaxVarintLen64 + len(w.body); size > MaxEntry {
			p.rest = waiting[i:]
			break
		}
		for _, change := range w.claims {
			moved[change.name] = true
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

// refuses says why a transaction cannot be committed at the head, after the group before it; nil that it can.
func (c *committer) refuses(w *commit, group *recent) error {
	switch {
	case w.after != nil && w.after.dropped:
		return ErrConflict
	case !c.state.claims.allows(w.txn.Claim):
		return fmt.Errorf("claim %s of %d: %w", w.txn.Claim.Name, w.txn.Claim.Epoch, ErrFenced)
	case c.recent.conflicts(w.txn), group.conflicts(w.txn):
		return ErrConflict
	}
	for _, change := range w.claims {
		if !c.state.claims.fits(change) {
			return ErrConflict
		}
	}
	return nil
}

// fold takes an entry that is in the log, appended by a session, at mono.
func (c *committer) fold(e *Entry, by string, mono time.Duration) error {
	c.head = e.Seq
	c.clock.last = max(c.clock.last, e.Time)
	for i := range e.Txns {
		c.recent.add(e.Txns[i].Time, e.Txns[i].Records)
	}
	_, err := c.state.fold(e)
	if c.leases != nil {
		c.leases.fold(by, c.state.sessions, mono)
	}
	return err
}

// ended says whether this node's session was.
func (c *committer) ended() bool { return c.state.sessions.ended[c.session] }
