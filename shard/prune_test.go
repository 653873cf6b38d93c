package shard

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"testing"

	"tailrace"
)

// TestPrunedSnapshotEqualsWhole compares, after random histories, the rows of a range read with page groups passed over with those of a whole
// snapshot, and demands that some were.
func TestPrunedSnapshotEqualsWhole(t *testing.T) {
	var stats ScanStats
	for seed := range max(*seeds/2, 1) {
		for _, keyed := range []bool{true, false} {
			t.Run(fmt.Sprintf("seed=%d,keyed=%v", seed, keyed), func(t *testing.T) {
				w := newWorld(t, uint64(5000+seed), keyed)
				for range 2 {
					w.story(30)
					for range 20 {
						w.checkPruned(&stats)
					}
				}
			})
		}
	}
	read, pruned := stats.GroupsRead.Load(), stats.GroupsPruned.Load()
	if pruned*20 < read {
		t.Errorf("passed over %d page groups and read %d: the ranges tell nothing apart", pruned, read)
	}
	if got, groups := stats.StripesRead.Load()+stats.StripesPruned.Load(), read+pruned; got > groups || got*3 < groups { // a stripe here is up to three groups
		t.Errorf("counted %d stripes of %d page groups", got, groups)
	}
}

// randomRange is a range around random values of a field.
func (w *world) randomRange() Range {
	f := &w.schema.Fields[w.rng.IntN(len(w.schema.Fields))]
	r := Range{Column: f.ID, Type: f.Type, Nulls: w.rng.IntN(4) == 0}
	for range w.rng.IntN(3) {
		b := tailrace.NewBatch(w.schema, 2)
		appendRow(b, w.schema, w.randomRow(), 1)
		appendRow(b, w.schema, w.randomRow(), 1)
		col := &b.Cols[w.schema.Index(f.ID)]
		if col.IsNull(0) || col.IsNull(1) {
			continue
		}
		s := Span{tailrace.AppendKey(nil, f.Type, col, 0), tailrace.AppendKey(nil, f.Type, col, 1)}
		switch w.rng.IntN(4) {
		case 0:
			s.Low = nil
		case 1:
			s.High = nil
		case 2:
			s.High = s.Low
		}
		r.Spans = append(r.Spans, s)
	}
	return r
}

// checkPruned reads a random range both ways.
func (w *world) checkPruned(stats *ScanStats) {
	w.t.Helper()
	opts := SnapshotOptions{AsOf: w.readableTime(), PieceRows: []int{0, 7}[w.rng.IntN(2)]}
	if w.rng.IntN(3) == 0 {
		live := slices.Clone(w.live)
		opts.AsOf, opts.Overlay = w.set.Upper()-1, w.randomUpdates(10)
		w.live = live
	}
	ranges := []Range{w.randomRange()}
	if w.rng.IntN(2) == 0 {
		ranges = append(ranges, w.randomRange())
	}
	want := w.within(opts, ranges)
	opts.Ranges, opts.Stats = ranges, stats
	got := w.within(opts, ranges)
	if d := differs(got, want); d != "" {
		w.fatal("ranges %+v as of %d:\n%s\n%s", ranges, opts.AsOf, d, w.describe())
	}
}

// within is the rows of a snapshot that ranges want: those of one column, or of all.
func (w *world) within(opts SnapshotOptions, ranges []Range) map[string]tailrace.Diff {
	ctx := context.Background()
	out := map[string]tailrace.Diff{}
	if opts.Ranges != nil { // columns in an order of their own, which the filter needs
		for i := range w.schema.Fields {
			opts.Columns = append(opts.Columns, i)
		}
	}
	c, err := w.shard().Snapshot(ctx, opts)
	if err != nil {
		w.fatal("snapshot: %v", err)
	}
	defer c.Close()
	for {
		b, err := c.Next(ctx)
		if errors.Is(err, io.EOF) {
			return out
		}
		if err != nil {
			w.fatal("next: %v", err)
		}
		for i := range b.N {
			wanted := true
			for _, r := range ranges {
				col := &b.Cols[w.schema.Index(r.Column)]
				wanted = wanted && r.wants(tailrace.AppendKey(nil, r.Type, col, i), col.IsNull(i))
			}
			if wanted {
				addTo(out, show(b, i), b.Diff(i))
			}
		}
	}
}
