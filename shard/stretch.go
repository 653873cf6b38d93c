package shard

import (
	"bytes"
	"slices"

	"tailrace/stripe"
)

// A merge does not read what it need not. The keys are divided into stretches, in key order: a part that no other one meets is taken over as it is, a stripe that no
// other one meets is copied as it is stored, and only what lies between is decoded, added up and encoded anew:
//
//	state     |---- part 1 ----|---- part 2: stripe | stripe | stripe ----|
//	history                           part 3: |--|
//	result    part 1 itself    decoded and encoded  | copied | copied

const (
	// ReuseBytes is the size of a part from which a merge takes it over as it is, when its keys meet no other part's. Smaller ones are written
	// anew so that parts do not stay small.
	ReuseBytes = 4 << 20
	// copyShare of what a stripe may have, in rows or in bytes, is encoded in a stripe that is copied; smaller ones are written anew with their neighbours.
	copyShare = 16
)

// stretch is a range of keys: one part that is taken over whole, one stripe that is copied, or inputs to be merged.
type stretch struct {
	whole  *part
	reader *stripe.Reader // of the part whose stripe is copied
	stripe int
	inputs []input
	rows   int64 // of inputs, at most
}

// groupSpan is page groups [from, to) of a part.
type groupSpan struct{ from, to int }

// stripeRows is how many rows the stripes of a stretch have: as many as allowed, divided evenly.
func (s *stretch) stripeRows(lim limits) int {
	if s.rows <= int64(lim.stripe) {
		return lim.stripe
	}
	stripes := (s.rows + int64(lim.stripe) - 1) / int64(lim.stripe)
	groups := (s.rows/stripes + int64(lim.group)) / int64(lim.group)
	return min(int(groups)*lim.group, lim.stripe)
}

// stretches divides the inputs' parts by keys, in key order. A part of at least reuse bytes that meets no other one and is fit to stand in the result is a stretch
// of its own; all that lies between two such makes one stretch.
func stretches(ins []input, whole bool, l *layout, reuse int) []stretch {
	if slices.ContainsFunc(ins, func(in input) bool { return !slices.Equal(in.r.order, l.ids()) }) {
		return []stretch{{inputs: ins}}
	}
	type piece struct {
		p  *part
		in int
	}
	var pieces []piece
	for i, in := range ins {
		for _, p := range in.r.parts {
			pieces = append(pieces, piece{p, i})
		}
	}
	slices.SortStableFunc(pieces, func(a, b piece) int { return bytes.Compare(a.p.first, b.p.first) })
	var out []stretch
	var open []piece
	closeOpen := func() {
		if len(open) == 0 {
			return
		}
		s := stretch{}
		for i, in := range ins { // a run's parts in the stretch follow one another
			sub := *in.r
			sub.parts = nil
			for _, x := range open {
				if x.in == i {
					sub.parts = append(sub.parts, x.p)
				}
			}
			if len(sub.parts) > 0 {
				s.inputs = append(s.inputs, input{r: &sub, history: in.history, loose: in.loose})
			}
		}
		out, open = append(out, s), nil
	}
	for i := 0; i < len(pieces); {
		end, n := pieces[i].p, 1 // parts i..i+n meet; end reaches furthest
		for i+n < len(pieces) && !end.endsBelow(pieces[i+n].p.first) {
			if next := pieces[i+n].p; bytes.Compare(next.last, end.last) > 0 {
				end = next
			}
			n++
		}
		if p := pieces[i].p; n == 1 && p.size >= int64(reuse) && !ins[pieces[i].in].loose && fits(p, whole) {
			closeOpen()
			out = append(out, stretch{whole: p})
		} else {
			open = append(open, pieces[i:i+n]...)
		}
		i += n
	}
	closeOpen()
	return out
}

// fits reports whether a part can be part of the result as it is; whole tells that this is the whole state.
func fits(p *part, whole bool) bool {
	if whole {
		return p.flags&flagPlain != 0
	}
	return p.flags&flagSingle != 0
}
