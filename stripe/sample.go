package stripe

import (
	"math"
	"math/bits"
	"slices"

	"github.com/zeebo/xxh3"
)

// A chunk is sampled before it is encoded: 16 windows of 64 rows at fixed places, so that the verdict is a function of the chunk's values.
const (
	sampleWindows = 16
	sampleWindow  = 64
	// dictMost is how many of the sample's values may be different for a dictionary to be tried: 1 in 4.
	dictMost = 4
)

// sampler counts the different hashes among up to 1,024.
type sampler struct {
	hashes  []uint64 // 0 is free; at least twice as many as values, a power of two
	counts  []uint16
	n       int // values that are not NULL
	differ  int
	singles int // hashes met once
}

func (s *sampler) reset(values int) {
	size := 2 << bits.Len(uint(values))
	s.hashes, s.counts = slices.Grow(s.hashes[:0], size)[:size], slices.Grow(s.counts[:0], size)[:size]
	clear(s.hashes)
	clear(s.counts)
	s.n, s.differ, s.singles = 0, 0, 0
}

func (s *sampler) add(raw []byte) {
	h := xxh3.Hash(raw) | 1
	at := h >> 1 % uint64(len(s.hashes))
	for s.hashes[at] != 0 && s.hashes[at] != h {
		at = (at + 1) % uint64(len(s.hashes))
	}
	s.n++
	s.hashes[at] = h
	switch s.counts[at]++; s.counts[at] {
	case 1:
		s.differ++
		s.singles++
	case 2:
		s.singles--
	}
}

// sampleChunk sets the estimate of m and reports whether dictionaries are worth a try.
func (e *encoder) sampleChunk(m *ChunkMeta, src chunkSource) bool {
	if src.col == nil {
		m.Distinct = 1
		return false
	}
	s := &e.sample
	s.reset(min(src.rows, sampleWindows*sampleWindow))
	window := sampleWindow
	if src.rows <= sampleWindows*sampleWindow {
		window = (src.rows + sampleWindows - 1) / sampleWindows
	}
	last := 0
	for w := range sampleWindows {
		from := max(last, w*src.rows/sampleWindows)
		last = min(src.rows, from+window)
		for i := src.from + from; i < src.from+last; i++ {
			if !src.col.IsNull(i) {
				s.add(src.col.Bytes(i))
			}
		}
	}
	m.Distinct = s.estimate(src.rows)
	return s.n > 0 && s.differ*dictMost <= s.n
}

// estimate is the number of different values among rows (Charikar et al., "Towards estimation error guarantees for distinct values", 2000: what
// was met once stands for the square root of rows/sample others). Whole numbers only, so that every machine finds the same.
func (s *sampler) estimate(rows int) int64 {
	if s.n == 0 {
		return 0
	}
	factor := int64(1024)
	if seen := sampleWindows * sampleWindow; rows > seen {
		factor = int64(math.Sqrt(float64(rows << 20 / seen)))
	}
	return min(int64(rows), int64(s.differ-s.singles)+int64(s.singles)*factor/1024)
}
