package schedule

import (
	"time"

	"tailrace"
)

// Next grants a slice to who is next in line and may have credit; false when there is nobody. Each round begins with who was refused longest.
func (s *Scheduler) Next(time.Duration) (Slice, bool) {
	for s.ready.first != nil {
		c := s.ready.first
		if s.c.Pool-s.resident-s.granted < leastGrant {
			s.branch[c.branch].starved = true
			return Slice{}, false // whoever it is
		}
		if !c.more || c.scanning {
			c.leave()
			continue
		}
		sp := c.span
		for1, for2 := c, (*cursor)(nil)
		if s.joint(sp) && !sp.cur[Normal].scanning && !sp.cur[Redo].scanning {
			for1, for2 = &sp.cur[Redo], &sp.cur[Normal]
		}
		if sp.large {
			if for2 != nil && s.largeWaits(for2) {
				s.refuse(for2)
				for2 = nil
			}
			if s.largeWaits(for1) {
				s.refuse(c)
				continue
			}
		}
		c.deficit = min(c.deficit+s.quantum()*c.weight(), maxWeight*maxQuantum)
		q, ok := s.admit(for1, c.deficit)
		if ok && for2 != nil {
			if n, both := s.admit(for2, q); both {
				q = n
			} else {
				s.refuse(for2)
				for2 = nil // the redo log goes on alone; the target reads again later
			}
		}
		if !ok {
			s.refuse(c)
			continue
		}
		return s.grant(c, for1, for2, q), true
	}
	return Slice{}, false
}

// grant charges q bytes to a slice.
func (s *Scheduler) grant(turn, for1, for2 *cursor, q int64) Slice {
	sp := for1.span
	sl := Slice{Span: sp.id, From: for1.read, End: sp.end, Bytes: q, Rows: sliceRows, Time: sliceTime}
	for _, c := range []*cursor{for1, for2} {
		if c == nil {
			continue
		}
		c.leave()
		c.scanning = true
		sl.Normal = sl.Normal || c.branch == Normal
		sl.Redo = sl.Redo || c.branch == Redo
		if sp.large {
			sl.Large, c.large, s.large[c.branch] = true, true, true
		}
	}
	sp.large = false
	if sl.Normal && s.c.Redo && !sl.Redo {
		sl.End = whole(sp.cur[Redo].read)
	}
	turn.deficit = max(0, turn.deficit-q)
	sp.granted += q
	s.granted += q
	return sl
}

// largeWaits tells that a cursor must not have an item larger than its grant yet: it has bytes resident, or another has such an item. One at a time for each branch.
func (s *Scheduler) largeWaits(c *cursor) bool { return s.large[c.branch] || c.resident > 0 }

// settleLarge takes in that branches have acknowledged an item that was larger than its grant, or all that its span has is gone.
func (s *Scheduler) settleLarge(k *chunk, gone bool) {
	for b := range k.large {
		if k.large[b] && (gone || k.left[b] == 0) {
			k.large[b], s.large[b] = false, false
		}
	}
}

// TooLarge is Finish of a slice that brought nothing, since its first item is larger than its bytes. The span is granted a Large one when its cursor has nothing resident and no
// other has such an item.
func (s *Scheduler) TooLarge(now time.Duration, sl Slice) {
	if sp := s.spans[sl.Span]; sp != nil {
		sp.large = true
	}
	s.Finish(now, sl, 0, sl.From, true)
}

// whole is the last time of which a position has passed everything.
func whole(p Position) tailrace.Time {
	if p.Ordinal > 0 {
		return p.Time - 1
	}
	return p.Time
}

// refuse notes that a cursor got no credit. It stays in line.
func (s *Scheduler) refuse(c *cursor) {
	if c.in == &s.refused {
		return
	}
	c.leave()
	c.why = NoCredit
	if s.joint(c.span) && c.branch == Normal {
		c.why = Target
	}
	s.refused.push(c)
	s.branch[c.branch].starved = true
}

// credit puts the refused in line again, before the others: bytes have come back.
func (s *Scheduler) credit() {
	if s.refused.first == nil {
		return
	}
	for c := s.refused.first; c != nil; c = c.next {
		c.in = &s.ready
	}
	if s.ready.first == nil {
		s.ready = s.refused
	} else {
		s.refused.last.next, s.ready.first.prev = s.ready.first, s.refused.last
		s.ready.first, s.ready.n = s.refused.first, s.ready.n+s.refused.n
	}
	s.refused = list{}
}

// admit is how much of q bytes a cursor may have now: from its reserve, else from what floats, below the cap of its span.
func (s *Scheduler) admit(c *cursor, q int64) (int64, bool) {
	total := s.resident + s.granted
	mine := c.resident + c.span.granted
	free := s.c.Pool - total
	if mine == 0 && total == 0 {
		return min(q, s.c.Pool), true
	}
	q = min(q, free, s.capOf(c.span)-mine)
	if c.branch == Normal && s.c.Redo {
		q = min(q, s.c.Pool-s.redoShare()-s.normal-c.span.granted)
	}
	floats := s.floating() - total
	if reserve := s.Reserve() - mine; q > max(reserve, floats) {
		q = max(reserve, floats)
	}
	return q, q >= s.minGrant(mine)
}

