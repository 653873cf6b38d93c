package stripe

import (
	"math/bits"
	"slices"
)

// A plan is found on pieces of the chunk's values: at the beginning of each of the sample's 16 windows, four times as many neighbours as the window
// has, 256 usually. That is a 32nd of a whole stripe. A node that looks good from a few of the values is tried on all pieces, and so is what may
// be below it, and its size is what they would take. Sizes are of a page and in bytes.

// pieceWindows is how many times as long as a window of the sample a piece is.
const pieceWindows = 4

// pieces are values that stand for those of a page: runs of neighbours, up to ends[0], ends[1], ...
type pieces struct {
	values []int64
	ends   [sampleWindows]int
	page   int // how many values a page has
	apart  int // and how many lie between the beginnings of two pieces
}

// piece is number i.
func (p *pieces) piece(i int) []int64 {
	from := 0
	if i > 0 {
		from = p.ends[i-1]
	}
	return p.values[from:p.ends[i]]
}

// readRows gives the integers of rows [from, to) of a group that begins at row at of its chunk, those that are not NULL, valid until the next call.
type readRows func(g *columnRows, at, from, to int) []int64

// readInts reads what c itself has.
func (e *encoder) readInts(c *chunk) readRows {
	return func(g *columnRows, _, from, to int) []int64 {
		e.load(c.typ.Kind, g.col, g.from+from, g.from+to)
		if classOf(c.typ.Kind) == classNumeric {
			e.splitDecimals(&e.texts)
		}
		return e.ints
	}
}

// loadPieces reads the pieces of c, valid until the next call.
func (e *encoder) loadPieces(c *chunk, read readRows) *pieces {
	p := &e.numbers.trees[0].pieces
	p.values = p.values[:0]
	rows, last := 0, 0
	for w := range sampleWindows {
		from := max(last, w*c.rows/sampleWindows)
		last = min((w+1)*c.rows/sampleWindows, from+min(pieceWindows*e.opts.SampleValues, vectorRows))
		rows += last - from
		p.load(c, from, last, read)
		p.ends[w] = len(p.values)
	}
	if rows > 0 {
		p.page = max(1, min(c.rows, e.opts.PageRows)*len(p.values)/rows)
		p.apart = max(1, c.rows/sampleWindows*len(p.values)/rows)
	}
	return p
}

// piecesOf takes the pieces of a page, valid until the next call.
func (e *encoder) piecesOf(v []int64) *pieces {
	p := &e.numbers.trees[0].pieces
	p.values, p.page, p.apart = p.values[:0], len(v), max(1, len(v)/sampleWindows)
	for w := range sampleWindows {
		from, to := w*len(v)/sampleWindows, (w+1)*len(v)/sampleWindows
		p.values = append(p.values, v[from:min(to, from+defaultSampleValues)]...)
		p.ends[w] = len(p.values)
	}
	return p
}

// load adds rows [from, to) of c.
func (p *pieces) load(c *chunk, from, to int, read readRows) {
	at := 0 // row of the chunk that the group begins at
	for i := range c.groups {
		g := &c.groups[i]
		low, high := max(from, at)-at, min(to, at+g.n)-at
		switch {
		case low >= high:
		case g.col == nil:
			for range high - low {
				p.values = append(p.values, c.fixed)
			}
		default:
			p.values = append(p.values, read(g, at, low, high)...)
		}
		at += g.n
	}
}

// pieceStats are what is cheap to know of pieces.
type pieceStats struct {
	low, high int64
	bits      int // of all values, packed with the width of a vector
	diffBits  int // of the differences between neighbours
	diffs     int // how many of these there are
	equal     int // how many of these are 0
}

func (p *pieces) stats() pieceStats {
	s := pieceStats{low: p.values[0], high: p.values[0]}
	var room, diffRoom [sampleWindows]uint64
	for i := range p.ends {
		v := p.piece(i)
		if len(v) == 0 {
			continue
		}
		low, high := span(v)
		s.low, s.high = min(s.low, low), max(s.high, high)
		room[i] = uint64(high) - uint64(low)
		if len(v) > 1 {
			least, most, equal := diffSpan(v)
			diffRoom[i] = uint64(most) - uint64(least)
			s.diffs += len(v) - 1
			s.equal += equal
		}
	}
	p.vectors(&room)
	p.vectors(&diffRoom)
	for i := range p.ends {
		if v := p.piece(i); len(v) > 0 {
			s.bits += bits.Len64(p.climb(i, room[i])) * len(v)
			s.diffBits += bits.Len64(diffRoom[i]) * (len(v) - 1)
		}
	}
	return s
}

