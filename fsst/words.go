package fsst

import (
	"cmp"
	"encoding/binary"
	"math/bits"
)

// A word is a byte, whatever it is, and the letters that follow it: " river", "/river", "River". Letters are those of ASCII and all bytes above,
// so that words of other scripts are words too. A run of more than 15 letters is cut there.
const (
	// MinWordBytes and MaxWordBytes are the lengths of words.
	MinWordBytes = 3
	MaxWordBytes = 16
	// wordReach is how far from its first byte telling a word looks.
	wordReach = MaxWordBytes + 1
	// maxLeads is the most codes of one byte that are given up to lead a code of two, for 256 words each.
	maxLeads = 56
	// MaxWords is the most words of a table.
	MaxWords = 256 * maxLeads
)

// word is the bytes of a word, zeros above.
type word struct {
	lo, hi uint64
	size   uint64
}

// compare orders words by length, then as texts, so that in a stored table those that begin alike are neighbours.
func (a word) compare(b word) int {
	switch {
	case a.size != b.size:
		return cmp.Compare(a.size, b.size)
	case a.lo != b.lo:
		return cmp.Compare(bits.ReverseBytes64(a.lo), bits.ReverseBytes64(b.lo))
	}
	return cmp.Compare(bits.ReverseBytes64(a.hi), bits.ReverseBytes64(b.hi))
}

// separators has the high bit of each byte of x set that is no letter.
func separators(x uint64) uint64 {
	const each = 0x0101010101010101
	low := (x | 0x20*each) & (0x7f * each)
	letter := (low + (0x80-'a')*each) &^ (low + (0x7f-'z')*each)
	return ^(letter | x) & (0x80 * each)
}

// wordAt is the word at the start of src, of which wordReach bytes are there. Its size is below MinWordBytes if there is none.
func wordAt(src []byte) word {
	_ = src[wordReach-1]
	run := bits.TrailingZeros64(separators(binary.LittleEndian.Uint64(src[1:]))) / 8
	w := word{lo: binary.LittleEndian.Uint64(src), size: uint64(run) + 1}
	if run < 8 {
		w.lo &= ^uint64(0) >> (56 - 8*run&63)
		return w
	}
	run = bits.TrailingZeros64(separators(binary.LittleEndian.Uint64(src[9:]))|0x80<<56) / 8
	w.size += uint64(run)
	w.hi = binary.LittleEndian.Uint64(src[8:]) & (^uint64(0) >> (56 - 8*run))
	return w
}

// wordMasks keep the first so many bytes of 16.
var wordMasks = func() (m [MaxWordBytes + 1][2]uint64) {
	for n := range m {
		m[n] = [2]uint64{^uint64(0) >> (64 - 8*min(n, 8)), ^uint64(0) >> (64 - 8*max(n-8, 0))}
	}
	return m
}()

// bitsOf gathers the high bits of the bytes of x, the lowest first.
func bitsOf(x uint64) uint64 { return x & 0x8080808080808080 * 0x0002040810204081 >> 56 }

// separatorBits has bit i set when byte i of x is no letter.
func separatorBits(x *[64]byte) (m uint64) {
	for i := 56; i >= 0; i -= 8 {
		m = m<<8 | bitsOf(separators(binary.LittleEndian.Uint64(x[i:])))
	}
	return m
}

const (
	// blockBytes is how much of a text is looked through for words at a time, and unitBytes the least: what is left over at the end of a text has none.
	blockBytes = 16 << 10
	unitBytes  = 64
)

// span is where a word may be in a block: the place of its first byte | its length << 16.
type span uint32

func (s span) at() int   { return int(s & 0xffff) }
func (s span) size() int { return int(s >> 16) }

// spans are those of a block.
type spans [blockBytes/MinWordBytes + 1]span

// cut fills s with the pieces of the block that src begins with which are long enough for words: up to the first separator, and from each to the next, but for
// what follows MaxWordBytes. It returns how many there are and where the block ends: where its last separator is, or where all of it was looked
// through; 0 if src is too short to be. MaxWordBytes of src can be read from each piece on.
func (s *spans) cut(src []byte) (n, end int) {
	last := 0
	for ; end < blockBytes && len(src)-end >= unitBytes+MaxWordBytes; end += unitBytes {
		m := separatorBits((*[unitBytes]byte)(src[end:]))
		if end == 0 {
			m &^= 1 // the block begins there in any case
		}
		for ; m != 0; m &= m - 1 {
			at := end + bits.TrailingZeros64(m)
			size := at - last
			s[n] = span(last | min(size, MaxWordBytes)<<16)
			n += (MinWordBytes - 1 - size) >> 63 & 1 // without a branch, which would be foretold wrongly every third time
			last = at
		}
	}
	if last > 0 {
		end = last
	}
	return n, end
}

// wordSet finds words: open addressing over their hashes.
type wordSet struct {
	slots []uint16    // number, 0 is free; and wordMore
	words [][2]uint64 // the bytes of each, by number; number 0 is none
}

const (
	wordSlots  = 1 << 16
	wordMore   = 1 << 15 // the slot is not the last that a word with this hash may be in
	wordNumber = wordMore - 1
)

func wordHash(lo, hi uint64) uint16 {
	return uint16((lo*0x9e3779b97f4a7c15 + hi*0xd6e8feb86659fd93) >> 48)
}

// newWordSet is the set of words, which have the numbers from 1 on.
func newWordSet(words []word) wordSet {
	s := wordSet{slots: make([]uint16, wordSlots), words: make([][2]uint64, 1, len(words)+1)}
	for _, w := range words {
		at := wordHash(w.lo, w.hi)
		for ; s.slots[at] != 0; at++ {
			s.slots[at] |= wordMore
		}
		s.slots[at] = uint16(len(s.words))
		s.words = append(s.words, [2]uint64{w.lo, w.hi})
	}
	return s
}

// find is the number of the word of these bytes, 0 if it is not there.
func (s *wordSet) find(lo, hi uint64) int {
	for at := wordHash(lo, hi); ; at++ {
		n := s.slots[at] & wordNumber
		if w := &s.words[n]; w[0] == lo && w[1] == hi {
			return int(n)
		}
		if s.slots[at]&wordMore == 0 {
			return 0
		}
	}
}
