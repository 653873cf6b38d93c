package stripe

import (
	"encoding/binary"
	"slices"
)

// appendDelta adds v as its first value and the differences between neighbours.
func (e *encoder) appendDelta(dst []byte, v []int64, plan *intPlan, depth int) ([]byte, bool) {
	if len(v) < 2 {
		return dst, false
	}
	l := &e.numbers.levels[depth]
	l.values = appendDiffs(l.values[:0], v)
	dst, at := openStream(dst, encDelta, 0, len(v))
	dst = binary.LittleEndian.AppendUint64(dst, uint64(v[0]))
	dst = e.appendChild(dst, l.values, 8, plan, depth)
	closeStream(dst, at)
	return dst, true
}

// appendDelta2 adds v as its first value, its first difference and the differences between neighbouring differences.
func (e *encoder) appendDelta2(dst []byte, v []int64, plan *intPlan, depth int) ([]byte, bool) {
	if len(v) < 3 {
		return dst, false
	}
	l := &e.numbers.levels[depth]
	l.counts = appendDiffs(l.counts[:0], v)
	l.values = appendDiffs(l.values[:0], l.counts)
	dst, at := openStream(dst, encDelta2, 0, len(v))
	dst = binary.LittleEndian.AppendUint64(dst, uint64(v[0]))
	dst = binary.LittleEndian.AppendUint64(dst, uint64(l.counts[0]))
	dst = e.appendChild(dst, l.values, 8, plan, depth)
	closeStream(dst, at)
	return dst, true
}

// appendDiffs adds the differences between the neighbours of v, at least one value.
func appendDiffs(dst, v []int64) []int64 {
	n := len(v) - 1
	dst = slices.Grow(dst, n)
	out := dst[len(dst) : len(dst)+n]
	prev := v[0]
	for i, x := range v[1:] {
		out[i] = x - prev
		prev = x
	}
	return dst[:len(dst)+n]
}

func decodeDelta[T integer](d *decoder, dst []T, body []byte, depth int) error {
	if len(body) < 8 || len(dst) < 2 {
		return corrupt("delta stream of %d bytes", len(body))
	}
	dst[0] = T(binary.LittleEndian.Uint64(body))
	if err := decodeWhole(d, dst[1:], body[8:], depth+1); err != nil {
		return err
	}
	sumUp(dst, 0)
	return nil
}

func decodeDelta2[T integer](d *decoder, dst []T, body []byte, depth int) error {
	if len(body) < 16 || len(dst) < 3 {
		return corrupt("delta-of-delta stream of %d bytes", len(body))
	}
	dst[0], dst[1] = T(binary.LittleEndian.Uint64(body)), T(binary.LittleEndian.Uint64(body[8:]))
	if err := decodeWhole(d, dst[2:], body[16:], depth+1); err != nil {
		return err
	}
	sum, step := dst[0], T(0)
	for i := 1; i < len(dst); i++ {
		step += dst[i]
		sum += step
		dst[i] = sum
	}
	return nil
}

// sumUp makes each value the sum of those up to it, and sum.
func sumUp[T integer](v []T, sum T) {
	for ; len(v) >= 4; v = v[4:] {
		a := v[0]
		b := a + v[1]
		c := b + v[2]
		d := c + v[3]
		v[0], v[1], v[2], v[3] = sum+a, sum+b, sum+c, sum+d
		sum += d
	}
	for i := range v {
		sum += v[i]
		v[i] = sum
	}
}
