package stripe

import "bytes"

// Values of varying length are texts here, whatever they mean:
//
//	CONST  the bytes of the one value
//	STR    stream of the lengths (CONST, RAW or FOR) | all bytes
//	DICT   STR stream of the different values in order of first appearance | stream of a code for each value (CONST, RAW or FOR)

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

// joined reports whether the values lie in data one after another, without others between.
func (p *texts) joined() bool {
	last := p.n() - 1
	return int(p.start[last])+int(p.size[last])-int(p.start[0]) == p.bytes
}

// appendTexts adds the stream of p, which is not empty. With dict, a dictionary is tried.
func (e *encoder) appendTexts(dst []byte, p *texts, dict bool) []byte {
	if p.constant() {
		dst, at := openStream(dst, encConst, 0, p.n())
		dst = append(dst, p.at(0)...)
		closeStream(dst, at)
		return dst
	}
	if dict {
		if _, ok := e.textDict(p); ok {
			return e.appendTextDict(dst, p)
		}
	}
	dst, at := openStream(dst, encStr, 0, p.n())
	dst = appendMeasured(dst, p.size, 4)
	if p.joined() {
		dst = append(dst, p.data[p.start[0]:int(p.start[0])+p.bytes]...)
	} else {
		for i := range p.n() {
			dst = append(dst, p.at(i)...)
		}
	}
	closeStream(dst, at)
	return dst
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

// appendTextDict adds the dictionary that textDict built, and the codes.
func (e *encoder) appendTextDict(dst []byte, p *texts) []byte {
	t := &e.table
	dst, at := openStream(dst, encDict, 0, p.n())
	dst, values := openStream(dst, encStr, 0, len(t.texts))
	e.delta = e.delta[:0]
	for _, i := range t.texts {
		e.delta = append(e.delta, p.size[i])
	}
	dst = appendMeasured(dst, e.delta, 4)
	for _, i := range t.texts {
		dst = append(dst, p.at(int(i))...)
	}
	closeStream(dst, values)
	dst = appendMeasured(dst, t.codes, 2)
	closeStream(dst, at)
	return dst
}
