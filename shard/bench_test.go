package shard

import (
	"context"
	"fmt"
	"io"
	"math/rand/v2"
	"testing"
	"time"

	"tailrace"
	"tailrace/internal/sim"
	"tailrace/log"
)

// bench is a keyed collection (int8 key, int4, text) under a log that only counts.
type bench struct {
	b      *testing.B
	set    *Set
	schema *tailrace.Schema
	now    tailrace.Time
}

func newBench(b *testing.B) *bench {
	x := &bench{b: b, now: 1000, schema: &tailrace.Schema{Version: 1, Key: []int{0}, NextColumn: 4, Fields: []tailrace.Field{
		{ID: 1, Name: "id", Type: tailrace.TypeOf(tailrace.KindInt8), NotNull: true},
		{ID: 2, Name: "n", Type: tailrace.TypeOf(tailrace.KindInt4)},
		{ID: 3, Name: "t", Type: tailrace.TypeOf(tailrace.KindText)},
	}}}
	x.set = New(sim.NewBlob(), "00000000000000aa", Options{})
	x.set.Define(table, x.schema, time.Hour, 1)
	return x
}

func (x *bench) commit(_ context.Context, txn log.Txn) (tailrace.Time, error) {
	x.now++
	return x.now, x.set.Apply(&log.Entry{Time: x.now, Txns: []log.Committed{{Time: x.now, Records: txn.Records}}})
}

// load commits rows [0, n) in transactions of per rows, their keys in the order given.
func (x *bench) load(n, per int, key func(i int) int64) {
	ctx := context.Background()
	for from := 0; from < n; from += per {
		w := x.set.NewWriter(table, x.schema, WriteOptions{})
		x.must(w.Append(ctx, x.rows(from, min(n, from+per), key)))
		records, err := w.Records(ctx)
		x.must(err)
		_, err = x.commit(ctx, log.Txn{Records: records})
		x.must(err)
	}
}

func (x *bench) rows(from, to int, key func(i int) int64) *tailrace.Batch {
	b := tailrace.NewBatch(x.schema, to-from)
	for i := from; i < to; i++ {
		b.Cols[0].AppendInt64(key(i))
		b.Cols[1].AppendInt32(int32(i % 1000))
		b.Cols[2].AppendString(fmt.Sprintf("row number %d", i))
		b.AppendDiff(1)
	}
	return b
}

func (x *bench) must(err error) {
	if err != nil {
		x.b.Fatal(err)
	}
}

func ascending(i int) int64 { return int64(i) }

// updateAll commits one transaction that changes each of n ascending rows.
func (x *bench) updateAll(n int) {
	ctx := context.Background()
	w := x.set.NewWriter(table, x.schema, WriteOptions{})
	for from := 0; from < n; from += PieceRows {
		old := x.rows(from, min(n, from+PieceRows), ascending)
		b := tailrace.NewBatch(x.schema, 2*old.N)
		for i := range old.N {
			b.AppendUpdate(old, i, -1)
		}
		for i := range old.N {
			b.Cols[0].AppendFrom(&old.Cols[0], i)
			b.Cols[1].AppendInt32(old.Cols[1].Int32s()[i] + 1)
			b.Cols[2].AppendFrom(&old.Cols[2], i)
			b.AppendDiff(1)
		}
		x.must(w.Append(ctx, b))
	}
	records, err := w.Records(ctx)
	x.must(err)
	_, err = x.commit(ctx, log.Txn{Records: records})
	x.must(err)
}

// scattered is a permutation of [0, n) for n a power of two.
func scattered(n int) func(int) int64 {
	return func(i int) int64 { return int64(uint64(i) * 0x9e3779b1 % uint64(n)) }
}

func (x *bench) snapshot(columns []int) int {
	ctx := context.Background()
	c, err := x.set.Shard(table).Snapshot(ctx, SnapshotOptions{AsOf: x.now, Columns: columns})
	x.must(err)
	defer c.Close()
	n := 0
	for {
		p, err := c.Next(ctx)
		if err == io.EOF {
			return n
		}
		x.must(err)
		n += p.N
	}
}