// minGrant is the least that is worth a scan: anything for one that has nothing, else as much as makes a batch.
func (s *Scheduler) minGrant(mine int64) int64 {
	if mine == 0 {
		return leastGrant
	}
	return s.quantum() / 2
}

// floating is up to where all together may go beyond their reserves.
func (s *Scheduler) floating() int64 { return s.c.Pool - s.c.Pool/4 }

// redoShare is what the branch Normal leaves to the redo log.
func (s *Scheduler) redoShare() int64 { return s.c.Pool / 4 }

// Reserve is what every cursor that is ready may have resident whatever the others do, in bytes; for so many cursors as the pool has room for.
func (s *Scheduler) Reserve() int64 {
	cursors := int64(max(1, s.active*s.branches()))
	return max(min(minReserve, s.c.Pool/4), s.c.Pool/(4*cursors))
}

// capOf is what a span may have resident.
func (s *Scheduler) capOf(sp *span) int64 {
	most := s.c.Pool / 4
	if s.active <= fewActive {
		most = s.c.Pool / 2
	}
	if sp.drained {
		most = min(most, max(int64(sp.drain*drainAhead.Seconds()), s.Reserve()+s.c.Batch))
	}
	return most
}

// quantum is what a cursor gains each round, in bytes.
func (s *Scheduler) quantum() int64 { return max(minQuantum, min(maxQuantum, s.c.Pool/64)) }

// weight is how much more than others a cursor may read each round: the further it is behind, and when others wait for it.
func (c *cursor) weight() int64 {
	lag := time.Duration(0)
	if c.span.end > c.read.Time {
		lag = time.Duration(c.span.end-c.read.Time) * time.Microsecond
	}
	w := 1 + min(7, int64(lag/lagStep))
	if c.span.barrier {
		w *= 2
	}
	return min(w, maxWeight)
}

// Finish takes in what a slice brought: used bytes are resident from now on, the rest of the grant is free. more says that there is more to read up to the slice's end.
func (s *Scheduler) Finish(now time.Duration, sl Slice, used int64, to Position, more bool) {
	sp := s.spans[sl.Span]
	if sp == nil || !sp.cur[Normal].scanning && !sp.cur[Redo].scanning {
		return // it was removed meanwhile, and may be there anew
	}
	s.granted -= sl.Bytes
	sp.granted -= sl.Bytes
	var k chunk
	for b, mine := range [2]bool{sl.Normal, sl.Redo} {
		if !mine {
			continue
		}
		c := &sp.cur[b]
		c.scanning, c.read = false, to
		if c.large {
			c.large = false
			k.large[b] = used > sl.Bytes
			s.large[b] = k.large[b]
		}
		c.more = more || sp.end > sl.End
		c.why = NoData
		c.resident += used
		k.left[b] = used
	}
	if used > 0 {
		sp.queue = append(sp.queue, k)
		s.resident += used
		s.normal += k.left[Normal]
	}
	for b := range s.branches() {
		s.enter(now, &sp.cur[b])
	}
	s.activate(sp)
	if used < sl.Bytes || sl.Large {
		s.credit()
	}
}

// Acked takes in that bytes of a span are durable in a branch, everything at or before to. Credit comes back when no branch needs them any more.
func (s *Scheduler) Acked(now time.Duration, id SpanID, b Branch, bytes int64, _ Position) {
	sp := s.spans[id]
	if sp == nil {
		return
	}
	sp.cur[b].resident -= min(bytes, sp.cur[b].resident)
	if b == Normal {
		sp.measure(now, bytes)
	}
	for i := 0; i < len(sp.queue) && bytes > 0; i++ {
		k := &sp.queue[i]
		n := min(bytes, k.left[b])
		before := k.bytes()
		k.left[b] -= n
		bytes -= n
		s.resident -= before - k.bytes()
		if b == Normal {
			s.normal -= n
		}
		s.settleLarge(k, false)
	}
	for len(sp.queue) > 0 && sp.queue[0].bytes() == 0 {
		sp.queue = sp.queue[1:]
	}
	if len(sp.queue) == 0 {
		sp.queue = nil
	}
	for n := range s.branches() {
		s.enter(now, &sp.cur[n])
	}
	s.activate(sp)
	s.credit()
}

// measure learns how fast a span's target takes its bytes.
func (sp *span) measure(now time.Duration, bytes int64) {
	if sp.since == 0 {
		sp.since = now
	}
	sp.acked += bytes
	d := now - sp.since
	if d < drainWindow {
		return
	}
	rate := float64(sp.acked) / d.Seconds()
	if sp.drained {
		rate = sp.drain/2 + rate/2
	}
	// Only a span that always had something on its way shows what its target can do.
	sp.drained = sp.cur[Normal].resident > 0
	sp.drain, sp.acked, sp.since = rate, 0, now
}
