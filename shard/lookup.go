package shard

import (
	"bytes"
	"context"
	"fmt"
	"slices"
	"sort"

	"tailrace"
)

// Lookup finds the rows with the given keys as of a time. keys has the primary key's columns, with IDs. rows has all columns of the newest
// schema; at[i] is the place in it of the row with key i, -1 when there is none. overlay holds a transaction's own updates, or is nil.
//
// A key has one row at a time, so the newest updates of a key decide and older ones need not be read. Pages are visited in key order, each
// once, and those used last stay decoded. The error is ErrCompacted (wrapped) when asOf is no longer readable.
func (sh *Shard) Lookup(ctx context.Context, keys *tailrace.Batch, asOf tailrace.Time, overlay *tailrace.Batch) (rows *tailrace.Batch, at []int32, err error) {
	for nearby := true; ; nearby = false { // once more without the local index is enough, but for flushes
		rows, at, ok, err := sh.lookup(ctx, keys, asOf, overlay, nearby)
		if err != nil {
			return nil, nil, fmt.Errorf("look up in collection %d as of %d: %w", sh.id, asOf, err)
		}
		if ok {
			return rows, at, nil
		}
	}
}

// lookup is false when a flush came between, or the index, which is asked if nearby, moved on.
func (sh *Shard) lookup(ctx context.Context, keys *tailrace.Batch, asOf tailrace.Time, overlay *tailrace.Batch, nearby bool) (*tailrace.Batch, []int32, bool, error) {
	m, release := sh.pin()
	defer release()
	if err := sh.readable(m, asOf); err != nil {
		return nil, nil, false, err
	}
	l := sh.layoutOf(m.schema)
	if !l.keyed() {
		return nil, nil, false, fmt.Errorf("the collection has no primary key")
	}
	if overlay == nil && len(m.mem)+len(m.history)+len(m.state) == 0 { // a COPY into an empty table asks for every key
		return tailrace.NewBatch(m.schema, 0), slices.Repeat([]int32{-1}, keys.N), true, nil
	}
	ix, ok := sh.indexFor(m, asOf)
	q := &query{sh: sh, m: m, l: l, asOf: asOf, wanted: make([]wantedKey, keys.N)}
	lo, hi, sign := m.folded, asOf, tailrace.Diff(1)
	switch {
	case nearby && ok:
		q.index, lo = &ix, ix.low
	case asOf < m.folded:
		q.back, lo, hi, sign = true, asOf, m.folded, -1
	}
	if err := q.sortKeys(keys); err != nil {
		return nil, nil, false, err
	}
	q.inOverlay(overlay)
	if ok, err := q.inMemtable(lo, hi); !ok || err != nil {
		return nil, nil, ok, err
	}
	history := m.historyIn(lo, hi)
	slices.SortFunc(history, func(a, b *run) int { return compareTime(b.upper, a.upper) })
	for _, r := range history {
		if err := q.inRun(ctx, r, lo, hi, sign); err != nil {
			return nil, nil, false, err
		}
	}
	if ok, err := q.inRows(ctx); !ok || err != nil {
		return nil, nil, ok, err
	}
	rows, at, err := q.result()
	return rows, at, true, err
}

// layoutOf is the layout of a schema, kept for the next Lookup: it costs one of few keys more than the search.
func (sh *Shard) layoutOf(s *tailrace.Schema) *layout {
	if l := sh.layout.Load(); l != nil && l.schema == s {
		return l
	}
	l := newLayout(s)
	sh.layout.Store(l)
	return l
}

// query is a Lookup on its way.
type query struct {
	sh     *Shard
	m      *manifest
	l      *layout
	asOf   tailrace.Time
	back   bool            // history is taken back, so everything found counts
	index  *indexed        // takes the state's place; nil when it is not used
	near   *tailrace.Batch // the index's rows, in the newest schema
	wanted []wantedKey     // sorted by key
	ends   []int32         // of a key of several columns: where each ends in it, by place; nil when there is one
}

// wantedKey is a key and the updates found for it.
type wantedKey struct {
	key   []byte
	place int // in the caller's keys
	found []found
	done  bool // nothing older matters
}

// found is one update. Places that are older have a smaller age; updates of one age belong together.
type found struct {
	b    *tailrace.Batch
	row  int32
	age  tailrace.Time
	diff tailrace.Diff
}

