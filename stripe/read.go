package stripe

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"slices"
	"unsafe"

	"tailrace"
)

// Read returns page group g: times (nil when the part stores none: all are at the base time), diffs (nil when all are +1) and those of the asked
// columns that the part has, in the order asked. The batch has memory of its own, one piece for all columns. Checksums are verified; a damaged page is an error that
// names part, column and page and wraps tailrace.ErrCorrupt, and fails only reads of its column and group.
func (r *Reader) Read(ctx context.Context, g int, cols []tailrace.ColumnID) (*tailrace.Batch, error) {
	w := r.window(cols)
	if err := w.load(ctx, g, g+1); err != nil {
		return nil, err
	}
	return w.batch(g)
}

// Bounds gives keys (tailrace.AppendKey) between which all values of column id in group g that are not NULL lie, both nil when they are not known
// or there is none, and how many are NULL. It reads nothing: a caller uses it to pass over groups. A column the part does not have has nulls -1.
func (r *Reader) Bounds(g int, id tailrace.ColumnID) (low, high []byte, nulls int, err error) {
	i := r.footer.Schema.Index(id)
	if i < 0 {
		return nil, nil, -1, nil
	}
	x, from, to, err := (&window{r: r}).pages(i+2, g)
	if err != nil {
		return nil, nil, 0, err
	}
	var sum pageMeta
	known := true
	for _, p := range x.pages[from:to] {
		nulls += p.nulls
		if p.min != nil {
			sum.widen(p.min, p.max)
		} else if p.nulls < p.rows {
			known = false
		}
	}
	if !known {
		return nil, nil, nulls, nil
	}
	return sum.min, sum.max, nulls, nil
}

// ScanBytes is about how many encoded bytes a Scan holds, at least those of one page group.
const ScanBytes = 4 << 20

// Scan returns the page groups from group g on, in order, with as much read at a time as ScanBytes allows.
func (r *Reader) Scan(g int, cols []tailrace.ColumnID) *Scan {
	return &Scan{window: r.window(cols), next: g}
}

// Scan is a walk over the page groups of a part, for one goroutine. A reader that is done with a batch before it asks for the next recycles it: writing to memory that is in
// the caches takes a quarter less time.
type Scan struct {
	window *window
	next   int
}

// Next returns what Read would of the next page group, io.EOF after the last.
func (s *Scan) Next(ctx context.Context) (*tailrace.Batch, error) {
	r := s.window.r
	if s.next >= r.Groups() {
		return nil, io.EOF
	}
	if s.next >= s.window.to {
		to, err := s.window.reach(s.next)
		if err != nil {
			return nil, err
		}
		if err := s.window.load(ctx, s.next, to); err != nil {
			return nil, err
		}
	}
	b, err := s.window.batch(s.next)
	s.next++
	return b, err
}

// Recycle says that nobody uses the batch that Next returned last any more: the next one may be in its memory.
func (s *Scan) Recycle() { s.window.spare, s.window.given = s.window.given, nil }

// window is the pages of some columns of page groups [from, to) of one stripe, fetched.
type window struct {
	r        *Reader
	chunks   []int // numbers of the chunks wanted: those of the columns asked for
	ids      []tailrace.ColumnID
	from, to int
	runs     []run
	fronts   map[int]*front // by chunk number, of the stripe, those that have one
	stripe   int
	given    []byte // memory of the batch that batch returned last
	spare    []byte // memory that nobody uses any more, for the next
}

// run is a range of the part.
type run struct {
	off, end int64
	data     []byte
}

func (r *Reader) window(cols []tailrace.ColumnID) *window {
	w := &window{r: r}
	for _, id := range cols {
		if i := r.footer.Schema.Index(id); i >= 0 {
			w.chunks, w.ids = append(w.chunks, i+2), append(w.ids, id)
		}
	}
	return w
}

