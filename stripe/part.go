package stripe

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"hash/crc32"
	"slices"

	"github.com/zeebo/xxh3"

	"tailrace"
)

// PartBytes is the most bytes of a part that has more than one stripe. Which stripes share a part is decided by it and their sizes, in order, and
// so by the updates alone.
const PartBytes = 64 << 20

// Part puts stripes together to one part. Its bytes are a function of the schema, the options and the stripes. One goroutine uses it.
type Part struct {
	footer  Footer
	out     []byte   // header, which Finish fills in, and stripes
	index   [][]byte // of each chunk number
	filters []filter
	// directory is the footer's entry of each stripe so far.
	directory   []byte
	schemaBytes int
	features    uint64
}

// NewPart returns an empty part of rows of schema, which it keeps. opts are what its stripes were written with. It uses the memory of buf, which may be nil.
func NewPart(schema *tailrace.Schema, opts Options, buf []byte) *Part {
	p := &Part{index: make([][]byte, len(schema.Fields)+2), features: needs(schema)}
	p.out = withRoom(buf, frameBytes)[:frameBytes]
	clear(p.out)
	p.footer = Footer{Schema: schema, Settings: opts.filled().stored(), MinTime: tailrace.MaxTime}
	for _, i := range schema.SortOrder() {
		p.footer.SortKey = append(p.footer.SortKey, schema.Fields[i].ID)
	}
	p.schemaBytes = len(appendSchema(nil, schema))
	return p
}

// Takes reports whether stripes of a part that says f of itself can be added as they are: it has the same columns in the same order, sort key and
// page rows.
func (p *Part) Takes(f *Footer) bool {
	return takes(p.footer.Schema, f.Schema, p.footer.Settings.PageRows, f.Settings.PageRows) && slices.Equal(p.footer.SortKey, f.SortKey)
}

func takes(a, b *tailrace.Schema, rowsA, rowsB int) bool {
	return rowsA == rowsB && (a == b || slices.EqualFunc(a.Fields, b.Fields, func(x, y tailrace.Field) bool { return x.ID == y.ID && x.Type == y.Type }))
}

// Add appends s, whose rows come after those before, and gives its memory back. Keys that overlap with those before are an error, as is a stripe of
// other columns.
func (p *Part) Add(s *Stripe) error {
	defer s.Release()
	f := &p.footer
	if !takes(f.Schema, s.schema, f.Settings.PageRows, s.pageRows) {
		return fmt.Errorf("add stripe of %d columns, page groups of %d rows: the part has %d columns, page groups of %d rows",
			len(s.schema.Fields), s.pageRows, len(f.Schema.Fields), f.Settings.PageRows)
	}
	if n := len(f.Stripes); n > 0 && bytes.Compare(f.Stripes[n-1].LastKey, mostLast(s.Meta.FirstKey)) > 0 {
		return fmt.Errorf("add stripe: its first key %x is below %x, the last one before it", s.Meta.FirstKey, f.Stripes[n-1].LastKey)
	}
	m := s.Meta
	p.reserve(frameBytes + s.size)
	p.out = pad(p.out)
	m.Offset = int64(len(p.out))
	for _, b := range s.pieces {
		p.out = append(p.out, b...)
	}
	for i, x := range s.index {
		p.index[i] = append(p.index[i], x...)
	}
	for _, x := range s.filters {
		x.chunk += len(f.Stripes) * len(p.index)
		p.filters = append(p.filters, x)
	}
	p.features |= s.features
	p.directory = appendStripe(p.directory, &m)
	f.Stripes = append(f.Stripes, m)
	f.Rows += int64(m.Rows)
	f.SumDiff += s.SumDiff
	f.MinTime, f.MaxTime = min(f.MinTime, s.MinTime), max(f.MaxTime, s.MaxTime)
	return nil
}

// mostLast is the greatest LastKey of a stripe before one whose FirstKey is first: that key, or if it was cut, what one that begins alike is
// rounded up to.
func mostLast(first []byte) []byte {
	if len(first) < MaxKeyBytes {
		return first
	}
	return cutHigh(append(bytes.Clone(first), 0), MaxKeyBytes)
}

