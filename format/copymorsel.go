package format

import (
	"fmt"
	"sync"
	"sync/atomic"
)

// Morsel is the bytes of consecutive rows of a COPY FROM, as they came: what one task parses. It lies in the buffers that the client's bytes were received
// into, so it is in pieces, and no row is in two of them.
//
//	buffer   ....rrrrrrrrrrr|rrrrrrrrrrrrr          r a byte of a row
//	piece        └─ morsel 4 ┘└─ morsel 5 ─
//	buffer   rrrrrrrrrrrrrrrrr|rrrrrrrr....         the row that the first buffer ended in was moved here, whole
//	piece    ─ morsel 5 ──────┘└─ 6
type Morsel struct {
	Rows int
	// Bytes are those of the rows, without line ends.
	Bytes int

	line   int64 // of the input, before the first row
	longer []longerRow
	pieces []piece
	home   *copyBuffers
}

// longerRow is a row of CSV with line ends inside quotes.
type longerRow struct {
	row   int
	lines int64 // more than one
}

// piece is whole rows in one buffer. Row i ends before data[ends[i]], and the next begins gap bytes after that.
type piece struct {
	data []byte // to the end of the buffer: slack bytes or more behind the last row
	from int    // where the first row begins
	ends []int32
	gap  int // bytes of a line end
	// lineEnd is the first byte of one. A row at the end of the input may do without.
	lineEnd byte
	in      *copyBuffer
}

// start is where row i of the piece begins.
func (p *piece) start(i int) int {
	if i == 0 {
		return p.from
	}
	return int(p.ends[i-1]) + p.gap
}

// lineOf is the number of the input's line that row i of the morsel ends in, counted from 1.
func (m *Morsel) lineOf(i int) int64 {
	line := m.line + int64(i) + 1
	for _, l := range m.longer {
		if l.row > i {
			break
		}
		line += l.lines
	}
	return line
}

// Where is the place of row i of the morsel as PostgreSQL's CONTEXT has it: line 3: "1,abc".
func (m *Morsel) Where(i int) string {
	line := fmt.Sprintf("line %d", m.lineOf(i))
	for k := range m.pieces {
		p := &m.pieces[k]
		if i >= len(p.ends) {
			i -= len(p.ends)
			continue
		}
		if p.gap > 0 {
			line += ": \"" + shorten(string(p.data[p.start(i):p.ends[i]])) + "\""
		}
		break
	}
	return line
}

// Release gives the buffers back. The morsel must not be used afterwards.
func (m *Morsel) Release() {
	for i := range m.pieces {
		p := &m.pieces[i]
		p.in.release()
		p.data, p.in, p.ends = nil, nil, p.ends[:0]
	}
	m.home.keepMorsel(m)
}

const (
	// The first buffer of a COPY is small, for those of a few rows; each next one is larger, up to the largest unless a row needs more.
	firstBuffer   = 16 << 10
	largestBuffer = 1 << 20
	// slack is how many bytes are left free at the end of every buffer, so that eight bytes can be read at the place of any.
	slack = 64
	// fewestFree is how many free bytes of a buffer are worth reading into.
	fewestFree = 1 << 10
	// spareBuffers and spareMorsels are how many are kept for the next ones.
	spareBuffers = 8
	spareMorsels = 8
)

// copyBuffer is memory that input is received into. Each piece in it holds a reference, and so does the splitter while it fills it.
type copyBuffer struct {
	data []byte
	refs atomic.Int32
	home *copyBuffers
}

func (b *copyBuffer) retain() { b.refs.Add(1) }

func (b *copyBuffer) release() {
	if b.refs.Add(-1) == 0 {
		b.home.keep(b)
	}
}

// copyBuffers are the buffers of one COPY. Tasks release them from any goroutine.
type copyBuffers struct {
	mu      sync.Mutex // for memory only
	free    []*copyBuffer
	morsels []*Morsel
	held    int64 // bytes of the buffers that are in use
}

// take returns an empty buffer of size bytes, or a larger one, with a reference.
func (h *copyBuffers) take(size int) *copyBuffer {
	h.mu.Lock()
	defer h.mu.Unlock()
	var b *copyBuffer
	if n := len(h.free); n > 0 && len(h.free[n-1].data) >= size {
		b, h.free = h.free[n-1], h.free[:n-1]
	} else {
		b = &copyBuffer{data: make([]byte, size), home: h}
	}
	h.held += int64(len(b.data))
	b.retain()
	return b
}

// keep takes a buffer back that nobody refers to.
func (h *copyBuffers) keep(b *copyBuffer) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.held -= int64(len(b.data))
	if len(b.data) == largestBuffer && len(h.free) < spareBuffers {
		h.free = append(h.free, b)
	}
}

func (h *copyBuffers) size() int64 {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.held
}

// morsel returns an empty morsel.
func (h *copyBuffers) morsel() *Morsel {
	h.mu.Lock()
	defer h.mu.Unlock()
	if n := len(h.morsels); n > 0 {
		m := h.morsels[n-1]
		h.morsels = h.morsels[:n-1]
		return m
	}
	return &Morsel{home: h}
}

func (h *copyBuffers) keepMorsel(m *Morsel) {
	m.Rows, m.Bytes, m.longer, m.pieces = 0, 0, m.longer[:0], m.pieces[:0]
	h.mu.Lock()
	defer h.mu.Unlock()
	if len(h.morsels) < spareMorsels {
		h.morsels = append(h.morsels, m)
	}
}

// open begins a piece at byte from of b.
func (m *Morsel) open(b *copyBuffer, from, gap int, lineEnd byte) {
	b.retain()
	if n := len(m.pieces); n < cap(m.pieces) {
		m.pieces = m.pieces[:n+1] // with the memory of its ends
	} else {
		m.pieces = append(m.pieces, piece{})
	}
	p := &m.pieces[len(m.pieces)-1]
	p.data, p.from, p.gap, p.lineEnd, p.in = b.data, from, gap, lineEnd, b
}
