package stripe

import (
	"math"
	"slices"
)

// decideALP makes the plan of floats as decimals, and says what a page takes and how many of p's values are patched. The size is 0 if they are
// not decimals: if more than one in 10 is patched, or a leaf takes less.
func (e *encoder) decideALP(p *pieces, width int) (plan intPlan, size, wrong int) {
	form, ok := bestForm(p, width)
	if !ok {
		return plan, 0, 0
	}
	t := &e.numbers.trees[1]
	t.pieces.ends, t.pieces.page, t.pieces.apart = p.ends, p.page, p.apart
	t.pieces.values = append(t.pieces.values[:0], p.values...)
	t.patches.reset()
	form.encode(t.pieces.values, &t.patches, width)
	if wrong = len(t.patches.values); 10*wrong > len(p.values) {
		return plan, 0, 0
	}
	plan.nodes[0], plan.form = encALP, form
	size = streamBytes + 2 + e.best(&t.pieces, width, 1, &plan)
	if size += patchesSize(p.page*wrong/len(p.values), p.page, 8*width, width); !saves(size, width*p.page) {
		return plan, 0, 0
	}
	return plan, size, wrong
}

const (
	// alpSample is how many floats every form is tried on.
	alpSample = 32
	// alpMostWrong is how many of those may be patched.
	alpMostWrong = alpSample / 4
)

// bestForm is the form that makes the smallest integers of p, patches counted; one that divides, which takes longer to decode, must save a 20th. ok
// tells whether there is one that holds for most of them.
func bestForm(p *pieces, width int) (best decimalForm, ok bool) {
	var some [alpSample]int64
	n := min(len(p.values), alpSample)
	for i := range n {
		some[i] = p.values[i*len(p.values)/n]
	}
	least := math.MaxInt
	for e := range uint8(maxExponent + 1) {
		for f := range e + 1 {
			m := decimalForm{e: e, f: f}
			if size := m.cost(some[:n], width); size < least {
				best, least = m, size
			}
		}
	}
	for e := range uint8(maxExponent + 1) {
		m := decimalForm{e: e, divide: true}
		if size := m.cost(some[:n], width); size < least-least/20 {
			best, least = m, size
		}
	}
	return best, least < math.MaxInt
}

// cost is about how many bits the floats whose bits are v take, the most there are if too many are patched.
func (m decimalForm) cost(v []int64, width int) int {
	low, high, wrong := int64(math.MaxInt64), int64(math.MinInt64), 0
	for _, bits := range v {
		d, ok := m.integer(bits, width)
		if !ok {
			if wrong++; wrong > alpMostWrong || 2*wrong > len(v) {
				return math.MaxInt
			}
			continue
		}
		low, high = min(low, d), max(high, d)
	}
	return len(v)*widthOf(low, high) + wrong*(8*width+patchBits)
}

// decideSplit makes the plan of floats whose low bits are random, and says what a page takes. How many of the bits are high is what makes them
// smallest with a code for each different value of the high bits.
func (e *encoder) decideSplit(p *pieces, width int) (plan intPlan, size int) {
	t := &e.numbers.trees[1]
	v := append(t.pieces.values[:0], p.values...)
	slices.Sort(v)
	low, least := 0, math.MaxInt
	for high := 1; high <= maxHighBits; high++ {
		different, shift := 1, 8*width-high
		for i := 1; i < len(v); i++ {
			if v[i]>>shift != v[i-1]>>shift {
				different++
			}
		}
		if n := p.page*(shift+widthOf(0, int64(different-1))) + 16*different; n <= least {
			low, least = shift, n
		}
	}
	plan.nodes[0], plan.low = encSplit, uint8(low)
	t.pieces.ends, t.pieces.page, t.pieces.apart = p.ends, p.page, p.apart
	v = v[:0]
	for _, x := range p.values {
		v = append(v, x>>low&(1<<(8*width-low)-1))
	}
	t.pieces.values = v
	return plan, streamBytes + e.best(&t.pieces, 2, 1, &plan) + leafSize(p.page, width, low, 1)
}