// vectors makes the room that the values of each piece take that of a vector which the piece is part of: the most of as many pieces as make a vector.
func (p *pieces) vectors(room *[sampleWindows]uint64) {
	group := min(vectorRows, p.page) * len(room) / len(p.values)
	for from := 0; group > 1 && from < len(room); from += group {
		some := room[from:min(from+group, len(room))]
		most := slices.Max(some)
		for i := range some {
			some[i] = most
		}
	}
}

// climb widens the room of the values of piece i to that of a vector when the column climbs, which shows in how far the next piece lies away.
func (p *pieces) climb(i int, room uint64) uint64 {
	v, next := p.piece(i), p.piece(min(i+1, len(p.ends)-1))
	if i == len(p.ends)-1 {
		next = p.piece(i - 1)
	}
	more := min(vectorRows, p.page) - len(v)
	if len(next) == 0 || more <= 0 {
		return room
	}
	away := uint64(max(v[0], next[0])) - uint64(min(v[0], next[0]))
	if growth := away / uint64(p.apart) * uint64(more); growth > room/2 {
		room += growth
	}
	return room
}

// diffSpan gives the extremes of the differences between the neighbours of v, and how many are 0.
func diffSpan(v []int64) (low, high int64, equal int) {
	low = v[1] - v[0]
	high = low
	for i := 1; i < len(v); i++ {
		d := v[i] - v[i-1]
		low, high = min(low, d), max(high, d)
		if d == 0 {
			equal++
		}
	}
	return low, high, equal
}

// leafSize is the size of a leaf of page values of width bytes, which take bits for each among count, as a stream.
func leafSize(page, width, bits, count int) int {
	if count == 0 {
		return streamBytes + 8
	}
	vectors := (page + vectorRows - 1) / vectorRows
	packed := 9*vectors + (page*bits/count+7)/8
	if page < vectorRows {
		packed = 9 + packedLen(page, (bits+count-1)/count)
	}
	return streamBytes + min(packed, width*page)
}

// best finds the smallest plan for p, values of width bytes, from depth on. It returns the size.
func (e *encoder) best(p *pieces, width, depth int, plan *intPlan) int {
	if len(p.values) == 0 {
		return streamBytes + 8
	}
	s := p.stats()
	if s.low == s.high {
		return streamBytes + 8
	}
	leaf := leafSize(p.page, width, s.bits, len(p.values))
	if width == 1 && s.low == 0 && s.high == 1 {
		leaf = streamBytes + (p.page+7)/8
	}
	if depth == len(plan.nodes) {
		return leaf
	}
	c := candidates{e: e, p: p, s: &s, width: width, depth: depth, leaf: leaf, size: leaf, plan: plan}
	c.tryRuns()
	c.tryDiffs()
	c.tryMost()
	c.tryOutliers()
	c.tryDict()
	return c.size
}

// candidates are the nodes that are tried for pieces, and the best so far.
type candidates struct {
	e     *encoder
	p     *pieces
	s     *pieceStats
	width int
	depth int
	leaf  int // size of the leaf
	size  int // and of the best
	plan  *intPlan
}

// offer takes plan, of size bytes, if it is the best so far and saves enough over the leaf.
func (c *candidates) offer(plan *intPlan, size int) {
	if size < c.size && saves(size, c.leaf) {
		*c.plan, c.size = *plan, size
	}
}

// with is the plan with node at c's depth and a leaf below it.
func (c *candidates) with(node encoding) intPlan {
	plan := *c.plan
	plan.nodes[c.depth] = node
	clear(plan.nodes[c.depth+1:])
	return plan
}

// below finds the best plan for q below node, and the size of its stream.
func (c *candidates) below(node encoding, q *pieces, width int) (intPlan, int) {
	plan := c.with(node)
	return plan, c.e.best(q, width, c.depth+1, &plan)
}

// room is where the children's pieces are made: those of the node's own are in use.
func (c *candidates) room() *numberTrial { return &c.e.numbers.trees[c.depth+1] }

