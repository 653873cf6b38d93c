package stripe

import (
	"sync"

	"tailrace"
)

// decoder holds the buffers that pages are decoded with. Nothing in it outlives a page.
type decoder struct {
	ints   [PageRows]int64
	codes  [PageRows]uint16
	dict   [maxDict]uint64
	sizes  [maxDict]int32
	starts [maxDict]int32
	words  []byte
	raw    []byte
}

var decoders = sync.Pool{New: func() any { return new(decoder) }}

// maxKept is the largest buffer, in bytes, that a decoder keeps for the next page.
const maxKept = 2 * PageBytes

func (d *decoder) release() {
	if cap(d.raw) > maxKept {
		d.raw = nil
	}
	if cap(d.words) > maxKept {
		d.words = nil
	}
	decoders.Put(d)
}

// roomFor returns an empty column with memory for rows rows, except for the bytes of values whose length varies.
func roomFor(width, rows int) tailrace.Column {
	c := tailrace.Column{Width: width}
	if width > 0 {
		c.Data = make([]byte, rows*width)
	} else {
		c.Offsets = make([]int32, rows+1)
	}
	return c
}

// addPage decodes src, one page, into c, which roomFor made for total rows. c.N counts the rows that are there.
func (d *decoder) addPage(c *tailrace.Column, src []byte, total int) error {
	h, body, err := openPage(src)
	switch {
	case err != nil:
		return err
	case h.rows > total-c.N:
		return corrupt("page of %d rows where %d belong", h.rows, total-c.N)
	}
	return d.addBody(c, h, body, total)
}

func (d *decoder) addBody(c *tailrace.Column, h pageHeader, body []byte, total int) error {
	switch h.codec {
	case 0:
	case CodecZstd:
		raw, err := d.decompress(body, h.raw)
		if err != nil {
			return err
		}
		body = raw
	default:
		return corrupt("codec %d", h.codec)
	}
	if len(body) != h.raw || len(body) < bitmapBytes(h) {
		return corrupt("body of %d bytes where the page says %d", len(body), h.raw)
	}
	bitmap, body := body[:bitmapBytes(h)], body[bitmapBytes(h):]
	if h.bitmap && (countBits(bitmap) != h.rows-h.nulls || h.rows&7 != 0 && bitmap[len(bitmap)-1]>>(h.rows&7) != 0) {
		return corrupt("null bitmap that does not have %d nulls of %d rows", h.nulls, h.rows)
	}
	s := stream{enc: encNone}
	if h.nulls < h.rows {
		var err error
		if s, err = wholeStream(body, h.rows-h.nulls); err != nil {
			return err
		}
		body = nil
	}
	if s.enc != h.enc || len(body) != 0 || c.Width > 0 && h.valueBytes != 0 {
		return corrupt("root encoding %d where the page says %d", s.enc, h.enc)
	}
	if err := d.addValues(c, h, s, bitmap); err != nil {
		return err
	}
	markValid(c, h, bitmap, total)
	c.N += h.rows
	return nil
}

// addValues decodes the values of s and spreads them over the rows whose bit is set; the others are zero or empty.
func (d *decoder) addValues(c *tailrace.Column, h pageHeader, s stream, bitmap []byte) error {
	end := c.N + h.rows
	switch c.Width {
	case 1:
		return addInts(d, asInts[int8](c.Data)[c.N:end], s, bitmap)
	case 2:
		return addInts(d, asInts[int16](c.Data)[c.N:end], s, bitmap)
	case 4:
		return addInts(d, asInts[int32](c.Data)[c.N:end], s, bitmap)
	case 8:
		return addInts(d, asInts[int64](c.Data)[c.N:end], s, bitmap)
	case 16:
		return addFixed16(c.Data[16*c.N:16*end], s, bitmap)
	}
	return d.addTexts(c, h, s, bitmap)
}

func addInts[T integer](d *decoder, dst []T, s stream, bitmap []byte) error {
	if s.enc == encNone {
		clear(dst)
		return nil
	}
	if err := decodeInts(d, dst[:s.count], s); err != nil {
		return err
	}
	if s.count < len(dst) {
		spread(dst, s.count, bitmap)
	}
	return nil
}

// spread moves the first n values of v to the places whose bit is set, of which there are n, and zeroes the others: squeeze undone.
func spread[T integer](v []T, n int, bitmap []byte) {
	for i := len(v) - 1; i >= 0; i-- {
		bit := bitmap[i>>3] >> (i & 7) & 1
		n -= int(bit)
		v[i] = v[n] * T(bit)
	}
}

func addFixed16(dst []byte, s stream, bitmap []byte) error {
	switch {
	case s.enc == encNone:
		clear(dst)
		return nil
	case s.enc == encConst && len(s.body) == 16:
		for i := range s.count {
			copy(dst[16*i:], s.body)
		}
	case s.enc == encFixed16 && len(s.body) == 16*s.count:
		copy(dst, s.body)
	default:
		return corrupt("encoding %d of %d values of 16 bytes in %d", s.enc, s.count, len(s.body))
	}
	if n := s.count; 16*n < len(dst) {
		for i := len(dst)/16 - 1; i >= 0; i-- {
			if bitmap[i>>3]>>(i&7)&1 == 0 {
				clear(dst[16*i : 16*i+16])
				continue
			}
			n--
			copy(dst[16*i:16*i+16], dst[16*n:])
		}
	}
	return nil
}

// addTexts decodes the lengths into the place of the offsets, then sums them up.
func (d *decoder) addTexts(c *tailrace.Column, h pageHeader, s stream, bitmap []byte) (err error) {
	sizes, at := c.Offsets[c.N+1:c.N+1+h.rows], c.Offsets[c.N]
	if h.valueBytes > maxGroupBytes-int(at) {
		return corrupt("page group of more than %d bytes in one column", maxGroupBytes)
	}
	switch s.enc {
	case encNone:
		clear(sizes)
		if h.valueBytes != 0 {
			err = corrupt("%d bytes of values that are all null", h.valueBytes)
		}
	case encDecimal:
		c.Data, err = d.decodeDecimals(sizes[:s.count], c.Data, s, h.valueBytes)
	default:
		c.Data, err = d.decodeTexts(sizes[:s.count], c.Data, s, h.valueBytes)
	}
	if err != nil {
		return err
	}
	if 0 < s.count && s.count < len(sizes) {
		spread(sizes, s.count, bitmap)
	}
	for i, n := range sizes {
		at += n
		sizes[i] = at
	}
	return nil
}

// markValid extends c.Valid, if there is a NULL so far, by the page's bitmap.
func markValid(c *tailrace.Column, h pageHeader, bitmap []byte, total int) {
	if c.Valid == nil {
		if h.nulls == 0 {
			return
		}
		c.Valid = make([]byte, (total+7)/8)
		setBits(c.Valid, 0, c.N)
	}
	switch h.nulls {
	case 0:
		setBits(c.Valid, c.N, h.rows)
	case h.rows:
	default:
		copyBits(c.Valid, c.N, bitmap, 0, h.rows)
	}
}

func setBits(b []byte, at, n int) {
	for ; n > 0 && at&7 != 0; n, at = n-1, at+1 {
		b[at>>3] |= 1 << (at & 7)
	}
	for ; n >= 8; n, at = n-8, at+8 {
		b[at>>3] = 0xff
	}
	if n > 0 {
		b[at>>3] |= 1<<n - 1
	}
}
