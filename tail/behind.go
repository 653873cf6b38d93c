package tail

import (
	"context"
	"errors"

	"tailrace"
	"tailrace/shard"
)

// history is what a subscription that is behind the window knows beside its position.
type history struct {
	catchup *catchup
	until   tailrace.Time // it is read up to and including
	lead    bool          // others are behind too, perhaps further
	read    place         // the position, or further by the rows that are held
}

// readHistory adds changes up to and including until from the shard's history.
func (s *Subscription) readHistory(ctx context.Context, out *output, until tailrace.Time) error {
	if s.history == nil {
		if s.table.ID == SubscriptionsID {
			return s.fellBehind() // it has no history but its window
		}
		if s.pos.given > 0 {
			until = max(until, s.pos.after+1) // a time is read to its end
		}
		s.history = &history{catchup: s.tail.enterCatchup(s), until: until, lead: until > s.pos.after+1, read: place{s.pos.after, s.pos.given}}
		if s.shape.whole() {
			s.history.read.given = 0 // given counts output rows then: the time is read anew
		}
	}
	h := s.history
	room := s.tail.part()
	for !out.full(room) {
		if s.held != nil && h.read.after >= s.held.time {
			if err := s.giveTime(ctx, out, room); err != nil {
				return err
			}
			continue
		}
		if h.read.after >= h.until {
			s.pos.after, s.pos.given = h.until, 0
			s.stopReading()
			return nil
		}
		p, err := s.nextPiece(ctx, h.read, h.lead)
		if errors.Is(err, shard.ErrCompacted) {
			return s.fellBehind()
		}
		if err != nil {
			return err
		}
		err = s.readPiece(out, p, room)
		p.held.drop()
		if err != nil {
			return err
		}
	}
	return nil
}

// readPiece adds the updates of a piece that follow the position: as a frame, or as rows where those came before, or are s's alone, or there is no room to keep
// it for others.
func (s *Subscription) readPiece(out *output, p *piece, room int) error {
	h := s.history
	from, to := p.index(h.read), p.until(h.until)
	whole := to == p.updates().N
	next := p.placeAt(to)
	if next.after >= h.until || !whole {
		next = place{after: h.until}
	}
	switch {
	case s.shape.whole():
		return s.readWhole(p, from, to, next)
	case from == to:
	case out.wire != nil && out.N == 0 && whole && (s.shape.sel == nil || s.shape.sel.Equal == nil):
		f, err := p.frame(s.tail.cache, out.wire, from, func(rows *tailrace.Batch) error { return out.wire.shape.appendPiece(rows, p, from, to) })
		if err != nil {
			return err
		}
		if f != nil {
			out.add(f)
			break
		}
		fallthrough
	default:
		if n := boundary(s.shape.schema, p.updates(), from, from+rowsWithin(p.updates(), room)); n < to {
			to, next = n, p.placeAt(n)
		}
		if err := s.shape.appendPiece(out.Batch, p, from, to); err != nil {
			return err
		}
	}
	h.read = next
	s.pos.after, s.pos.given = next.after, next.given
	return nil
}

// readWhole holds the updates [from, to) of a piece that are of one time; next is the place after to.
func (s *Subscription) readWhole(p *piece, from, to int, next place) error {
	h := s.history
	if from == to {
		h.read = next
		return nil
	}
	times := p.updates().Times
	n := from + 1
	for n < to && times[n] == times[from] {
		n++
	}
	if err := s.hold(times[from], cut(p.updates(), from, n)); err != nil {
		return err
	}
	if h.read = next; n < to {
		h.read = p.placeAt(n)
	}
	return nil
}

// giveTime gives out the rows that are held: their time is over.
func (s *Subscription) giveTime(ctx context.Context, out *output, room int) error {
	t := s.held.time
	if s.pos.after < t-1 {
		s.pos.after = t - 1
	}
	done, err := s.giveHeld(ctx, out, room)
	if done {
		s.pos.after, s.pos.given = t, 0
	}
	return err
}
