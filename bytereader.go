package tailrace

import (
	"encoding/binary"
	"fmt"
)

// ByteReader takes values off the front of bytes that may be wrong, up to the first thing that is, which Err keeps; from then on it gives zeros. No
// count is believed before it is checked against what is left, so that no length from outside decides an allocation. Numbers are little-endian.
type ByteReader struct {
	Src []byte // what is left
	Err error  // wraps ErrCorrupt
}

// Fail notes that what is wrong, unless something was before.
func (r *ByteReader) Fail(format string, args ...any) {
	if r.Err == nil {
		r.Err = fmt.Errorf("%s: %w", fmt.Sprintf(format, args...), ErrCorrupt)
	}
	r.Src = nil
}

// Take gives the next n bytes, a view of the source.
func (r *ByteReader) Take(n int) []byte {
	if n < 0 || n > len(r.Src) {
		r.Fail("%d bytes where %d belong", len(r.Src), n)
		return nil
	}
	out := r.Src[:n:n]
	r.Src = r.Src[n:]
	return out
}

// Byte gives the next byte.
func (r *ByteReader) Byte() byte {
	if raw := r.Take(1); raw != nil {
		return raw[0]
	}
	return 0
}

// Uint32 gives the next four bytes.
func (r *ByteReader) Uint32() uint32 {
	if raw := r.Take(4); raw != nil {
		return binary.LittleEndian.Uint32(raw)
	}
	return 0
}

// Uint64 gives the next eight bytes.
func (r *ByteReader) Uint64() uint64 {
	if raw := r.Take(8); raw != nil {
		return binary.LittleEndian.Uint64(raw)
	}
	return 0
}

// Uvarint gives the next number of varying length.
func (r *ByteReader) Uvarint() uint64 {
	v, n := binary.Uvarint(r.Src)
	if n <= 0 {
		r.Fail("number cut short")
		return 0
	}
	r.Src = r.Src[n:]
	return v
}

// Varint gives the next signed number of varying length.
func (r *ByteReader) Varint() int64 {
	v, n := binary.Varint(r.Src)
	if n <= 0 {
		r.Fail("number cut short")
		return 0
	}
	r.Src = r.Src[n:]
	return v
}

// Count gives the next number, which must not pass limit.
func (r *ByteReader) Count(limit uint64) int {
	v := r.Uvarint()
	if v > limit {
		r.Fail("count %d above %d", v, limit)
		return 0
	}
	return int(v)
}

// Items gives the number of things that follow, each of at least size bytes; more than what is left can hold is wrong.
func (r *ByteReader) Items(size int) int { return r.Count(uint64(len(r.Src) / size)) }

// End is the first error, or one when bytes are left over.
func (r *ByteReader) End() error {
	if r.Err == nil && len(r.Src) > 0 {
		r.Fail("%d bytes after the end", len(r.Src))
	}
	return r.Err
}
