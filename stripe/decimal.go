package stripe

import (
	"encoding/binary"
	"math/bits"
	"slices"

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
	e.scales, e.ints = e.scales[:0], e.ints[:0]
	for i := range p.n() {
		raw := p.at(i)
		if len(raw) < 2 || len(raw) > 10 {
			return false
		}
		scale, v := binary.LittleEndian.Uint16(raw), int64(0)
		if body := raw[2:]; len(body) > 0 {
			v = int64(int8(body[0]))
			for _, b := range body[1:] {
				v = v<<8 | int64(b)
			}
		}
		if scale > tailrace.MaxDecimalScale || len(raw) != decimalLen(v) {
			return false
		}
		e.scales, e.ints = append(e.scales, int64(scale)), append(e.ints, v)
	}
	return true
}

// decimalLen is the number of bytes of a stored numeric with unscaled value v.
func decimalLen(v int64) int {
	if v == 0 {
		return 2
	}
	return 2 + (bits.Len64(uint64(v^v>>63))+8)/8
}

// appendDecimals adds the stream of what splitDecimals found.
func (e *encoder) appendDecimals(dst []byte, dict bool) []byte {
	dst, at := openStream(dst, encDecimal, 0, len(e.ints))
	dst = appendMeasured(dst, e.scales, 2)
	e.frames.measure(e.ints)
	tries := tryDelta
	if dict {
		tries |= tryDict
	}
	dst = e.appendInts(dst, e.ints, &e.frames, 8, tries)
	closeStream(dst, at)
	return dst
}

// decodeDecimals is decodeTexts of a DECIMAL stream.
func (d *decoder) decodeDecimals(sizes []int32, data []byte, s stream, want int) ([]byte, error) {
	n := len(sizes)
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
	if err := decodeInts(d, ints, values); err != nil {
		return nil, err
	}
	scale := d.codes[:n] // after the values, which may have used it for a dictionary
	if err := decodeLeaf(scale, scales); err != nil {
		return nil, err
	}
	sum, top := 0, uint16(0)
	for i, v := range ints {
		size := decimalLen(v)
		sizes[i] = int32(size)
		sum += size
		top = max(top, scale[i])
	}
	if sum != want || top > tailrace.MaxDecimalScale {
		return nil, corrupt("numerics of %d bytes where %d belong, scale %d", sum, want, top)
	}
	return appendStored(slices.Grow(data, want+slack), ints, scale, sizes), nil
}

// appendStored adds the stored bytes of each numeric, 10 at a time, and moves on by its size. data has room for all and slack more.
func appendStored(data []byte, ints []int64, scale []uint16, sizes []int32) []byte {
	at, room := len(data), data[:cap(data)]
	for i, v := range ints {
		out := (*[10]byte)(room[at:])
		binary.LittleEndian.PutUint16(out[:], scale[i])
		binary.BigEndian.PutUint64(out[2:], uint64(v)<<((10-uint(sizes[i]))*8&127))
		at += int(sizes[i])
	}
	return room[:at]
}
