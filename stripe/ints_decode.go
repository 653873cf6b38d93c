package stripe

import (
	"encoding/binary"
	"slices"
	"unsafe"
)

// numberRoom is what a node at one depth of a tree decodes its children into.
type numberRoom struct {
	wide   []uint64
	narrow []uint64
}

// decodeInts fills dst, at most PageRows values, from the root stream s, whose count is len(dst).
func decodeInts[T integer](d *decoder, dst []T, s stream) error {
	return decodeNode(d, dst, s, 0)
}

// decodeNode is decodeInts of a stream with depth nodes above it.
func decodeNode[T integer](d *decoder, dst []T, s stream, depth int) error {
	if s.count != len(dst) {
		return corrupt("stream of %d values where %d belong", s.count, len(dst))
	}
	if depth+1 >= maxIntDepth {
		return decodeLeaf(dst, s)
	}
	switch s.enc {
	case encDelta:
		return decodeDelta(d, dst, s.body, depth)
	case encDelta2:
		return decodeDelta2(d, dst, s.body, depth)
	case encRLE:
		return decodeRuns(d, dst, s.body, depth)
	case encDict:
		return decodeIntDict(d, dst, s.body, depth)
	case encSparse:
		return decodeSparse(d, dst, s.body, depth)
	case encALP:
		return decodeALP(d, dst, s, depth)
	case encSplit:
		return decodeSplit(d, dst, s, depth)
	}
	return decodeLeaf(dst, s)
}

// decodeWhole is decodeNode of the stream that src consists of.
func decodeWhole[T integer](d *decoder, dst []T, src []byte, depth int) error {
	s, err := wholeStream(src, len(dst))
	if err != nil {
		return err
	}
	return decodeNode(d, dst, s, depth)
}

// decodeLeaf is decodeInts of the encodings without children. dst may be longer than a page.
func decodeLeaf[T integer](dst []T, s stream) error {
	if s.count != len(dst) {
		return corrupt("stream of %d values where %d belong", s.count, len(dst))
	}
	switch s.enc {
	case encConst:
		x, ok := constOf(s)
		if !ok {
			return corrupt("constant of %d bytes", len(s.body))
		}
		fill(dst, T(x))
		return nil
	case encRaw:
		return decodeRawInts(dst, s)
	case encFOR:
		return decodeFOR(dst, s.body)
	case encBits:
		return decodeBits(dst, s.body)
	}
	return corrupt("encoding %d of integers", s.enc)
}

// constOf is the value of s, if it is a CONST of integers.
func constOf(s stream) (x int64, ok bool) {
	if s.enc != encConst || len(s.body) != 8 {
		return 0, false
	}
	return int64(binary.LittleEndian.Uint64(s.body)), true
}

// fill makes every value x: a few in a loop, then twice as many as there are, and so on.
func fill[T integer](dst []T, x T) {
	const few = 32
	for i := range min(len(dst), few) {
		dst[i] = x
	}
	for n := few; n < len(dst); n *= 2 {
		copy(dst[n:], dst[:n])
	}
}

// decodeRawInts copies when the width is the column's own, and narrows or widens (signed) otherwise.
func decodeRawInts[T integer](dst []T, s stream) error {
	width := int(s.param)
	switch width {
	case 1, 2, 4, 8:
	default:
		return corrupt("plain integers of %d bytes", width)
	}
	if len(s.body) != width*len(dst) {
		return corrupt("%d bytes of %d plain integers", len(s.body), len(dst))
	}
	if width == int(unsafe.Sizeof(T(0))) {
		copy(bytesOf(dst), s.body)
		return nil
	}
	for i := range dst {
		at := s.body[i*width:]
		switch width {
		case 1:
			dst[i] = T(int8(at[0]))
		case 2:
			dst[i] = T(int16(binary.LittleEndian.Uint16(at)))
		case 4:
			dst[i] = T(int32(binary.LittleEndian.Uint32(at)))
		default:
			dst[i] = T(binary.LittleEndian.Uint64(at))
		}
	}
	return nil
}

func decodeFOR[T integer](dst []T, body []byte) error {
	vectors := (len(dst) + vectorRows - 1) / vectorRows
	if len(body) < 9*vectors {
		return corrupt("bit-packed stream of %d bytes", len(body))
	}
	bases, widths, packed := body[:8*vectors], body[8*vectors:9*vectors], body[9*vectors:]
	for i, width := range widths {
		part := dst[i*vectorRows : min(len(dst), (i+1)*vectorRows)]
		n := packedLen(len(part), int(width))
		if width > 64 || n > len(packed) {
			return corrupt("bit-packed vector %d of width %d", i, width)
		}
		unpackVector(part, packed[:n:n], T(binary.LittleEndian.Uint64(bases[8*i:])), int(width))
		packed = packed[n:]
	}
	if len(packed) != 0 {
		return corrupt("%d bytes after bit-packed vectors", len(packed))
	}
	return nil
}

// roomIn returns n values, whatever they are, in the memory of buf, which grows if need be.
func roomIn[T integer](buf *[]uint64, n int) []T {
	words := (n*int(unsafe.Sizeof(T(0))) + 7) / 8
	if cap(*buf) < words {
		*buf = make([]uint64, slices.Max([]int{words, 1024}))
	}
	return asInts[T](bytesOf((*buf)[:cap(*buf)]))[:n]
}

// asInts views raw, which is aligned to 8 bytes, as integers.
func asInts[T integer](raw []byte) []T {
	return unsafe.Slice((*T)(unsafe.Pointer(unsafe.SliceData(raw))), len(raw)/int(unsafe.Sizeof(T(0))))
}

// bytesOf views v as bytes.
func bytesOf[T any](v []T) []byte {
	var x T
	return unsafe.Slice((*byte)(unsafe.Pointer(unsafe.SliceData(v))), len(v)*int(unsafe.Sizeof(x)))
}