func (q *query) sortKeys(keys *tailrace.Batch) error {
	cols := headColumns(keys, q.l)
	if slices.Contains(cols, nil) {
		return fmt.Errorf("the keys lack a column of the primary key")
	}
	buf := make([]byte, 0, 16*keys.N) // keys stay where they are when it grows
	for i := range q.wanted {
		from := len(buf)
		for k := range cols {
			buf = q.l.appendKeyOf(buf, cols, k, i)
			if len(cols) > 1 {
				q.ends = append(q.ends, int32(len(buf)-from))
			}
		}
		q.wanted[i] = wantedKey{key: buf[from:len(buf):len(buf)], place: i}
	}
	slices.SortFunc(q.wanted, func(a, b wantedKey) int { return bytes.Compare(a.key, b.key) })
	return nil
}

// inOverlay adds a transaction's own updates, the newest of all.
func (q *query) inOverlay(b *tailrace.Batch) {
	if b == nil {
		return
	}
	cols := headColumns(b, q.l)
	var key []byte
	for i := range b.N {
		key = appendHeadOf(key[:0], cols, q.l, i)
		j := sort.Search(len(q.wanted), func(j int) bool { return bytes.Compare(q.wanted[j].key, key) >= 0 })
		for ; j < len(q.wanted) && bytes.Equal(q.wanted[j].key, key); j++ {
			w := &q.wanted[j]
			w.found = append(w.found, found{b, int32(i), tailrace.MaxTime, b.Diff(i)})
		}
	}
	if q.back {
		return
	}
	for i := range q.wanted {
		q.decide(&q.wanted[i])
	}
}

// inMemtable adds updates with lo < time <= hi; false when the index is of a later memtable.
func (q *query) inMemtable(lo, hi tailrace.Time) (bool, error) {
	if len(memWindow(q.m.mem, lo, hi)) == 0 {
		return true, nil
	}
	x := &q.sh.index
	x.mu.Lock()
	defer x.mu.Unlock()
	if ok, err := x.cover(q.m, q.l); !ok || err != nil {
		return ok, err
	}
	for i := range q.wanted {
		w := &q.wanted[i]
		if w.done {
			continue
		}
		newer := len(w.found) // updates found before those of the time being visited
		err := x.find(q.m, w.key, func(mb *memBatch, b *tailrace.Batch, row int) bool {
			if mb.time <= lo {
				return true
			}
			if mb.time > hi {
				return false
			}
			if n := len(w.found); n > newer && w.found[n-1].age != mb.time {
				if !q.back && len(q.sum(w.found[newer:])) > 0 {
					return true // a hot key has many older updates
				}
				newer = n
			}
			w.found = append(w.found, found{b, int32(row), mb.time, b.Diff(row)})
			return false
		})
		if err != nil {
			return true, err
		}
	}
	return true, nil
}

// inRun adds updates of a history run with lo < time <= hi, except for keys that newer ones decide.
func (q *query) inRun(ctx context.Context, r *run, lo, hi tailrace.Time, sign tailrace.Diff) error {
	return q.visit(ctx, r, func(w *wantedKey) bool {
		return q.back || q.newestAge(w) < r.upper
	}, func(w *wantedKey, b *tailrace.Batch, row int, base tailrace.Time) {
		if t := base + b.Time(row, 0); lo < t && t <= hi {
			w.found = append(w.found, found{b, int32(row), t, sign * b.Diff(row)})
		}
	})
}

// newestAge is the time of the newest updates found that are not the transaction's own and do not come to nothing, 0 when there are none.
func (q *query) newestAge(w *wantedKey) tailrace.Time {
	byAge := slices.Clone(w.found)
	slices.SortStableFunc(byAge, func(a, b found) int { return compareTime(b.age, a.age) })
	for len(byAge) > 0 {
		n := 1
		for n < len(byAge) && byAge[n].age == byAge[0].age {
			n++
		}
		if byAge[0].age != tailrace.MaxTime && len(q.sum(byAge[:n])) > 0 {
			return byAge[0].age
		}
		byAge = byAge[n:]
	}
	return 0
}

// inRows adds the rows that what was found so far builds on: the index's or the state's. false when the index is of no use.
func (q *query) inRows(ctx context.Context) (bool, error) {
	if q.index != nil {
		return q.inIndex(ctx, q.index)
	}
	for i := len(q.m.state) - 1; i >= 0; i-- {
		if err := q.inState(ctx, q.m.state[i]); err != nil {
			return false, err
		}
	}
	return true, nil
}

// inState adds the updates of a state run for keys that nothing newer decides.
func (q *query) inState(ctx context.Context, r *run) error {
	if !q.back {
		for i := range q.wanted {
			q.decide(&q.wanted[i])
		}
	}
	return q.visit(ctx, r, nil, func(w *wantedKey, b *tailrace.Batch, row int, _ tailrace.Time) {
		w.found = append(w.found, found{b, int32(row), 0, b.Diff(row)})
	})
}
