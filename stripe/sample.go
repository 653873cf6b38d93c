package stripe

import (
	"math"
	"math/bits"
	"slices"

	"tailrace"
)

// A chunk is sampled before it is encoded: 16 windows of opts.SampleValues rows at fixed places, so that the verdict is a function of the
// chunk's values. Window w begins at row floor(w rows / 16). A chunk of no more rows than that is its own sample.
const (
	sampleWindows = 16
	// maxWindowBytes bounds the bytes that a window keeps of values whose length varies: the value that reaches it is cut there and is the last.
	maxWindowBytes = 64 << 10
)

// sample holds the sampled values of a chunk that are not NULL, in order.
type sample struct {
	ints     []int64 // integers, widened; the bits of floats; the unscaled values of numerics if decimals is set
	scales   []int64 // of numerics if decimals is set
	decimals bool
	texts    texts              // values of varying length, and those of 16 bytes
	ends     [sampleWindows]int // where each window ends in the values, see cut
	rows     int
	nulls    int
	differ   int   // different values in the sample
	distinct int64 // estimate for the chunk
	hashes   sampler
}

// loadSample fills e.sample from c. It uses the memory of a page under way.
func (e *encoder) loadSample(c *chunk) {
	s, k := &e.sample, c.typ.Kind
	s.ints, s.rows, s.nulls, s.decimals = s.ints[:0], 0, 0, false
	s.texts.reset()
	window := e.opts.SampleValues
	if c.rows <= sampleWindows*window {
		window = (c.rows + sampleWindows - 1) / sampleWindows
	}
	s.hashes.reset(min(c.rows, sampleWindows*window))
	last := 0
	for w := range sampleWindows {
		from := max(last, w*c.rows/sampleWindows)
		last = min(c.rows, from+window)
		e.sampleWindow(c, from, last)
		s.ends[w] = max(len(s.ints), s.texts.n())
	}
	s.differ, s.distinct = s.hashes.differ, s.hashes.estimate(c.rows, s.rows)
	if k == tailrace.KindNumeric && s.texts.n() > 0 && e.splitDecimals(&s.texts) {
		s.decimals = true
		s.ints, s.scales = append(s.ints, e.ints...), append(s.scales[:0], e.scales...)
	}
}

// sampleWindow adds rows [from, to) of c.
func (e *encoder) sampleWindow(c *chunk, from, to int) {
	s, left := &e.sample, maxWindowBytes
	at := 0 // row of the chunk that the group begins at
	for _, g := range c.groups {
		low, high := max(from, at)-at, min(to, at+g.n)-at
		at += g.n
		if low >= high {
			continue
		}
		s.rows += high - low
		if g.col == nil {
			for range high - low {
				s.ints = append(s.ints, c.fixed)
				s.hashes.add(mix(uint64(c.fixed)))
			}
			continue
		}
		e.load(c.typ.Kind, g.col, g.from+low, g.from+high)
		s.nulls += e.nulls
		s.ints = append(s.ints, e.ints...)
		for _, x := range e.ints {
			s.hashes.add(mix(uint64(x)))
		}
		for i := range e.texts.n() {
			k := keyAt(e.texts.data, int(e.texts.start[i]), int(e.texts.size[i]))
			s.hashes.add(k.hash())
		}
		if g.col.Width == 0 || g.col.Width == 16 {
			left -= s.texts.append(&e.texts, left)
		}
	}
}

// sampler counts the different hashes among the values of a sample.
type sampler struct {
	hashes  []uint64 // 0 is free; at least twice as many as values, a power of two
	counts  []uint16
	differ  int
	singles int // hashes met once
}

func (s *sampler) reset(values int) {
	size := 2 << bits.Len(uint(values))
	s.hashes, s.counts = slices.Grow(s.hashes[:0], size)[:size], slices.Grow(s.counts[:0], size)[:size]
	clear(s.hashes)
	clear(s.counts)
	s.differ, s.singles = 0, 0
}

// add counts the value with this hash.
func (s *sampler) add(h uint64) {
	h |= 1
	at := h >> 1 % uint64(len(s.hashes))
	for s.hashes[at] != 0 && s.hashes[at] != h {
		at = (at + 1) % uint64(len(s.hashes))
	}
	s.hashes[at] = h
	switch s.counts[at]++; s.counts[at] {
	case 1:
		s.differ++
		s.singles++
	case 2:
		s.singles--
	}
}

// estimate is the number of different values among rows, of which seen were sampled (Charikar et al., "Towards estimation error guarantees for
// distinct values", 2000: what was met once stands for the square root of rows/seen others). Whole numbers only, so that every machine finds the same.
func (s *sampler) estimate(rows, seen int) int64 {
	if s.differ == 0 {
		return 0
	}
	factor := int64(1024)
	if rows > seen {
		factor = int64(math.Sqrt(float64(rows << 20 / seen)))
	}
	return min(int64(rows), int64(s.differ-s.singles)+int64(s.singles)*factor/1024)
}

// clear forgets the texts, whose data is not p's.
func (p *texts) clear() {
	p.data, p.start, p.size, p.bytes = nil, p.start[:0], p.size[:0], 0
}

// reset empties the texts of a sample, whose data is p's.
func (p *texts) reset() {
	data := p.data[:0]
	p.clear()
	p.data = data
}

// append copies texts of src until they take limit bytes, the last cut there, and returns how many they take.
func (p *texts) append(src *texts, limit int) int {
	taken := 0
	for i := 0; i < src.n() && taken < limit; i++ {
		x := src.at(i)
		x = x[:min(len(x), limit-taken)]
		p.start, p.size = append(p.start, int32(len(p.data))), append(p.size, int64(len(x)))
		p.data = append(p.data, x...)
		taken += len(x)
	}
	p.bytes += taken
	return taken
}