// pages gives the numbers [from, to) of the pages of chunk number c in group g, and the index they are in.
func (w *window) pages(c, g int) (x *columnIndex, from, to int, err error) {
	if x, err = w.r.index(c); err != nil {
		return nil, 0, 0, fmt.Errorf("part %s: %s: page index: %w", w.r.Name, w.r.columnName(c), err)
	}
	return x, int(x.group[g]), int(x.group[g+1]), nil
}

// wanted lists the chunks that must be read in the stripe of group g: a time or diff that is one number is in the footer.
func (w *window) wanted(g int) []int {
	var out []int
	s := &w.r.footer.Stripes[w.r.stripeOf(g)]
	for c := range 2 {
		if _, ok := s.Chunks[c].number(); !ok {
			out = append(out, c)
		}
	}
	return append(out, w.chunks...)
}

// reach is the end of the groups, from g on, that a Scan fetches together: within g's stripe, up to ScanBytes.
func (w *window) reach(g int) (int, error) {
	end := w.r.firstGroup[w.r.stripeOf(g)+1]
	chunks := w.wanted(g)
	for to, size := g, int64(0); to < end; to++ {
		for _, c := range chunks {
			x, from, last, err := w.pages(c, to)
			if err != nil {
				return 0, err
			}
			for _, p := range x.pages[from:last] {
				size += int64(p.bytes)
			}
		}
		if size > ScanBytes && to > g {
			return to, nil
		}
	}
	return end, nil
}

// load fetches the pages of groups [from, to), which are of one stripe, in as few ranges as the gaps between them allow, and the front pages of
// their chunks that are not known yet.
func (w *window) load(ctx context.Context, from, to int) error {
	w.from, w.to, w.runs = from, from, w.runs[:0]
	var fronts []frontRange
	for _, c := range w.wanted(from) {
		x, first, _, err := w.pages(c, from)
		if err != nil {
			return err
		}
		last := int(x.group[to]) - 1
		w.runs = append(w.runs, run{off: x.off[first], end: x.off[last] + int64(x.pages[last].bytes)})
		if f, ok := w.missingFront(x, c); ok {
			fronts = append(fronts, f)
			w.runs = append(w.runs, run{off: f.off, end: f.off + int64(f.bytes)})
		}
	}
	if err := w.fetch(ctx); err != nil {
		return err
	}
	if err := w.openFronts(fronts); err != nil {
		return err
	}
	w.to = to
	return nil
}

// fetch merges the runs and reads them.
func (w *window) fetch(ctx context.Context) error {
	slices.SortFunc(w.runs, func(a, b run) int { return cmp.Compare(a.off, b.off) })
	merged := w.runs[:0]
	for _, x := range w.runs {
		if n := len(merged); n > 0 && x.off-merged[n-1].end <= w.r.ReadThrough {
			merged[n-1].end = max(merged[n-1].end, x.end)
			continue
		}
		merged = append(merged, x)
	}
	w.runs = merged
	for i := range w.runs {
		x := &w.runs[i]
		data, err := fetchExact(ctx, w.r.fetch, x.off, x.end-x.off)
		if err != nil {
			return fmt.Errorf("part %s: %w", w.r.Name, err)
		}
		x.data = data
	}
	return nil
}

// batch decodes group g of the window.
func (w *window) batch(g int) (*tailrace.Batch, error) {
	d := decoders.Get().(*decoder)
	defer d.release()
	_, n := w.r.GroupRows(g)
	b := &tailrace.Batch{N: n, IDs: w.ids, Cols: make([]tailrace.Column, len(w.chunks))}
	s := &w.r.footer.Stripes[w.r.stripeOf(g)]
	words, err := w.numbers(d, s, 0, g, n, 0, w.r.footer.MaxTime == 0)
	if err != nil {
		return nil, err
	}
	b.Times = unsafe.Slice((*tailrace.Time)(unsafe.Pointer(unsafe.SliceData(words))), len(words))
	if words, err = w.numbers(d, s, 1, g, n, 1, true); err != nil {
		return nil, err
	}
	b.Diffs = unsafe.Slice((*tailrace.Diff)(unsafe.Pointer(unsafe.SliceData(words))), len(words))
	room, err := w.room(g, n)
	if err != nil {
		return nil, err
	}
	for i, c := range w.chunks {
		if b.Cols[i], err = w.column(d, c, g, room[i], n); err != nil {
			return nil, err
		}
	}
	return b, nil
}

