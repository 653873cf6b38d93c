package shard

import (
	"sort"

	"tailrace"
	"tailrace/stripe"
)

// groups is updates in batches of a page group each, in the order they came: the shape in which they are sorted and encoded. A batch that is a whole group as it
// comes is kept where it lies; smaller ones are copied together.
type groups struct {
	l         *layout
	groupRows int   // rows of a group
	groupRaw  int64 // bytes of values (rawSize) that fill a group, however few rows have them
	full      []*tailrace.Batch
	open      *tailrace.Batch // rows that are no group yet, nil when there are none
	rows      int             // of full
	raw       int64           // likewise
	size      int             // likewise: what they take in memory, in bytes
}

// newGroups is none yet, of rows of l.
func (s *Set) newGroups(l *layout) groups {
	return groups{l: l, groupRows: s.limits.group, groupRaw: min(GroupBytes, int64(s.limits.cut))}
}

// append copies all updates of b, which has the layout's columns.
func (g *groups) append(b *tailrace.Batch) {
	for from := 0; from < b.N; {
		from += g.add(b, from, b.N)
	}
}

// take adds b, which has the layout's columns and whose memory is the groups' from now on.
func (g *groups) take(b *tailrace.Batch) {
	if g.open == nil && b.N == g.groupRows {
		g.close(b)
		return
	}
	g.append(b)
}

// add copies some of rows [from, to) of b, those that fit in the group under way, and says how many.
func (g *groups) add(b *tailrace.Batch, from, to int) int {
	if g.open == nil {
		g.open = tailrace.NewBatch(g.l.schema, min(to-from, g.groupRows))
	}
	n := min(to-from, g.groupRows-g.open.N)
	left := g.groupRaw - g.l.rawSize(g.open, 0, g.open.N)
	if g.l.rawSize(b, from, from+n) >= left { // the row that reaches it is the last
		n = 1 + sort.Search(n-1, func(i int) bool { return g.l.rawSize(b, from, from+i+1) >= left })
		defer g.end()
	}
	for c := range g.open.Cols {
		g.open.Cols[c].AppendRange(&b.Cols[c], from, from+n)
	}
	appendDiffs(g.open, b, from, from+n)
	if b.Times != nil {
		g.open.Times = append(g.open.Times, b.Times[from:from+n]...)
	}
	if g.open.N == g.groupRows {
		g.end()
	}
	return n
}

// end makes the rows under way, if any, a group.
func (g *groups) end() {
	if g.open != nil {
		b := g.open
		g.open = nil
		g.close(b)
	}
}

func (g *groups) close(b *tailrace.Batch) {
	g.full = append(g.full, b)
	g.rows, g.raw, g.size = g.rows+b.N, g.raw+g.l.rawSize(b, 0, b.N), g.size+b.Size()
}

// all is every update, as batches that are only read from now on.
func (g *groups) all() []*tailrace.Batch {
	if g.open == nil {
		return g.full
	}
	view := *g.open
	view.Cols = append([]tailrace.Column(nil), g.open.Cols...)
	return append(g.full[:len(g.full):len(g.full)], &view)
}

// bytes is what the updates take in memory.
func (g *groups) bytes() int {
	if g.open == nil {
		return g.size
	}
	return g.size + g.open.Size()
}

// clear empties the groups.
func (g *groups) clear() { g.full, g.open, g.rows, g.raw, g.size = nil, nil, 0, 0, 0 }

// rawSize is the size in bytes of rows [from, to) of b as stripes are cut by it.
func (l *layout) rawSize(b *tailrace.Batch, from, to int) int64 {
	return stripe.RawSize(l.fixedRaw, b, from, to)
}
