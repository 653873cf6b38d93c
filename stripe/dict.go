package stripe

import (
	"bytes"
	"math/bits"

	"github.com/zeebo/xxh3"
)

// maxDict is the most values of a page's dictionary. A page that has more different ones is not helped by it.
const maxDict = 4096

// dictTable finds the code of a value while a dictionary is built: open addressing over hashes, codes in order of first appearance. The
// hashes are the same in every process, and do not show in the bytes in any case.
type dictTable struct {
	slots [2 * maxDict]uint16 // code + 1; 0 is free
	codes []int64             // of each value of the page
	ints  []int64             // the dictionary, of integers
	texts []int32             // the dictionary, of texts: where in the page each first appeared
}

func (t *dictTable) reset() {
	clear(t.slots[:])
	t.codes, t.ints, t.texts = t.codes[:0], t.ints[:0], t.texts[:0]
}

func mix(x uint64) uint64 {
	high, low := bits.Mul64(x^0x9e3779b97f4a7c15, 0xd6e8feb86659fd93)
	return high ^ low
}

// intDict builds the dictionary of v and reports whether it has few enough values.
func (e *encoder) intDict(v []int64) bool {
	t := &e.table
	t.reset()
	limit := min(maxDict, len(v)/2)
	for _, x := range v {
		at := mix(uint64(x)) % uint64(len(t.slots))
		for t.slots[at] != 0 && t.ints[t.slots[at]-1] != x {
			at = (at + 1) % uint64(len(t.slots))
		}
		if t.slots[at] == 0 {
			if len(t.ints) == limit {
				return false
			}
			t.ints = append(t.ints, x)
			t.slots[at] = uint16(len(t.ints))
		}
		t.codes = append(t.codes, int64(t.slots[at]-1))
	}
	return true
}

// dictLen is the size of the body of the stream that appendIntDict would add.
func (e *encoder) dictLen(width int) int {
	t := &e.table
	var values, codes frames
	values.measure(t.ints)
	codes.measure(t.codes)
	return 2*streamBytes + min(width*len(t.ints), values.forLen) + min(2*len(t.codes), codes.forLen)
}

// appendIntDict adds the dictionary that intDict built, and the codes.
func (e *encoder) appendIntDict(dst []byte, width, count int) []byte {
	dst, at := openStream(dst, encDict, 0, count)
	dst = appendMeasured(dst, e.table.ints, width)
	dst = appendMeasured(dst, e.table.codes, 2)
	closeStream(dst, at)
	return dst
}

// textDict builds the dictionary of the page's texts. It reports whether the texts of the dictionary take at most 60 % of all; they are then
// bytes long in sum.
func (e *encoder) textDict(p *texts) (size int, ok bool) {
	t := &e.table
	t.reset()
	limit, most := min(maxDict, p.n()/2), p.bytes*6/10
	for i := range p.n() {
		x := p.at(i)
		at := xxh3.Hash(x) % uint64(len(t.slots))
		for t.slots[at] != 0 && !bytes.Equal(p.at(int(t.texts[t.slots[at]-1])), x) {
			at = (at + 1) % uint64(len(t.slots))
		}
		if t.slots[at] == 0 {
			size += len(x)
			if len(t.texts) == limit || size > most {
				return 0, false
			}
			t.texts = append(t.texts, int32(i))
			t.slots[at] = uint16(len(t.texts))
		}
		t.codes = append(t.codes, int64(t.slots[at]-1))
	}
	return size, true
}