// tryRuns tries RLE if at most every third value differs from the one before.
func (c *candidates) tryRuns() {
	if c.s.diffs == 0 || 3*c.s.equal < 2*c.s.diffs {
		return
	}
	t := c.room()
	t.pieces.values, t.other.values = t.pieces.values[:0], t.other.values[:0]
	for i := range c.p.ends {
		if v := c.p.piece(i); len(v) > 0 {
			start := 0
			for j := 1; j <= len(v); j++ {
				if j == len(v) || v[j] != v[start] {
					t.pieces.values, t.other.values = append(t.pieces.values, v[start]), append(t.other.values, int64(j-start))
					start = j
				}
			}
		}
		t.pieces.ends[i], t.other.ends[i] = len(t.pieces.values), len(t.other.values)
	}
	runs := 1 + c.p.page*(c.s.diffs-c.s.equal)/c.s.diffs
	t.pieces.page, t.other.page = runs, runs
	apart := max(1, c.p.apart*(c.s.diffs-c.s.equal)/c.s.diffs)
	t.pieces.apart, t.other.apart = apart, apart
	lengths := c.e.best(&t.other, 2, len(c.plan.nodes), c.plan)
	plan, size := c.below(encRLE, &t.pieces, c.width)
	c.offer(&plan, streamBytes+lengths+size)
}

// tryDiffs tries DELTA and DELTA2.
func (c *candidates) tryDiffs() {
	if c.s.diffs == 0 {
		return
	}
	direct := streamBytes + 8 + leafSize(c.p.page, 8, c.s.diffBits, c.s.diffs)
	plan := c.with(encDelta)
	c.offer(&plan, direct)
	t := c.room()
	if !saves(direct, c.leaf) && !c.e.uneven(c.p, c.s) {
		return
	}
	t.pieces.diff(c.p)
	plan, size := c.below(encDelta, &t.pieces, 8)
	c.offer(&plan, streamBytes+8+size)
	if saves(direct, c.leaf) {
		t.other.diff(&t.pieces)
		t.pieces, t.other = t.other, t.pieces
		plan, size = c.below(encDelta2, &t.pieces, 8)
		c.offer(&plan, streamBytes+16+size)
	}
}

// diff makes p the differences between the neighbours in q.
func (p *pieces) diff(q *pieces) {
	p.values, p.page, p.apart = p.values[:0], q.page, q.apart
	for i := range q.ends {
		if v := q.piece(i); len(v) > 1 {
			p.values = appendDiffs(p.values, v)
		}
		p.ends[i] = len(p.values)
	}
}

// uneven reports whether the differences between neighbours look as if most were narrower than the values, or equal, though some are not.
func (e *encoder) uneven(p *pieces, s *pieceStats) bool {
	var diffs [usualSample]int64
	narrow, all := 0, 0
	for i := 1; i < len(p.ends); i += 4 {
		v := p.piece(i)
		n := min(len(v)-1, usualSample)
		if n < 8 {
			continue
		}
		for j := range n {
			diffs[j] = v[j+1] - v[j]
		}
		slices.Sort(diffs[:n])
		if all++; !mostlyOne(diffs[:n]) {
			narrow += widthOf(diffs[n/8], diffs[n-1-n/8])
		}
	}
	return all > 0 && 4*narrow*len(p.values) < 3*all*s.bits
}

// mostlyOne reports whether at least half of v, which is sorted, is one value.
func mostlyOne(v []int64) bool {
	half := (len(v) + 1) / 2
	for i := range len(v) - half + 1 {
		if v[i] == v[i+half-1] {
			return true
		}
	}
	return false
}

// tryMost tries SPARSE with the most frequent value.
func (c *candidates) tryMost() {
	x, often := c.e.mostFrequent(c.p)
	if 5*often < len(c.p.values) {
		return
	}
	t := c.room()
	t.patches.reset()
	low, high, any := int64(0), int64(0), false
	for _, y := range c.p.values {
		if y == x {
			continue
		}
		if !any {
			low, high, any = y, y, true
		}
		low, high = min(low, y), max(high, y)
	}
	wrong := c.p.page * (len(c.p.values) - often) / len(c.p.values)
	plan := c.with(encSparse)
	plan.mostly, plan.most = true, x
	c.offer(&plan, streamBytes+streamBytes+8+patchesSize(wrong, c.p.page, widthOf(low, high), c.width))
}

