package fsst

import (
	"encoding/binary"
	"slices"
)

// step is what the encoder does at a place of the text: the code to write, how many bytes that takes (2 with the byte behind an escape), and how
// many bytes of the text it stands for.
//
//	code | bytes written << 8 | bytes read << 12
type step uint16

func makeStep(code int, written, read uint8) step {
	return step(code) | step(written)<<8 | step(read)<<12
}

func (s step) written() int { return int(s >> 8 & 3) }
func (s step) read() int    { return int(s >> 12) }

// slot is a place of the hash table: the symbol of three bytes or more whose hash it is. A free slot has a word that no masked word equals.
type slot struct {
	word, mask uint64
	step       step
}

// slotBits is the size of the hash table: 1,024 slots, 24 KiB, which stay in the innermost cache.
const slotBits = 10

// hash tells the slot of the symbols that begin with the low three bytes of word.
func hash(word uint64) uint64 {
	return (word << 40) * 0x9e3779b97f4a7c15 >> (64 - slotBits)
}

var free = slot{word: 1, mask: 0}

// Encoder is a table with what it takes to find the symbols in a text: 160 KiB, of which a text uses a small part. It does not change either.
type Encoder struct {
	table Table
	two   [1 << 16]step       // for any first two bytes, without regard to longer symbols
	one   [256]step           // for a last byte
	long  [1 << slotBits]slot // the symbols of three bytes or more
	words wordSet             // in the order of the table
	list  []word              // the same
}

// Table is e's table.
func (e *Encoder) Table() *Table { return &e.table }

// setWords gives e the words of a table.
func (e *Encoder) setWords(words []word) {
	e.words, e.list = wordSet{}, words
	if len(words) > 0 {
		e.words = newWordSet(words)
	}
}

// reset makes e the encoder without symbols.
func (e *Encoder) reset() {
	e.table = Table{words: e.list}
	none := makeStep(escape, 2, 1)
	for i := range e.two {
		e.two[i] = none
	}
	for i := range e.one {
		e.one[i] = none
	}
	for i := range e.long {
		e.long[i] = free
	}
}

// add gives s, which is not there, the next code.
func (e *Encoder) add(s symbol) {
	next := makeStep(e.table.n, 1, s.size)
	e.table.add(s)
	switch s.size {
	case 1:
		e.one[s.word] = next
		for second := range 256 {
			if at := &e.two[s.word|uint64(second)<<8]; at.read() < 2 {
				*at = next
			}
		}
	case 2:
		e.two[s.word] = next
	default:
		if at := &e.long[hash(s.word)]; *at == free {
			*at = slot{s.word, ^uint64(0) >> (64 - 8*s.size), next}
		}
	}
}

// build makes e the encoder of the best of symbols, which come best first: as many as have a code and a slot. Codes are by order of the symbols, so
// that they depend on nothing but which symbols are in.
func (e *Encoder) build(symbols []symbol) {
	var taken [1 << slotBits]bool
	var kept [MaxSymbols]symbol
	n := 0
	for _, s := range symbols {
		if n == e.table.first() {
			break
		}
		if s.size > 2 {
			at := &taken[hash(s.word)]
			if *at {
				continue
			}
			*at = true
		}
		kept[n] = s
		n++
	}
	slices.SortFunc(kept[:n], symbol.compare)
	e.reset()
	for _, s := range kept[:n] {
		e.add(s)
	}
}

// load is the first 8 bytes of src, filled up with zeros.
func load(src []byte) uint64 {
	if len(src) >= 8 {
		return binary.LittleEndian.Uint64(src)
	}
	var raw [8]byte
	copy(raw[:], src)
	return binary.LittleEndian.Uint64(raw[:])
}

// at is the step at the start of src, which is not empty.
func (e *Encoder) at(src []byte) step {
	word := load(src)
	if l := &e.long[hash(word)]; word&l.mask == l.word && l.step.read() <= len(src) {
		return l.step
	}
	if len(src) == 1 {
		return e.one[src[0]]
	}
	return e.two[uint16(word)]
}
