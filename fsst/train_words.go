package fsst

import (
	"encoding/binary"
	"slices"
)

const (
	// maxCounted is the most different words that are counted; those that come up later are not.
	maxCounted = 1<<16 - 2
	// symbolCost is about what symbols take for a text, in 256 parts of its length. A word saves what is above its code.
	symbolCost = 120
	// commonWords: a word of at most MaxSymbolBytes that is one in so many of all, or more, is left to the symbols, which take one byte for it.
	commonWords = 400
	// leastWordGain: words must save one part in so many of the sample to be there at all.
	leastWordGain = 32
	// leastLead is the least words for the last of the codes that lead them.
	leastLead = 64
)

// wordCounts is how often words came up.
type wordCounts struct {
	slots []uint32 // upper half: of the hash; lower: number + 1; 0 is free
	words []wordUses
	all   int // words that came up
	spans spans
}

type wordUses struct {
	lo, hi uint64
	size   uint32
	uses   int32
	gain   int32 // see rate
}

// countSlots is how many slots there are: twice as many as words.
const countSlots = 1 << 17

// count makes c the counts of samples.
func (c *wordCounts) count(samples [][]byte) {
	c.slots = slices.Grow(c.slots[:0], countSlots)[:countSlots]
	clear(c.slots)
	c.words, c.all = c.words[:0], 0
	for _, src := range samples {
		for {
			n, end := c.spans.cut(src)
			if end == 0 {
				break
			}
			for _, p := range c.spans[:n] {
				c.add(src, p)
			}
			c.all += n
			src = src[end:]
		}
	}
}

// add counts the word at p of src.
func (c *wordCounts) add(src []byte, p span) {
	x, m := src[p.at():][:MaxWordBytes], &wordMasks[p.size()]
	lo, hi := binary.LittleEndian.Uint64(x)&m[0], binary.LittleEndian.Uint64(x[8:])&m[1]
	h := (lo ^ hi*0xd6e8feb86659fd93) * 0x9e3779b97f4a7c15
	slots := (*[countSlots]uint32)(c.slots)
	at := h >> 47
	for ; slots[at%countSlots] != 0; at++ {
		if v := slots[at%countSlots]; uint16(v>>16) == uint16(h>>16) {
			if w := &c.words[v&0xffff-1]; w.lo == lo && w.hi == hi {
				w.uses++
				return
			}
		}
	}
	if len(c.words) < maxCounted {
		c.words = append(c.words, wordUses{lo: lo, hi: hi, size: uint32(p.size()), uses: 1})
		slots[at%countSlots] = uint32(uint16(h>>16))<<16 | uint32(len(c.words))
	}
}

// pickWords returns the words of samples, which are share in 1024 parts of the texts, that pay for their place in the table: the best ones, in order.
func (r *trainer) pickWords(samples [][]byte, share int) []word {
	bytes := 0
	for _, s := range samples {
		bytes += len(s)
	}
	if bytes == 0 {
		return nil
	}
	r.words.count(samples)
	least, ties, most := r.words.rate(share)
	out, gain := make([]word, 0, most), 0
	for i := range r.words.words {
		c := &r.words.words[i]
		if c.gain < least || c.gain == least && ties == 0 {
			continue
		}
		if c.gain == least {
			ties--
		}
		gain += int(c.gain)
		out = append(out, word{c.lo, c.hi, uint64(c.size)})
	}
	if gain < bytes/leastWordGain {
		return nil
	}
	slices.SortFunc(out, word.compare)
	return out
}

// mostRated is the gain in bytes from which on words are equal.
const mostRated = 1 << 12

// rate finds what each word saves of the sample, and how many words the table has: those of a gain above least, and the first ties of a gain that is least.
func (c *wordCounts) rate(share int) (least int32, ties, most int) {
	var counts [mostRated + 1]int
	for i := range c.words {
		w := &c.words[i]
		if w.gain = 0; w.uses < 2 || w.size <= MaxSymbolBytes && int(w.uses)*commonWords > c.all {
			continue
		}
		saved := int(w.uses) * (int(w.size)*symbolCost - 2*256) / 256
		if gain := saved - (int(w.size)+1)*share/1024; gain > 0 {
			w.gain = int32(min(gain, mostRated))
			counts[w.gain]++
			most++
		}
	}
	most = min(most, MaxWords)
	if rest := most % 256; rest < leastLead {
		most -= rest
	}
	ties = most
	for least = mostRated; least > 1 && counts[least] < ties; least-- {
		ties -= counts[least]
	}
	return least, ties, most
}
