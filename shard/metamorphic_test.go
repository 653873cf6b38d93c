package shard

import (
	"context"
	"flag"
	"fmt"
	"slices"
	"testing"

	"tailrace"
	"tailrace/internal/sim"
	"tailrace/log"
)

var seeds = flag.Int("seeds", 15, "stories to run per kind of collection")

// TestShardEqualsPlainModel runs random commits, reorganizations, schema changes and crashes, and compares every way of reading with a list of
// updates.
func TestShardEqualsPlainModel(t *testing.T) {
	copied := int64(0)
	for seed := range *seeds {
		for _, keyed := range []bool{true, false} {
			t.Run(fmt.Sprintf("seed=%d,keyed=%v", seed, keyed), func(t *testing.T) {
				w := newWorld(t, uint64(seed), keyed)
				if keyed && seed%3 == 0 {
					w.withIndex()
				}
				w.story(120)
				copied += w.stripesCopied()
			})
		}
	}
	if copied == 0 && *seeds >= 15 {
		t.Error("no merge copied a stripe")
	}
}

// TestShardSurvivesStoreFaults does the same above a Blob that loses, half-answers and delays calls.
func TestShardSurvivesStoreFaults(t *testing.T) {
	for seed := range 15 {
		t.Run(fmt.Sprintf("seed=%d", seed), func(t *testing.T) {
			w := newWorld(t, uint64(1000+seed), seed%2 == 0)
			if seed%6 == 0 {
				w.withIndex()
			}
			w.plan = sim.NewPlan(uint64(seed), sim.Faults{Lost: 0.02, Unknown: 0.02, Late: 0.02, Torn: 0.1})
			w.blob = &sim.FaultyBlob{Under: w.store, Plan: w.plan}
			w.crashIndex()
			w.open(nil)
			w.replay = nil
			w.now = 1000
			w.define(w.schema)
			w.story(120)
			w.plan.Wait()
		})
	}
}

func (w *world) story(steps int) {
	ctx := context.Background()
	for range steps {
		if w.rng.IntN(4) == 0 {
			w.turnIndex(ctx)
		}
		switch roll := w.rng.IntN(100); {
		case roll < 40:
			w.write(ctx, 1+w.rng.IntN(6))
		case roll < 48:
			w.write(ctx, 30+w.rng.IntN(150))
		case roll < 58:
			w.try("flush", w.shard().flush(ctx, w.commit, []int{1, 400, 10_000}[w.rng.IntN(3)]))
		case roll < 67:
			w.try("merge", w.shard().merge(ctx, w.commit))
		case roll < 70:
			w.try("compact", w.shard().compact(ctx, w.commit))
		case roll < 73:
			w.moveSince(ctx)
		case roll < 77:
			w.alter()
		case roll < 80:
			w.tick()
		case roll < 83:
			w.takeCheckpoint()
		case roll < 86:
			w.leaveOrphan(ctx)
			w.crash()
		case roll < 90:
			w.set.collect(ctx)
			w.try("sweep", w.set.sweep(ctx))
		case roll < 94:
			w.checkSnapshot(ctx)
		case roll < 96:
			w.checkListen(ctx)
		default:
			w.checkLookup(ctx)
		}
	}
	if w.plan != nil {
		w.plan.Heal()
	}
	w.checkSnapshot(ctx)
	w.checkListen(ctx)
	w.checkLookup(ctx)
	w.checkNoOrphans(ctx)
}

// try accepts an error only when stores are faulty.
func (w *world) try(what string, err error) {
	w.t.Helper()
	if err != nil && w.plan == nil {
		w.fatal("%s: %v\n%s", what, err, w.describe())
	}
}

// moveSince moves since to a random earlier commit.
func (w *world) moveSince(ctx context.Context) {
	if len(w.times) == 0 {
		return
	}
	to := w.times[w.rng.IntN(len(w.times))]
	_, _ = w.commit(ctx, log.Txn{Records: []log.Record{SinceRecord(table, to)}})
}

// leaveOrphan writes parts that no entry will name.
func (w *world) leaveOrphan(ctx context.Context) {
	live := slices.Clone(w.live)
	wr := w.set.NewWriter(table, w.schema, WriteOptions{})
	err := wr.Append(ctx, w.randomUpdates(60))
	if err == nil {
		err = wr.Cut(ctx)
	}
	w.live = live
	w.try("orphan", err)
}

