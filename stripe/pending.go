package stripe

import "tailrace"

// pending is the updates of a stripe, in page groups.
type pending struct {
	groups []group
	rows   int
	raw    int64 // size, see RawSize
	// done are the batches given to Take that nothing after this stripe needs.
	done []*tailrace.Batch
}

// group is updates [from, from+n) of b.
type group struct {
	b       *tailrace.Batch
	from, n int
	copied  bool // b holds the group alone, in memory that may be appended to
}

// add adds updates [from, from+n) of b in groups of pageRows. With keep they stay where they are, except those that join others in a group.
func (p *pending) add(b *tailrace.Batch, from, n, pageRows int, keep bool) {
	p.rows += n
	if last := len(p.groups) - 1; last >= 0 && p.groups[last].n < pageRows {
		g := &p.groups[last]
		k := min(n, pageRows-g.n)
		g.own(pageRows)
		g.append(b, from, k)
		from, n = from+k, n-k
	}
	for ; n > 0; n -= min(n, pageRows) {
		k := min(n, pageRows)
		g := group{b: b, from: from, n: k}
		if !keep {
			g.n = 0
			g.own(pageRows)
			g.append(b, from, k)
		}
		p.groups = append(p.groups, g)
		from += k
	}
}

// own copies the group to memory of its own, with room for rows.
func (g *group) own(rows int) {
	if g.copied {
		return
	}
	from := *g
	*g = group{b: &tailrace.Batch{Cols: make([]tailrace.Column, len(from.b.Cols))}, copied: true}
	for i := range g.b.Cols {
		if c := &g.b.Cols[i]; from.b.Cols[i].Width > 0 {
			*c = tailrace.Column{Width: from.b.Cols[i].Width}
		} else {
			*c = tailrace.Column{Offsets: make([]int32, 1, 1+min(rows, from.n))}
		}
	}
	g.append(from.b, from.from, from.n)
}

// append adds updates [from, from+n) of b to the group, which is copied.
func (g *group) append(b *tailrace.Batch, from, n int) {
	appendUpdates(g.b, b, from, n)
	g.n += n
}
