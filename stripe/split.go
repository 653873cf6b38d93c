package stripe

import "slices"

// Floats that are no decimals, and other values of which only the high bits have a pattern, are SPLIT (ALP-RD in the paper that alp.go names): the
// low bits, param of them, are as good as random and are packed as they are; the high bits, at most 16, are few different ones near one another.
//
//	stream of the high bits | leaf of the low bits

// maxHighBits is the most that SPLIT takes for high bits.
const maxHighBits = 16

// appendSplit adds the high and low bits of v, values of width bytes.
func (e *encoder) appendSplit(dst []byte, v []int64, width int, plan *intPlan, depth int) ([]byte, bool) {
	l := &e.numbers.levels[depth]
	l.values, l.counts = slices.Grow(l.values[:0], len(v))[:len(v)], slices.Grow(l.counts[:0], len(v))[:len(v)]
	low := uint(plan.low)
	mask, all := int64(1)<<low-1, int64(1)<<(8*width-int(low))-1
	for i, x := range v {
		l.values[i], l.counts[i] = x>>(low&63)&all, x&mask
	}
	dst, at := openStream(dst, encSplit, plan.low, len(v))
	dst = e.appendChild(dst, l.values, 2, plan, depth)
	dst = appendLeaf(dst, l.counts, width)
	closeStream(dst, at)
	return dst, true
}

func decodeSplit[T integer](d *decoder, dst []T, s stream, depth int) error {
	low := int(s.param)
	if low >= 64 {
		return corrupt("split of %d low bits", low)
	}
	child, rest, err := cutStream(s.body)
	if err != nil {
		return err
	}
	high := roomIn[uint16](&d.numbers[depth].narrow, len(dst))
	if err := decodeNode(d, high, child, depth+1); err != nil {
		return err
	}
	if s, err = wholeStream(rest, len(dst)); err != nil {
		return err
	}
	if err := decodeLeaf(dst, s); err != nil {
		return err
	}
	for i, x := range high {
		dst[i] |= T(uint64(x) << (low & 63))
	}
	return nil
}
