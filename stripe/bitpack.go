package stripe

import (
	"encoding/binary"
	"math/bits"
	"unsafe"
)

// Bit-packing works on vectors of up to 1,024 values in 16 lanes (the FastLanes order): value i is in row i/16 of lane i%16, and each lane
// is a string of bits of its own, low bits first, in 64-bit words. Word k of all lanes lie together:
//
//	word 0 of lane 0, 1, ... 15 | word 1 of lane 0, 1, ... 15 | ...
//
// so 16 neighbouring values sit at one shift of 16 neighbouring words, and the inner loop is the same few instructions 16 times. A vector of
// fewer values has fewer rows; the last row is filled up with zeros.
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
		dst = appendWords(dst, &word)
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
		dst = appendWords(dst, &word)
	}
	return dst
}

func appendWords(dst []byte, word *[lanes]uint64) []byte {
	for _, w := range word {
		dst = binary.LittleEndian.AppendUint64(dst, w)
	}
	return dst
}

// integer is what a stream of integers decodes to.
type integer interface {
	int8 | int16 | int32 | int64 | uint16
}

// unpackVector fills dst, at most vectorRows values, from src, which holds packedLen(len(dst), width) bytes. Values wrap around in T.
// Hot: no allocation; held by TestUnpackAllocs.
func unpackVector[T integer](dst []T, src []byte, base T, width int) {
	if width == 0 {
		for i := range dst {
			dst[i] = base
		}
		return
	}
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

// span gives the least and greatest of v, which is not empty.
func span(v []int64) (low, high int64) {
	low, high = v[0], v[0]
	for _, x := range v[1:] {
		low, high = min(low, x), max(high, x)
	}
	return low, high
}

// widthOf is the number of bits that tell values in [low, high] apart.
func widthOf(low, high int64) int { return bits.Len64(uint64(high) - uint64(low)) }
