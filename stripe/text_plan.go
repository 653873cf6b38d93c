package stripe

import (
	"slices"

	"tailrace/fsst"
)

// textPlan says how the texts of a chunk are kept: by codes of a dictionary, by symbols, or, with neither, as they are.
type textPlan struct {
	codes   []uint16      // of each row of the chunk; nil: no dictionary
	dict    *texts        // the dictionary
	symbols *fsst.Encoder // nil: none
	// The front page.
	kind byte
	head pageHeader
	body []byte // memory of the encoder that decided
}

// Where a trial pays. Trials read trialShare of a chunk at most, as far as that lies within the bounds.
const (
	trialShare    = 48
	minTrialBytes = 16 << 10
	maxTrialBytes = 256 << 10
	// minSymbolBytes is the size of a chunk in bytes, and minSymbolText the average length of its texts, below which symbols are not tried: training takes
	// a millisecond, and the table a kilobyte.
	minSymbolBytes = 32 << 10
	minSymbolText  = 4
	// sureDict is the share of a chunk, in bytes, below which a dictionary is taken without a look at what else there is.
	sureDict = 3
	// minDictSymbols is the size in bytes below which a dictionary is kept without symbols: a codec does as well, and training takes as long as for a chunk.
	minDictSymbols = 64 << 10
	// dictMostOver is how much larger than the best of the others, one part in so many, a dictionary may be: it is read five times as fast.
	dictMostOver = 4
	// zstdCost is how much larger than they are, one part in so many, texts in zstd count against texts by symbols without it: these are read three times as
	// fast.
	zstdCost = 3
)

// decideTexts decides for a chunk of texts from its sample, which may be empty, and trials. A small chunk has none: each of its one or two pages finds out by itself
// whether a codec pays.
func (e *encoder) decideTexts(v *verdict, s *sample, c *chunk, spans []pageSpan) {
	total := chunkTextBytes(c)
	v.ints = e.decideLengths(c)
	small := total < minSymbolBytes && len(spans) <= fewPages
	if total < minCodecBytes || s.texts.n() == 0 {
		e.tryCodec(v, c, spans)
		return
	}
	var dict textPlan
	dictSize := total
	if e.dictPlausible(s, c) {
		if codes, ok := e.text.dict.build(c); ok {
			dict = e.dictPlan(codes)
			dictSize = e.frontSize(&dict) + codeBytes(len(e.text.dict.keys), c.rows)
		}
	}
	if dictSize > total/sureDict && !small {
		best := e.trySymbols(v, s, c, spans, total)
		if dict.codes == nil || best < dictSize-dictSize/dictMostOver {
			return
		}
	}
	if dict.codes != nil && (dictSize < total/2 || !small) {
		v.texts, v.ints = dict, e.decideCodes(c, dict.codes)
	}
	e.tryCodec(v, c, spans)
}

// chunkTextBytes is the size of the texts of c.
func chunkTextBytes(c *chunk) int {
	n := 0
	for _, g := range c.groups {
		n += int(g.col.Offsets[g.from+g.n]) - int(g.col.Offsets[g.from])
	}
	return n
}

// dictPlausible guesses from the sample whether the chunk has few enough different texts. What was met once (f1) and twice (f2) tells how many were not met
// (Chao, "Nonparametric estimation of the number of classes in a population", 1984): about f1*f1/2f2.
func (e *encoder) dictPlausible(s *sample, c *chunk) bool {
	twice := 0
	for _, n := range s.hashes.counts {
		if n == 2 {
			twice++
		}
	}
	unseen := s.hashes.singles * s.hashes.singles / (2*twice + 1)
	return s.differ+unseen <= min(c.rows/2, maxDictTexts)
}

// codeBytes is about what codes of n values take for rows.
func codeBytes(n, rows int) int { return rows * widthOf(0, int64(n-1)) / 8 }

// dictPlan is the plan of the dictionary that was built.
func (e *encoder) dictPlan(codes []uint16) textPlan {
	p := e.text.dict.texts()
	plan := textPlan{codes: codes, dict: p, kind: pageDict, head: pageHeader{enc: encStr, rows: p.n(), valueBytes: p.bytes}}
	plan.body = e.appendSized(e.text.front[:0], encStr, p, p.data)
	e.text.front = plan.body
	if p.bytes < minDictSymbols {
		return plan
	}
	plain, coded := sizes{}, sizes{}
	e.measure(&plain, plan.body, encStr)
	symbols := e.train(p, nil, 0)
	body := appendSymbols(nil, symbols.Table())
	e.text.coded = symbols.AppendEncoded(e.text.coded[:0], p.data)
	body = e.appendSized(body, encFSST, p, e.text.coded)
	e.measure(&coded, body, encFSST)
	_, size := plain.best()
	if _, n := coded.best(); e.gains(n, size) {
		plan.head.enc, plan.body = encFSST, body
	}
	return plan
}

