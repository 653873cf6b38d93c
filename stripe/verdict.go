package stripe

import (
	"encoding/binary"
	"slices"

	"tailrace"
)

// verdict says how the pages of one chunk are encoded. It is decided once, from samples, so that pages can be encoded in any order and
// on any goroutine: a page is a function of the verdict and its own rows. A page that does not fit the verdict falls back to a plainer encoding by
// itself, and its streams say what they are; so a verdict is a wish, and readers never see it.
type verdict struct {
	ints  intPlan  // integers and floats, the unscaled values of numerics, the lengths or codes of texts
	texts textPlan // values of varying length and, for those that are not integers, numerics
	codec Codec    // tried around every page's body; 0: none
	front []byte   // the page of the chunk that the others need, a dictionary or a symbol table; nil: none
	// distinct is the estimate for the footer.
	distinct int64
}

// encodedPage is a page and what the footer adds up of it.
type encodedPage struct {
	pageMeta
	sumHigh, sumLow uint64
	features        uint64 // what a reader must know
}

// class is how values of a kind are encoded.
type class uint8

const (
	classInts    class = iota // integers, dates, times
	classFloats               // the bits of floats
	classFixed16              // 16 bytes each
	classNumeric              // integers with a scale, else texts
	classTexts
)

func classOf(k tailrace.Kind) class {
	switch w := k.Width(); {
	case k == tailrace.KindFloat4 || k == tailrace.KindFloat8:
		return classFloats
	case w == 16:
		return classFixed16
	case w > 0:
		return classInts
	case k == tailrace.KindNumeric:
		return classNumeric
	}
	return classTexts
}

// decide makes the verdict of c, whose pages are spans. It is a pure function of c's values and e.opts.
func (e *encoder) decide(c *chunk, spans []pageSpan) verdict {
	if c.constant() {
		return verdict{distinct: 1}
	}
	s := &e.sample
	e.loadSample(c)
	v := verdict{distinct: s.distinct}
	switch class := classOf(c.typ.Kind); {
	case class == classTexts, class == classNumeric && !s.decimals:
		e.decideTexts(&v, s, c, spans)
		if kind, h, body := v.texts.frontPage(); kind != 0 {
			v.front = e.appendFront(nil, kind, h, body)
		}
		return v
	case class == classNumeric:
		v.ints = e.decideDecimals(s, c)
	case class == classFloats:
		v.ints = e.decideFloats(s, c)
	case class == classInts:
		v.ints = e.decideInts(s, c)
	}
	e.tryCodec(&v, c, spans)
	return v
}

// encodePage adds the page of rows p of c to dst, a pure function of verdict and rows.
func (e *encoder) encodePage(dst []byte, v *verdict, c *chunk, p pageSpan) ([]byte, encodedPage) {
	h, out := e.encodeBody(v, c, p)
	body := e.body
	if v.codec != 0 && e.pack(v.codec, body, h.enc) {
		h.codec, body = v.codec, e.packed
	}
	if h.codec != 0 && h.codec != CodecZstd {
		out.features |= featureStreams
	}
	return appendEncoded(dst, h, body, out)
}

// appendEncoded adds a page whose header is h but for lengths and sum.
func appendEncoded(dst []byte, h pageHeader, body []byte, out encodedPage) ([]byte, encodedPage) {
	at := len(dst)
	dst = appendPage(dst, h, body)
	out.bytes = len(dst) - at
	return dst, out
}

// encodeBody puts the body of a page into e.body.
func (e *encoder) encodeBody(v *verdict, c *chunk, p pageSpan) (pageHeader, encodedPage) {
	g, n := &c.groups[p.group], p.to-p.from
	h, out := pageHeader{kind: pageData, rows: n}, encodedPage{pageMeta: pageMeta{rows: n}}
	e.body = e.body[:0]
	if g.col == nil {
		e.body = appendConst(e.body, c.fixed, n)
		var raw [8]byte
		binary.LittleEndian.PutUint64(raw[:], uint64(c.fixed))
		out.bound(c.typ, raw[:], raw[:])
	} else {
		if codes := v.texts.codes; codes != nil {
			row := p.group*e.opts.PageRows + p.from
			e.loadCodes(g.col, g.from+p.from, codes[row:row+n], v.texts.dict)
		} else {
			e.load(c.typ.Kind, g.col, g.from+p.from, g.from+p.to)
		}
		h.nulls, out.nulls = e.nulls, e.nulls
		if e.nulls == n {
			return h, out
		}
		if h.bitmap = e.nulls > 0; h.bitmap {
			e.body = append(e.body, e.bitmap...)
		}
		e.appendValues(v, c, &out)
		if g.col.Width == 0 {
			h.valueBytes = int(g.col.Offsets[g.from+p.to] - g.col.Offsets[g.from+p.from])
		}
	}
	root, _, err := cutStream(e.body[bitmapBytes(h):])
	if err != nil {
		panic("stripe: a page without a root stream: " + err.Error())
	}
	h.enc, h.raw, out.features = root.enc, len(e.body), root.features()
	return h, out
}

// appendValues adds the root stream of the loaded values to e.body and their bounds to out.
func (e *encoder) appendValues(v *verdict, c *chunk, out *encodedPage) {
	width := c.width()
	switch class := classOf(c.typ.Kind); {
	case class == classFloats:
		e.frames.measure(e.ints)
		e.body = e.appendInts(e.body, e.ints, &e.frames, width, &v.ints)
		e.boundFloats(c.typ, &out.pageMeta)
	case class == classInts:
		e.frames.measure(e.ints)
		e.body = e.appendInts(e.body, e.ints, &e.frames, width, &v.ints)
		out.bound(c.typ, little(e.frames.low, width), little(e.frames.high, width))
		if c.sums {
			out.addInts(e.ints, &e.frames)
		}
	case class == classFixed16:
		e.body = e.appendFixed16(e.body, c.typ.Kind)
		if c.typ.Kind == tailrace.KindUUID {
			e.boundTexts(c.typ, &out.pageMeta)
		}
	case v.texts.codes != nil:
		e.body = e.appendCodes(e.body, v)
		e.boundTextsOf(c.typ, &out.pageMeta)
	case class == classNumeric && e.splitDecimals(&e.texts):
		e.body = e.appendDecimals(e.body, &v.ints)
		e.boundDecimals(c.typ, &out.pageMeta)
	default:
		e.body = e.appendTexts(e.body, &e.texts, v)
		e.boundTextsOf(c.typ, &out.pageMeta)
	}
}

// appendFront adds a page of kind 2 or 3.
func (e *encoder) appendFront(dst []byte, kind byte, h pageHeader, body []byte) []byte {
	h.kind, h.raw = kind, len(body)
	if e.opts.Codec != CodecNone && e.pack(CodecZstd, body, h.enc) {
		h.codec, body = CodecZstd, e.packed
	}
	return appendPage(dst, h, slices.Clone(body))
}
