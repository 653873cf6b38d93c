package stripe

import (
	"bytes"
	"encoding/binary"
	"math/bits"
	"slices"

	"github.com/zeebo/xxh3"
)

// maxDict is the most values of a page's own dictionary. A page that has more different ones is not helped by it.
const maxDict = 4096

// The limits of a chunk's dictionary of texts, for readers as well: every read of a page needs all of it.
const (
	maxDictTexts = 1 << 16
	maxDictBytes = 1 << 20
)

// dictBuilder finds the different texts of a chunk, in order of first appearance, and the code of each value. A text is known by 16 bytes and its
// length: up to 16 bytes these are the text, so that they alone are compared.
type dictBuilder struct {
	slots []uint64 // upper half: that of the hash; lower: code + 1, 0 is free
	keys  []dictKey
	words []byte // the texts end to end
}

// dictKey is the bytes of a text, filled up with zeros, or of one of more than 16 its hash and its first 8.
type dictKey struct {
	a, b  uint64
	size  int32
	start int32 // in words
}

// dictMasks keep the first so many bytes of 16.
var dictMasks = func() (m [17][2]uint64) {
	for n := range m {
		m[n] = [2]uint64{^uint64(0) >> (64 - 8*min(n, 8)), ^uint64(0) >> (64 - 8*max(n-8, 0))}
	}
	return m
}()

const minDictSlots = 1 << 10

func (t *dictBuilder) reset() {
	t.slots = slices.Grow(t.slots[:0], minDictSlots)[:minDictSlots]
	clear(t.slots)
	t.keys, t.words = t.keys[:0], t.words[:0]
}

// keyAt is the key of data[at:at+n]. It reads 16 bytes where they are there.
func keyAt(data []byte, at, n int) dictKey {
	if n > 16 {
		x := data[at : at+n]
		return dictKey{a: xxh3.Hash(x), b: binary.LittleEndian.Uint64(x), size: int32(n)}
	}
	if at+16 > len(data) {
		var room [16]byte
		copy(room[:], data[at:at+n])
		return dictKey{a: binary.LittleEndian.Uint64(room[:]), b: binary.LittleEndian.Uint64(room[8:]), size: int32(n)}
	}
	x, m := data[at:at+16], &dictMasks[n]
	return dictKey{a: binary.LittleEndian.Uint64(x) & m[0], b: binary.LittleEndian.Uint64(x[8:]) & m[1], size: int32(n)}
}

// hash is that of a and b and, apart from them, of the size: two texts may differ in zeros at their end alone.
func (k *dictKey) hash() uint64 {
	high, low := bits.Mul64(k.a^0x9e3779b97f4a7c15, k.b^0xd6e8feb86659fd93)
	return (high ^ low) + uint64(k.size)*0xa0761d6478bd642f
}

// add returns the code of data[at:at+n]; ok is false when it is new and the dictionary full.
func (t *dictBuilder) add(data []byte, at, n int) (code int, ok bool) {
	k := keyAt(data, at, n)
	hash, mask := k.hash(), uint64(len(t.slots)-1)
	slot := hash & mask
	for ; t.slots[slot] != 0; slot = (slot + 1) & mask {
		if s := t.slots[slot]; s>>32 == hash>>32 {
			c := int(uint32(s)) - 1
			if y := &t.keys[c]; y.a == k.a && y.b == k.b && y.size == k.size && (n <= 16 || bytes.Equal(t.text(c), data[at:at+n])) {
				return c, true
			}
		}
	}
	if len(t.keys) == maxDictTexts || len(t.words)+n > maxDictBytes {
		return 0, false
	}
	k.start = int32(len(t.words))
	t.keys, t.words = append(t.keys, k), append(t.words, data[at:at+n]...)
	t.slots[slot] = hash>>32<<32 | uint64(len(t.keys))
	if 2*len(t.keys) > len(t.slots) {
		t.grow()
	}
	return len(t.keys) - 1, true
}

// text is the one of code c.
func (t *dictBuilder) text(c int) []byte {
	k := &t.keys[c]
	return t.words[k.start : k.start+k.size]
}

// grow doubles the slots.
func (t *dictBuilder) grow() {
	t.slots = slices.Grow(t.slots[:0], 4*len(t.keys))
	t.slots = t.slots[:1<<(bits.Len(uint(cap(t.slots)))-1)]
	clear(t.slots)
	mask := uint64(len(t.slots) - 1)
	for c := range t.keys {
		hash := t.keys[c].hash()
		at := hash & mask
		for t.slots[at] != 0 {
			at = (at + 1) & mask
		}
		t.slots[at] = hash>>32<<32 | uint64(c+1)
	}
}

// texts are the dictionary's, in memory of their own.
func (t *dictBuilder) texts() *texts {
	p := &texts{data: bytes.Clone(t.words), start: make([]int32, len(t.keys)), size: make([]int64, len(t.keys)), bytes: len(t.words)}
	for i, k := range t.keys {
		p.start[i], p.size[i] = k.start, int64(k.size)
	}
	return p
}

// build finds the dictionary of c and the code of each row, that of NULL being 0. It reports whether the dictionary stays within the limits.
func (t *dictBuilder) build(c *chunk) (codes []uint16, ok bool) {
	t.reset()
	codes = make([]uint16, c.rows)
	out := codes
	for _, g := range c.groups {
		at := g.col.Offsets[g.from]
		for i, end := range g.col.Offsets[g.from+1 : g.from+g.n+1] {
			if at != end || !g.col.IsNull(g.from+i) {
				code, ok := t.add(g.col.Data, int(at), int(end-at))
				if !ok {
					return nil, false
				}
				out[i] = uint16(code)
			}
			at = end
		}
		out = out[g.n:]
	}
	return codes, true
}
