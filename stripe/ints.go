package stripe

import (
	"encoding/binary"
	"slices"
)

// Integers of every width, times, diffs, the bits of floats, lengths and dictionary codes are all streams of integers:
//
//	CONST  value i64
//	RAW    param bytes a value (1, 2, 4, 8)
//	FOR    for each vector of 1,024: base i64; for each: width u8; then the packed differences to the base, see bitpack.go
//	DELTA  first value i64 | stream of the count-1 differences between neighbours (CONST or FOR)
//	DICT   stream of the different values in order of first appearance | stream of a code for each value
//
// Arithmetic wraps around, in int64 when encoding and in the column's own width when decoding, which comes to the same bits.
// The smallest wins; one that takes longer to decode must save a tenth.

// intTries says which encodings beyond CONST, RAW and FOR are worth a look.
type intTries uint8

const (
	tryDelta intTries = 1 << iota
	tryDict
)

// frames is what FOR needs to know of a stream: the extremes of each vector of 1,024 values and of all.
type frames struct {
	low, high       int64
	lows, highs     [PageRows / vectorRows]int64
	vectors, forLen int // forLen is the size of the body of the FOR stream in bytes
}

// measure finds the frames of v, at most PageRows values and at least one.
func (f *frames) measure(v []int64) {
	*f = frames{low: v[0], high: v[0]}
	for ; len(v) > 0; f.vectors++ {
		n := min(len(v), vectorRows)
		low, high := span(v[:n])
		f.lows[f.vectors], f.highs[f.vectors] = low, high
		f.low, f.high = min(f.low, low), max(f.high, high)
		f.forLen += 9 + packedLen(n, widthOf(low, high))
		v = v[n:]
	}
}

// appendMeasured measures v and adds its stream without DELTA and DICT: for lengths, codes, scales and dictionaries.
func appendMeasured(dst []byte, v []int64, width int) []byte {
	var f frames
	f.measure(v)
	switch {
	case f.low == f.high:
		return appendConst(dst, f.low, len(v))
	case f.forLen < width*len(v):
		return appendFOR(dst, v, &f)
	}
	return appendRawInts(dst, v, width)
}

// appendInts adds the stream of v, whose frames are f, for values of width bytes.
func (e *encoder) appendInts(dst []byte, v []int64, f *frames, width int, tries intTries) []byte {
	if f.low == f.high {
		return appendConst(dst, f.low, len(v))
	}
	best, size := encRaw, width*len(v)
	if f.forLen < size {
		best, size = encFOR, f.forLen
	}
	var deltas []int64
	if tries&tryDelta != 0 && len(v) > 2 {
		deltas = e.deltas(v)
		if n := 8 + streamBytes + e.deltaFrames.forLen; 10*n < 9*size {
			best, size = encDelta, n
		}
	}
	if tries&tryDict != 0 && e.intDict(v) {
		if n := e.dictLen(width); 10*n < 9*size {
			return e.appendIntDict(dst, width, len(v))
		}
	}
	switch best {
	case encFOR:
		return appendFOR(dst, v, f)
	case encDelta:
		dst, at := openStream(dst, encDelta, 0, len(v))
		dst = binary.LittleEndian.AppendUint64(dst, uint64(v[0]))
		if d := &e.deltaFrames; d.low == d.high {
			dst = appendConst(dst, d.low, len(deltas))
		} else {
			dst = appendFOR(dst, deltas, d)
		}
		closeStream(dst, at)
		return dst
	}
	return appendRawInts(dst, v, width)
}

// deltas returns the differences between the neighbours of v, valid until the next call, and measures them.
func (e *encoder) deltas(v []int64) []int64 {
	e.delta = slices.Grow(e.delta[:0], len(v))[:len(v)-1]
	prev := v[0]
	for i, x := range v[1:] {
		e.delta[i] = x - prev
		prev = x
	}
	e.deltaFrames.measure(e.delta)
	return e.delta
}

func appendConst(dst []byte, x int64, count int) []byte {
	dst, at := openStream(dst, encConst, 0, count)
	dst = binary.LittleEndian.AppendUint64(dst, uint64(x))
	closeStream(dst, at)
	return dst
}

func appendRawInts(dst []byte, v []int64, width int) []byte {
	dst, at := openStream(dst, encRaw, uint8(width), len(v))
	switch width {
	case 1:
		for _, x := range v {
			dst = append(dst, byte(x))
		}
	case 2:
		for _, x := range v {
			dst = binary.LittleEndian.AppendUint16(dst, uint16(x))
		}
	case 4:
		for _, x := range v {
			dst = binary.LittleEndian.AppendUint32(dst, uint32(x))
		}
	default:
		for _, x := range v {
			dst = binary.LittleEndian.AppendUint64(dst, uint64(x))
		}
	}
	closeStream(dst, at)
	return dst
}

func appendFOR(dst []byte, v []int64, f *frames) []byte {
	dst, at := openStream(dst, encFOR, 0, len(v))
	for _, low := range f.lows[:f.vectors] {
		dst = binary.LittleEndian.AppendUint64(dst, uint64(low))
	}
	for i := range f.vectors {
		dst = append(dst, byte(widthOf(f.lows[i], f.highs[i])))
	}
	for i := range f.vectors {
		n := min(len(v), vectorRows)
		dst = packVector(dst, v[:n], f.lows[i], widthOf(f.lows[i], f.highs[i]))
		v = v[n:]
	}
	closeStream(dst, at)
	return dst
}