// readableTime is a random time that may be read.
func (w *world) readableTime() tailrace.Time {
	since := w.shard().Since()
	return since + tailrace.Time(w.rng.Uint64N(uint64(w.set.Upper()-since)))
}

func (w *world) checkSnapshot(ctx context.Context) {
	asOf := w.readableTime()
	opts := SnapshotOptions{AsOf: asOf, PieceRows: []int{0, 1, 7, 50}[w.rng.IntN(4)], PieceBytes: []int{0, 40, 300}[w.rng.IntN(3)]}
	want := w.want(asOf)
	if w.rng.IntN(3) == 0 {
		live := slices.Clone(w.live)
		if asOf = w.set.Upper() - 1; w.rng.IntN(2) == 0 || !w.keyed {
			opts.AsOf, opts.Overlay = asOf, w.randomUpdates(10)
			want = w.want(asOf)
			for i := range opts.Overlay.N {
				addTo(want, show(opts.Overlay, i), opts.Overlay.Diff(i))
			}
		} else {
			asOf = opts.AsOf
		}
		w.live = live
	}
	c, err := w.shard().Snapshot(ctx, opts)
	if err != nil {
		w.try("snapshot", err)
		return
	}
	defer c.Close()
	rows, diffs, ends, cuts, err := w.drain(ctx, c)
	if err != nil {
		w.try("snapshot", err)
		return
	}
	if d := differs(summed(rows, diffs), want); d != "" {
		w.fatal("as of %d:\n%s\n%s", asOf, d, w.describe())
	}
	w.checkContinued(ctx, opts, rows, ends, cuts)
	w.checkColumns(ctx, opts, rows, diffs)
}

// checkContinued reads on from a piece's end: the same pieces again.
func (w *world) checkContinued(ctx context.Context, opts SnapshotOptions, rows []string, ends [][]byte, cuts []int) {
	if len(ends) == 0 {
		return
	}
	at := w.rng.IntN(len(ends))
	opts.After = ends[at]
	c, err := w.shard().Snapshot(ctx, opts)
	if err != nil {
		w.try("continue", err)
		return
	}
	defer c.Close()
	rest, _, _, restCuts, err := w.drain(ctx, c)
	if err != nil {
		w.try("continue", err)
		return
	}
	for i := range restCuts {
		restCuts[i] += cuts[at]
	}
	if !slices.Equal(rest, rows[cuts[at]:]) || !slices.Equal(restCuts, cuts[at+1:]) {
		w.fatal("continued after row %d of %d as of %d: got %d rows cut at %v, want %d cut at %v\n%s",
			cuts[at], len(rows), opts.AsOf, len(rest), restCuts, len(rows)-cuts[at], cuts[at+1:], w.describe())
	}
}

// checkColumns reads one column only: the same rows without the others.
func (w *world) checkColumns(ctx context.Context, opts SnapshotOptions, rows []string, diffs []tailrace.Diff) {
	col := w.rng.IntN(len(w.schema.Fields))
	want := map[string]tailrace.Diff{}
	all := opts
	c, err := w.shard().Snapshot(ctx, all)
	if err != nil {
		w.try("columns", err)
		return
	}
	defer c.Close()
	for {
		b, err := c.Next(ctx)
		if err != nil {
			break
		}
		one := &tailrace.Batch{N: b.N, Cols: b.Cols[col : col+1]}
		for i := range b.N {
			addTo(want, show(one, i), b.Diff(i))
		}
	}
	opts.Columns = []int{col}
	p, err := w.shard().Snapshot(ctx, opts)
	if err != nil {
		w.try("columns", err)
		return
	}
	defer p.Close()
	got, gotDiffs, _, _, err := w.drain(ctx, p)
	if err != nil {
		w.try("columns", err)
		return
	}
	if d := differs(summed(got, gotDiffs), want); d != "" && w.plan == nil {
		w.fatal("column %d as of %d:\n%s\n%s", col, opts.AsOf, d, w.describe())
	}
}

