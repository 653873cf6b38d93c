package stripe

import (
	"bytes"
	"cmp"
	"math/bits"
	"slices"

	"tailrace"
)

// chunk is one column of a stripe before it is encoded: what verdict and pages are pure functions of, together with the options.
type chunk struct {
	typ tailrace.Type
	// groups are its page groups in order, all of opts.PageRows rows but the last.
	groups []columnRows
	fixed  int64 // the value of the rows of groups without a column
	rows   int   // of all groups
	sums   bool  // whether its statistics have a sum
}

// columnRows are rows [from, from+n) of col, or n rows of the chunk's fixed number when col is nil.
type columnRows struct {
	col     *tailrace.Column
	from, n int
}

// pageSpan is the place of a page in its chunk: rows [from, to) of a page group.
type pageSpan struct {
	group, from, to int
}

// width is the bytes of a value as in tailrace.Column.
func (c *chunk) width() int { return c.typ.Kind.Width() }

// constant reports whether no page group has a column: all rows are the fixed number.
func (c *chunk) constant() bool {
	return !slices.ContainsFunc(c.groups, func(g columnRows) bool { return g.col != nil })
}

// appendPages adds the chunk's pages in order: a page for each group, or for each PageBytes of a group's values when their length varies.
func (c *chunk) appendPages(dst []pageSpan) []pageSpan {
	for i := range c.groups {
		g := &c.groups[i]
		for from := 0; from < g.n; {
			to := g.cutPage(from)
			dst = append(dst, pageSpan{i, from, to})
			from = to
		}
	}
	return dst
}

// cutPage is the end of the page that begins at row from: the end of the group unless the values reach PageBytes before.
func (g *columnRows) cutPage(from int) int {
	if g.col == nil || g.col.Width > 0 {
		return g.n
	}
	offsets := g.col.Offsets[g.from:]
	limit := int64(offsets[from]) + PageBytes
	if int64(offsets[g.n]) < limit {
		return g.n
	}
	i, _ := slices.BinarySearchFunc(offsets[from+1:g.n+1], limit, func(o int32, limit int64) int { return cmp.Compare(int64(o), limit) })
	return from + i + 1
}

// maxPlain bounds integers of which a page's sum fits 64 bits.
const maxPlain = 1 << 49

// addInts counts v, the values of a page, into its sum. f are the frames of v.
func (p *encodedPage) addInts(v []int64, f *frames) {
	if f.low > -maxPlain && f.high < maxPlain {
		sum := totalOf(v)
		low, carry := bits.Add64(p.sumLow, uint64(sum), 0)
		p.sumLow, p.sumHigh = low, p.sumHigh+uint64(sum>>63)+carry
		return
	}
	p.addWide(v)
}

// totalOf is the sum of v. Four sums, because each addition waits for the one before.
func totalOf(v []int64) int64 {
	var a, b, c, d int64
	for ; len(v) >= 4; v = v[4:] {
		a, b, c, d = a+v[0], b+v[1], c+v[2], d+v[3]
	}
	for _, x := range v {
		a += x
	}
	return a + b + c + d
}

// addWide is addInts of any integers.
func (p *encodedPage) addWide(v []int64) {
	high, low := p.sumHigh, p.sumLow
	for _, x := range v {
		var carry uint64
		low, carry = bits.Add64(low, uint64(x), 0)
		high += uint64(x>>63) + carry
	}
	p.sumHigh, p.sumLow = high, low
}

// chunkMeta is what the footer says of chunk c, whose pages are given in order.
func chunkMeta(c *chunk, v *verdict, pages []encodedPage) ChunkMeta {
	m := ChunkMeta{Bytes: int64(len(v.front)), Distinct: v.distinct, HasSum: c.sums}
	bounded := true
	for i := range pages {
		p := &pages[i]
		m.Bytes += int64(p.bytes)
		m.Nulls += p.nulls
		var carry uint64
		m.SumLow, carry = bits.Add64(m.SumLow, p.sumLow, 0)
		m.SumHigh += p.sumHigh + carry
		if p.min == nil {
			bounded = bounded && p.nulls == p.rows
			continue
		}
		if m.Min == nil || bytes.Compare(p.min, m.Min) < 0 {
			m.Min = p.min
		}
		if m.Max == nil || bytes.Compare(p.max, m.Max) > 0 {
			m.Max = p.max
		}
	}
	if !bounded {
		m.Min, m.Max = nil, nil
	}
	return m
}
