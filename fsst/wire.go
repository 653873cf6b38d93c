package fsst

import (
	"encoding/binary"
	"fmt"
)

// A stored table is
//
//	the number of symbols of each length, a byte for each of 1 to 8 | the symbols' bytes in the order of their codes
//
// and, if there are words,
//
//	the number of words of each length, a u16 little-endian for each of 3 to 16 | the words' bytes in the order of their numbers
//
// Both are in order of length; then symbols in order of their bytes as a little-endian number, words in order of their bytes.
const (
	symbolHeader = MaxSymbolBytes
	wordHeader   = 2 * (MaxWordBytes - MinWordBytes + 1)
)

// MaxTableBytes is the most bytes of a stored table.
const MaxTableBytes = symbolHeader + MaxSymbols*MaxSymbolBytes + wordHeader + MaxWords*MaxWordBytes

// AppendTable adds t as stored to dst.
func (t *Table) AppendTable(dst []byte) []byte {
	var count [symbolHeader]byte
	for _, size := range t.sizes[:t.n] {
		count[size-1]++
	}
	dst = append(dst, count[:]...)
	for code, size := range t.sizes[:t.n] {
		dst = appendLow(dst, t.texts[code], int(size))
	}
	if len(t.words) == 0 {
		return dst
	}
	at := len(dst)
	dst = append(dst, make([]byte, wordHeader)...)
	for _, w := range t.words {
		of := dst[at+2*int(w.size-MinWordBytes):]
		binary.LittleEndian.PutUint16(of, binary.LittleEndian.Uint16(of)+1)
		dst = appendLow(dst, w.lo, min(8, int(w.size)))
		dst = appendLow(dst, w.hi, int(w.size)-8)
	}
	return dst
}

// appendLow adds the low n bytes of x, the lowest first; none if n is negative.
func appendLow(dst []byte, x uint64, n int) []byte {
	for i := range n {
		dst = append(dst, byte(x>>(8*i)))
	}
	return dst
}

// ParseTable reads the table that src consists of. It wraps ErrCorrupt when src is none, as when symbols are not in order.
func ParseTable(src []byte) (*Table, error) {
	t := new(Table)
	if len(src) < symbolHeader {
		return nil, fmt.Errorf("table of %d bytes: %w", len(src), ErrCorrupt)
	}
	counts, body, last := src[:symbolHeader], src[symbolHeader:], symbol{}
	for i, count := range counts {
		for range count {
			size := i + 1
			if t.n == MaxSymbols || len(body) < size {
				return nil, fmt.Errorf("symbol %d of a table of %d bytes: %w", t.n, len(src), ErrCorrupt)
			}
			s := symbol{load(body[:size]), uint8(size)}
			if last.compare(s) >= 0 {
				return nil, fmt.Errorf("symbol %d of a table out of order: %w", t.n, ErrCorrupt)
			}
			t.add(s)
			last, body = s, body[size:]
		}
	}
	if len(body) > 0 {
		if err := t.parseWords(body); err != nil {
			return nil, err
		}
	}
	return t, nil
}

// parseWords reads the words of t, whose symbols are there, from src.
func (t *Table) parseWords(src []byte) error {
	if len(src) < wordHeader {
		return fmt.Errorf("words of a table in %d bytes: %w", len(src), ErrCorrupt)
	}
	n, bytes := 0, 0
	for i := range wordHeader / 2 {
		count := int(binary.LittleEndian.Uint16(src[2*i:]))
		n, bytes = n+count, bytes+count*(MinWordBytes+i)
	}
	if n == 0 || n > MaxWords || len(src) != wordHeader+bytes || t.n+(n+255)/256 > MaxSymbols {
		return fmt.Errorf("%d words and %d symbols of a table in %d bytes: %w", n, t.n, len(src), ErrCorrupt)
	}
	t.words = make([]word, 0, n)
	body, last := src[wordHeader:], word{}
	for i := range wordHeader / 2 {
		size := MinWordBytes + i
		for range binary.LittleEndian.Uint16(src[2*i:]) {
			w := word{lo: load(body[:size]), size: uint64(size)}
			if size > 8 {
				w.hi = load(body[8:size])
			}
			if last.compare(w) >= 0 {
				return fmt.Errorf("word %d of a table out of order: %w", len(t.words), ErrCorrupt)
			}
			t.words = append(t.words, w)
			last, body = w, body[size:]
		}
	}
	t.fill()
	return nil
}
