package tail

import (
	"bytes"
	"slices"
	"sort"

	"tailrace"
)

const (
	// pieceUpdates is how many updates a piece of history has, about: the larger it is the fewer frames, the smaller it is the less is encoded again
	// for those who come into its middle.
	pieceUpdates = 1024
	// pieceBytes ends a piece too.
	pieceBytes = 64 << 10
)

// place is how far the updates of a collection were read: all at or before after, and so many of the one time that follows it.
type place struct {
	after tailrace.Time
	given int // of time after+1
}

func (p place) before(q place) bool {
	return p.after < q.after || p.after == q.after && p.given < q.given
}

// piece is updates of history from one place to another. Updates of one time and key are in one piece. Who has taken held reads it.
type piece struct {
	sharing
	held     *frame // with the updates
	from, to place
}

func (p *piece) updates() *tailrace.Batch { return p.held.batch }

// index is where in the piece the updates after at begin; at is in it.
func (p *piece) index(at place) int {
	times := p.updates().Times
	i := sort.Search(len(times), func(i int) bool { return times[i] > at.after })
	if at.given == 0 {
		return i
	}
	if at.after == p.from.after {
		return i + at.given - p.from.given
	}
	return i + at.given
}

// until is where in the piece the updates after t begin.
func (p *piece) until(t tailrace.Time) int {
	times := p.updates().Times
	return sort.Search(len(times), func(i int) bool { return times[i] > t })
}

// placeAt is how far was read who has read the piece up to update i.
func (p *piece) placeAt(i int) place {
	if times := p.updates().Times; i < len(times) {
		return placeIn(times, i, p.from)
	}
	return p.to
}

// placeIn is the place before update i of times, of which the first follows from.
func placeIn(times []tailrace.Time, i int, from place) place {
	if i == 0 {
		return from
	}
	t := times[i]
	if times[i-1] != t {
		return place{after: times[i-1]}
	}
	first := i
	for first > 0 && times[first-1] == t {
		first--
	}
	n := i - first
	if first == 0 && from.after == t-1 {
		n += from.given
	}
	return place{t - 1, n}
}

// boundary is where to cut b so that about its updates [from, n) are one part: between two times if one is near, else between two keys. It is b.N when no
// place is found: more of a key may follow.
func boundary(s *tailrace.Schema, b *tailrace.Batch, from, n int) int {
	if n >= b.N {
		return b.N
	}
	first := n
	for first > from && b.Times[first-1] == b.Times[n] {
		first--
	}
	if first > from+(n-from)/2 {
		return first
	}
	by := s.Key
	if len(by) == 0 {
		by = s.SortOrder()
	}
	together := func(i int) bool {
		return b.Times[i-1] == b.Times[i] && bytes.Equal(tailrace.AppendRowKey(nil, s, by, b, i-1), tailrace.AppendRowKey(nil, s, by, b, i))
	}
	at := n
	for at > from && together(at) {
		at--
	}
	if at > from {
		return at
	}
	for at = n; at < b.N && together(at); {
		at++
	}
	return at
}

// rowsWithin is how many rows of b, at least one, come to about so many bytes.
func rowsWithin(b *tailrace.Batch, bytes int) int {
	return max(1, bytes/max(1, b.Size()/max(1, b.N)))
}

// appendPiece adds the output rows of updates [from, to) of a piece, time by time.
func (sh *shape) appendPiece(dst *tailrace.Batch, p *piece, from, to int) error {
	b := p.updates()
	if sh.sel != nil && sh.sel.Equal != nil {
		r, err := p.routeOf(sh, func() (*tailrace.Batch, error) { return b, nil })
		if err != nil {
			return err
		}
		rows := r.rows[sh.sel.Equal.Key]
		lo, _ := slices.BinarySearch(rows, int32(from))
		hi, _ := slices.BinarySearch(rows, int32(to))
		for rows = rows[lo:hi]; len(rows) > 0; {
			t, n := b.Times[rows[0]], 1
			for n < len(rows) && b.Times[rows[n]] == t {
				n++
			}
			if err := sh.appendRows(dst, t, b, rows[:n]); err != nil {
				return err
			}
			rows = rows[n:]
		}
		return nil
	}
	return eachTime(b, from, to, func(t tailrace.Time, rows *tailrace.Batch) error { return sh.append(dst, t, rows) })
}

// eachTime calls fn with updates [from, to) of b, those of one time at once.
func eachTime(b *tailrace.Batch, from, to int, fn func(tailrace.Time, *tailrace.Batch) error) error {
	for from < to {
		end := from + 1
		for end < to && b.Times[end] == b.Times[from] {
			end++
		}
		if err := fn(b.Times[from], cut(b, from, end)); err != nil {
			return err
		}
		from = end
	}
	return nil
}
