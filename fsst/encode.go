package fsst

import (
	"encoding/binary"
	"slices"
	"unsafe"
)

// lanes is at how many places of a text the encoder works. A step waits for the one before it: a load, a multiplication, another load, a
// comparison, some 20 cycles in which the processor could do the steps of other places. Coded pieces laid end to end are the code of the
// pieces laid end to end, so each place has a quarter of the text. It costs at most three symbols, those that a border cuts.
const lanes = 4

// laneBytes is the least text that is cut into lanes.
const laneBytes = 256

// MaxEncoded is the most bytes that AppendEncoded adds for a text of n bytes.
func MaxEncoded(n int) int { return 2 * n }

// AppendEncoded adds the code of src to dst.
func (e *Encoder) AppendEncoded(dst, src []byte) []byte {
	at := len(dst)
	dst = slices.Grow(dst, MaxEncoded(len(src)))
	room := dst[:cap(dst)]
	if e.words.words != nil {
		return room[:e.encodeWords(room, at, src)]
	}
	return room[:e.encodePlain(room, at, src)]
}

// encodePlain codes src by symbols to room[at:], which has room for MaxEncoded(len(src)), and returns the end.
func (e *Encoder) encodePlain(room []byte, at int, src []byte) int {
	if len(src) < laneBytes {
		return e.encode(room, at, src)
	}
	// Lane i codes src[i*n : (i+1)*n] to where its worst code would begin, and what it wrote then moves down to the end of the lane before.
	n := len(src) / lanes
	var in, out, begin, end [lanes]int
	for i := range lanes {
		in[i], end[i], begin[i] = i*n, (i+1)*n, at+MaxEncoded(i*n)
	}
	end[lanes-1] = len(src)
	out = begin
	e.encodeLanes(room, src, &in, &out, &end)
	for i := range lanes {
		last := e.encode(room, out[i], src[in[i]:end[i]])
		at += copy(room[at:], room[begin[i]:last])
	}
	return at
}

// encode is encodePlain a step after the other.
func (e *Encoder) encode(room []byte, at int, src []byte) int {
	for len(src) >= 8 {
		word := binary.LittleEndian.Uint64(src)
		s := e.two[uint16(word)]
		s = e.longer(word, s)
		binary.LittleEndian.PutUint16(room[at:], uint16(s)&0xff|uint16(word)<<8)
		at += s.written()
		src = src[s.read():]
	}
	for len(src) > 0 {
		s := e.at(src)
		room[at], room[at+1] = byte(s), src[0]
		at += s.written()
		src = src[s.read():]
	}
	return at
}

// encodeLanes codes src[in[i]:end[i]] to room[out[i]:] for each lane, and moves in and out on, until the first lane has fewer than 8 bytes left.
func (e *Encoder) encodeLanes(room, src []byte, in, out, end *[lanes]int) {
	from, to := unsafe.Pointer(unsafe.SliceData(src)), unsafe.Pointer(unsafe.SliceData(room))
	i0, i1, i2, i3 := in[0], in[1], in[2], in[3]
	o0, o1, o2, o3 := out[0], out[1], out[2], out[3]
	e0, e1, e2, e3 := end[0]-8, end[1]-8, end[2]-8, end[3]-8
	for i0 <= e0 && i1 <= e1 && i2 <= e2 && i3 <= e3 {
		w0, w1, w2, w3 := *(*uint64)(unsafe.Add(from, i0)), *(*uint64)(unsafe.Add(from, i1)), *(*uint64)(unsafe.Add(from, i2)), *(*uint64)(unsafe.Add(from, i3))
		s0, s1, s2, s3 := e.two[uint16(w0)], e.two[uint16(w1)], e.two[uint16(w2)], e.two[uint16(w3)]
		s0 = e.longer(w0, s0)
		s1 = e.longer(w1, s1)
		s2 = e.longer(w2, s2)
		s3 = e.longer(w3, s3)
		*(*uint16)(unsafe.Add(to, o0)) = uint16(s0)&0xff | uint16(w0)<<8
		*(*uint16)(unsafe.Add(to, o1)) = uint16(s1)&0xff | uint16(w1)<<8
		*(*uint16)(unsafe.Add(to, o2)) = uint16(s2)&0xff | uint16(w2)<<8
		*(*uint16)(unsafe.Add(to, o3)) = uint16(s3)&0xff | uint16(w3)<<8
		o0, o1, o2, o3 = o0+s0.written(), o1+s1.written(), o2+s2.written(), o3+s3.written()
		i0, i1, i2, i3 = i0+s0.read(), i1+s1.read(), i2+s2.read(), i3+s3.read()
	}
	*in, *out = [lanes]int{i0, i1, i2, i3}, [lanes]int{o0, o1, o2, o3}
}

// longer is the step of the symbol of three bytes or more that word begins with, short if there is none. It chooses by arithmetic: a branch here
// is foretold wrongly every third time.
func (e *Encoder) longer(word uint64, short step) step {
	l := &e.long[hash(word)]
	differ := word&l.mask ^ l.word
	other := step(int64(differ|-differ) >> 63) // all ones if they differ
	return l.step&^other | short&other
}
