package stripe

import (
	"context"
	"encoding/hex"
	"fmt"
	"hash/crc32"
	"sort"
	"sync"

	"github.com/FastFilter/xorfilter"

	"tailrace"
)

// Fetch reads n bytes of the part from offset off. The result is only read, and kept while a Reader needs it.
type Fetch func(ctx context.Context, off, n int64) ([]byte, error)

const (
	// openBytes is what Open reads of the end of a part, in the hope that it holds all of the footer and page indexes.
	openBytes = 64 << 10
	// ReadThrough is the default of Reader.ReadThrough, in bytes: about what a directory reads in the time that a call takes.
	ReadThrough = 64 << 10
)

// Reader reads one part. It holds the footer and page indexes in memory, and is safe for use by several goroutines.
type Reader struct {
	// Name is what errors call the part: its hash until the caller sets another, before the first Read.
	Name string
	// ReadThrough is the longest gap between two wanted ranges, in bytes, that is fetched with them in one call. For an object store 1 MiB is
	// right. Set before the first Read.
	ReadThrough int64

	fetch       Fetch
	footer      *Footer
	firstGroup  []int   // of each stripe, and the number of groups at the end
	firstRow    []int64 // of each stripe
	indexes     []pageIndex
	needs       uint64          // the part's features
	filters     map[int]section // by chunk number counted over all stripes
	fronts      cache[*front]
	filterCache cache[*xorfilter.BinaryFuse[uint8]]
}

// pageIndex is a page index that is checked and parsed when it is first needed: a damaged one fails only reads of its column.
type pageIndex struct {
	raw   []byte
	sum   uint32
	once  sync.Once
	index *columnIndex
	err   error
}

// Open reads the footer and page indexes of a part of size bytes, in one fetch when they are small, else in two. What no Writer wrote is
// tailrace.ErrCorrupt, a part of a later format ErrVersion. fetch is kept.
func Open(ctx context.Context, fetch Fetch, size int64) (*Reader, error) {
	raw, t, err := readEnd(ctx, fetch, size)
	if err != nil {
		return nil, fmt.Errorf("open part: %w", err)
	}
	at := t.footer - t.index
	if crc32.Checksum(raw[at:at+t.footerBytes], castagnoli) != t.sum {
		return nil, fmt.Errorf("open part: %w", corrupt("footer checksum"))
	}
	f, sections, err := parseFooter(raw[at:at+t.footerBytes], t.index)
	if err != nil {
		return nil, fmt.Errorf("open part: footer: %w", err)
	}
	r := &Reader{
		Name: hex.EncodeToString(f.Hash[:8]), ReadThrough: ReadThrough,
		fetch: fetch, footer: f, indexes: make([]pageIndex, len(f.Schema.Fields)+2), needs: t.needs &^ needs(f.Schema), filters: map[int]section{},
	}
	for _, s := range sections {
		if err := r.section(s, raw, t); err != nil {
			return nil, fmt.Errorf("open part: %w", err)
		}
	}
	groups, rows := 0, int64(0)
	for i := range f.Stripes {
		r.firstGroup, r.firstRow = append(r.firstGroup, groups), append(r.firstRow, rows)
		groups += len(f.Stripes[i].Groups)
		rows += int64(f.Stripes[i].Rows)
	}
	r.firstGroup = append(r.firstGroup, groups)
	return r, nil
}

// section notes where section s is; raw is the part from t.index on.
func (r *Reader) section(s section, raw []byte, t tail) error {
	inEnd := s.offset >= t.index && s.length <= t.footer-s.offset
	switch {
	case s.kind == sectionFilter:
		if s.offset < frameBytes || s.length > t.index-s.offset || s.chunk >= len(r.footer.Stripes)*len(r.indexes) {
			return corrupt("filter number %d at %d", s.chunk, s.offset)
		}
		r.filters[s.chunk] = s
	case s.kind == sectionPageIndex:
		if !inEnd || s.chunk >= len(r.indexes) {
			return corrupt("page index of column number %d at %d", s.chunk, s.offset)
		}
		x := &r.indexes[s.chunk]
		x.raw, x.sum = raw[s.offset-t.index:s.offset-t.index+s.length], s.sum
	case s.kind == sectionSettings:
		if !inEnd || crc32.Checksum(raw[s.offset-t.index:s.offset-t.index+s.length], castagnoli) != s.sum {
			return corrupt("settings at %d: checksum", s.offset)
		}
		return parseSettings(&r.footer.Settings, raw[s.offset-t.index:s.offset-t.index+s.length])
	}
	return nil
}

