package stripe

import (
	"slices"
	"strings"
	"unsafe"

	"tailrace/fsst"
)

// slack is how far beyond a text decoders may write. Memory for texts has that much room behind, that of a dictionary's too, since they read as far.
const slack = 32

// decodeTexts adds the values of s to the column under way: their bytes, which must be want in sum, to data, and where in data each ends to ends, which
// has room for s.count.
func (d *decoder) decodeTexts(ends []int32, data []byte, s stream, want int) ([]byte, error) {
	if s.count != len(ends) {
		return nil, corrupt("stream of %d values where %d belong", s.count, len(ends))
	}
	switch {
	case s.enc == encConst:
		return decodeConstText(ends, data, s.body, want)
	case s.enc == encStr:
		body, err := d.decodeEnds(ends, len(data), s, want)
		if err != nil {
			return nil, err
		}
		if len(body) != want {
			return nil, corrupt("texts of %d bytes where %d belong", len(body), want)
		}
		return append(textRoom(data, want), body...), nil
	case s.enc == encFSST && d.front != nil && d.front.symbols != nil:
		return d.decodeFSST(ends, data, s, want)
	case s.enc == encDict && s.param == dictOwn:
		return d.decodeOwnDict(ends, data, s.body, want)
	case s.enc == encDict && s.param == dictChunk && d.front != nil && d.front.kind == pageDict:
		return d.decodeCodes(ends, data, s.body, &d.front.dict, want)
	}
	return nil, corrupt("encoding %d (%d) of texts", s.enc, s.param)
}

// memory returns n bytes, whatever they are, aligned to 8, for what is then written in full: a strings.Builder does not clear what it grows by, and make would,
// which takes a tenth of the time that decoding does.
func memory(n int) []byte {
	var b strings.Builder
	b.Grow(max(n, 8))
	b.WriteByte(0)
	return unsafe.Slice(unsafe.StringData(b.String()), n)
}

// textRoom returns data with room for n bytes more and slack behind them.
func textRoom(data []byte, n int) []byte {
	need := len(data) + n + slack
	if need <= cap(data) {
		return data
	}
	if len(data) > 0 { // another page of a group of several
		need = max(need, 2*cap(data))
	}
	out := memory(need)
	return out[:copy(out, data)]
}

// decodeConstText repeats text.
func decodeConstText(ends []int32, data, text []byte, want int) ([]byte, error) {
	if len(text)*len(ends) != want {
		return nil, corrupt("%d values of %d bytes where %d bytes belong", len(ends), len(text), want)
	}
	at := len(data)
	data = textRoom(data, want)[:at+want]
	climb(ends, at, len(text))
	out := data[at:]
	for n := copy(out, text); n < len(out); n *= 2 {
		copy(out[n:], out[:n])
	}
	return data, nil
}

// climb makes ends those of texts of size bytes each, of which the first begins at at.
func climb(ends []int32, at, size int) {
	for i := range ends {
		at += size
		ends[i] = int32(at)
	}
}

// decodeEnds reads the lengths of an STR or FSST stream, which must be want in sum, adds them up from at on, and returns what follows them.
func (d *decoder) decodeEnds(ends []int32, at int, s stream, want int) ([]byte, error) {
	lengths, body, err := cutStream(s.body)
	if err != nil {
		return nil, err
	}
	if lengths.count != len(ends) {
		return nil, corrupt("%d lengths of %d texts", lengths.count, len(ends))
	}
	if size, ok := constOf(lengths); ok && size >= 0 && size <= MaxValueBytes && int(size)*len(ends) == want {
		climb(ends, at, int(size))
		return body, nil
	}
	if err := decodeNode(d, ends, lengths, 1); err != nil {
		return nil, err
	}
	if sum, ok := addUp(ends, at); !ok || sum != int64(want) {
		return nil, corrupt("text lengths that sum to %d of %d bytes", sum, want)
	}
	return body, nil
}

// addUp makes of each length where the text ends, the first of which begins at at, and gives the sum of all. ok is false if one is negative.
func addUp(sizes []int32, at int) (sum int64, ok bool) {
	end, signs := int64(at), int32(0)
	for i, n := range sizes {
		end += int64(n)
		signs |= n
		sizes[i] = int32(end)
	}
	return end - int64(at), signs >= 0
}

// decodeFSST decodes by the symbols of the front page.
func (d *decoder) decodeFSST(ends []int32, data []byte, s stream, want int) ([]byte, error) {
	coded, err := d.decodeEnds(ends, len(data), s, want)
	if err != nil {
		return nil, err
	}
	if want <= len(coded)*fsst.MaxSymbolBytes {
		data = textRoom(data, want)
	}
	data, err = d.front.symbols.AppendDecoded(data, coded, want)
	if err != nil {
		return nil, corrupt("texts by symbols: %v", err)
	}
	return data, nil
}

