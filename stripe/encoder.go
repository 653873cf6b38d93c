package stripe

import (
	"encoding/binary"
	"math/bits"
	"slices"
	"sync"
	"unsafe"

	"github.com/FastFilter/xorfilter"

	"tailrace"
)

// encoder turns pages into bytes. It keeps its buffers between pages and nothing else, so that what it writes is a function of the verdict, the
// page's rows and the options alone, and any number of encoders may share the pages of a chunk.
type encoder struct {
	opts    Options // filled
	ints    []int64 // the page's values that are not NULL, widened
	frames  frames  // of ints
	numbers numberScratch
	scales  []int64
	bitmap  []byte // the page's, as Column.Valid
	nulls   int
	texts   texts
	body    []byte
	packed  []byte
	text    textEncoder
	key     []byte
	sample  sample
	spans   []pageSpan // of the plain loop, as are pages
	pages   []encodedPage
	hashes  []uint64 // of a filter
	fuse    xorfilter.BinaryFuseBuilder
}

// encoders keeps encoders between uses.
var encoders = sync.Pool{New: func() any { return new(encoder) }}

// newEncoder returns an encoder for options that are filled.
func newEncoder(opts Options) *encoder {
	e := encoders.Get().(*encoder)
	e.opts = opts
	return e
}

// release gives e back. One that panicked is not given back.
func (e *encoder) release() {
	e.texts.clear()
	clear(e.pages[:cap(e.pages)])
	e.opts = Options{}
	if cap(e.body)+cap(e.packed) > 2*maxKept {
		e.body, e.packed = nil, nil
	}
	encoders.Put(e)
}

// load reads rows [from, to) of c, values of kind k, into e: bitmap and nulls, and what is not NULL into ints, or texts when c's width varies or
// is 16.
func (e *encoder) load(k tailrace.Kind, c *tailrace.Column, from, to int) {
	n := to - from
	e.texts.clear()
	e.loadValid(c, from, n)
	e.ints = slices.Grow(e.ints[:0], n)[:n]
	switch c.Width {
	case 1:
		widen(e.ints, view[uint8](c)[from:to])
	case 2:
		widen(e.ints, view[int16](c)[from:to])
	case 4:
		if unsigned(k) {
			widen(e.ints, view[uint32](c)[from:to])
		} else {
			widen(e.ints, view[int32](c)[from:to])
		}
	case 8:
		copy(e.ints, view[int64](c)[from:to])
	default:
		e.ints = e.ints[:0]
		e.loadTexts(c, from, n)
		return
	}
	if e.nulls > 0 {
		e.ints = e.ints[:squeeze(e.ints, e.bitmap)]
	}
}

func view[T any](c *tailrace.Column) []T {
	return unsafe.Slice((*T)(unsafe.Pointer(unsafe.SliceData(c.Data))), c.N)
}

// unsigned tells the kinds of 4 bytes that order without a sign. Widened so, they order as their keys do; what is stored has the same low 4 bytes.
func unsigned(k tailrace.Kind) bool {
	switch k {
	case tailrace.KindOID, tailrace.KindRegclass, tailrace.KindRegtype, tailrace.KindRegproc, tailrace.KindRegnspace, tailrace.KindRegrole:
		return true
	}
	return false
}

func widen[T uint8 | uint16 | int16 | int32 | uint32](dst []int64, src []T) {
	for i, x := range src {
		dst[i] = int64(x)
	}
}

// squeeze moves the values whose bit is set to the front and counts them.
func squeeze[T any](v []T, bitmap []byte) int {
	k := 0
	for i := range v {
		v[k] = v[i]
		k += int(bitmap[i>>3] >> (i & 7) & 1)
	}
	return k
}

// loadValid copies n bits from bit from of c.Valid to the start of e.bitmap and counts those that are not set.
func (e *encoder) loadValid(c *tailrace.Column, from, n int) {
	e.nulls = 0
	if c.Valid == nil {
		return
	}
	e.bitmap = slices.Grow(e.bitmap[:0], (n+7)/8)[:(n+7)/8]
	copyBits(e.bitmap, 0, c.Valid, from, n)
	e.nulls = n - countBits(e.bitmap)
}

// copyBits copies n bits from bit from of src to bit at of dst, whose later bits it clears up to the end of the last byte it writes.
func copyBits(dst []byte, at int, src []byte, from, n int) {
	if at&7 != 0 { // the bits that fill up dst's first byte
		i := at >> 3
		dst[i] &= 1<<(at&7) - 1
		for ; n > 0 && at&7 != 0; n, at, from = n-1, at+1, from+1 {
			dst[i] |= src[from>>3] >> (from & 7) & 1 << (at & 7)
		}
	}
	out, in, s := dst[at>>3:], src[from>>3:], uint(from&7)
	size := (n + 7) / 8
	if s == 0 {
		copy(out[:size], in)
	} else {
		for i := range size {
			b := in[i] >> s
			if i+1 < len(in) {
				b |= in[i+1] << (8 - s)
			}
			out[i] = b
		}
	}
	if n&7 != 0 {
		out[size-1] &= 1<<(n&7) - 1
	}
}

func countBits(b []byte) int {
	n := 0
	for ; len(b) >= 8; b = b[8:] {
		n += bits.OnesCount64(binary.LittleEndian.Uint64(b))
	}
	for _, x := range b {
		n += bits.OnesCount8(x)
	}
	return n
}

func (e *encoder) loadTexts(c *tailrace.Column, from, n int) {
	p := &e.texts
	p.data = c.Data
	p.start, p.size = slices.Grow(p.start[:0], n)[:n], slices.Grow(p.size[:0], n)[:n]
	if c.Width > 0 {
		for i := range n {
			p.start[i], p.size[i] = int32((from+i)*c.Width), int64(c.Width)
		}
	} else {
		at := c.Offsets[from]
		for i, end := range c.Offsets[from+1 : from+n+1] {
			p.start[i], p.size[i] = at, int64(end-at)
			at = end
		}
	}
	if e.nulls > 0 {
		p.start = p.start[:squeeze(p.start, e.bitmap)]
		p.size = p.size[:squeeze(p.size, e.bitmap)]
	}
	p.bytes = 0
	for _, s := range p.size {
		p.bytes += int(s)
	}
}
