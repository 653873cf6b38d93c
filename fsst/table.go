package fsst

import (
	"cmp"
	"encoding/binary"
	"unsafe"
)

const (
	// MaxSymbols is the most symbols of a table. Their codes are 0 to MaxSymbols-1.
	MaxSymbols = 255
	// MaxSymbolBytes is the length of the longest symbol.
	MaxSymbolBytes = 8
	// escape is the code that says that the next byte stands for itself.
	escape = 255
)

// symbol is a piece of text: its bytes from the lowest of word on, zeros above.
type symbol struct {
	word uint64
	size uint8
}

// join is a followed by b, cut to MaxSymbolBytes.
func (a symbol) join(b symbol) symbol {
	return symbol{a.word | b.word<<(8*a.size), min(a.size+b.size, MaxSymbolBytes)}
}

// compare orders symbols by length, then by their bytes as a number; no order of texts, but a total one.
func (a symbol) compare(b symbol) int {
	return cmp.Or(cmp.Compare(a.size, b.size), cmp.Compare(a.word, b.word))
}

// Table is a set of symbols and words, for any number of goroutines: it does not change. Codes below its number of symbols are these; the last
// ones below the escape each lead a second byte, and the two are a word.
type Table struct {
	n     int
	texts [256]uint64 // of symbols, by code
	sizes [256]uint8  // 0 of codes without a symbol
	words []word
	pairs *pairs // with words
}

// leads is the number of codes that lead a word.
func (t *Table) leads() int { return (len(t.words) + 255) / 256 }

// first is the code that leads words 0 to 255; those of all codes below are symbols.
func (t *Table) first() int { return escape - t.leads() }

// pairs is what decodeWords looks codes up in: the texts of symbols by code, then 256 for each code that leads a second byte, the escape the last of them.
type pairs struct {
	texts   [][MaxWordBytes]byte
	sizes   []uint8
	places  [256]uint32             // of code c, which stands at places[c]&0xffff + second byte & places[c]>>16
	strides [1 << blockCodes]stride // by which of the bytes of a block are codes that lead a second one, wherever they are
}

// fill makes t.pairs.
func (t *Table) fill() {
	if len(t.words) == 0 {
		return
	}
	first := t.first()
	n := first + 256*(t.leads()+1)
	p := &pairs{texts: make([][MaxWordBytes]byte, n), sizes: make([]uint8, n)}
	for code := range first {
		p.places[code] = uint32(code)
		binary.LittleEndian.PutUint64(p.texts[code][:], t.texts[code])
		p.sizes[code] = t.sizes[code]
	}
	for i, w := range t.words {
		binary.LittleEndian.PutUint64(p.texts[first+i][:], w.lo)
		binary.LittleEndian.PutUint64(p.texts[first+i][8:], w.hi)
		p.sizes[first+i] = uint8(w.size)
	}
	for code := first; code <= escape; code++ {
		p.places[code] = uint32(first+(code-first)*256) | 0xff<<16
	}
	for b := range 256 {
		at := n - 256 + b
		p.texts[at][0], p.sizes[at] = byte(b), 1
	}
	for leads := range p.strides {
		p.strides[leads] = strideOf(leads)
	}
	t.pairs = p
}

// Size is the memory that t takes, in bytes.
func (t *Table) Size() int {
	n := int(unsafe.Sizeof(*t)) + len(t.words)*int(unsafe.Sizeof(word{}))
	if t.pairs != nil {
		n += int(unsafe.Sizeof(*t.pairs)) + len(t.pairs.sizes)*(MaxWordBytes+1)
	}
	return n
}

// Symbols is the number of symbols.
func (t *Table) Symbols() int { return t.n }

// add gives s, which must order after the last, the next code.
func (t *Table) add(s symbol) {
	t.texts[t.n], t.sizes[t.n] = s.word, s.size
	t.n++
}

// Words is the number of words.
func (t *Table) Words() int { return len(t.words) }
