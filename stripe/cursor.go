package stripe

import "encoding/binary"

// cursor reads the footer and page indexes up to the first thing that is wrong, which err keeps; from then on it gives zeros.
type cursor struct {
	src []byte
	err error
}

func (r *cursor) fail(format string, args ...any) {
	if r.err == nil {
		r.err = corrupt(format, args...)
	}
	r.src = nil
}

// take gives the next n bytes, a view.
func (r *cursor) take(n int) []byte {
	if n < 0 || n > len(r.src) {
		r.fail("%d bytes where %d belong", len(r.src), n)
		return nil
	}
	out := r.src[:n:n]
	r.src = r.src[n:]
	return out
}

func (r *cursor) byte() byte {
	if raw := r.take(1); raw != nil {
		return raw[0]
	}
	return 0
}

func (r *cursor) u32() uint32 {
	if raw := r.take(4); raw != nil {
		return binary.LittleEndian.Uint32(raw)
	}
	return 0
}

func (r *cursor) u64() uint64 {
	if raw := r.take(8); raw != nil {
		return binary.LittleEndian.Uint64(raw)
	}
	return 0
}

func (r *cursor) uvarint() uint64 {
	v, n := binary.Uvarint(r.src)
	if n <= 0 {
		r.fail("number cut short")
		return 0
	}
	r.src = r.src[n:]
	return v
}

func (r *cursor) varint() int64 {
	v, n := binary.Varint(r.src)
	if n <= 0 {
		r.fail("number cut short")
		return 0
	}
	r.src = r.src[n:]
	return v
}

// count reads a number that may not pass limit.
func (r *cursor) count(limit uint64) int {
	v := r.uvarint()
	if v > limit {
		r.fail("count %d above %d", v, limit)
		return 0
	}
	return int(v)
}

// items reads the number of things that follow, each of at least one byte.
func (r *cursor) items() int { return r.count(uint64(len(r.src))) }

// text reads a length and that many bytes, a view that is never nil.
func (r *cursor) text() []byte {
	out := r.take(r.items())
	if out == nil {
		out = []byte{}
	}
	return out
}

// bounds reads what appendBounds wrote. Other flags than known are refused.
func (r *cursor) bounds(known byte) (low, high []byte, flags byte) {
	flags = r.byte()
	if flags&^known != 0 {
		r.fail("flags %d", flags)
	}
	if flags&hasBounds != 0 {
		low, high = r.text(), r.text()
	}
	return low, high, flags
}