func BenchmarkSnapshot(b *testing.B) {
	const rows = 1 << 20
	cases := []struct {
		name    string
		merge   bool
		key     func(int) int64
		columns []int
		changes int
		updated bool
	}{
		{"state", true, ascending, nil, 0, false},
		{"state-one-column", true, ascending, []int{1}, 0, false},
		{"state-and-10k-changes", true, ascending, nil, 10_000, false},
		{"unmerged-interleaved", false, scattered(rows), nil, 0, false},
		{"state-all-updated", true, ascending, nil, 0, true},
		{"state-all-updated-one-column", true, ascending, []int{1}, 0, true},
	}
	for _, c := range cases {
		b.Run(c.name, func(b *testing.B) {
			x := newBench(b)
			x.load(rows, rows/8, c.key)
			if c.merge {
				x.must(x.set.Shard(table).merge(context.Background(), x.commit))
			}
			if c.changes > 0 {
				x.load(c.changes, 100, func(i int) int64 { return int64(rows + i*37) })
			}
			if c.updated {
				x.updateAll(rows)
			}
			b.ReportAllocs()
			for b.Loop() {
				if n := x.snapshot(c.columns); n != rows+c.changes {
					b.Fatalf("got %d rows, want %d", n, rows+c.changes)
				}
			}
			b.ReportMetric(float64(rows*b.N)/b.Elapsed().Seconds(), "rows/s")
		})
	}
}

func BenchmarkMerge(b *testing.B) {
	const rows = 1 << 20
	for b.Loop() {
		b.StopTimer()
		x := newBench(b)
		x.load(rows, rows/8, scattered(rows))
		b.StartTimer()
		x.must(x.set.Shard(table).merge(context.Background(), x.commit))
	}
	b.ReportMetric(float64(rows*b.N)/b.Elapsed().Seconds(), "rows/s")
}

func BenchmarkLookup(b *testing.B) {
	const rows = 1 << 20
	for _, in := range []string{"state", "memtable", "index"} {
		for _, per := range []int{1, 1000} {
			b.Run(fmt.Sprintf("%s/keys=%d", in, per), func(b *testing.B) {
				x := newBench(b)
				switch in {
				case "memtable":
					x.load(rows/8, 100, ascending)
				default:
					x.load(rows, rows, ascending)
					x.must(x.set.Shard(table).merge(context.Background(), x.commit))
				}
				if in == "index" {
					x.must(x.set.OpenIndex(context.Background(), b.TempDir(), sim.NewConsensus(), 0))
					x.must(x.set.Shard(table).load(context.Background(), x.set.index.Load(), x.set.Upper(), 1))
					defer x.set.CloseIndex()
				}
				rng := rand.New(rand.NewPCG(1, 1))
				ctx := context.Background()
				b.ReportAllocs()
				for b.Loop() {
					keys := &tailrace.Batch{N: per, IDs: []tailrace.ColumnID{1}, Cols: []tailrace.Column{tailrace.MakeColumn(tailrace.KindInt8, per)}}
					for range per {
						keys.Cols[0].AppendInt64(rng.Int64N(rows / 8))
					}
					_, at, err := x.set.Shard(table).Lookup(ctx, keys, x.now, nil)
					x.must(err)
					if at[0] < 0 {
						b.Fatal("not found")
					}
				}
				b.ReportMetric(float64(per*b.N)/b.Elapsed().Seconds(), "keys/s")
			})
		}
	}
}

func BenchmarkApply(b *testing.B) {
	x := newBench(b)
	payload := tailrace.AppendBatch(nil, x.rows(0, 1, ascending))
	b.ReportAllocs()
	for b.Loop() {
		_, err := x.commit(context.Background(), log.Txn{Records: []log.Record{{Kind: log.KindData, Collection: table, Payload: payload}}})
		x.must(err)
	}
}

func BenchmarkWriterIntoParts(b *testing.B) {
	const rows = 1 << 18
	x := newBench(b)
	in := x.rows(0, rows, scattered(rows))
	b.SetBytes(int64(in.Size()))
	for b.Loop() {
		ctx := context.Background()
		w := x.set.NewWriter(table, x.schema, WriteOptions{})
		x.must(w.Append(ctx, in))
		_, err := w.Records(ctx)
		x.must(err)
		w.Abort(ctx)
	}
	b.ReportMetric(float64(rows*b.N)/b.Elapsed().Seconds(), "rows/s")
}