// roomyPart is the room, in bytes, that a part gets once it has a stripe of roomyStripe: memory that is never written costs nothing.
const (
	roomyPart   = 24 << 20
	roomyStripe = 1 << 20
)

// reserve makes room for n bytes more.
func (p *Part) reserve(n int) {
	if cap(p.out)-len(p.out) >= n {
		return
	}
	size := max(len(p.out)+n, 2*cap(p.out))
	if n >= roomyStripe {
		size = max(size, roomyPart)
	}
	p.out = append(make([]byte, 0, size), p.out...)
}

// Stripes is the number of stripes so far.
func (p *Part) Stripes() int { return len(p.footer.Stripes) }

const (
	// footerRoom is more than what a footer takes besides schema, directory and sections, with padding, hash and tail.
	footerRoom = 8 * frameBytes
	// sectionRoom is the most that the footer's entry of a section takes, in bytes.
	sectionRoom = 32
)

// Size is at least how many bytes the part takes if it is finished now, and at most a kilobyte more.
func (p *Part) Size() int { return p.sizeWith(nil) }

// Fits reports whether the part is no larger than PartBytes with s. The first stripe always fits.
func (p *Part) Fits(s *Stripe) bool { return len(p.footer.Stripes) == 0 || p.sizeWith(s) <= PartBytes }

func (p *Part) sizeWith(s *Stripe) int {
	n := footerRoom + p.schemaBytes + len(p.out) + frameBytes + len(p.directory) + sectionRoom*(len(p.index)+1)
	index, filters := p.index, p.filters
	if s != nil {
		n += frameBytes + s.size + len(appendStripe(nil, &s.Meta)) + 8 // of its offset in the part
		index, filters = slices.Concat(index, s.index), slices.Concat(filters, s.filters)
	}
	for _, x := range index {
		n += len(x)
	}
	for _, x := range filters {
		n += len(x.raw) + frameBytes + sectionRoom
	}
	return n
}

// Finish returns the part, which the caller owns, and its footer. The Part is then of no more use.
func (p *Part) Finish() ([]byte, Footer, error) {
	f := &p.footer
	f.MinTime = min(f.MinTime, f.MaxTime)
	p.reserve(p.Size() - len(p.out))
	sections := p.appendFilters()
	p.out = pad(p.out)
	t := tail{index: int64(len(p.out)), needs: p.features}
	for i, run := range p.index {
		sections = append(sections, section{sectionPageIndex, i, int64(len(p.out)), int64(len(run)), crc32.Checksum(run, castagnoli)})
		p.out = append(p.out, run...)
	}
	settings := appendSettings(nil, f.Settings)
	sections = append(sections, section{sectionSettings, 0, int64(len(p.out)), int64(len(settings)), crc32.Checksum(settings, castagnoli)})
	p.out = pad(append(p.out, settings...))
	appendHeader(p.out[:0], f.Schema, p.features)
	t.footer = int64(len(p.out))
	p.out = appendFooter(p.out, f, p.directory, sections)
	f.Hash = contentHash(p.out)
	p.out = append(p.out, f.Hash[:]...)
	t.footerBytes = int64(len(p.out)) - t.footer
	t.sum = crc32.Checksum(p.out[t.footer:], castagnoli)
	if len(p.out)+frameBytes-int(t.index) > MaxFooterBytes {
		return nil, Footer{}, fmt.Errorf("finish part of %d rows: page indexes and footer of %d bytes, more than %d", f.Rows, len(p.out)-int(t.index), MaxFooterBytes)
	}
	return t.append(p.out), *f, nil
}

// appendFilters adds the filters, each a section of its own, so that a reader loads the one it needs.
func (p *Part) appendFilters() []section {
	var out []section
	for _, x := range p.filters {
		p.out = pad(p.out)
		out = append(out, section{sectionFilter, x.chunk, int64(len(p.out)), int64(len(x.raw)), crc32.Checksum(x.raw, castagnoli)})
		p.out = append(p.out, x.raw...)
	}
	return out
}

// contentHash is the identity of a part whose bytes up to the hash are b.
func contentHash(b []byte) (h [hashBytes]byte) {
	sum := xxh3.Hash128(b)
	binary.LittleEndian.PutUint64(h[:], sum.Lo)
	binary.LittleEndian.PutUint64(h[8:], sum.Hi)
	return h
}
