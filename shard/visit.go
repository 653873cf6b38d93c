package shard

import (
	"bytes"
	"context"
	"fmt"
	"sort"

	"tailrace"
	"tailrace/stripe"
)

// visit calls hit with the run's rows that have a wanted key, page group by page group, each read once.
func (q *query) visit(ctx context.Context, r *run, want func(*wantedKey) bool, hit func(w *wantedKey, b *tailrace.Batch, row int, base tailrace.Time)) error {
	if !q.l.leads(r) {
		return fmt.Errorf("a run is not sorted by the primary key")
	}
	v := visitor{q: q, r: r}
	for i := range q.wanted {
		w := &q.wanted[i]
		if w.done || (want != nil && !want(w)) {
			continue
		}
		if err := ctx.Err(); err != nil {
			return err
		}
		if err := v.rows(ctx, w, func(b *tailrace.Batch, row int, base tailrace.Time) { hit(w, b, row, base) }); err != nil {
			return err
		}
	}
	return nil
}

// visitor holds the page group that was read last.
type visitor struct {
	q    *query
	r    *run
	id   pageID
	b    *tailrace.Batch
	cols []*tailrace.Column
	buf  []byte
}

// rows calls hit with each row whose head key is w's.
func (v *visitor) rows(ctx context.Context, w *wantedKey, hit func(b *tailrace.Batch, row int, base tailrace.Time)) error {
	key := w.key
	for i := v.r.seek(key); i < len(v.r.parts); i++ {
		p := v.r.parts[i]
		if p.endsBelow(key) {
			continue
		}
		if startsAbove(p.first, key) {
			return nil
		}
		reader, err := v.q.sh.set.open(ctx, p)
		if err != nil {
			return err
		}
		for g := reader.SeekGroup(key); g < reader.Groups(); g++ {
			there, err := v.page(ctx, p, reader, g, w)
			if err != nil {
				return err
			}
			if !there { // nor in the other groups of the stripe
				n := reader.StripeOf(g)
				_, end := reader.StripeGroups(n)
				if stripes := reader.Footer().Stripes; n+1 < len(stripes) && startsAbove(stripes[n+1].FirstKey, key) {
					return nil
				}
				g = end - 1
				continue
			}
			row := sort.Search(v.b.N, func(j int) bool { return v.compare(j, key) >= 0 })
			for ; row < v.b.N && v.compare(row, key) == 0; row++ {
				hit(v.b, row, p.base)
			}
			if row < v.b.N {
				return nil
			}
		}
	}
	return nil
}

// startsAbove reports whether rows from row key first on, or from a beginning of one, are surely after every row whose key begins with key.
func startsAbove(first, key []byte) bool {
	n := min(len(key), len(first))
	return bytes.Compare(first[:n], key[:n]) > 0
}

func (v *visitor) compare(row int, key []byte) int {
	v.buf = appendHeadOf(v.buf[:0], v.cols, v.q.l, row)
	return bytes.Compare(v.buf, key)
}

// page makes group g of p the current one; false when its stripe surely does not hold w's key, so that it need not be read.
func (v *visitor) page(ctx context.Context, p *part, reader *stripe.Reader, g int, w *wantedKey) (bool, error) {
	id := pageID{p.key, g}
	if v.b != nil && v.id == id {
		return true, nil
	}
	set := v.q.sh.set
	b := set.pages.get(id)
	if b == nil {
		if may, err := v.q.mayHold(ctx, reader, reader.StripeOf(g), w); err != nil || !may {
			return false, err
		}
		var err error
		if b, err = set.read(ctx, p, g, v.r.order); err != nil {
			return false, err
		}
		if set.pages.put(id, b) {
			v.q.sh.rows.missed.Add(1)
		}
	}
	v.id, v.b, v.cols = id, b, headColumns(b, v.q.l)
	return true, nil
}

// mayHold asks the filters of a stripe's key columns.
func (q *query) mayHold(ctx context.Context, r *stripe.Reader, i int, w *wantedKey) (bool, error) {
	from := 0
	for k, c := range q.l.order[:q.l.head] {
		to := len(w.key)
		if q.ends != nil {
			to = int(q.ends[w.place*q.l.head+k])
		}
		if field := &q.l.schema.Fields[c]; sameType(r, field) {
			if may, err := r.MayHold(ctx, i, field.ID, w.key[from:to]); err != nil || !may {
				return false, err
			}
		}
		from = to
	}
	return true, nil
}

// sameType reports whether a part has a field's column, in the field's type.
func sameType(r *stripe.Reader, field *tailrace.Field) bool {
	s := r.Footer().Schema
	i := s.Index(field.ID)
	return i >= 0 && s.Fields[i].Type == field.Type
}
