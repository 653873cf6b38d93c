package index

import (
	"bytes"
	"cmp"
	"context"
	"fmt"
	"maps"
	"math/bits"
	"slices"

	"tailrace"
)

const (
	// MaxRuns is how many runs a collection may have before its writer should wait for merges: each costs a lookup a question to a filter.
	MaxRuns = 16
	// fanIn is how many runs of about one size are merged, so that a row is written once for each fanIn-fold of size.
	fanIn = 4
	// oldestShare is the share of the oldest run, one in so many, from which the others together are merged with it.
	oldestShare = 4
)

// Runs is how many runs the collection has.
func (s *Store) Runs(id tailrace.CollectionID) int {
	v, err := s.use()
	if err != nil {
		return 0
	}
	defer s.leave(v)
	return len(v.collections[id].runs)
}

// mergePlan is how many of the newest runs are to be merged, given their sizes in bytes, newest first; 0: none. Runs of a size that small ones
// are many of are merged when there are fanIn; all are when the newer ones are a share of the oldest, which has no filter.
func mergePlan(sizes []int64) int {
	if len(sizes) < 2 {
		return 0
	}
	oldest, newer := sizes[len(sizes)-1], int64(0)
	for _, n := range sizes[:len(sizes)-1] {
		newer += n
	}
	if newer >= oldest/oldestShare {
		return len(sizes)
	}
	plan := 0
	for n := 1; n < len(sizes); n++ { // the largest n whose runs are about as large as its oldest
		alike := 0
		for _, size := range sizes[:n] {
			if bits.Len64(uint64(sizes[n-1]))-bits.Len64(uint64(size)) < 2 {
				alike++
			}
		}
		if alike >= fanIn {
			plan = n
		}
	}
	return plan
}

// Merge makes one run of several where there are too many, if there are; did reports whether there were. One goroutine calls it, while others write and
// read. It is cut short when ctx ends. Where there is no space for what it would write the error is tailrace.ErrFull.
func (s *Store) Merge(ctx context.Context) (did bool, err error) {
	v, err := s.use()
	if err != nil {
		return false, err
	}
	defer s.leave(v)
	for _, id := range slices.Sorted(maps.Keys(v.collections)) {
		runs := v.collections[id].runs
		var sizes []int64
		for _, r := range runs {
			sizes = append(sizes, r.size())
		}
		n := mergePlan(sizes)
		if n == 0 {
			continue
		}
		size := int64(0)
		for _, v := range sizes[:n] {
			size += v
		}
		if err := s.checkFree(size); err != nil {
			return false, fmt.Errorf("merge index: %w", err)
		}
		return true, s.merge(ctx, id, runs[:n], n < len(runs))
	}
	return false, nil
}

// merge puts one run in the place of some. Unless they are filtered, none is older.
func (s *Store) merge(ctx context.Context, id tailrace.CollectionID, runs []run, filtered bool) error {
	w := &runWriter{s: s, filtered: filtered}
	out, err := w.merged(ctx, runs)
	if err != nil {
		w.discard()
		return err
	}
	v, err := s.take()
	if err != nil {
		w.discard()
		return err
	}
	defer s.give(v)
	c := v.collections[id]
	at := slices.IndexFunc(c.runs, func(r run) bool { return sameRun(r, runs[0]) })
	if at < 0 { // loaded or dropped meanwhile; what was flushed is in front
		w.discard()
		return nil
	}
	after := slices.Clone(c.runs[:at])
	if len(out) > 0 {
		after = append(after, out)
	}
	c.runs = append(after, c.runs[at+len(runs):]...)
	next := v.collections.with(id, c)
	if err := s.save(next); err != nil {
		w.discard()
		return s.failed("merge", err)
	}
	s.install(next)
	return nil
}

// sameRun reports whether two runs, which have tables, are one.
func sameRun(a, b run) bool { return a[0] == b[0] }

// merged writes the newest rows of runs, which are newest first.
func (w *runWriter) merged(ctx context.Context, runs []run) (run, error) {
	var heads []*scan // newest first, those that have a row
	for _, r := range runs {
		heads = append(heads, &scan{store: w.s, tables: r})
	}
	heads, err := w.s.step(heads, func(*scan) bool { return true })
	for n := 0; err == nil && len(heads) > 0; n++ {
		if n%1024 == 0 {
			if err := cmp.Or(ctx.Err(), w.s.Damaged()); err != nil {
				return nil, fmt.Errorf("merge index: %w", err)
			}
		}
		least := heads[0] // the newest of those with one key
		for _, c := range heads[1:] {
			if bytes.Compare(c.row.key, least.row.key) < 0 {
				least = c
			}
		}
		if !least.row.deleted || w.filtered {
			if err := w.add(least.row); err != nil {
				return nil, err
			}
		}
		w.key = append(w.key[:0], least.row.key...)
		heads, err = w.s.step(heads, func(c *scan) bool { return bytes.Equal(c.row.key, w.key) })
	}
	if err != nil {
		return nil, err
	}
	return w.finish()
}

// step moves the scans that are to be moved on, and leaves those out that have ended.
func (s *Store) step(heads []*scan, moves func(*scan) bool) ([]*scan, error) {
	var err error
	heads = slices.DeleteFunc(heads, func(c *scan) bool {
		if err != nil || !moves(c) {
			return false
		}
		var ok bool
		ok, err = c.next()
		return !ok
	})
	if err != nil {
		return nil, s.failed("merge", err)
	}
	return heads, nil
}
