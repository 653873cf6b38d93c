package stripe

import (
	"context"
	"fmt"
	"slices"

	"tailrace"
)

// Plain reports whether stripe i can be copied by Stripe: all its updates are at one time, each with diff +1. It reads nothing.
func (r *Reader) Plain(i int) bool {
	chunks := r.footer.Stripes[i].Chunks
	_, one := chunks[0].number()
	diff, same := chunks[1].number()
	return one && same && diff == 1
}

// Stripe returns stripe i as it is stored, to be added to another part (see Part.Takes): its pages are not decoded, only their checksums checked. Its
// times are written anew as 0, "the base time that the log entry gives". It is an error if the stripe is not Plain.
func (r *Reader) Stripe(ctx context.Context, i int) (*Stripe, error) {
	if !r.Plain(i) {
		return nil, fmt.Errorf("part %s: copy stripe %d: it has several times or diffs", r.Name, i)
	}
	m := &r.footer.Stripes[i]
	raw, err := fetchExact(ctx, r.fetch, m.Offset, m.Bytes)
	if err != nil {
		return nil, fmt.Errorf("part %s: %w", r.Name, err)
	}
	s := newStripe(r.footer.Schema, r.footer.Settings.PageRows)
	s.Meta, s.SumDiff, s.features = *m, int64(m.Rows), r.needs
	s.Meta.Offset, s.Meta.Chunks = 0, make([]ChunkMeta, 0, len(m.Chunks))
	r.appendFixed(s, m.Rows)
	for c := 2; c < len(m.Chunks); c++ {
		if err := r.copyChunk(ctx, s, raw, i, c); err != nil {
			s.Release()
			return nil, fmt.Errorf("part %s: %s: %w", r.Name, r.columnName(c), err)
		}
	}
	return s, nil
}

// appendFixed adds chunks of time 0 and diff 1 to s, which has rows rows.
func (r *Reader) appendFixed(s *Stripe, rows int) {
	e := newEncoder(r.footer.Settings)
	defer e.release()
	for x := range 2 {
		c := chunk{typ: numberType, fixed: int64(x), rows: rows}
		for at := 0; at < rows; at += s.pageRows {
			c.groups = append(c.groups, columnRows{n: min(s.pageRows, rows-at)})
		}
		at, spans := s.begin(), c.appendPages(nil)
		v := e.decide(&c, spans)
		pages := make([]encodedPage, len(spans))
		for i, p := range spans {
			pages[i] = s.encodePage(e, &v, &c, p)
		}
		s.end(at, &c, &v, pages)
	}
}

// copyChunk adds chunk c of stripe i, whose bytes are raw, to s, with its page index and filter.
func (r *Reader) copyChunk(ctx context.Context, s *Stripe, raw []byte, i, c int) error {
	m := r.footer.Stripes[i].Chunks[c]
	x, err := r.index(c)
	if err != nil {
		return fmt.Errorf("page index: %w", err)
	}
	data := raw[m.Offset : m.Offset+m.Bytes]
	at := x.front[i]
	if at > 0 {
		if _, _, err := openPage(data[:at]); err != nil {
			return fmt.Errorf("front page: %w", err)
		}
	}
	from, to := int(x.group[r.firstGroup[i]]), int(x.group[r.firstGroup[i+1]])
	for p := from; p < to; p++ {
		n := x.pages[p].bytes
		if _, _, err := openPage(data[at : at+n]); err != nil {
			return fmt.Errorf("page %d: %w", p, err)
		}
		at += n
	}
	if err := r.copyFilter(ctx, s, i, c); err != nil {
		return fmt.Errorf("filter: %w", err)
	}
	start := s.begin()
	s.add(data)
	m.Offset = start
	m.Min, m.Max = slices.Clone(m.Min), slices.Clone(m.Max)
	s.Meta.Chunks = append(s.Meta.Chunks, m)
	s.Meta.Bytes = int64(s.size)
	s.index = append(s.index, appendPages(nil, x.front[i], x.pages[from:to]))
	return nil
}

func (r *Reader) copyFilter(ctx context.Context, s *Stripe, i, c int) error {
	raw, err := r.readFilter(ctx, i, c)
	s.addFilter(c, raw)
	return err
}

// MayHold reports whether stripe i can hold a value of column id whose key (tailrace.AppendKey) is key. False is certain. It is true when the part
// has no filter of the column, and always for NULL, whose key no filter has. Filters are read when they are first asked.
func (r *Reader) MayHold(ctx context.Context, i int, id tailrace.ColumnID, key []byte) (bool, error) {
	c := r.footer.Schema.Index(id) + 2
	if c < 2 {
		return true, nil
	}
	n := i*len(r.indexes) + c
	f, ok := r.filterCache.get(n)
	if !ok {
		raw, err := r.readFilter(ctx, i, c)
		if err == nil && raw != nil {
			f, err = parseFilter(raw)
		}
		if err != nil {
			return true, fmt.Errorf("part %s: %s, filter: %w", r.Name, r.columnName(c), err)
		}
		r.filterCache.put(n, f, len(raw))
	}
	return f == nil || f.Contains(hashKey(key)), nil
}