func (w *world) checkListen(ctx context.Context) {
	after := w.readableTime()
	until := after + 1 + tailrace.Time(w.rng.Uint64N(uint64(w.set.Upper()-after)+3))
	want := map[string]tailrace.Diff{}
	for _, u := range w.model {
		if after < u.time && u.time < until {
			addTo(want, fmt.Sprint(u.time, " ", w.print(u.row)), u.diff)
		}
	}
	got := map[string]tailrace.Diff{}
	l := newLayout(w.schema)
	var last *tailrace.Batch
	err := w.shard().Listen(ctx, after, until, nil, func(b *tailrace.Batch) error {
		for i := range b.N {
			if last != nil {
				j := last.N - 1
				if i > 0 {
					last, j = b, i-1
				}
				if r := compareTime(last.Times[j], b.Times[i]); r > 0 || (r == 0 && compareRows(l, last, j, b, i) >= 0) {
					w.fatal("listen out of order: %d %s then %d %s", last.Times[j], show(last, j), b.Times[i], show(b, i))
				}
			}
			last = b
			addTo(got, fmt.Sprint(b.Times[i], " ", show(b, i)), b.Diff(i))
		}
		return nil
	})
	if err != nil {
		w.try("listen", err)
		return
	}
	if d := differs(got, want); d != "" {
		w.fatal("listen (%d, %d):\n%s\n%s", after, until, d, w.describe())
	}
}

func (w *world) checkLookup(ctx context.Context) {
	if !w.keyed {
		return
	}
	asOf := w.readableTime()
	var overlay *tailrace.Batch
	live := slices.Clone(w.live)
	want := w.want(asOf)
	if w.rng.IntN(2) == 0 {
		asOf = w.set.Upper() - 1
		overlay = w.randomUpdates(20)
		want = w.want(asOf)
		for i := range overlay.N {
			addTo(want, show(overlay, i), overlay.Diff(i))
		}
	}
	w.live = live
	keys := &tailrace.Batch{IDs: []tailrace.ColumnID{2}, Cols: []tailrace.Column{tailrace.MakeColumn(tailrace.KindInt4, 0)}}
	for range 300 {
		keys.Cols[0].AppendInt32(int32(w.rng.IntN(310)))
		keys.N++
	}
	if w.shard().rows.used() {
		w.near.served++
	}
	rows, at, err := w.shard().Lookup(ctx, keys, asOf, overlay)
	if err != nil {
		w.try("lookup", err)
		return
	}
	place := w.schema.Index(2)
	byKey := map[string]string{}
	probe := tailrace.NewBatch(w.schema, 0)
	for _, u := range w.model {
		appendRow(probe, w.schema, u.row, 1)
	}
	if overlay != nil {
		appendBatch(probe, overlay)
	}
	for i := range probe.N {
		if r := show(probe, i); want[r] > 0 {
			byKey[string(probe.Cols[place].Bytes(i))] = r
		}
	}
	for i := range keys.N {
		got := ""
		if at[i] >= 0 {
			got = show(rows, int(at[i]))
		}
		above, err := w.shard().Above(keyBytes(keys.Cols[0].Int32s()[i]))
		if err != nil || above && overlay == nil && got != "" {
			w.fatal("key %q is above all: got %v, %v, and there is %s", keys.Cols[0].Bytes(i), above, err, got)
		}
		if want := byKey[string(keys.Cols[0].Bytes(i))]; got != want {
			w.fatal("lookup %q as of %d: got %s, want %s\n%s", keys.Cols[0].Bytes(i), asOf, got, want, w.describe())
		}
	}
}

// checkNoOrphans lets the session end and checks that collect and sweep leave exactly the parts that the manifest names.
func (w *world) checkNoOrphans(ctx context.Context) {
	if w.plan != nil {
		w.plan.Wait()
	}
	w.crash()
	w.set.collect(ctx)
	if err := w.set.sweep(ctx); err != nil {
		w.fatal("sweep: %v", err)
	}
	var got []string
	for key, err := range w.store.List(ctx, "part/") {
		if err != nil {
			w.fatal("list: %v", err)
		}
		got = append(got, key)
	}
	var want []string
	for key := range w.shard().current().parts() {
		want = append(want, key)
	}
	slices.Sort(want)
	if !slices.Equal(got, want) {
		w.fatal("parts in the store: got %d %v, want %d %v", len(got), got, len(want), want)
	}
	w.checkSnapshot(ctx)
}
