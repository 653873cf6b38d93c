package fsst

import (
	"encoding/binary"
	"sync"
	"unsafe"
)

// With words a text is coded in blocks, in two steps. First all words of a block are looked up: where they begin shows in the text alone, so these lookups do
// not wait for one another. Then what lies between is coded by symbols that do not reach into a word, so that neither waits one such piece for another.

// place is where a word is in a block, its length, and its code as stored: the one that leads it, then its number.
//
//	u16 | length << 16 | code << 32
type place uint64

func (p place) at() int      { return int(p & 0xffff) }
func (p place) size() int    { return int(p >> 16 & 0xffff) }
func (p place) code() uint16 { return uint16(p >> 32) }

// wordRoom is the memory for a block.
type wordRoom struct {
	spans  spans
	places [len(spans{})]place
}

var wordRooms = sync.Pool{New: func() any { return new(wordRoom) }}

// encodeWords is encodePlain with words.
func (e *Encoder) encodeWords(room []byte, at int, src []byte) int {
	r := wordRooms.Get().(*wordRoom)
	defer wordRooms.Put(r)
	for {
		n, end := r.spans.cut(src)
		if end == 0 {
			return e.encodePlain(room, at, src)
		}
		at = e.encodeBlock(room, at, src, end, r.places[:e.find(&r.places, r.spans[:n], src)])
		src = src[end:]
	}
}

// find puts the words among the spans of src into places and returns how many there are. Whether a piece is a word is as good as random, so there
// is no branch on it.
func (e *Encoder) find(places *[len(spans{})]place, pieces []span, src []byte) int {
	n, s, first := 0, &e.words, e.table.first()
	slots := (*[wordSlots]uint16)(s.slots)
	for _, p := range pieces {
		x, m := src[p.at():][:MaxWordBytes], &wordMasks[p.size()]
		lo, hi := binary.LittleEndian.Uint64(x)&m[0], binary.LittleEndian.Uint64(x[8:])&m[1]
		slot := slots[wordHash(lo, hi)]
		number := int(slot & wordNumber)
		w := &s.words[number]
		differ := w[0] ^ lo | w[1] ^ hi
		if slot >= wordMore && differ != 0 { // in this order: the first is rare
			if number = s.find(lo, hi); number > 0 {
				differ = 0
			}
		}
		number--
		places[n] = place(p) | place(uint16(first+number>>8)|uint16(number)<<8)<<32
		n += int((differ|-differ)>>63 ^ 1)
	}
	return n
}

// limitMasks keep the first so many bytes of 8.
var limitMasks = [9]uint64{0, 0xff, 0xffff, 0xffffff, 0xffffffff, 0xffffffffff, 0xffffffffffff, 0xffffffffffffff, 0xffffffffffffffff}

// encodeBlock codes src[:end], which has words at places, to room[at:], and returns the end. 8 bytes of src can be read from anywhere before end.
func (e *Encoder) encodeBlock(room []byte, at int, src []byte, end int, places []place) int {
	out, from := unsafe.Pointer(unsafe.SliceData(room)), 0
	for _, p := range places {
		if from < p.at() {
			at = e.encodeGap(room, at, src, from, p.at())
		}
		*(*uint16)(unsafe.Add(out, at)) = p.code()
		at += 2
		from = p.at() + p.size()
	}
	return e.encodeGap(room, at, src, from, end)
}

// encodeGap codes src[from:to] by symbols.
func (e *Encoder) encodeGap(room []byte, at int, src []byte, from, to int) int {
	if to-from >= laneBytes {
		return e.encodePlain(room, at, src[from:to])
	}
	in, out := unsafe.Pointer(unsafe.SliceData(src)), unsafe.Pointer(unsafe.SliceData(room))
	for from < to {
		text := *(*uint64)(unsafe.Add(in, from)) & limitMasks[min(to-from, 8)]
		s := e.longer(text, e.two[uint16(text)])
		if s.read() > to-from { // of a symbol that ends in zeros only the beginning is there
			s = e.at(src[from:to])
		}
		*(*uint16)(unsafe.Add(out, at)) = uint16(s)&0xff | uint16(text)<<8
		at += s.written()
		from += s.read()
	}
	return at
}
