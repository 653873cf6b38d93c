package shard

import (
	"bytes"
	"context"
	"fmt"
	"sort"

	"tailrace"
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
		if err := v.rows(ctx, w.key, func(b *tailrace.Batch, row int, base tailrace.Time) { hit(w, b, row, base) }); err != nil {
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

// rows calls hit with each row whose head key is key.
func (v *visitor) rows(ctx context.Context, key []byte, hit func(b *tailrace.Batch, row int, base tailrace.Time)) error {
	for i := v.r.seek(key); i < len(v.r.parts); i++ {
		p := v.r.parts[i]
		if p.endsBelow(key) {
			continue
		}
		if n := min(len(key), len(p.first)); bytes.Compare(p.first[:n], key[:n]) > 0 {
			return nil // the part begins after every row with this key
		}
		reader, err := v.q.sh.set.open(ctx, p)
		if err != nil {
			return err
		}
		for g := reader.SeekGroup(key); g < reader.Groups(); g++ {
			if err := v.page(ctx, p, g); err != nil {
				return err
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

func (v *visitor) compare(row int, key []byte) int {
	v.buf = appendHeadOf(v.buf[:0], v.cols, v.q.l, row)
	return bytes.Compare(v.buf, key)
}

// page makes group g of p the current one.
func (v *visitor) page(ctx context.Context, p *part, g int) error {
	id := pageID{p.key, g}
	if v.b != nil && v.id == id {
		return nil
	}
	set := v.q.sh.set
	b := set.pages.get(id)
	if b == nil {
		var err error
		if b, err = set.read(ctx, p, g, v.r.order); err != nil {
			return err
		}
		if set.pages.put(id, b) {
			v.q.sh.rows.missed.Add(1)
		}
	}
	v.id, v.b, v.cols = id, b, headColumns(b, v.q.l)
	return nil
}
