package fsst

import (
	"encoding/binary"
	"errors"
	"fmt"
	"math/bits"
	"slices"
	"unsafe"
)

// ErrCorrupt is returned (wrapped) for a coded text or a table that cannot be one.
var ErrCorrupt = errors.New("damaged FSST data")

// slack is how many bytes behind the text AppendDecoded may write to: four symbols.
const slack = 4 * MaxSymbolBytes

// AppendDecoded adds the text of n bytes that src is the code of to dst, which it grows by slack more than that if need be. It wraps ErrCorrupt when src
// is not the code of n bytes. A code without a symbol stands for nothing.
func (t *Table) AppendDecoded(dst, src []byte, n int) ([]byte, error) {
	if n < 0 || n > MaxSymbolBytes*len(src) { // a word has two codes and 16 bytes at most
		return nil, fmt.Errorf("text of %d bytes in %d codes: %w", n, len(src), ErrCorrupt)
	}
	at := len(dst)
	dst = slices.Grow(dst, n+slack)
	room := dst[:at+n+slack]
	decode := t.decodeBlocks
	if len(t.words) > 0 {
		decode = t.decodeWords
	}
	read, out := decode(room, at, at+n, src)
	for src = src[read:]; len(src) > 0 && out <= at+n; {
		if code := int(src[0]); code >= t.first() && code < escape {
			if len(src) == 1 {
				return nil, fmt.Errorf("word without a second byte: %w", ErrCorrupt)
			}
			w := t.first() + (code-t.first())<<8 + int(src[1])
			copy(room[out:], t.pairs.texts[w][:])
			out += int(t.pairs.sizes[w])
			src = src[2:]
			continue
		}
		if src[0] != escape {
			binary.LittleEndian.PutUint64(room[out:], t.texts[src[0]])
			out += int(t.sizes[src[0]])
			src = src[1:]
			continue
		}
		if len(src) == 1 {
			return nil, fmt.Errorf("escape without a byte: %w", ErrCorrupt)
		}
		room[out] = src[1]
		out++
		src = src[2:]
	}
	if out != at+n || len(src) != 0 {
		return nil, fmt.Errorf("text of %d bytes or more where %d belong: %w", out-at, n, ErrCorrupt)
	}
	return room[:out], nil
}

// decodeBlocks decodes src, four codes at a time, to room[at:] until fewer than five codes are left or the text passes end. room goes on for slack
// bytes behind end. It returns how much of src it read and where the text ends. The four lookups of a block wait for nothing, and the addresses
// of the stores only for sums of lengths, so that blocks overlap.
func (t *Table) decodeBlocks(room []byte, at, end int, src []byte) (read, out int) {
	to := unsafe.Pointer(unsafe.SliceData(room))
	for len(src)-read > 4 && at <= end {
		block := binary.LittleEndian.Uint32(src[read:])
		if e := escapes(block); e != 0 {
			codes := bits.TrailingZeros32(e) / 8
			for range codes {
				*(*uint64)(unsafe.Add(to, at)) = t.texts[byte(block)]
				at += int(t.sizes[byte(block)])
				block >>= 8
			}
			*(*byte)(unsafe.Add(to, at)) = src[read+codes+1]
			at++
			read += codes + 2
			continue
		}
		a, b, c, d := byte(block), byte(block>>8), byte(block>>16), byte(block>>24)
		*(*uint64)(unsafe.Add(to, at)) = t.texts[a]
		at += int(t.sizes[a])
		*(*uint64)(unsafe.Add(to, at)) = t.texts[b]
		at += int(t.sizes[b])
		*(*uint64)(unsafe.Add(to, at)) = t.texts[c]
		at += int(t.sizes[c])
		*(*uint64)(unsafe.Add(to, at)) = t.texts[d]
		at += int(t.sizes[d])
		read += 4
	}
	return read, at
}

// escapes has the high bit of each byte of block set that is an escape, at least in the lowest byte that is one.
func escapes(block uint32) uint32 {
	return (^block - 0x01010101) & block & 0x80808080
}

// blockCodes is how many bytes of code are looked at together.
const blockCodes = 8

// stride says where the first four codes of a block begin, of which each takes one or two bytes: its lowest byte is what they take together, the others are
// where the second, third and fourth are.
type stride uint32

// strideOf is the stride of a block in which the bytes whose bits are set would lead a second one, if they are none themselves.
func strideOf(leads int) (s stride) {
	at := 0
	for i := range 4 {
		s |= stride(at) << (8 * i)
		at += 1 + leads>>at&1
	}
	return s | stride(at)
}

// decodeWords is decodeBlocks with words. Which codes are words cannot be foretold, so there is no branch on it: four codes take 4 to 8 bytes, and where each of
// them begins is looked up by which bytes are as high as codes that lead a word. An escape is a code that leads one of 256 words of a byte.
func (t *Table) decodeWords(room []byte, at, end int, src []byte) (read, out int) {
	const each = 0x0101010101010101
	p, to, from := t.pairs, unsafe.Pointer(unsafe.SliceData(room)), unsafe.Pointer(unsafe.SliceData(src))
	texts, sizes := unsafe.Pointer(unsafe.SliceData(p.texts)), unsafe.Pointer(unsafe.SliceData(p.sizes))
	lift := uint64(256-t.first()) * each // carries into the high bit of bytes from 0x80 on that lead
	for last := len(src) - blockCodes; read <= last && at <= end-slack; {
		block := *(*uint64)(unsafe.Add(from, read))
		leads := (block&(0x7f*each) + lift) & block & (0x80 * each)
		s := p.strides[leads*0x0002040810204081>>56]

		c := uint32(block)
		e := p.places[c&0xff]
		i := e&0xffff + c>>8&0xff&(e>>16)
		*(*[MaxWordBytes]byte)(unsafe.Add(to, at)) = *(*[MaxWordBytes]byte)(unsafe.Add(texts, i*MaxWordBytes))
		at += int(*(*uint8)(unsafe.Add(sizes, i)))

		c = uint32(*(*uint16)(unsafe.Add(from, read+int(s>>8&0xff))))
		e = p.places[c&0xff]
		i = e&0xffff + c>>8&(e>>16)
		*(*[MaxWordBytes]byte)(unsafe.Add(to, at)) = *(*[MaxWordBytes]byte)(unsafe.Add(texts, i*MaxWordBytes))
		at += int(*(*uint8)(unsafe.Add(sizes, i)))

		c = uint32(*(*uint16)(unsafe.Add(from, read+int(s>>16&0xff))))
		e = p.places[c&0xff]
		i = e&0xffff + c>>8&(e>>16)
		*(*[MaxWordBytes]byte)(unsafe.Add(to, at)) = *(*[MaxWordBytes]byte)(unsafe.Add(texts, i*MaxWordBytes))
		at += int(*(*uint8)(unsafe.Add(sizes, i)))

		c = uint32(*(*uint16)(unsafe.Add(from, read+int(s>>24))))
		e = p.places[c&0xff]
		i = e&0xffff + c>>8&(e>>16)
		*(*[MaxWordBytes]byte)(unsafe.Add(to, at)) = *(*[MaxWordBytes]byte)(unsafe.Add(texts, i*MaxWordBytes))
		at += int(*(*uint8)(unsafe.Add(sizes, i)))

		read += int(s & 0xff)
	}
	return read, at
}