// maxShared is the most bytes of texts of one batch that lie in the memory it has for all of its columns; others have memory of their own. Texts are in it by
// what pages say that are not checked yet.
const maxShared = 16 << 20

// room returns an empty column for each chunk wanted, with room for the n rows of group g. All share one piece of memory: a large allocation costs as much as
// decoding a column of flags does.
func (w *window) room(g, n int) ([]tailrace.Column, error) {
	room := make([]tailrace.Column, len(w.chunks))
	texts := make([]int, len(w.chunks))
	size, shared := 0, 0
	for i, c := range w.chunks {
		size += columnBytes(w.r.width(c), n)
		if w.r.width(c) > 0 {
			continue
		}
		m, err := w.textBytes(c, g)
		if err != nil {
			return nil, err
		}
		if m += slack; m <= maxShared-shared {
			texts[i], shared = (m+15)&^15, shared+m
			size += texts[i]
		}
	}
	raw := w.spare
	w.spare = nil
	if len(raw) < size {
		raw = memory(size + size/8)
	}
	w.given = raw
	for i, c := range w.chunks {
		own := columnBytes(w.r.width(c), n)
		room[i] = columnIn(raw[:own], w.r.width(c), n)
		if texts[i] > 0 {
			room[i].Data = raw[own : own : own+texts[i]]
		}
		raw = raw[own+texts[i]:]
	}
	return room, nil
}

// textBytes is how many bytes of texts the pages of chunk number c in group g say they have.
func (w *window) textBytes(c, g int) (n int, err error) {
	x, from, to, err := w.pages(c, g)
	if err != nil {
		return 0, err
	}
	for p := from; p < to; p++ {
		n += valueBytesOf(w.at(x.off[p], x.pages[p].bytes))
	}
	return n, nil
}

// numbers returns the times (c 0) or diffs (c 1) of group g; nil when omit is set and all are usual.
func (w *window) numbers(d *decoder, s *StripeMeta, c, g, n int, usual int64, omit bool) ([]int64, error) {
	if x, ok := s.Chunks[c].number(); ok {
		if omit && x == usual {
			return nil, nil
		}
		return slices.Repeat([]int64{x}, n), nil
	}
	col, err := w.column(d, c, g, roomFor(8, n), n)
	if err != nil {
		return nil, err
	}
	out := col.Int64s()
	if omit && !slices.ContainsFunc(out, func(x int64) bool { return x != usual }) {
		return nil, nil
	}
	return out, nil
}

// column decodes the n rows of chunk number c in group g into col, which has room for them.
func (w *window) column(d *decoder, c, g int, col tailrace.Column, n int) (tailrace.Column, error) {
	x, from, to, err := w.pages(c, g)
	if err != nil {
		return col, err
	}
	d.front = w.fronts[c]
	for p := from; p < to; p++ {
		err := d.addPage(&col, w.at(x.off[p], x.pages[p].bytes), n)
		if err == nil && c < 2 && col.Valid != nil {
			err = corrupt("null")
		}
		if err != nil {
			return col, fmt.Errorf("part %s: %s, page %d: %w", w.r.Name, w.r.columnName(c), p, err)
		}
	}
	if col.N != n {
		return col, fmt.Errorf("part %s: %s, page %d: %w", w.r.Name, w.r.columnName(c), from, corrupt("%d rows where %d belong", col.N, n))
	}
	return col, nil
}

// at is the n bytes at off, of a run that holds them.
func (w *window) at(off int64, n int) []byte {
	for _, x := range w.runs {
		if off >= x.off && off+int64(n) <= x.end {
			return x.data[off-x.off : off-x.off+int64(n)]
		}
	}
	panic("stripe: a page outside what its window fetched")
}
