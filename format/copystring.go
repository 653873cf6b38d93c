package format

import (
	"encoding/binary"
	"math/bits"
	"unicode/utf8"
	"unsafe"

	"tailrace"
)

// stringLoop reads texts without escapes, and those of CSV that are in quotes as a whole. It copies eight bytes at a time while it looks for the end among them.
func stringLoop(b *block, k int) {
	if b.suspect {
		plainLoop(b, k)
		return
	}
	s := strings8{null: b.opts.Copy.Null, limit: b.types[k].Length(), last: b.last(k)}
	s.delimiter, s.special = uint64(b.opts.Copy.Delimiter)*allOnes, uint64('\\')*allOnes
	if b.opts.Layout == CopyCSV {
		s.special, s.quote, s.escapes = uint64(b.opts.Copy.Quote)*allOnes, b.opts.Copy.Quote, b.opts.Copy.Escape != b.opts.Copy.Quote
	}
	c := &b.out.Cols[k]
	char := b.types[k].Kind == tailrace.KindChar
	quick := !char && !s.last && s.limit < 0
	text, delimiter, null := b.text, b.opts.Copy.Delimiter, s.null
	at, ends, offsets := b.at[:b.n], b.ends[:b.n], c.Offsets[b.base+1:][:b.n]
	dst, used := c.Data, b.used[k]
	for r := range at {
		i, end := int(at[r]), int(ends[r])
		if i <= end && used+end-i+slack > len(dst) {
			b.used[k] = used
			b.reserve(k, end-i)
			dst = c.Data
		}
		word := load64(text, i)
		n := bits.TrailingZeros64(same(word, s.delimiter)|same(word, s.special)) >> 3
		e, ok := i+n, quick && n < 8
		if ok = ok && e < end && byteAt(text, e) == delimiter; ok {
			store64(dst, used, word)
		} else if n, e, ok = s.copy(dst[used:], text, i, end); char && ok {
			ok = n == s.limit && utf8.RuneCount(dst[used:used+n]) == n
		}
		switch {
		case !ok:
			b.used[k] = used
			if !b.leave(k, r) {
				return
			}
			dst, used = c.Data, b.used[k]
			continue
		case n == len(null) && (s.quote == 0 || byteAt(text, i) != s.quote) && string(dst[used:used+n]) == null:
			b.used[k] = used
			b.setNull(k, b.base+r)
		default:
			used += n
			offsets[r] = int32(used)
		}
		at[r] = int32(e + 1)
	}
	b.used[k] = used
}

func store64(dst []byte, i int, word uint64) { binary.LittleEndian.PutUint64(dst[i:], word) }

// strings8 is how the texts of a column are spelled.
type strings8 struct {
	delimiter, special uint64 // eight times the delimiter, and the byte that asks for a closer look
	quote              byte   // of CSV; 0 for none
	escapes            bool   // CSV's escape is another byte than the quote
	null               string
	limit              int // bytes that fit whatever they are; -1: any
	last               bool
}

// copy puts the text that begins at byte i of text, in a row that ends at end, into dst, which has room for the rest of the row and slack. n are its bytes, and it ends before
// e. ok is false for a text that needs the plain way.
func (s *strings8) copy(dst []byte, text unsafe.Pointer, i, end int) (n, e int, ok bool) {
	if i > end {
		return 0, 0, false
	}
	from := i
	if s.quote != 0 && i < end && byteAt(text, i) == s.quote {
		if s.escapes {
			return 0, 0, false
		}
		return s.quoted(dst, text, i+1, end)
	}
	for ; i < end; i += 8 {
		word := load64(text, i)
		store64(dst, i-from, word)
		stop := same(word, s.delimiter) | same(word, s.special)
		if stop == 0 {
			continue
		}
		i += bits.TrailingZeros64(stop) >> 3
		break
	}
	e = min(i, end)
	n = e - from
	ended := e == end == s.last && (e == end || byteAt(text, e) == byte(s.delimiter))
	return n, e, ended && (s.limit < 0 || n <= s.limit)
}

// quoted is copy for a text in quotes, from behind the first.
func (s *strings8) quoted(dst []byte, text unsafe.Pointer, i, end int) (n, e int, ok bool) {
	from := i
	for ; i < end; i += 8 {
		word := load64(text, i)
		store64(dst, i-from, word)
		if stop := same(word, s.special); stop != 0 {
			i += bits.TrailingZeros64(stop) >> 3
			break
		}
	}
	if i >= end {
		return 0, 0, false
	}
	n, e = i-from, i+1
	ended := e == end && s.last || e < end && !s.last && byteAt(text, e) == byte(s.delimiter)
	return n, e, ended && (s.limit < 0 || n <= s.limit)
}
