package stripe

import "fmt"

// A front page is one that the other pages of its chunk need: their dictionary or symbol table. It is the first of the chunk, has an entry of 0 rows in the page
// index, and is read with the first pages that need it; what it is decoded to is kept in the reader.

// frontRange is where the front page of a chunk is in the part.
type frontRange struct {
	chunk, bytes int
	off          int64
}

// missingFront tells where the front page of chunk c is, whose page index is x, if the chunk has one that must be read for the window.
func (w *window) missingFront(x *columnIndex, c int) (frontRange, bool) {
	i := w.r.stripeOf(w.from)
	if w.stripe != i || w.fronts == nil {
		w.stripe, w.fronts = i, map[int]*front{}
	}
	if x.front[i] == 0 || w.fronts[c] != nil {
		return frontRange{}, false
	}
	if f, ok := w.r.fronts.get(w.frontKey(c)); ok {
		w.fronts[c] = f
		return frontRange{}, false
	}
	s := &w.r.footer.Stripes[i]
	return frontRange{chunk: c, bytes: x.front[i], off: s.Offset + s.Chunks[c].Offset}, true
}

// frontKey is the number of chunk c counted over all stripes.
func (w *window) frontKey(c int) int { return w.stripe*len(w.r.indexes) + c }

// openFronts decodes front pages that were fetched.
func (w *window) openFronts(pages []frontRange) error {
	if len(pages) == 0 {
		return nil
	}
	d := decoders.Get().(*decoder)
	defer d.release()
	for _, p := range pages {
		f, err := d.openFront(w.at(p.off, p.bytes))
		if err != nil {
			return fmt.Errorf("part %s: %s, front page: %w", w.r.Name, w.r.columnName(p.chunk), err)
		}
		w.fronts[p.chunk] = f
		w.r.fronts.put(w.frontKey(p.chunk), f, f.size())
	}
	return nil
}
