package stripe

import (
	"bytes"
	"cmp"
	"encoding/binary"
	"math/bits"
	"slices"

	"tailrace"
)

// encodeChunk encodes one column of a stripe into the memory of dst. What it writes is a pure function of src, the options and the page size.
func (e *encoder) encodeChunk(dst []byte, src chunkSource, pageRows int) chunk {
	c := chunk{data: dst[:0]}
	c.meta.HasSum = src.col != nil && (src.typ.Kind == tailrace.KindInt2 || src.typ.Kind == tailrace.KindInt4 || src.typ.Kind == tailrace.KindInt8)
	dict := e.sampleChunk(&c.meta, src)
	saves, bounded := false, true
	for group := 0; group < src.rows; group += pageRows {
		end := min(group+pageRows, src.rows)
		for from := group; from < end; {
			to := e.cutPage(src, from, end)
			try := saves || len(c.pages)%codecTryEvery == 0
			h, meta := e.encodeBody(src, from, to, dict, &c.meta)
			body := e.body
			if try && e.codec == CodecZstd && len(body) >= minCodecBytes {
				e.packed = compress(e.packed[:0], body)
				if saves = len(e.packed) <= len(body)-len(body)/codecMinSaving; saves {
					h.codec, body = CodecZstd, e.packed
				}
			}
			at := len(c.data)
			c.data = appendPage(c.data, h, body)
			meta.bytes = len(c.data) - at
			c.pages = append(c.pages, meta)
			c.meta.add(meta)
			bounded = bounded && (meta.min != nil || meta.nulls == meta.rows)
			from = to
		}
	}
	if !bounded {
		c.meta.Min, c.meta.Max = nil, nil
	}
	c.meta.Bytes = int64(len(c.data))
	return c
}

// cutPage is the end of the page that begins at row from: the end of its group unless the values reach PageBytes before.
func (e *encoder) cutPage(src chunkSource, from, end int) int {
	if src.col == nil || src.col.Width > 0 {
		return end
	}
	offsets := src.col.Offsets[src.from:]
	limit := int64(offsets[from]) + PageBytes
	if int64(offsets[end]) < limit {
		return end
	}
	i, _ := slices.BinarySearchFunc(offsets[from+1:end+1], limit, func(o int32, limit int64) int { return cmp.Compare(int64(o), limit) })
	return from + i + 1
}

// encodeBody puts the body of the page of rows [from, to) of src into e.body.
func (e *encoder) encodeBody(src chunkSource, from, to int, dict bool, sum *ChunkMeta) (pageHeader, pageMeta) {
	n := to - from
	h, meta := pageHeader{rows: n}, pageMeta{rows: n}
	e.body = e.body[:0]
	if src.col == nil {
		e.body = appendConst(e.body, src.fixed, n)
		var raw [8]byte
		binary.LittleEndian.PutUint64(raw[:], uint64(src.fixed))
		meta.bound(src.typ, raw[:], raw[:])
	} else {
		e.load(src.typ.Kind, src.col, src.from+from, src.from+to)
		h.nulls, meta.nulls = e.nulls, e.nulls
		if e.nulls == n {
			return h, meta
		}
		if h.bitmap = e.nulls > 0; h.bitmap {
			e.body = append(e.body, e.bitmap...)
		}
		e.appendValues(src, dict, &meta, sum)
		if src.col.Width == 0 {
			h.valueBytes = e.texts.bytes
		}
	}
	h.enc, h.raw = encoding(e.body[bitmapBytes(h)]), len(e.body)
	return h, meta
}

func bitmapBytes(h pageHeader) int {
	if !h.bitmap {
		return 0
	}
	return (h.rows + 7) / 8
}

// appendValues adds the root stream of the loaded values to e.body and their bounds to meta.
func (e *encoder) appendValues(src chunkSource, dict bool, meta *pageMeta, sum *ChunkMeta) {
	tries := intTries(0)
	if dict {
		tries |= tryDict
	}
	switch k := src.typ.Kind; {
	case k == tailrace.KindFloat4 || k == tailrace.KindFloat8:
		e.frames.measure(e.ints)
		e.body = e.appendInts(e.body, e.ints, &e.frames, src.col.Width, tries)
		e.boundFloats(src.typ, meta)
	case src.col.Width == 16:
		e.body = e.appendFixed16(e.body)
		if k == tailrace.KindUUID {
			e.boundTexts(src.typ, meta)
		}
	case src.col.Width > 0:
		e.frames.measure(e.ints)
		e.body = e.appendInts(e.body, e.ints, &e.frames, src.col.Width, tries|tryDelta)
		meta.bound(src.typ, little(e.frames.low, src.col.Width), little(e.frames.high, src.col.Width))
		if sum.HasSum {
			sum.addInts(e.ints)
		}
	case k == tailrace.KindNumeric && e.splitDecimals(&e.texts):
		e.body = e.appendDecimals(e.body, dict)
		e.boundDecimals(src.typ, meta)
	case k == tailrace.KindNumeric || k == tailrace.KindArray:
		e.body = e.appendTexts(e.body, &e.texts, dict)
		e.boundByKey(src.typ, meta)
	default:
		e.body = e.appendTexts(e.body, &e.texts, dict)
		e.boundTexts(src.typ, meta)
	}
}

// appendFixed16 adds the stream of values of 16 bytes: CONST with the one value, or FIXED16 with all.
func (e *encoder) appendFixed16(dst []byte) []byte {
	p := &e.texts
	if p.constant() {
		dst, at := openStream(dst, encConst, 0, p.n())
		dst = append(dst, p.at(0)...)
		closeStream(dst, at)
		return dst
	}
	dst, at := openStream(dst, encFixed16, 0, p.n())
	for i := range p.n() {
		dst = append(dst, p.at(i)...)
	}
	closeStream(dst, at)
	return dst
}

// add counts a page into the chunk's statistics.
func (c *ChunkMeta) add(p pageMeta) {
	c.Nulls += p.nulls
	if p.min == nil {
		return
	}
	if c.Min == nil || bytes.Compare(p.min, c.Min) < 0 {
		c.Min = p.min
	}
	if c.Max == nil || bytes.Compare(p.max, c.Max) > 0 {
		c.Max = p.max
	}
}

func (c *ChunkMeta) addInts(v []int64) {
	high, low := c.SumHigh, c.SumLow
	for _, x := range v {
		var carry uint64
		low, carry = bits.Add64(low, uint64(x), 0)
		high += uint64(x>>63) + carry
	}
	c.SumHigh, c.SumLow = high, low
}
