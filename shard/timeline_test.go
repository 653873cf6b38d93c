package shard

import (
	"bytes"
	"math/rand/v2"
	"slices"
	"testing"

	"tailrace"
)

// plainTimeline is a timeline in its plain form: one batch, one comparison of times and whole keys.
func plainTimeline(l *layout, in []*tailrace.Batch, lo, hi tailrace.Time) *tailrace.Batch {
	all := tailrace.NewBatch(l.schema, 0)
	for _, b := range in {
		appendBatch(all, b)
		all.Times = append(all.Times, b.Times...)
	}
	var rows []int32
	for i := range all.N {
		if lo < all.Times[i] && all.Times[i] <= hi {
			rows = append(rows, int32(i))
		}
	}
	slices.SortFunc(rows, func(i, j int32) int {
		if r := compareTime(all.Times[i], all.Times[j]); r != 0 {
			return r
		}
		if r := bytes.Compare(l.appendKey(nil, all, int(i)), l.appendKey(nil, all, int(j))); r != 0 {
			return r
		}
		return tailrace.CompareStored(l.order, all, int(i), all, int(j))
	})
	return plainSum(l, all.Gather(rows), true)
}

// TestTimelineIsTheOrderOfTimesThenRows holds timelines of batches, in row order and not, near and far times, against the plain form.
func TestTimelineIsTheOrderOfTimesThenRows(t *testing.T) {
	inline := helped(t, 0)
	for seed := range uint64(60) {
		rng := rand.New(rand.NewPCG(seed, 9))
		l := newLayout(sortSchema(rng))
		ordered := rng.IntN(2) == 0
		far := tailrace.Time(1) << rng.IntN(50)
		var in []*tailrace.Batch
		for range 1 + rng.IntN(4) {
			n := rng.IntN(300)
			if seed%20 == 0 && !ordered {
				n = sortRows + rng.IntN(100) // a batch of two sections
			}
			b := someRows(rng, l.schema, n, int64(1)<<rng.IntN(12), true, rng.IntN(3) == 0)
			for i := range b.Times {
				b.Times[i] = 1 + b.Times[i]*far
			}
			in = append(in, b)
		}
		if ordered {
			var err error
			if in, err = l.sortGroups(inline, in, PieceRows, true); err != nil {
				t.Fatal(err)
			}
		}
		lo, hi := far*tailrace.Time(rng.IntN(2))-1, far*tailrace.Time(1+rng.IntN(3))
		if rng.IntN(2) == 0 {
			lo, hi = 0, tailrace.MaxTime
		}
		want := plainTimeline(l, in, lo, hi)
		tl := l.timelineOf(in, ordered, lo, hi)
		if len(in) == 0 {
			continue
		}
		half := rng.IntN(len(tl.refs) + 1)
		got := tailrace.NewBatch(l.schema, 0)
		for _, p := range []*tailrace.Batch{tl.piece(0, half), tl.piece(half, len(tl.refs))} {
			appendBatch(got, p)
			got.Times = append(got.Times, p.Times...)
		}
		if diff := sameUpdates(got, want); diff != "" {
			t.Fatalf("seed %d: %s", seed, diff)
		}
	}
}
