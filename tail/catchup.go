package tail

import (
	"context"
	"errors"
	"slices"
	"sync"

	"tailrace"
	"tailrace/shard"
)

const (
	// near is how far below the place of a subscriber a reading of history may be for the subscriber to wait for it, in microseconds. One who begins a
	// reading begins it up to so much earlier, so that others who were left at about the same time need none of their own.
	near = tailrace.Time(4_000_000)
	// readingsMost is how many readings of one collection's history there are at once. Who wants one more moves one of them.
	readingsMost = 4
	// lingers is how long what was read of history stays when nobody is behind, in microseconds: after a restart the first may be through before the last come.
	lingers = tailrace.Time(10_000_000)
)

// catchup is the history of a collection for all who are behind its window:
//
//	reading ─▶ piece ─▶ piece ─▶ piece ─▶ ...        by place; within the share of frames, the oldest go
//	             ▲                 ▲
//	          behind a lot     behind a little       each takes the piece at its place, and frames of it
//
// Who finds no piece at its place reads the next one, for all, while others wait for it. The tail's mutex guards riders and left.
type catchup struct {
	key    catchupKey
	schema *tailrace.Schema
	riders int           // who are behind now
	left   tailrace.Time // when the last of them went

	mu       sync.Mutex
	pieces   []*piece // by from; some of them are gone
	sweep    int      // how many there are when those are forgotten
	readings []*reader
	moves    int // of readings
}

// catchupKey is what the updates of history depend on.
type catchupKey struct {
	table   tailrace.CollectionID
	version uint32 // of the columns
}

// enterCatchup makes s one who is behind.
func (t *Tail) enterCatchup(s *Subscription) *catchup {
	t.mu.Lock()
	defer t.mu.Unlock()
	key := catchupKey{s.table.ID, s.shape.schema.Version}
	c := t.catchups[key]
	if c == nil {
		c = &catchup{key: key, schema: s.shape.schema}
		t.catchups[key] = c
	}
	c.riders++
	return c
}

func (t *Tail) leaveCatchup(c *catchup) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if c.riders--; c.riders == 0 {
		c.left = t.newest
		if w := t.windows[c.key.table]; w == nil || w.readers == 0 {
			t.forgetCatchup(c)
		}
	}
}

// forgetCatchups lets go what was read of history that nobody wants any more: of one table, or everything that has lingered long enough for table 0. The
// tail's mutex is held.
func (t *Tail) forgetCatchups(table tailrace.CollectionID) {
	for key, c := range t.catchups {
		switch {
		case c.riders == 0 && (key.table == table || table == 0 && c.left+lingers <= t.newest):
			t.forgetCatchup(c)
		case table == 0:
			c.closeIdle(t.newest)
		}
	}
}

func (t *Tail) forgetCatchup(c *catchup) {
	delete(t.catchups, c.key)
	c.mu.Lock()
	readings, pieces := c.readings, c.pieces
	c.readings, c.pieces = nil, nil
	c.mu.Unlock()
	for _, r := range readings {
		r.close() // nobody has its turn: there are no riders
	}
	gone := map[*frame]bool{}
	for _, p := range pieces {
		gone[p.held] = true
		p.mu.Lock()
		for _, f := range p.frames {
			gone[f] = true
		}
		p.mu.Unlock()
	}
	if len(gone) > 0 {
		t.cache.forget(func(f *frame) bool { return gone[f] })
	}
}

// closeIdle closes readings that nobody wanted a piece of for a while: they hold memory that others wait for.
func (c *catchup) closeIdle(now tailrace.Time) {
	c.mu.Lock()
	readings := slices.Clone(c.readings)
	c.mu.Unlock()
	for _, r := range readings {
		select {
		case <-r.turn:
			if r.wanted+lingers <= now {
				r.close()
			}
			r.turn <- struct{}{}
		default:
		}
	}
}

// find takes the piece that at is in, nil when there is none.
func (c *catchup) find(at place) *piece {
	c.mu.Lock()
	defer c.mu.Unlock()
	i, _ := slices.BinarySearchFunc(c.pieces, at, func(p *piece, at place) int {
		if at.before(p.from) {
			return 1
		}
		return -1
	})
	for lo := max(0, i-2*readingsMost); i > lo; i-- { // those of several readings overlap
		if p := c.pieces[i-1]; at.before(p.to) && p.held.take() {
			return p
		}
	}
	return nil
}

