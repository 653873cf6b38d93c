package fsst

import (
	"cmp"
	"slices"
	"sync"
)

const (
	// SampleBytes is how much of the samples Train looks at, in bytes.
	SampleBytes = 16 << 10
	// pieceBytes is the most of one sample that is looked at at a time.
	pieceBytes = 512
	// leastUses is how often a symbol or pair must come up in the sample to be a candidate.
	leastUses = 3
	// singleBoost is how much more a symbol of one byte counts than its gain: without it, each use of it costs an escape.
	singleBoost = 8
)

// rounds are those of a training; each looks at one in so many pieces, the first ones at few, since they only have to find short symbols.
var rounds = [...]int{4, 2, 2, 1, 1}

// trainer has the counts of one training. The numbers it counts by are codes of the round's table, and 256 more than a byte for escapes of it.
type trainer struct {
	enc   Encoder
	uses  [512]int32
	pairs [512][512]uint16
	cands []candidate
	slots [1 << 14]uint16 // a candidate's number and 1, by the hash of its symbol; 0 is free
	next  []symbol
	piece [][]byte
	words wordCounts
}

type candidate struct {
	symbol
	gain int64
}

var trainers = sync.Pool{New: func() any { return new(trainer) }}

// Train returns the encoder of a table for texts like samples. If more is not nil it is more of the texts, share of 1024 of them, to find words in, which takes
// more than symbols do; the table has words if they pay.
func Train(samples, more [][]byte, share int) *Encoder {
	r := trainers.Get().(*trainer)
	defer trainers.Put(r)
	r.enc.setWords(r.pickWords(more, share))
	r.enc.reset()
	r.cut(samples)
	for _, every := range rounds {
		r.count(every)
		r.collect()
		r.pick()
	}
	e := new(Encoder)
	*e = r.enc
	e.list = nil
	e.table.fill()
	r.enc.setWords(nil) // they are e's
	return e
}

// cut takes pieces of up to pieceBytes from the samples, evenly over them, until there are SampleBytes.
func (r *trainer) cut(samples [][]byte) {
	total := 0
	for _, s := range samples {
		total += len(s)
	}
	r.piece = r.piece[:0]
	// One piece of each stride bytes of the samples laid end to end.
	stride := max(pieceBytes, total/(SampleBytes/pieceBytes))
	at := 0
	for _, s := range samples {
		for len(s) > 0 {
			in := at % stride
			n := min(len(s), pieceBytes-in)
			if in >= pieceBytes {
				n = min(len(s), stride-in)
			} else {
				r.piece = append(r.piece, s[:n])
			}
			at += n
			s = s[n:]
		}
	}
}

// count codes one in every pieces of the sample with the table and counts uses and pairs.
func (r *trainer) count(every int) {
	clear(r.uses[:])
	for i := range r.pairs {
		clear(r.pairs[i][:])
	}
	for i := 0; i < len(r.piece); i += every {
		for p := r.piece[i]; len(p) > 0; {
			at, size := r.word(p)
			r.countPlain(p[:at])
			p = p[at+size:]
		}
	}
}

// countPlain counts what the symbols code src by.
func (r *trainer) countPlain(src []byte) {
	for last := -1; len(src) > 0; {
		s := r.enc.at(src)
		code := int(s & 0xff)
		if code == escape {
			code = 256 + int(src[0])
		}
		r.uses[code]++
		if last >= 0 {
			r.pairs[last][code]++
		}
		last = code
		src = src[s.read():]
	}
}

// word is where the first word of src is, all of src before it if there is none.
func (r *trainer) word(src []byte) (at, size int) {
	if r.enc.words.words == nil {
		return len(src), 0
	}
	for at+wordReach <= len(src) {
		w := wordAt(src[at:])
		if w.size >= MinWordBytes && r.enc.words.find(w.lo, w.hi) > 0 {
			return at, int(w.size)
		}
		at += int(w.size)
	}
	return len(src), 0
}

// symbol is what a number counted by stands for.
func (r *trainer) symbol(code int) symbol {
	if code >= 256 {
		return symbol{uint64(code - 256), 1}
	}
	return symbol{r.enc.table.texts[code], r.enc.table.sizes[code]}
}

// collect makes the candidates of the next table.
func (r *trainer) collect() {
	r.cands = r.cands[:0]
	clear(r.slots[:])
	for a, uses := range r.uses {
		if uses < leastUses {
			continue
		}
		first := r.symbol(a)
		gain := int64(uses) * int64(first.size)
		if first.size == 1 {
			gain *= singleBoost
		}
		r.gain(first, gain)
		if first.size == MaxSymbolBytes {
			continue
		}
		for b, n := range &r.pairs[a] {
			if n >= leastUses {
				s := first.join(r.symbol(b))
				r.gain(s, int64(n)*int64(s.size))
			}
		}
	}
}

// gain adds to the gain of candidate s. Once half the slots are taken, new candidates are not.
func (r *trainer) gain(s symbol, gain int64) {
	at := (s.word ^ uint64(s.size)<<59) * 0x9e3779b97f4a7c15 >> 50
	for ; r.slots[at] != 0; at = (at + 1) % uint64(len(r.slots)) {
		if c := &r.cands[r.slots[at]-1]; c.symbol == s {
			c.gain += gain
			return
		}
	}
	if len(r.cands) < len(r.slots)/2 {
		r.cands = append(r.cands, candidate{s, gain})
		r.slots[at] = uint16(len(r.cands))
	}
}

// pick makes the next table of the best candidates.
func (r *trainer) pick() {
	slices.SortFunc(r.cands, func(a, b candidate) int {
		if a.gain != b.gain {
			return cmp.Compare(b.gain, a.gain)
		}
		return a.compare(b.symbol)
	})
	r.next = r.next[:0]
	for _, c := range r.cands {
		r.next = append(r.next, c.symbol)
	}
	r.enc.build(r.next)
}
