package stripe

import "tailrace"

// GroupBytes is how many encoded bytes the pages of the columns in page group g take, times and diffs included. It reads nothing. Columns that the part
// does not have, and those whose page index is damaged, take none.
func (r *Reader) GroupBytes(g int, cols []tailrace.ColumnID) int64 {
	w := &window{r: r}
	for _, id := range cols {
		if i := r.footer.Schema.Index(id); i >= 0 {
			w.chunks = append(w.chunks, i+2)
		}
	}
	sum := int64(0)
	for _, c := range w.wanted(g) {
		x, from, to, err := w.pages(c, g)
		if err != nil {
			continue
		}
		for _, p := range x.pages[from:to] {
			sum += int64(p.bytes)
		}
	}
	return sum
}
