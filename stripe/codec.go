package stripe

import (
	"encoding/binary"
	"slices"
)

// A codec goes around the body of a page. Which one is decided once for a chunk, on the first and the middle page:
//
//   - none unless lz4 saves a twentieth or zstd a sixth, and of what is packed by itself, integers and codes, a third: these are decoded ten times as fast
//     as a codec is read;
//   - lz4 when it comes within a sixth of zstd, since it reads four times as fast;
//   - else zstd.
//
// A page for which the chunk's codec does not save that much, or that looks random, goes without.
const (
	minCodecBytes = 256
	lz4MostOver   = 6 // lz4 may take one part in so many more than zstd
)

// leastGain is what a codec must save of a body whose root stream is given: one part in so many.
func leastGain(codec Codec, root encoding) int {
	switch root {
	case encStr, encFSST, encFixed16:
		if codec == CodecZstd {
			return 6
		}
		return 20
	case encSymbols:
		return 20
	}
	return 3
}

// sizes are the bytes of some bodies as they are and with each codec. A codec that gained too little on the first of them is not tried on the others, which
// count for it as they are.
type sizes struct {
	raw, lz4, zstd int
	noLZ4, noZstd  bool
	root           encoding // of the last body
}

// best is the codec by the rule above, and the bytes it leaves.
func (s sizes) best() (Codec, int) {
	switch {
	case s.lz4 <= s.raw-s.raw/leastGain(CodecLZ4, s.root) && s.lz4 <= s.zstd+s.zstd/lz4MostOver:
		return CodecLZ4, s.lz4
	case s.zstd <= s.raw-s.raw/leastGain(CodecZstd, s.root):
		return CodecZstd, s.zstd
	}
	return 0, s.raw
}

// measure adds the sizes of body, whose root stream is given.
func (e *encoder) measure(s *sizes, body []byte, root encoding) {
	s.root = root
	n, l := len(body), len(body)
	if e.opts.Codec != CodecNone && !s.noZstd && len(body) >= minCodecBytes && !looksRandom(body) {
		e.packed = appendZstd(e.packed[:0], body)
		n = min(len(e.packed), len(body))
	}
	s.noZstd = n > len(body)-len(body)/leastGain(CodecLZ4, root)
	if !s.noZstd && !s.noLZ4 {
		e.packed = appendLZ4(e.packed[:0], body)
		l = min(len(e.packed), len(body))
	}
	s.noLZ4 = l > n+n/lz4MostOver
	s.raw, s.lz4, s.zstd = s.raw+len(body), s.lz4+l, s.zstd+n
}

// tryCodec sets v.codec for the chunk as v says otherwise. With few pages there is no trial, which would be all or half of the work: zstd is tried on each.
func (e *encoder) tryCodec(v *verdict, c *chunk, spans []pageSpan) {
	if e.opts.Codec == CodecNone {
		return
	}
	if len(spans) <= fewPages {
		v.codec = CodecZstd
		return
	}
	var s sizes
	for _, n := range trialPages(len(spans)) {
		h, _ := e.encodeBody(v, c, spans[n])
		if e.measure(&s, e.body, h.enc); s.noZstd {
			return // nor would it gain enough with the others
		}
	}
	v.codec, _ = s.best()
}

// fewPages is how many pages are few.
const fewPages = 2

// trialPages are the numbers of the pages that a codec is tried on.
func trialPages(pages int) []int {
	if pages <= fewPages {
		return []int{0}
	}
	return []int{0, pages / 2}
}

// pack puts body, compressed, into e.packed and reports whether that is worth it for its root stream.
func (e *encoder) pack(codec Codec, body []byte, root encoding) bool {
	if len(body) < minCodecBytes || looksRandom(body) {
		return false
	}
	if codec == CodecLZ4 {
		e.packed = appendLZ4(e.packed[:0], body)
	} else {
		e.packed = appendZstd(e.packed[:0], body)
	}
	return len(e.packed) <= len(body)-len(body)/leastGain(codec, root)
}

// looksRandom reports whether no codec would gain on body: in four pieces of it all bytes are about as frequent, so that there is nothing for a
// Huffman code, and hardly any four bytes come twice, so that there is nothing to refer to.
func looksRandom(body []byte) bool {
	const pieces, piece = 4, 1024
	if len(body) < 2*pieces*piece {
		return false
	}
	var counts [256]int
	var seen [4096]uint32
	repeats := 0
	for p := range pieces {
		part := body[p*(len(body)-piece)/(pieces-1):][:piece]
		for i, b := range part[:piece-3] {
			counts[b]++
			word := binary.LittleEndian.Uint32(part[i:])
			at := &seen[word*0x9e3779b1>>20]
			if *at == word {
				repeats++
			}
			*at = word
		}
	}
	squares, n := 0, pieces*(piece-3)
	for _, c := range counts {
		squares += c * c
	}
	return squares < (n+n*n/256)*21/20 && repeats < n/100
}

// unpack returns the n bytes that src was compressed from, valid until the next call.
func (d *decoder) unpack(codec Codec, src []byte, n int) ([]byte, error) {
	ratio, read := lz4Ratio, readLZ4
	switch codec {
	case 0:
		return src, nil
	case CodecLZ4:
	case CodecZstd:
		ratio, read = zstdRatio, readZstd
	default:
		return nil, corrupt("codec %d", codec)
	}
	if n > ratio*len(src) {
		return nil, corrupt("page of %d bytes in %d with codec %d", n, len(src), codec)
	}
	d.raw = slices.Grow(d.raw[:0], n+slack)
	return d.raw[:n], read(d.raw[:n], src)
}
