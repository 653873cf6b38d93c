package shard

import (
	"slices"
	"sort"

	"tailrace"
)

// timeline is updates of several batches in time order, within one time by row, consolidated. Sorting moves a reference to each; their values are copied once, into the
// pieces that are handed on.
type timeline struct {
	in   []*tailrace.Batch // of at most sortRows updates each, with their times
	refs []keyRef          // high is an update's time, low its diff
}

// timelineOf makes a timeline of what batches have with lo < time <= hi. ordered: one after the other they are in row order already.
func (l *layout) timelineOf(in []*tailrace.Batch, ordered bool, lo, hi tailrace.Time) *timeline {
	tl := &timeline{}
	rows := 0
	for _, b := range in {
		tl.in = append(tl.in, sections(b)...)
		rows += b.N
	}
	tl.refs = make([]keyRef, 0, rows)
	for n, b := range tl.in {
		for i := range b.N {
			if t := b.Times[i]; lo < t && t <= hi {
				tl.refs = append(tl.refs, keyRef{uint64(t), uint64(b.Diff(i)), uint32(n*sortRows + i)})
			}
		}
	}
	tl.refs = byTime(tl.refs)
	tl.consolidate(l, ordered)
	return tl
}

// sections are views of a batch's updates, at most sortRows each.
func sections(b *tailrace.Batch) []*tailrace.Batch {
	if b.N <= sortRows {
		return []*tailrace.Batch{b}
	}
	var out []*tailrace.Batch
	for from := 0; from < b.N; from += sortRows {
		to := min(from+sortRows, b.N)
		s := &tailrace.Batch{N: to - from, IDs: b.IDs, Times: b.Times[from:to], Cols: make([]tailrace.Column, len(b.Cols))}
		if b.Diffs != nil {
			s.Diffs = b.Diffs[from:to]
		}
		for c := range b.Cols {
			col := b.Cols[c]
			col.N = to - from
			if col.Width > 0 {
				col.Data = col.Data[from*col.Width : to*col.Width]
			} else {
				col.Offsets = col.Offsets[from : to+1]
			}
			if col.Valid != nil {
				col.Valid = col.Valid[from/8 : (to+7)/8] // sortRows is a multiple of 8
			}
			s.Cols[c] = col
		}
		out = append(out, s)
	}
	return out
}

// timeDigit is how many bits of a time byTime looks at in one go.
const timeDigit = 11

// byTime puts refs in the order of their times; those of one time stay as they are. The result may be other memory.
//
// Hot: a radix sort; a stable sort by comparison is its twin in the tests.
func byTime(refs []keyRef) []keyRef {
	if slices.IsSortedFunc(refs, compareHigh) {
		return refs
	}
	lo, hi := slices.MinFunc(refs, compareHigh).high, slices.MaxFunc(refs, compareHigh).high
	spare := make([]keyRef, len(refs))
	for shift := 0; (hi-lo)>>shift != 0; shift += timeDigit {
		var ends [1 << timeDigit]int
		digit := func(r keyRef) uint64 { return (r.high - lo) >> shift % (1 << timeDigit) }
		for _, r := range refs {
			ends[digit(r)]++
		}
		from := 0
		for d := range ends {
			from, ends[d] = from+ends[d], from
		}
		for _, r := range refs {
			d := digit(r)
			spare[ends[d]] = r
			ends[d]++
		}
		refs, spare = spare, refs
	}
	return refs
}

func compareHigh(x, y keyRef) int { return compareTime(tailrace.Time(x.high), tailrace.Time(y.high)) }

// consolidate puts the updates of each time in row order, unless they are, and adds up those of one row.
func (tl *timeline) consolidate(l *layout, ordered bool) {
	var t tie
	compare := func(x, y keyRef) int {
		bx, rx := x.place()
		by, ry := y.place()
		return t.compareRows(l, tl.in[bx], rx, tl.in[by], ry)
	}
	out := tl.refs[:0]
	for from := 0; from < len(tl.refs); {
		to := from + 1
		for ; to < len(tl.refs) && tl.refs[to].high == tl.refs[from].high; to++ {
		}
		group := tl.refs[from:to]
		if !ordered && !slices.IsSortedFunc(group, compare) {
			slices.SortFunc(group, compare)
		}
		for i := 0; i < len(group); {
			r := group[i]
			for i++; i < len(group) && compare(r, group[i]) == 0; i++ {
				r.low += group[i].low
			}
			if r.low != 0 {
				out = append(out, r)
			}
		}
		from = to
	}
	tl.refs = out
}

// firstAt is the first update from from on whose time is at least t.
func (tl *timeline) firstAt(from int, t tailrace.Time) int {
	return from + sort.Search(len(tl.refs)-from, func(i int) bool { return tailrace.Time(tl.refs[from+i].high) >= t })
}

// piece is updates [from, to) as a batch of its own.
func (tl *timeline) piece(from, to int) *tailrace.Batch {
	refs := tl.refs[from:to]
	out := &tailrace.Batch{N: len(refs), IDs: tl.in[0].IDs, Cols: make([]tailrace.Column, len(tl.in[0].Cols)), Times: make([]tailrace.Time, len(refs))}
	src := make([]*tailrace.Column, len(tl.in))
	for c := range out.Cols {
		for b := range src {
			src[b] = &tl.in[b].Cols[c]
		}
		out.Cols[c] = gatherRows(src, refs)
	}
	plain := true
	for i, r := range refs {
		out.Times[i] = tailrace.Time(r.high)
		plain = plain && r.low == 1
	}
	if !plain {
		out.Diffs = make([]tailrace.Diff, len(refs))
		for i, r := range refs {
			out.Diffs[i] = tailrace.Diff(r.low)
		}
	}
	return out
}
