package stripe

import (
	"encoding/binary"
	"math/bits"
	"slices"
	"unsafe"

	"tailrace"
)

// A numeric is a text of its stored bytes (tailrace/decimal.go), and a page of them whose unscaled values all fit an int64, which nearly
// every page is, is instead
//
//	DECIMAL  stream of the scales (CONST, RAW or FOR) | stream of the unscaled values (any of integers)
//
// which brings back the same bytes because a stored numeric is the shortest of its kind.

// splitDecimals fills e.scales and e.ints from p and reports whether DECIMAL brings back every byte of it.
func (e *encoder) splitDecimals(p *texts) bool {
	n := p.n()
	e.scales, e.ints = slices.Grow(e.scales[:0], n)[:n], slices.Grow(e.ints[:0], n)[:n]
	for i := range n {
		raw := p.data[p.start[i]:]
		size := int(p.size[i])
		if size < 2 || size > maxDecimal {
			return false
		}
		var v int64
		switch {
		case size == 2:
		case len(raw) >= maxDecimal: // 8 bytes at once, of which those after the value are dropped
			v = int64(binary.BigEndian.Uint64(raw[2:])) >> (8 * (maxDecimal - size) & 63)
		default:
			v = int64(int8(raw[2]))
			for _, b := range raw[3:size] {
				v = v<<8 | int64(b)
			}
		}
		scale := binary.LittleEndian.Uint16(raw)
		if scale > tailrace.MaxDecimalScale || size != decimalLen(v) {
			return false
		}
		e.scales[i], e.ints[i] = int64(scale), v
	}
	return true
}

// maxDecimal is the most bytes of a numeric whose unscaled value fits an int64.
const maxDecimal = 10

// decimalLen is the number of bytes of a stored numeric with unscaled value v.
func decimalLen(v int64) int {
	if v == 0 {
		return 2
	}
	return 2 + (bits.Len64(uint64(v^v>>63))+8)/8
}

// appendDecimals adds the stream of what splitDecimals found.
func (e *encoder) appendDecimals(dst []byte, plan *intPlan) []byte {
	dst, at := openStream(dst, encDecimal, 0, len(e.ints))
	dst = appendLeaf(dst, e.scales, 2)
	e.frames.measure(e.ints)
	dst = e.appendNode(dst, e.ints, &e.frames, 8, plan, 1)
	closeStream(dst, at)
	return dst
}

// decodeDecimals is decodeTexts of a DECIMAL stream.
func (d *decoder) decodeDecimals(ends []int32, data []byte, s stream, want int) ([]byte, error) {
	n := len(ends)
	if s.count != n || n > len(d.ints) {
		return nil, corrupt("stream of %d values where %d belong", s.count, n)
	}
	scales, rest, err := cutStream(s.body)
	if err != nil {
		return nil, err
	}
	values, err := wholeStream(rest, n)
	if err != nil {
		return nil, err
	}
	ints := d.ints[:n]
	if err := decodeNode(d, ints, values, 1); err != nil {
		return nil, err
	}
	if want > n*maxDecimal {
		return nil, corrupt("%d numerics of %d bytes", n, want)
	}
	at := len(data)
	data = textRoom(data, want)[:at+want]
	end, err := d.storeNumerics(ends, data, at, ints, scales)
	if err == nil && end != len(data) {
		err = corrupt("numerics of more or fewer bytes than %d", want)
	}
	return data, err
}

// storeNumerics is storeDecimals of ints with the scales of a stream.
func (d *decoder) storeNumerics(ends []int32, data []byte, at int, ints []int64, scales stream) (end int, err error) {
	if x, ok := constOf(scales); ok && scales.count == len(ints) && uint64(x) <= tailrace.MaxDecimalScale {
		return storeScaled(ends, data, at, ints, uint16(x)), nil
	}
	scale := d.codes[:len(ints)]
	if err := decodeLeaf(scale, scales); err != nil {
		return 0, err
	}
	if top := slices.Max(scale); top > tailrace.MaxDecimalScale {
		return 0, corrupt("numeric of scale %d", top)
	}
	return storeDecimals(ends, data, at, ints, scale), nil
}

// storeScaled is storeDecimals of numerics of one scale, which most columns have.
func storeScaled(ends []int32, data []byte, at int, ints []int64, scale uint16) int {
	to, ends := unsafe.Pointer(unsafe.SliceData(data)), ends[:len(ints)]
	for i, v := range ints {
		if at > len(data) {
			return -1
		}
		at = storeDecimal(to, at, v, scale)
		ends[i] = int32(at)
	}
	return at
}

// storeDecimals writes the stored bytes of each numeric to data[at:], 10 bytes at a time, moving on by their size, and where each ends to ends. It returns where
// the last one ends: -1 if that is behind data, which has room for slack bytes more.
func storeDecimals(ends []int32, data []byte, at int, ints []int64, scale []uint16) int {
	to := unsafe.Pointer(unsafe.SliceData(data))
	ends, scale = ends[:len(ints)], scale[:len(ints)]
	for i, v := range ints {
		if at > len(data) {
			return -1
		}
		at = storeDecimal(to, at, v, scale[i])
		ends[i] = int32(at)
	}
	return at
}

// storeDecimal writes the stored bytes of v / 10^scale to byte at of to, 10 bytes in any case, and returns where they end.
func storeDecimal(to unsafe.Pointer, at int, v int64, scale uint16) int {
	n := (bits.Len64(uint64(v^v>>63)) + 8) >> 3
	if v == 0 {
		n = 0
	}
	*(*uint16)(unsafe.Add(to, at)) = scale
	*(*uint64)(unsafe.Add(to, at+2)) = bits.ReverseBytes64(uint64(v) << ((64 - 8*n) & 63))
	return at + n + 2
}
