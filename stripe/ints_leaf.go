package stripe

import (
	"encoding/binary"
	"slices"
	"unsafe"
)

// appendLeaf adds the stream of v, any number of values of width bytes: CONST, BITS or the smaller of RAW and FOR.
func appendLeaf(dst []byte, v []int64, width int) []byte {
	if constant(v) {
		x := int64(0)
		if len(v) > 0 {
			x = v[0]
		}
		return appendConst(dst, x, len(v))
	}
	if width == 1 {
		if low, high := span(v); low == 0 && high == 1 {
			return appendBits(dst, v)
		}
	}
	out, at := openStream(dst, encFOR, 0, len(v))
	vectors := (len(v) + vectorRows - 1) / vectorRows
	bases := len(out)
	widths := bases + 8*vectors
	out = slices.Grow(out, 9*vectors)[:widths+vectors]
	for i := range vectors {
		part := v[i*vectorRows : min(len(v), (i+1)*vectorRows)]
		low, high := span(part)
		w := widthOf(low, high)
		binary.LittleEndian.PutUint64(out[bases+8*i:], uint64(low))
		out[widths+i] = byte(w)
		if len(out)-bases+packedLen(len(part), w) >= width*len(v) {
			return appendRawInts(out[:at], v, width)
		}
		out = packVector(out, part, low, w)
	}
	closeStream(out, at)
	return out
}

// constant reports whether all of v are equal.
func constant(v []int64) bool {
	for i := 1; i < len(v); i++ {
		if v[i] != v[0] {
			return false
		}
	}
	return true
}

func appendRawInts(dst []byte, v []int64, width int) []byte {
	dst, at := openStream(dst, encRaw, uint8(width), len(v))
	start := len(dst)
	dst = slices.Grow(dst, width*len(v))[:start+width*len(v)]
	switch out := dst[start:]; width {
	case 1:
		narrow[int8](out, v)
	case 2:
		narrow[int16](out, v)
	case 4:
		narrow[int32](out, v)
	default:
		copy(out, bytesOf(v))
	}
	closeStream(dst, at)
	return dst
}

// narrow puts v, as integers of T, in dst, which has exactly the room.
func narrow[T integer](dst []byte, v []int64) {
	out := unsafe.Slice((*T)(unsafe.Pointer(unsafe.SliceData(dst))), len(v))
	for i, x := range v {
		out[i] = T(x)
	}
}

func appendFOR(dst []byte, v []int64, f *frames) []byte {
	dst, at := openStream(dst, encFOR, 0, len(v))
	for _, low := range f.lows[:f.vectors] {
		dst = binary.LittleEndian.AppendUint64(dst, uint64(low))
	}
	for i := range f.vectors {
		dst = append(dst, byte(widthOf(f.lows[i], f.highs[i])))
	}
	dst = slices.Grow(dst, f.forLen-9*f.vectors)
	for i := range f.vectors {
		n := min(len(v), vectorRows)
		dst = packVector(dst, v[:n], f.lows[i], widthOf(f.lows[i], f.highs[i]))
		v = v[n:]
	}
	closeStream(dst, at)
	return dst
}