// readEnd returns the part from the page indexes on, in memory of its own size, and its tail.
func readEnd(ctx context.Context, fetch Fetch, size int64) ([]byte, tail, error) {
	if size < 2*frameBytes {
		return nil, tail{}, corrupt("part of %d bytes", size)
	}
	n := min(size, openBytes)
	end, err := fetchExact(ctx, fetch, size-n, n)
	if err != nil {
		return nil, tail{}, err
	}
	t, err := parseTail(end[n-frameBytes:], size)
	if err != nil {
		return nil, t, err
	}
	if n == size {
		if err := checkHeader(end[:frameBytes]); err != nil {
			return nil, t, err
		}
	}
	raw := make([]byte, 0, size-t.index)
	if start := size - n; t.index >= start {
		return append(raw, end[t.index-start:]...), t, nil
	}
	more, err := fetchExact(ctx, fetch, t.index, size-n-t.index)
	return append(append(raw, more...), end...), t, err
}

func fetchExact(ctx context.Context, fetch Fetch, off, n int64) ([]byte, error) {
	raw, err := fetch(ctx, off, n)
	if err != nil {
		return nil, fmt.Errorf("read %d bytes at %d: %w", n, off, err)
	}
	if int64(len(raw)) != n {
		return nil, corrupt("%d bytes at %d where %d belong", len(raw), off, n)
	}
	return raw, nil
}

// Footer is what the part says about itself. It must not be changed.
func (r *Reader) Footer() *Footer { return r.footer }

// Groups is the number of page groups over all stripes.
func (r *Reader) Groups() int { return r.firstGroup[len(r.footer.Stripes)] }

// GroupRows gives the first row, counted over the part, and the number of rows of group g.
func (r *Reader) GroupRows(g int) (first int64, n int) {
	i := r.stripeOf(g)
	from := (g - r.firstGroup[i]) * r.footer.Settings.PageRows
	return r.firstRow[i] + int64(from), min(r.footer.Settings.PageRows, r.footer.Stripes[i].Rows-from)
}

// StripeOf is the stripe that group g is in.
func (r *Reader) StripeOf(g int) int { return r.stripeOf(g) }

// StripeGroups are the groups [from, to) of stripe i.
func (r *Reader) StripeGroups(i int) (from, to int) { return r.firstGroup[i], r.firstGroup[i+1] }

// stripeOf is the stripe that group g is in.
func (r *Reader) stripeOf(g int) int {
	return sort.Search(len(r.footer.Stripes), func(i int) bool { return r.firstGroup[i+1] > g })
}

// index returns the page index of chunk number c.
func (r *Reader) index(c int) (*columnIndex, error) {
	x := &r.indexes[c]
	x.once.Do(func() {
		if crc32.Checksum(x.raw, castagnoli) != x.sum {
			x.err = corrupt("page index checksum")
		} else {
			x.index, x.err = parsePageIndex(x.raw, r.footer, c)
		}
	})
	return x.index, x.err
}

// width is the bytes that a value of chunk number c takes in memory, 0 when that varies.
func (r *Reader) width(c int) int {
	if c < 2 {
		return 8
	}
	return r.footer.Schema.Fields[c-2].Type.Kind.Width()
}

// columnName is what errors call chunk number c.
func (r *Reader) columnName(c int) string { return chunkName(r.footer.Schema, c) }

func chunkName(s *tailrace.Schema, c int) string {
	if c < 2 {
		return plainName(s, c)
	}
	return fmt.Sprintf("column %q", s.Fields[c-2].Name)
}

// plainName is the name of the column of chunk number c; "time" and "diff" are the first two.
func plainName(s *tailrace.Schema, c int) string {
	switch c {
	case 0:
		return "time"
	case 1:
		return "diff"
	}
	return s.Fields[c-2].Name
}

// Verify checks every byte of a whole part: the content hash, each page by decoding it, and the filters.
func Verify(ctx context.Context, part []byte) error {
	r, err := Open(ctx, func(_ context.Context, off, n int64) ([]byte, error) { return part[off : off+n], nil }, int64(len(part)))
	if err != nil {
		return err
	}
	if err := checkHeader(part[:frameBytes]); err != nil {
		return fmt.Errorf("part %s: %w", r.Name, err)
	}
	cols := make([]tailrace.ColumnID, len(r.footer.Schema.Fields))
	for i, f := range r.footer.Schema.Fields {
		cols[i] = f.ID
	}
	for g := range r.Groups() {
		if _, err := r.Read(ctx, g, cols); err != nil {
			return err
		}
	}
	for i := range r.footer.Stripes {
		if _, err := r.Describe(ctx, i); err != nil {
			return err // of times or diffs that are one number, which Read does not read
		}
		for _, id := range cols {
			if _, err := r.MayHold(ctx, i, id, nil); err != nil {
				return err
			}
		}
	}
	hashed := part[:len(part)-frameBytes-hashBytes] // last, so that what is known to be damaged is named
	if contentHash(hashed) != r.footer.Hash {
		return fmt.Errorf("part %s: %w", r.Name, corrupt("content hash"))
	}
	return nil
}
