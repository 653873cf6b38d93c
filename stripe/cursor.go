package stripe

import "tailrace"

// cursor reads the footer and page indexes.
type cursor struct{ tailrace.ByteReader }

// text reads a length and that many bytes, a view that is never nil.
func (r *cursor) text() []byte {
	out := r.Take(r.Items(1))
	if out == nil {
		out = []byte{}
	}
	return out
}

// bounds reads what appendBounds wrote. Other flags than known are refused.
func (r *cursor) bounds(known byte) (low, high []byte, flags byte) {
	flags = r.Byte()
	if flags&^known != 0 {
		r.Fail("flags %d", flags)
	}
	if flags&hasBounds != 0 {
		low, high = r.text(), r.text()
	}
	return low, high, flags
}
