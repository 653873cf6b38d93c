package stripe

import (
	"math/bits"
	"slices"
	"unsafe"
)

//go:generate go run bitpack_generate.go

// Bit-packing works on vectors of up to 1,024 values in 16 lanes (the FastLanes order): value i is in row i/16 of lane i%16, and each lane
// is a string of bits of its own, low bits first, in 64-bit words. Word k of all lanes lie together:
//
//	word 0 of lane 0, 1, ... 15 | word 1 of lane 0, 1, ... 15 | ...
//
// so a lane of a whole vector is 64 values in as many words as a value has bits, whatever the width. A vector of fewer values has fewer rows; the
// last row is filled up with zeros.
const (
	vectorRows = 1024
	lanes      = 16
	wordBytes  = lanes * 8
)

// packedLen is the number of bytes that n values of width bits take.
func packedLen(n, width int) int {
	rows := (n + lanes - 1) / lanes
	return wordBytes * ((rows*width + 63) / 64)
}

// packVector adds v[i]-base, each of which fits width bits, to dst. len(v) is at most vectorRows.
func packVector(dst []byte, v []int64, base int64, width int) []byte {
	if width == 0 {
		return dst
	}
	at, n := len(dst), packedLen(len(v), width)
	dst = slices.Grow(dst, n)[:at+n]
	if len(v) == vectorRows && width <= kernelWidths {
		packWhole(dst[at:], (*[vectorRows]int64)(v), base, width)
	} else {
		packRows(dst[at:], v, base, width)
	}
	return dst
}

// packRows is packVector for any number of values and any width but 0, a row of 16 values at a time. It fills dst.
func packRows(dst []byte, v []int64, base int64, width int) {
	var word [lanes]uint64
	shift := 0
	for len(v) > 0 {
		var row [lanes]int64
		n := copy(row[:], v)
		for l := n; l < lanes; l++ {
			row[l] = base
		}
		v = v[n:]
		s := uint(shift) & 63
		for l := range row {
			word[l] |= uint64(row[l]-base) << s
		}
		if shift += width; shift < 64 {
			continue
		}
		dst = dst[copy(dst, bytesOf(word[:])):]
		if shift -= 64; shift == 0 {
			word = [lanes]uint64{}
			continue
		}
		s = uint(width-shift) & 63 // bits of this row that were written
		for l := range row {
			word[l] = uint64(row[l]-base) >> s
		}
	}
	if shift > 0 {
		copy(dst, bytesOf(word[:]))
	}
}

// integer is what a stream of integers decodes to.
type integer interface {
	int8 | int16 | int32 | int64 | uint16
}

// unpackVector fills dst, at most vectorRows values, from src, which holds packedLen(len(dst), width) bytes. Values wrap around in T.
// Hot: no allocation; held by TestUnpackAllocs.
func unpackVector[T integer](dst []T, src []byte, base T, width int) {
	switch {
	case width == 0:
		fill(dst, base)
	case len(dst) == vectorRows && width <= kernelWidths:
		unpackWhole((*[vectorRows]T)(dst), src, base, width)
	default:
		unpackRows(dst, src, base, width)
	}
}

// unpackRows is unpackVector for any number of values and any width but 0, a row of 16 values at a time.
func unpackRows[T integer](dst []T, src []byte, base T, width int) {
	mask := ^uint64(0) >> (64 - uint(width))
	bit := 0
	for ; len(dst) >= lanes; bit += width {
		unpackRow((*[lanes]T)(dst), src, bit, width, mask, base)
		dst = dst[lanes:]
	}
	if len(dst) > 0 {
		var row [lanes]T
		unpackRow(&row, src, bit, width, mask, base)
		copy(dst, row[:])
	}
}

// unpackRow reads the 16 values that begin at bit of their lanes.
func unpackRow[T integer](out *[lanes]T, src []byte, bit, width int, mask uint64, base T) {
	s := uint(bit) & 63
	at := src[bit>>6*wordBytes:]
	low := (*[lanes]uint64)(unsafe.Pointer((*[wordBytes]byte)(at)))
	if int(s)+width <= 64 {
		for l := range out {
			out[l] = T(low[l]>>s&mask) + base
		}
		return
	}
	high := (*[lanes]uint64)(unsafe.Pointer((*[wordBytes]byte)(at[wordBytes:])))
	up := (64 - s) & 63
	for l := range out {
		out[l] = T((low[l]>>s|high[l]<<up)&mask) + base
	}
}

// span gives the least and greatest of v, which is not empty. Four pairs of extremes, because each comparison waits for the one before.
func span(v []int64) (low, high int64) {
	a, b, c, d := v[0], v[0], v[0], v[0]
	e, f, g, h := a, a, a, a
	for ; len(v) >= 4; v = v[4:] {
		a, e = min(a, v[0]), max(e, v[0])
		b, f = min(b, v[1]), max(f, v[1])
		c, g = min(c, v[2]), max(g, v[2])
		d, h = min(d, v[3]), max(h, v[3])
	}
	for _, x := range v {
		a, e = min(a, x), max(e, x)
	}
	return min(a, b, c, d), max(e, f, g, h)
}

// widthOf is the number of bits that tell values in [low, high] apart.
func widthOf(low, high int64) int { return bits.Len64(uint64(high) - uint64(low)) }
