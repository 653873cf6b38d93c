package stripe

import (
	"encoding/binary"
	"unsafe"
)

// decodeInts fills dst from s, whose count is len(dst).
func decodeInts[T integer](d *decoder, dst []T, s stream) error {
	switch s.enc {
	case encDelta:
		return decodeDelta(dst, s.body)
	case encDict:
		return decodeIntDict(d, dst, s.body)
	}
	return decodeLeaf(dst, s)
}

// decodeLeaf is decodeInts of the encodings without children, which alone may be the children of DELTA, DICT and STR.
func decodeLeaf[T integer](dst []T, s stream) error {
	if s.count != len(dst) {
		return corrupt("stream of %d values where %d belong", s.count, len(dst))
	}
	switch s.enc {
	case encConst:
		if len(s.body) != 8 {
			return corrupt("constant of %d bytes", len(s.body))
		}
		fill(dst, T(binary.LittleEndian.Uint64(s.body)))
		return nil
	case encRaw:
		return decodeRawInts(dst, s)
	case encFOR:
		return decodeFOR(dst, s.body)
	}
	return corrupt("encoding %d of integers", s.enc)
}

func fill[T integer](dst []T, x T) {
	for i := range dst {
		dst[i] = x
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

func decodeDelta[T integer](dst []T, body []byte) error {
	if len(body) < 8 || len(dst) < 2 {
		return corrupt("delta stream of %d bytes", len(body))
	}
	s, err := wholeStream(body[8:], len(dst)-1)
	if err != nil {
		return err
	}
	dst[0] = T(binary.LittleEndian.Uint64(body))
	if err := decodeLeaf(dst[1:], s); err != nil {
		return err
	}
	sum := T(0)
	for i := range dst {
		sum += dst[i]
		dst[i] = sum
	}
	return nil
}

func decodeIntDict[T integer](d *decoder, dst []T, body []byte) error {
	s, rest, err := cutStream(body)
	if err != nil {
		return err
	}
	if s.count == 0 || s.count > maxDict || s.count > len(dst) {
		return corrupt("dictionary of %d values", s.count)
	}
	values := asInts[T](bytesOf(d.dict[:]))[:s.count]
	if err := decodeLeaf(values, s); err != nil {
		return err
	}
	codes, err := d.readCodes(rest, len(dst), s.count)
	if err != nil {
		return err
	}
	for i, c := range codes {
		dst[i] = values[c]
	}
	return nil
}

// readCodes reads the stream of n dictionary codes below limit. They are valid until the next call.
func (d *decoder) readCodes(src []byte, n, limit int) ([]uint16, error) {
	s, err := wholeStream(src, n)
	if err != nil {
		return nil, err
	}
	if n > len(d.codes) {
		return nil, corrupt("%d dictionary codes", n)
	}
	codes := d.codes[:n]
	if err := decodeLeaf(codes, s); err != nil {
		return nil, err
	}
	top := uint16(0)
	for _, c := range codes {
		top = max(top, c)
	}
	if int(top) >= limit {
		return nil, corrupt("dictionary code %d of %d", top, limit)
	}
	return codes, nil
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