// decodeOwnDict copies each value from the dictionary that the page begins with.
func (d *decoder) decodeOwnDict(ends []int32, data, body []byte, want int) ([]byte, error) {
	values, rest, err := cutStream(body)
	if err != nil {
		return nil, err
	}
	if values.enc != encStr || values.count == 0 || values.count > min(maxDict, len(ends)) {
		return nil, corrupt("dictionary of %d texts, encoding %d", values.count, values.enc)
	}
	_, words, err := cutStream(values.body)
	if err != nil {
		return nil, err
	}
	if err := d.own.read(d, values, len(words)); err != nil {
		return nil, err
	}
	return d.decodeCodes(ends, data, rest, &d.own, want)
}

// decodeCodes copies each value from dict. src is the stream of the codes.
func (d *decoder) decodeCodes(ends []int32, data, src []byte, dict *dictionary, want int) ([]byte, error) {
	n := len(ends)
	if n > len(d.codes) {
		return nil, corrupt("%d dictionary codes", n)
	}
	codes := d.codes[:n]
	if err := decodeWhole(d, codes, src, 1); err != nil {
		return nil, err
	}
	if want > n*dict.longest {
		return nil, corrupt("%d texts of at most %d bytes where %d bytes belong", n, dict.longest, want)
	}
	at := len(data)
	data = textRoom(data, want)[:at+want]
	if end := dict.gather(ends, data, at, codes); end != len(data) {
		return nil, corrupt("dictionary codes of other texts than %d of %d with %d bytes", n, len(dict.places), want)
	}
	return data, nil
}

// dictionary is the texts that codes stand for.
type dictionary struct {
	places  []place
	words   []byte // the texts end to end, and slack bytes more
	ends    []int32
	longest int // bytes
}

// place is where a text is in words: the upper half where it starts, the lower its size, in bytes.
type place uint64

func (p place) start() int { return int(p >> 32) }
func (p place) size() int  { return int(uint32(p)) }

// read makes d the dictionary of the texts of s, an STR or FSST stream of want bytes.
func (t *dictionary) read(d *decoder, s stream, want int) error {
	t.ends = slices.Grow(t.ends[:0], s.count)[:s.count]
	words, err := d.decodeTexts(t.ends, t.words[:0], s, want)
	if err != nil {
		return err
	}
	t.words = words[:want+slack]
	clear(t.words[want:])
	t.places = slices.Grow(t.places[:0], s.count)[:s.count]
	at, longest := int32(0), int32(0)
	for i, end := range t.ends {
		t.places[i] = place(uint64(at)<<32 | uint64(end-at))
		longest = max(longest, end-at)
		at = end
	}
	t.longest = int(longest)
	return nil
}

// gather writes the texts that codes name to data[at:], up to slack bytes behind data, for which it has room, and where each ends to ends. It returns where
// the last one ends: -1 if that is behind data, or a code names none.
// Hot: no allocation; held by TestGatherAllocs.
func (t *dictionary) gather(ends []int32, data []byte, at int, codes []uint16) int {
	if t.longest <= slack/2 {
		return t.gatherShort(ends, data, at, codes)
	}
	return t.gatherLong(ends, data, at, codes)
}

// gatherShort is gather of texts of at most slack/2 bytes: it writes as many each time, then on by the text's length.
func (t *dictionary) gatherShort(ends []int32, data []byte, at int, codes []uint16) int {
	to, from := unsafe.Pointer(unsafe.SliceData(data)), unsafe.Pointer(unsafe.SliceData(t.words))
	places, ends := t.places, ends[:len(codes)]
	for i, c := range codes {
		if int(c) >= len(places) || at > len(data) {
			return -1
		}
		p := places[c]
		*(*[slack / 2]byte)(unsafe.Add(to, at)) = *(*[slack / 2]byte)(unsafe.Add(from, p.start()))
		at += p.size()
		ends[i] = int32(at)
	}
	return at
}

// gatherLong is gather of texts of any length: it writes slack bytes in two halves, which takes two moves each where the whole would take a call.
func (t *dictionary) gatherLong(ends []int32, data []byte, at int, codes []uint16) int {
	to, from := unsafe.Pointer(unsafe.SliceData(data)), unsafe.Pointer(unsafe.SliceData(t.words))
	places, ends := t.places, ends[:len(codes)]
	for i, c := range codes {
		if int(c) >= len(places) || at > len(data) {
			return -1
		}
		p := places[c]
		src, dst := unsafe.Add(from, p.start()), unsafe.Add(to, at)
		*(*[slack / 2]byte)(dst) = *(*[slack / 2]byte)(src)
		*(*[slack / 2]byte)(unsafe.Add(dst, slack/2)) = *(*[slack / 2]byte)(unsafe.Add(src, slack/2))
		if n := p.size(); n > slack {
			if at+n > len(data) {
				return -1
			}
			copy(data[at+slack:at+n], t.words[p.start()+slack:])
		}
		at += p.size()
		ends[i] = int32(at)
	}
	return at
}