// patchesSize is the size of the two streams of n patches among page values; each of the wrong values takes bits.
func patchesSize(n, page, bits, width int) int {
	if n == 0 {
		return 0
	}
	gap := 2 // bits of the longest gap: several times the mean
	for mean := page / n; mean > 0; mean /= 2 {
		gap++
	}
	return leafSize(n, 2, gap, 1) + leafSize(n, width, bits, 1)
}

// mostFrequent is a value that is probably the most frequent of p, and how often it is there.
func (e *encoder) mostFrequent(p *pieces) (x int64, often int) {
	var some [usualSample]int64
	n := min(len(p.values), usualSample)
	for i := range n {
		some[i] = p.values[i*len(p.values)/n]
	}
	slices.Sort(some[:n])
	longest, run := 0, 0
	for i := range n {
		if run++; i > 0 && some[i] != some[i-1] {
			run = 1
		}
		if run > longest {
			longest, x = run, some[i]
		}
	}
	if longest*10 < n {
		return x, 0
	}
	for _, y := range p.values {
		if y == x {
			often++
		}
	}
	return x, often
}

// tryOutliers tries SPARSE with outliers, on every fourth piece, if the middle of its values is much narrower than all, and there are enough to tell.
func (c *candidates) tryOutliers() {
	if len(c.p.values) < 16*len(c.p.ends) {
		return
	}
	var some [usualSample]int64
	narrow, all := 0, 0
	for i := 1; i < len(c.p.ends); i += 4 {
		v := c.p.piece(i)
		n := min(len(v), usualSample)
		if n < 8 {
			continue
		}
		for j := range n {
			some[j] = v[j*len(v)/n]
		}
		slices.Sort(some[:n])
		narrow += widthOf(some[n/16], some[n-1-n/16])
		all++
	}
	if all == 0 || 10*narrow*len(c.p.values) > 9*all*c.s.bits {
		return
	}
	t := c.room()
	t.patches.reset()
	v, bits := t.pieces.values[:0], 0
	for i := 1; i < len(c.p.ends); i += 4 {
		from := len(v)
		if v = append(v, c.p.piece(i)...); len(v) > from {
			t.patches.outliers(v, from, len(v))
			low, high := span(v[from:])
			bits += widthOf(low, high) * (len(v) - from)
		}
	}
	t.pieces.values = v
	if len(t.patches.values) == 0 {
		return
	}
	low, high := span(t.patches.values)
	plan := c.with(encSparse)
	plan.mostly = false
	wrong := c.p.page * len(t.patches.values) / len(v)
	c.offer(&plan, streamBytes+leafSize(c.p.page, c.width, bits, len(v))+patchesSize(wrong, c.p.page, widthOf(low, high), c.width))
}

// tryDict tries DICT if few of the values, or at least of those of a piece, are different.
func (c *candidates) tryDict() {
	table, limit := &c.e.numbers.table, min(maxDict, c.p.page/2)
	v := c.p.piece(c.p.longest())
	if limit < 2 || !table.build(v, min(limit, 15*len(v)/16)) {
		return
	}
	each := len(table.values)
	if few := widthOf(0, int64(each-1)); 10*few*len(c.p.values) > 9*c.s.bits {
		return
	}
	plan := c.with(encDict)
	var codes int
	different := min(c.p.page, each*c.p.page/len(v))
	if table.build(c.p.values, min(limit, 3*len(c.p.values)/4)) {
		different = min(different, table.expected(c.p.page))
		t := c.room()
		t.pieces.ends, t.pieces.page, t.pieces.apart = c.p.ends, c.p.page, c.p.apart
		t.pieces.values = append(t.pieces.values[:0], table.codes...)
		plan, codes = c.below(encDict, &t.pieces, 2)
	} else { // other values in each piece
		codes = leafSize(c.p.page, 2, widthOf(0, int64(different-1)), 1)
	}
	if different <= limit {
		values := leafSize(different, c.width, widthOf(c.s.low, c.s.high), 1)
		c.offer(&plan, streamBytes+values+codes)
	}
}

// longest is the number of the piece with the most values.
func (p *pieces) longest() int {
	at, most := 0, -1
	for i := range p.ends {
		if n := len(p.piece(i)); n > most {
			at, most = i, n
		}
	}
	return at
}
