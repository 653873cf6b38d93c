package shard

import (
	"context"
	"fmt"

	"tailrace/budget"
)

// memory is what a cursor takes of the share for snapshots, and how it does without between two pieces. A reader may be a client that does not read for
// hours, and what it holds others wait for. So a cursor that others may need room from is parked when its piece is out: it drops what it decoded, keeps
// the manifest pinned, and begins again behind its position when it is asked for the next piece.
//
// Nobody waits for ever: a cursor at work waits for nothing but the store, idle ones hold at most half of the share, since a piece that leaves it more
// than half full parks its cursor, and none needs more than half.
type memory struct {
	grant  budget.Grant
	cost   int64         // of a cursor at work, in bytes
	sorts  []*sortGrant  // of runs in another order, while they are sorted
	share  *budget.Share // nil: the cursor is part of work that has its own
	reopen func() (*picture, error)
	first  *picture // what was opened, until the first piece is asked for: a cursor holds nothing before
	after  []byte   // where that begins
	parked bool
	reader *runReader // of a pruned cursor, which has no position: its only stream's
}

// budget makes the cursor take from share what reading p, from after on, needs.
func (m *memory) budget(share *budget.Share, p *picture, after []byte, reopen func() (*picture, error)) {
	m.first, m.after = p, after
	m.share, m.grant, m.sorts, m.reopen = share, share.Grant(), p.sorts, reopen
	m.cost = min(p.cost+PieceBytes, share.Limit(1<<62)/2)
}

// rest gives up what the streams hold.
func (m *memory) rest() {
	for _, g := range m.sorts {
		g.grant.Free()
	}
	m.sorts = nil
	m.grant.Free()
}

// sortGrant is what the sort of a run in another order holds. A small sort is part of what its cursor costs. A large one is taken beside it where that
// leaves half of the share to others, is refused where not, and is not made twice: its cursor is not parked.
type sortGrant struct {
	grant budget.Grant
	free  int64 // bytes that are part of the cursor's cost
}

// smallSort is which part of the share a small sort takes.
const smallSort = 32

func newSortGrant(share *budget.Share) *sortGrant {
	return &sortGrant{grant: share.Grant(), free: share.Limit(0) / smallSort}
}

// hold makes n bytes what the sort holds, or reports that they are too many.
func (g *sortGrant) hold(n int64) bool {
	large := max(0, n-g.free)
	return g.grant.Set(large) && (large == 0 || !g.grant.Crowded())
}

// sorted is what the large sorts hold, in bytes.
func (m *memory) sorted() int64 {
	n := int64(0)
	for _, g := range m.sorts {
		n += g.grant.Size()
	}
	return n
}

// enter takes what the next piece needs and opens the streams, the first time or after a park.
func (c *Cursor) enter(ctx context.Context) error {
	m := &c.memory
	if m.share != nil && m.grant.Size() == 0 {
		if err := m.grant.Wait(ctx, m.cost); err != nil {
			return fmt.Errorf("%s: %w", c.what, err)
		}
	}
	if p := m.first; p != nil {
		m.first = nil
		return c.start(ctx, p.streams, m.after)
	}
	if !m.parked {
		return nil
	}
	m.parked = false
	if c.pruned {
		s := c.heap[0]
		row := s.i
		_, err := s.advance(ctx, 0)
		s.i = row
		return err
	}
	p, err := m.reopen()
	if err != nil {
		return fmt.Errorf("%s: %w", c.what, err)
	}
	m.sorts = p.sorts
	p.from(c.position)
	return c.start(ctx, p.streams, c.position)
}

// leave parks the cursor behind the piece that it gave if others may need the room.
func (c *Cursor) leave() {
	m := &c.memory
	if m.share == nil || !m.share.Crowded() || len(c.heap) == 0 || m.sorted() > 0 {
		return
	}
	if c.pruned {
		s := c.heap[0]
		if s.c == nil || s.i >= s.c.b.N {
			return
		}
		s.c = nil
		m.reader.group-- // next reads the same group again
	} else {
		if c.position == nil {
			return
		}
		c.heap = nil
	}
	c.last.c = nil
	m.parked = true
	m.rest()
}