// put keeps p for others.
func (c *catchup) put(p *piece) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if len(c.pieces) >= c.sweep {
		c.pieces = slices.DeleteFunc(c.pieces, func(p *piece) bool { return p.held.refs.Load() == 0 })
		c.sweep = 2*len(c.pieces) + 64
	}
	i, _ := slices.BinarySearchFunc(c.pieces, p.from, func(x *piece, at place) int {
		if at.before(x.from) {
			return 1
		}
		return -1
	})
	c.pieces = slices.Insert(c.pieces, i, p)
}

// readingFor finds the reading that gets to at next, or begins one at start.
func (c *catchup) readingFor(at, start place) *reader {
	c.mu.Lock()
	defer c.mu.Unlock()
	var best *reader
	for _, r := range c.readings {
		if r.reaches(at) && (best == nil || best.at.before(r.at)) {
			best = r
		}
	}
	switch {
	case best != nil:
		return best
	case len(c.readings) < readingsMost:
		best = newReader(start)
		c.readings = append(c.readings, best)
		return best
	}
	c.moves++
	return c.readings[c.moves%readingsMost]
}

// remove forgets a reading that is at its end or failed.
func (c *catchup) remove(r *reader) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.readings = slices.DeleteFunc(c.readings, func(x *reader) bool { return x == r })
}

// nextPiece takes the piece of history at a place, reading it if need be. lead says that others may be about to come who are a little further behind.
func (s *Subscription) nextPiece(ctx context.Context, at place, lead bool) (*piece, error) {
	c := s.history.catchup
	for {
		if p := c.find(at); p != nil {
			return p, nil
		}
		sh := s.tail.shards.Shard(s.table.ID)
		if sh == nil {
			return nil, s.tail.droppedError(s.table)
		}
		start := at
		if from := max(sh.Since(), at.after-at.after%near); lead && from < at.after {
			start = place{after: from}
		}
		r := c.readingFor(at, start)
		select {
		case <-r.turn:
		case <-ctx.Done():
			return nil, ctx.Err()
		}
		p, err := s.readNext(ctx, sh, r, at, start)
		began := r.at
		r.turn <- struct{}{}
		switch {
		case p != nil:
			return p, nil
		case errors.Is(err, shard.ErrCompacted) && began.before(at):
			lead = false // what is before at is gone, which s does not need
		case err != nil:
			return nil, err
		}
	}
}

// readNext reads the next piece with r, whose turn the caller has. It returns the piece if at is in it.
func (s *Subscription) readNext(ctx context.Context, sh *shard.Shard, r *reader, at, start place) (*piece, error) {
	c, t := s.history.catchup, s.tail
	if p := c.find(at); p != nil { // it was read while s waited
		return p, nil
	}
	if !c.ready(r, at, start) {
		return nil, nil
	}
	read, err := r.read(ctx, t, sh, c.schema)
	if t.snapshots.Crowded() {
		r.close() // others need the memory more
	}
	if err != nil || read == nil {
		if err != nil {
			c.remove(r)
		}
		return nil, err
	}
	p := &piece{from: r.at, to: read.to, held: t.cache.newFrame(nil)}
	p.held.batch = read.updates
	if t.cache.admit(p.held, int64(read.updates.Size()+routedRowBytes*read.updates.N)+frameOverhead) {
		c.put(p)
	}
	c.moved(r, read.to)
	if r.ended {
		c.remove(r)
	}
	if at.before(p.to) && !at.before(p.from) {
		return p, nil
	}
	p.held.drop()
	return nil, nil
}

// ready says that r, whose turn the caller has, gets to at next. One that is elsewhere and needed is moved to start.
func (c *catchup) ready(r *reader, at, start place) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	switch {
	case !slices.Contains(c.readings, r):
		return false
	case r.reaches(at):
		return true
	case len(c.readings) < readingsMost:
		return false
	}
	r.close()
	r.at = start
	return true
}

// moved notes how far r has read.
func (c *catchup) moved(r *reader, to place) {
	c.mu.Lock()
	defer c.mu.Unlock()
	r.at = to
}
