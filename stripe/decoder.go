package stripe

import (
	"sync"

	"tailrace"
)

// decoder holds the buffers that pages are decoded with. Nothing in it outlives a page.
type decoder struct {
	ints    [PageRows]int64
	codes   [PageRows]uint16
	numbers [maxIntDepth]numberRoom
	own     dictionary // of the page under way
	raw     []byte
	front   *front // of the chunk that the page is of, nil: it has none
}

var decoders = sync.Pool{New: func() any { return new(decoder) }}

// maxKept is the largest buffer, in bytes, that a decoder keeps for the next page.
const maxKept = 2 * PageBytes

func (d *decoder) release() {
	if cap(d.raw) > maxKept {
		d.raw = nil
	}
	if cap(d.own.words) > maxKept {
		d.own = dictionary{}
	}
	d.front = nil
	decoders.Put(d)
}

// roomFor returns an empty column with memory for rows rows, except for the bytes of values whose length varies.
func roomFor(width, rows int) tailrace.Column {
	return columnIn(memory(columnBytes(width, rows)), width, rows)
}

// columnBytes is what a column takes of the memory that the columns of a batch share, in bytes: a multiple of 16, so that the next is aligned.
func columnBytes(width, rows int) int {
	if width == 0 {
		width, rows = 4, rows+1
	}
	return (rows*width + 15) &^ 15
}

// columnIn is roomFor in raw, which has columnBytes.
func columnIn(raw []byte, width, rows int) tailrace.Column {
	if width > 0 {
		return tailrace.Column{Width: width, Data: raw[: rows*width : rows*width]}
	}
	ends := asInts[int32](raw)[: rows+1 : rows+1]
	ends[0] = 0
	return tailrace.Column{Offsets: ends}
}

// addPage decodes src, one page, into c, which roomFor made for total rows. c.N counts the rows that are there.
func (d *decoder) addPage(c *tailrace.Column, src []byte, total int) error {
	h, body, err := openPage(src)
	switch {
	case err != nil:
		return err
	case h.kind != pageData:
		return corrupt("page of kind %d", h.kind)
	case h.rows > total-c.N:
		return corrupt("page of %d rows where %d belong", h.rows, total-c.N)
	}
	return d.addBody(c, h, body, total)
}

// openFront decodes src, a page of kind 2 or 3.
func (d *decoder) openFront(src []byte) (*front, error) {
	h, body, err := openPage(src)
	if err == nil && h.kind == pageData {
		err = corrupt("page of kind %d", h.kind)
	}
	if err != nil {
		return nil, err
	}
	if body, err = d.unpack(h.codec, body, h.raw); err != nil {
		return nil, err
	}
	return parseFront(h, body)
}

func (d *decoder) addBody(c *tailrace.Column, h pageHeader, body []byte, total int) error {
	body, err := d.unpack(h.codec, body, h.raw)
	if err != nil {
		return err
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
		return d.addFixed16(c.Data[16*c.N:16*end], s, bitmap)
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

// addTexts decodes the values and where they end, and spreads the ends over the rows.
func (d *decoder) addTexts(c *tailrace.Column, h pageHeader, s stream, bitmap []byte) (err error) {
	ends := c.Offsets[c.N : c.N+1+h.rows] // the first is where the page's first value begins
	if h.valueBytes > maxGroupBytes-int(ends[0]) {
		return corrupt("page group of more than %d bytes in one column", maxGroupBytes)
	}
	switch s.enc {
	case encNone:
		fill(ends[1:], ends[0])
		if h.valueBytes != 0 {
			err = corrupt("%d bytes of values that are all null", h.valueBytes)
		}
		return err
	case encDecimal:
		c.Data, err = d.decodeDecimals(ends[1:s.count+1], c.Data, s, h.valueBytes)
	default:
		c.Data, err = d.decodeTexts(ends[1:s.count+1], c.Data, s, h.valueBytes)
	}
	if err == nil && s.count < h.rows {
		spreadEnds(ends, s.count, bitmap)
	}
	return err
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
