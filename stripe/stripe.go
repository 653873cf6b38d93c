package stripe

import "tailrace"

// Stripe is one encoded stripe that is in no part yet: what a Writer emits, and what Reader.Stripe takes out of a part. All offsets in it count from its
// own start, so that it may lie anywhere.
type Stripe struct {
	Meta             StripeMeta // Offset is 0
	MinTime, MaxTime tailrace.Time
	SumDiff          int64 // wrapping

	schema   *tailrace.Schema
	pageRows int
	pieces   [][]byte  // what it is, one after another
	size     int       // of pieces, in bytes
	bufs     []*[]byte // memory of pieces, of pageBuffers
	index    [][]byte  // the page index entries of each chunk number
	entries  []byte    // memory of index
	filters  []filter
	features uint64 // what a reader must know
}

// Size is the number of bytes that the stripe takes in a part, with its page indexes and filters.
func (s *Stripe) Size() int {
	n := s.size
	for _, x := range s.index {
		n += len(x)
	}
	for _, f := range s.filters {
		n += len(f.raw)
	}
	return n
}

// newStripe returns an empty stripe of the schema.
func newStripe(schema *tailrace.Schema, pageRows int) *Stripe {
	return &Stripe{schema: schema, pageRows: pageRows, index: make([][]byte, 0, len(schema.Fields)+2)}
}

// Release gives back the memory of a stripe that goes into no part.
func (s *Stripe) Release() { s.cut(mark{}) }

// add appends bytes, which are not copied.
func (s *Stripe) add(b []byte) {
	if len(b) > 0 {
		s.pieces = append(s.pieces, b)
		s.size += len(b)
	}
}

// addPage appends what is in the buffer, which is the stripe's from now on.
func (s *Stripe) addPage(b *[]byte) {
	s.bufs = append(s.bufs, b)
	s.add(*b)
}

// encodePage appends a page of chunk c by verdict v.
func (s *Stripe) encodePage(e *encoder, v *verdict, c *chunk, rows pageSpan) encodedPage {
	var p encodedPage
	buf := pageBuffers.get()
	s.bufs = append(s.bufs, buf) // first, so that cut gives it back if this panics
	*buf, p = e.encodePage((*buf)[:0], v, c, rows)
	s.add(*buf)
	return p
}

// mark is a place in a stripe.
type mark struct{ pieces, bufs, size int }

func (s *Stripe) mark() mark { return mark{len(s.pieces), len(s.bufs), s.size} }

// cut takes away what was appended after m.
func (s *Stripe) cut(m mark) {
	for _, b := range s.bufs[m.bufs:] {
		pageBuffers.put(b)
	}
	s.pieces, s.bufs, s.size = s.pieces[:m.pieces], s.bufs[:m.bufs], m.size
}

// begin says where the next chunk begins.
func (s *Stripe) begin() int64 {
	s.add(zeros[:padding(s.size)])
	return int64(s.size)
}

// end notes that chunk c, of which v was decided and whose pages are given, is at at.
func (s *Stripe) end(at int64, c *chunk, v *verdict, pages []encodedPage) {
	m := chunkMeta(c, v, pages)
	m.Offset = at
	s.Meta.Chunks = append(s.Meta.Chunks, m)
	s.Meta.Bytes = int64(s.size)
	from := len(s.entries)
	s.entries = appendPageIndex(s.entries, len(v.front), pages)
	s.index = append(s.index, s.entries[from:len(s.entries):len(s.entries)])
	if len(v.front) > 0 {
		s.features |= featureStreams
	}
	for i := range pages {
		s.features |= pages[i].features
	}
}

// addFilter adds the filter of chunk number c, if it has one.
func (s *Stripe) addFilter(c int, raw []byte) {
	if len(raw) > 0 {
		s.filters = append(s.filters, filter{c, raw})
	}
}

var zeros [frameBytes]byte

// pad fills dst up with zeros to the next section.
func pad(dst []byte) []byte { return append(dst, zeros[:padding(len(dst))]...) }

// padding is how many bytes are missing from n to the next section.
func padding(n int) int { return -n & (frameBytes - 1) }
