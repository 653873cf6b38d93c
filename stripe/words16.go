package stripe

import (
	"encoding/binary"
	"slices"

	"tailrace"
)

// Values of 16 bytes are CONST with the one value, FIXED16 with all of them, or WORDS when that saves a tenth: the integers they consist of, a stream
// each. An interval (param 0) is its months, days and microseconds, of which one or two are usually 0 throughout; a uuid (param 1) is two
// integers of 8 bytes, most significant byte first, of which the first climbs in those that begin with a time (RFC 9562, version 7). Each page finds
// out by itself what suits its words.

// wordWidths are the bytes of the words of a value, by the param of WORDS.
var wordWidths = [2][]int{{4, 4, 8}, {8, 8}}

// wordsParam is the param of WORDS for kind k.
func wordsParam(k tailrace.Kind) uint8 {
	if k == tailrace.KindUUID {
		return 1
	}
	return 0
}

// appendFixed16 adds the stream of the loaded values of 16 bytes, which are not none.
func (e *encoder) appendFixed16(dst []byte, k tailrace.Kind) []byte {
	p := &e.texts
	if p.constant() {
		return appendConstText(dst, p.at(0), p.n())
	}
	if param := wordsParam(k); e.wordsPay(param) {
		at := len(dst)
		if dst = e.appendWords16(dst, param); saves(len(dst)-at-streamBytes, 16*p.n()) {
			return dst
		}
		dst = dst[:at]
	}
	dst, at := openStream(dst, encFixed16, 0, p.n())
	dst = slices.Grow(dst, p.bytes)
	for i := range p.n() {
		dst = append(dst, p.at(i)...)
	}
	closeStream(dst, at)
	return dst
}

// wordsPay reports whether WORDS are worth a try: whether the words of a few values lie near one another or their neighbours.
func (e *encoder) wordsPay(param uint8) bool {
	var some [usualSample]int64
	n := min(e.texts.n(), usualSample)
	if n < 16 {
		return false
	}
	bits := 0
	for at, width := range wordWidths[param] {
		for i := range n {
			some[i] = e.word(i, at, param)
		}
		low, high := span(some[:n])
		least, most, _ := diffSpan(some[:n])
		bits += min(widthOf(low, high), widthOf(least, most), 8*width)
	}
	return minSaving*bits < (minSaving-1)*128
}

// word is number at of value i.
func (e *encoder) word(i, at int, param uint8) int64 {
	raw := e.texts.at(i)
	switch {
	case param == 1:
		return int64(binary.BigEndian.Uint64(raw[8*at:]))
	case at == 2:
		return int64(binary.LittleEndian.Uint64(raw[8:]))
	}
	return int64(int32(binary.LittleEndian.Uint32(raw[4*at:])))
}

func (e *encoder) appendWords16(dst []byte, param uint8) []byte {
	n := e.texts.n()
	dst, start := openStream(dst, encWords, param, n)
	v := slices.Grow(e.numbers.levels[0].values[:0], n)[:n]
	e.numbers.levels[0].values = v
	for at, width := range wordWidths[param] {
		for i := range v {
			v[i] = e.word(i, at, param)
		}
		dst = e.appendInner(dst, v, width)
	}
	closeStream(dst, start)
	return dst
}

// addFixed16 decodes values of 16 bytes and spreads them over the rows whose bit is set; the others are zero.
func (d *decoder) addFixed16(dst []byte, s stream, bitmap []byte) error {
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
	case s.enc == encWords:
		if err := d.decodeWords16(dst[:16*s.count], s); err != nil {
			return err
		}
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

// decodeWords16 fills dst, 16 bytes a value, from a WORDS stream.
func (d *decoder) decodeWords16(dst []byte, s stream) error {
	if int(s.param) >= len(wordWidths) || s.count > len(d.ints) {
		return corrupt("words %d of %d values", s.param, s.count)
	}
	v, body, at := d.ints[:s.count], s.body, 0
	for _, width := range wordWidths[s.param] {
		child, rest, err := cutStream(body)
		if err != nil {
			return err
		}
		if err := decodeNode(d, v, child, 1); err != nil {
			return err
		}
		switch {
		case s.param == 1:
			for i, x := range v {
				binary.BigEndian.PutUint64(dst[16*i+at:], uint64(x))
			}
		case width == 4:
			for i, x := range v {
				binary.LittleEndian.PutUint32(dst[16*i+at:], uint32(x))
			}
		default:
			for i, x := range v {
				binary.LittleEndian.PutUint64(dst[16*i+at:], uint64(x))
			}
		}
		body, at = rest, at+width
	}
	if len(body) != 0 {
		return corrupt("%d bytes after the words", len(body))
	}
	return nil
}