// frontSize is the size of the front page of plan.
func (e *encoder) frontSize(plan *textPlan) int {
	var s sizes
	e.measure(&s, plan.body, plan.head.enc)
	_, n := s.best()
	return pageHeaderBytes + n
}

// gains tells whether size, with symbols, is enough smaller than without.
func (e *encoder) gains(with, without int) bool {
	return with*100 < without*(100-max(0, e.opts.FSSTMinGainPercent))
}

// train makes a symbol table of the texts of p, with words of more, see fsst.Train.
func (e *encoder) train(p *texts, more [][]byte, share int) *fsst.Encoder {
	e.text.pieces = slices.Grow(e.text.pieces[:0], p.n())
	for i := range p.n() {
		e.text.pieces = append(e.text.pieces, p.at(i))
	}
	out := fsst.Train(e.text.pieces, more, share)
	clear(e.text.pieces)
	return out
}

// What words are found in: wordWindows pieces of the chunk, a wordShare of it in sum and at most maxWordBytes.
const (
	wordWindows  = 32
	wordsFrom    = 3 // words are looked for if a codec leaves more than one part in so many: they hardly get below that
	wordShare    = 2
	maxWordBytes = 1 << 20
)

// wordSample adds pieces of c, whose texts are total bytes, to dst, and tells which part in 1024 of it they are.
func wordSample(dst [][]byte, c *chunk, total int) (more [][]byte, share int) {
	limit := min(total/wordShare, maxWordBytes)
	per := limit / wordWindows
	taken := 0
	for w := range wordWindows {
		row := w * c.rows / wordWindows
		for i := range c.groups {
			g := &c.groups[i]
			if row >= g.n {
				row -= g.n
				continue
			}
			from := int(g.col.Offsets[g.from+row])
			to := min(from+per, int(g.col.Offsets[g.from+g.n]))
			dst = append(dst, g.col.Data[from:to])
			taken += to - from
			break
		}
	}
	return dst, taken * 1024 / total
}

// trySymbols sets v.texts and v.codec to the better of STR and FSST, and returns about what the chunk of total bytes of texts takes with it.
func (e *encoder) trySymbols(v *verdict, s *sample, c *chunk, spans []pageSpan, total int) int {
	trials := trialSpans(c, spans, total)
	plain := e.tryPlan(v, c, trials)
	codec, size := plain.best()
	v.codec = codec
	if total < minSymbolBytes || total < c.rows*minSymbolText || plain.raw == 0 {
		return scaled(size, plain.raw, total)
	}
	more, share := e.text.more[:0], 0
	if size > plain.raw/wordsFrom {
		more, share = wordSample(more, c, total)
		e.text.more = more
	}
	symbols := e.train(&s.texts, more, share)
	clear(more)
	table := symbols.Table()
	plan := textPlan{
		symbols: symbols, kind: pageSymbols, head: pageHeader{enc: encSymbols, rows: table.Symbols() + table.Words()}, body: appendSymbols(nil, table),
	}
	v.texts = plan
	coded := e.tryPlan(v, c, trials)
	with := scaled(size, plain.raw, total)
	withCodec, n := coded.best()
	without := with
	if codec == CodecZstd && withCodec != CodecZstd {
		without += without / zstdCost
	}
	if n = scaled(n, plain.raw, total) + e.frontSize(&plan); e.gains(n, without) {
		v.codec = withCodec
		return n
	}
	v.texts = textPlan{}
	return with
}

// scaled is size, of trials of raw bytes, for a chunk of total bytes.
func scaled(size, raw, total int) int {
	return int(int64(size) * int64(total) / int64(max(1, raw)))
}

// tryPlan encodes the trials as v says and tells what they take.
func (e *encoder) tryPlan(v *verdict, c *chunk, trials []pageSpan) sizes {
	var s sizes
	for _, p := range trials {
		h, _ := e.encodeBody(v, c, p)
		e.measure(&s, e.body, h.enc)
	}
	return s
}

// trialSpans are the beginnings of trialPages, a share of the chunk.
func trialSpans(c *chunk, spans []pageSpan, total int) []pageSpan {
	limit := min(max(total/trialShare/2, minTrialBytes), maxTrialBytes)
	var out []pageSpan
	for _, n := range trialPages(len(spans)) {
		p := spans[n]
		g := &c.groups[p.group]
		offsets := g.col.Offsets[g.from:]
		end, _ := slices.BinarySearch(offsets[p.from+1:p.to+1], offsets[p.from]+int32(limit))
		p.to = min(p.to, p.from+1+end)
		out = append(out, p)
	}
	return out
}

// frontPage is the page of the chunk that its other pages need: kind (pageDict, pageSymbols; 0: none), what the header says besides lengths
// (enc, rows, valueBytes) and the body, which is read before the next call of e.
func (p *textPlan) frontPage() (kind byte, h pageHeader, body []byte) {
	return p.kind, p.head, p.body
}
