package stripe

import (
	"bytes"
	"slices"

	"tailrace"
)

// Values of varying length are texts here, whatever they mean:
//
//	CONST  the bytes of the one value
//	STR    stream of the lengths | all bytes
//	FSST   stream of the lengths | the code of all bytes, by the symbols of the chunk's front page
//	DICT   param 1: stream of the codes of the values in the dictionary that is the chunk's front page
//	       param 0: STR stream of the different values, in order of first appearance | stream of a code for each value
//
// Lengths and codes are streams of integers. A dictionary of a page's own (param 0) is read, not written: one for the chunk has each text once, and
// where a text repeats in its page only, a codec finds it.

const (
	dictOwn   = 0 // param of DICT
	dictChunk = 1
)

// texts are the values of a page that are not NULL, in order.
type texts struct {
	data  []byte
	start []int32 // where each begins in data
	size  []int64 // bytes of each
	bytes int     // of all
}

func (p *texts) n() int { return len(p.size) }

func (p *texts) at(i int) []byte {
	return p.data[p.start[i] : int(p.start[i])+int(p.size[i])]
}

func (p *texts) constant() bool {
	first := p.at(0)
	if p.bytes != p.n()*len(first) {
		return false
	}
	for i := range p.n() {
		if !bytes.Equal(p.at(i), first) {
			return false
		}
	}
	return true
}

// textEncoder is what an encoder needs for texts.
type textEncoder struct {
	room   []byte   // for texts end to end
	coded  []byte   // for their code
	front  []byte   // body of the front page
	pieces [][]byte // what symbols are made of
	more   [][]byte // and words
	dict   dictBuilder
	seen   []bool // codes of the dictionary that the page has
}

// appendTexts adds the stream of p, which is not empty, as the verdict says that has no dictionary; a page that does not fit it is STR.
func (e *encoder) appendTexts(dst []byte, p *texts, v *verdict) []byte {
	if p.constant() {
		return appendConstText(dst, p.at(0), p.n())
	}
	enc, body := encStr, e.joined(p)
	if v.texts.symbols != nil {
		if e.text.coded = v.texts.symbols.AppendEncoded(e.text.coded[:0], body); len(e.text.coded) < p.bytes {
			enc, body = encFSST, e.text.coded
		}
	}
	dst, at := openStream(dst, enc, 0, p.n())
	dst = append(e.appendChild(dst, p.size, 4, &v.ints, 0), body...)
	closeStream(dst, at)
	return dst
}

// appendConstText adds the stream of n times the same text, or value of 16 bytes.
func appendConstText(dst, text []byte, n int) []byte {
	dst, at := openStream(dst, encConst, 0, n)
	dst = append(dst, text...)
	closeStream(dst, at)
	return dst
}

// joined is the texts of p end to end: where they lie so already, as those of a column do, else in memory of e.
func (e *encoder) joined(p *texts) []byte {
	first, last := int(p.start[0]), p.n()-1
	if int(p.start[last])+int(p.size[last])-first == p.bytes {
		return p.data[first : first+p.bytes]
	}
	e.text.room = e.text.room[:0]
	for i := range p.n() {
		e.text.room = append(e.text.room, p.at(i)...)
	}
	return e.text.room
}

// appendSized adds a stream of the lengths of p and then body, for a front page.
func (e *encoder) appendSized(dst []byte, enc encoding, p *texts, body []byte) []byte {
	dst, at := openStream(dst, enc, 0, p.n())
	dst = append(e.appendInner(dst, p.size, 4), body...)
	closeStream(dst, at)
	return dst
}

// loadCodes is load of rows whose values have the codes given, those of c from row from on: the codes of what is not NULL are put into ints, and the different texts
// that they stand for into texts, in the dictionary's order.
func (e *encoder) loadCodes(c *tailrace.Column, from int, codes []uint16, dict *texts) {
	e.loadValid(c, from, len(codes))
	e.ints = slices.Grow(e.ints[:0], len(codes))[:len(codes)]
	widen(e.ints, codes)
	if e.nulls > 0 {
		e.ints = e.ints[:squeeze(e.ints, e.bitmap)]
	}
	seen := slices.Grow(e.text.seen[:0], dict.n())[:dict.n()]
	e.text.seen = seen
	clear(seen)
	for _, code := range e.ints {
		seen[code] = true
	}
	p := &e.texts
	p.clear()
	p.data = dict.data
	for code, is := range seen {
		if is {
			p.start, p.size = append(p.start, dict.start[code]), append(p.size, dict.size[code])
		}
	}
}

// appendCodes adds the stream of what loadCodes has loaded, which is not nothing.
func (e *encoder) appendCodes(dst []byte, v *verdict) []byte {
	if e.texts.n() == 1 {
		return appendConstText(dst, e.texts.at(0), len(e.ints))
	}
	dst, at := openStream(dst, encDict, dictChunk, len(e.ints))
	dst = e.appendChild(dst, e.ints, 2, &v.ints, 0)
	closeStream(dst, at)
	return dst
}
