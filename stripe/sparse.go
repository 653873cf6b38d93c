package stripe

import (
	"slices"
)

// SPARSE keeps values of which a few are unlike the rest: a leaf with all values, in which those few are replaced by something that costs nothing,
// and patches that bring them back. A column that is mostly one value has a CONST for its leaf; one whose values are narrow but for outliers (PFOR,
// Zukowski et al., "Super-scalar RAM-CPU cache compression", 2006) a FOR of fewer bits.

// patches are the values that a stream does not have right, by their places. As bytes they are two streams: a leaf of the gaps, which are
// how many right values lie before each wrong one and after the one before; and a leaf of what the values should be.
type patches struct {
	gaps, values []int64
	next         int // place after the last patch
}

func (p *patches) reset() {
	p.gaps, p.values, p.next = p.gaps[:0], p.values[:0], 0
}

func (p *patches) add(at int, x int64) {
	p.gaps, p.values = append(p.gaps, int64(at-p.next)), append(p.values, x)
	p.next = at + 1
}

func (p *patches) append(dst []byte, width int) []byte {
	return appendLeaf(appendLeaf(dst, p.gaps, 2), p.values, width)
}

// appendSparse adds v with patches: for what is not the plan's most frequent value, or for outliers.
func (e *encoder) appendSparse(dst []byte, v []int64, width int, plan *intPlan, depth int) ([]byte, bool) {
	l := &e.numbers.levels[depth]
	l.values = append(l.values[:0], v...)
	l.patches.reset()
	if plan.mostly {
		l.patches.allBut(l.values, plan.most)
	} else {
		for at := 0; at < len(v); at += vectorRows {
			l.patches.outliers(l.values, at, min(at+vectorRows, len(v)))
		}
	}
	if len(l.patches.gaps) == 0 {
		return dst, false
	}
	dst, at := openStream(dst, encSparse, 0, len(v))
	dst = appendLeaf(dst, l.values, width)
	dst = l.patches.append(dst, width)
	closeStream(dst, at)
	return dst, true
}

// allBut patches every value of v that is not x, and makes it x.
func (p *patches) allBut(v []int64, x int64) {
	for i, y := range v {
		if y != x {
			p.add(i, y)
			v[i] = x
		}
	}
}

// outliers patches the values of the vector v[from:to] that lie outside of its usual range, and makes them the least inside.
func (p *patches) outliers(v []int64, from, to int) {
	low, high := usual(v[from:to])
	least, room, first := high, uint64(high)-uint64(low), len(p.gaps)
	for i, x := range v[from:to] {
		if uint64(x)-uint64(low) > room {
			p.add(from+i, x)
			continue
		}
		least = min(least, x)
	}
	at := p.next - 1
	for i := len(p.gaps) - 1; i >= first; i-- {
		v[at] = least
		at -= int(p.gaps[i]) + 1
	}
}

const (
	usualSample = 64 // values of a vector that its usual range is looked for in
	usualDrop   = 16 // and how many of them, at either end, may lie outside of it
	patchBits   = 12 // what a patch takes besides the value, about
)

// usual gives the range of the values of v, at most a vector, that is best packed alone with patches for those outside: the best range in a sample,
// widened to its whole number of bits or one more, or the range of all.
func usual(v []int64) (low, high int64) {
	low, high = span(v)
	full := widthOf(low, high)
	var sample [usualSample]int64
	n := min(len(v), usualSample)
	for i := range n {
		sample[i] = v[i*len(v)/n]
	}
	slices.Sort(sample[:n])
	from, to := usualIn(sample[:n], full)
	width := widthOf(from, to)
	if width >= full {
		return low, high
	}
	l, h := widened(from, to, width)
	l1, h1 := widened(from, to, width+1)
	room, room1 := uint64(h)-uint64(l), uint64(h1)-uint64(l1)
	outside, outside1 := 0, 0
	for _, x := range v {
		outside += boolInt(uint64(x)-uint64(l) > room)
		outside1 += boolInt(uint64(x)-uint64(l1) > room1)
	}
	best := full * len(v)
	if size := width*len(v) + outside*(patchBits+full); size < best {
		best, low, high = size, l, h
	}
	if size := (width+1)*len(v) + outside1*(patchBits+full); size < best {
		low, high = l1, h1
	}
	return low, high
}

// usualIn is the range of the sorted sample that is best packed alone when a patch takes full bits and patchBits.
func usualIn(sample []int64, full int) (low, high int64) {
	n := len(sample)
	drop := n * usualDrop / usualSample
	best := full * n
	low, high = sample[0], sample[n-1]
	for i := 0; i <= drop; i++ {
		for j := n - 1; j >= n-1-drop && j > i; j-- {
			if size := widthOf(sample[i], sample[j])*(j-i+1) + (n-1-j+i)*(patchBits+full); size < best {
				best, low, high = size, sample[i], sample[j]
			}
		}
	}
	return low, high
}

// widened is a range of w bits with low and high about in its middle.
func widened(low, high int64, w int) (l, h int64) {
	room := ^uint64(0)>>(64-w) - (uint64(high) - uint64(low))
	l = low - int64(room/2)
	if l > low {
		l = -1 << 63
	}
	if h = l + int64(^uint64(0)>>(64-w)); h < l {
		h = 1<<63 - 1
	}
	return l, max(h, high)
}

func decodeSparse[T integer](d *decoder, dst []T, body []byte, depth int) error {
	s, rest, err := cutStream(body)
	if err != nil {
		return err
	}
	if err := decodeLeaf(dst, s); err != nil {
		return err
	}
	return decodePatches(d, dst, rest, depth)
}

// decodePatches patches dst from the two streams that src consists of.
func decodePatches[T integer](d *decoder, dst []T, src []byte, depth int) error {
	s, rest, err := cutStream(src)
	if err != nil {
		return err
	}
	if s.count == 0 || s.count > len(dst) {
		return corrupt("%d patches of %d values", s.count, len(dst))
	}
	l := &d.numbers[depth]
	gaps, values := roomIn[uint16](&l.narrow, s.count), roomIn[T](&l.wide, s.count)
	if err := decodeLeaf(gaps, s); err != nil {
		return err
	}
	if s, err = wholeStream(rest, len(values)); err != nil {
		return err
	}
	if err := decodeLeaf(values, s); err != nil {
		return err
	}
	at := 0
	for i, x := range values {
		if at += int(gaps[i]); at >= len(dst) {
			return corrupt("patch of value %d of %d", at, len(dst))
		}
		dst[at] = x
		at++
	}
	return nil
}
