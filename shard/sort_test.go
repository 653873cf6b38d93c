package shard

import (
	"bytes"
	"context"
	"encoding/binary"
	"fmt"
	"log/slog"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"testing"

	"tailrace"
	"tailrace/pool"
)

// runningPool returns a pool of so many workers that runs until the test ends.
func runningPool(t testing.TB, workers int) *pool.Pool {
	t.Helper()
	p := pool.New(workers)
	ctx, stop := context.WithCancel(context.Background())
	var under sync.WaitGroup
	under.Go(func() { _ = p.Run(ctx) })
	t.Cleanup(func() { stop(); under.Wait() })
	return p
}

// helped returns tasks of a pool with so many workers; 0 is one that nobody runs.
func helped(t testing.TB, workers int) tasks {
	t.Helper()
	p := pool.New(1)
	if workers > 0 {
		p = runningPool(t, workers)
	}
	f := p.Flight(context.Background(), 0)
	t.Cleanup(f.Close)
	return tasks{flight: f, logger: slog.Default()}
}

// sortKinds are kinds of every comparison and of some widths.
var sortKinds = []tailrace.Kind{
	tailrace.KindInt8, tailrace.KindInt4, tailrace.KindInt2, tailrace.KindOID, tailrace.KindText, tailrace.KindBool, tailrace.KindUUID,
	tailrace.KindFloat8, tailrace.KindNumeric, tailrace.KindChar, tailrace.KindInterval, tailrace.KindDate,
}

// sortSchema is some columns of any kinds, some of them the key.
func sortSchema(rng *rand.Rand) *tailrace.Schema {
	s := &tailrace.Schema{Version: 1}
	for i := range rng.IntN(5) {
		s.Fields = append(s.Fields, tailrace.Field{ID: tailrace.ColumnID(i + 1), Name: fmt.Sprint("c", i), Type: tailrace.TypeOf(sortKinds[rng.IntN(len(sortKinds))])})
	}
	if perm := rng.Perm(len(s.Fields)); rng.IntN(2) == 0 {
		s.Key = perm[:rng.IntN(len(perm)+1)]
	}
	return s
}

// appendSome adds a value of few that there are, among them some that are equal in SQL and differ in bytes.
func appendSome(c *tailrace.Column, k tailrace.Kind, v int64) {
	switch k {
	case tailrace.KindInt2:
		c.AppendInt16(int16(v))
	case tailrace.KindInt4, tailrace.KindOID, tailrace.KindDate:
		c.AppendInt32(int32(v))
	case tailrace.KindBool:
		c.AppendBool(v&1 == 1)
	case tailrace.KindUUID, tailrace.KindInterval:
		var raw [16]byte
		if k == tailrace.KindUUID {
			binary.BigEndian.PutUint64(raw[:], uint64(v))
		} else if v%2 == 0 {
			binary.LittleEndian.PutUint32(raw[:], uint32(int32(v/2)))
		} else {
			binary.LittleEndian.PutUint32(raw[4:], uint32(int32(v/2*30))) // as long as so many months
		}
		c.Append(raw[:])
	case tailrace.KindFloat8:
		f := float64(v) / 4
		if v == 7 {
			f = math.NaN()
		} else if v == 8 {
			f = math.Copysign(0, -1)
		}
		c.AppendInt64(int64(math.Float64bits(f)))
	case tailrace.KindNumeric:
		c.Append(tailrace.AppendDecimal64(nil, v*int64(math.Pow10(int(v&1))), int(v&1))) // 7.0 and 7
	case tailrace.KindChar:
		c.AppendString(strings.Repeat("x", int(v&3)) + strings.Repeat(" ", int(v&4)))
	case tailrace.KindText:
		c.AppendString(strings.Repeat("same beginning ", int(v&3)) + strings.Repeat("\x00", int(v&1)) + fmt.Sprint(v))
	default:
		c.AppendInt64(v)
	}
}

// someRows are n rows of values below most.
func someRows(rng *rand.Rand, s *tailrace.Schema, n int, most int64, times, nulls bool) *tailrace.Batch {
	b := tailrace.NewBatch(s, n)
	for range n {
		for c, f := range s.Fields {
			if nulls && rng.IntN(6) == 0 {
				b.Cols[c].AppendNull()
			} else {
				appendSome(&b.Cols[c], f.Type.Kind, rng.Int64N(most)-most/4)
			}
		}
		d := tailrace.Diff(1)
		if times {
			d = tailrace.Diff(rng.IntN(4) - 1)
			b.Times = append(b.Times, tailrace.Time(rng.Uint64N(3)))
		}
		b.AppendDiff(d)
	}
	return b
}

// plainSort is sortGroups in its plain form: one batch, one comparison of whole keys.
func plainSort(l *layout, in []*tailrace.Batch, byTime bool) *tailrace.Batch {
	all := tailrace.NewBatch(l.schema, 0)
	for _, b := range in {
		appendBatch(all, b)
		all.Times = append(all.Times, b.Times...)
	}
	rows := make([]int32, all.N)
	for i := range rows {
		rows[i] = int32(i)
	}
	slices.SortFunc(rows, func(i, j int32) int {
		if r := bytes.Compare(l.appendKey(nil, all, int(i)), l.appendKey(nil, all, int(j))); r != 0 {
			return r
		}
		if r := tailrace.CompareStored(l.order, all, int(i), all, int(j)); r != 0 {
			return r
		}
		return compareTime(all.Time(int(i), 0), all.Time(int(j), 0))
	})
	return plainSum(l, all.Gather(rows), byTime)
}

// plainSum adds up neighbours that are the same row, and at the same time if byTime.
func plainSum(l *layout, b *tailrace.Batch, byTime bool) *tailrace.Batch {
	var rows []int32
	var diffs []tailrace.Diff
	for i := range b.N {
		last := len(rows) - 1
		if last >= 0 && tailrace.CompareStored(l.order, b, int(rows[last]), b, i) == 0 && (!byTime || b.Time(int(rows[last]), 0) == b.Time(i, 0)) {
			diffs[last] += b.Diff(i)
			continue
		}
		rows, diffs = append(rows, int32(i)), append(diffs, b.Diff(i))
	}
	out := b.Gather(rows)
	out.Diffs = diffs
	if !byTime {
		out.Times = nil
	}
	keep := []int32{}
	for i := range out.N {
		if diffs[i] != 0 {
			keep = append(keep, int32(i))
		}
	}
	return out.Gather(keep)
}

// sameUpdates tells how two batches differ, "" when they do not.
func sameUpdates(got, want *tailrace.Batch) string {
	if got.N != want.N {
		return fmt.Sprintf("got %d updates, want %d", got.N, want.N)
	}
	for i := range want.N {
		if got.Diff(i) != want.Diff(i) || got.Time(i, 0) != want.Time(i, 0) {
			return fmt.Sprintf("update %d: got diff %d at %d, want %d at %d", i, got.Diff(i), got.Time(i, 0), want.Diff(i), want.Time(i, 0))
		}
		for c := range want.Cols {
			x, y := &got.Cols[c], &want.Cols[c]
			if x.IsNull(i) != y.IsNull(i) || !x.IsNull(i) && !bytes.Equal(x.Bytes(i), y.Bytes(i)) {
				return fmt.Sprintf("update %d, column %d: got %x, want %x", i, c, x.Bytes(i), y.Bytes(i))
			}
		}
	}
	return ""
}

// TestSortOfGroupsIsTheOrderOfWholeKeys holds sortGroups, in tasks, against its plain form.
func TestSortOfGroupsIsTheOrderOfWholeKeys(t *testing.T) {
	for _, workers := range []int{0, 2} {
		in := helped(t, workers)
		for seed := range uint64(60) {
			rng := rand.New(rand.NewPCG(seed, 7))
			s := sortSchema(rng)
			l := newLayout(s)
			byTime, most := rng.IntN(2) == 0, int64(1)<<rng.IntN(20)
			var batches []*tailrace.Batch
			for range 1 + rng.IntN(5) {
				n := rng.IntN(200)
				if seed%10 == 0 {
					n = PieceRows - rng.IntN(2)
				}
				batches = append(batches, someRows(rng, s, n, most, byTime, rng.IntN(3) == 0))
			}
			got, err := l.sortGroups(in, batches, PieceRows, byTime)
			if err != nil {
				t.Fatalf("seed %d: %v", seed, err)
			}
			all := tailrace.NewBatch(s, 0)
			for i, b := range got {
				if b.N > PieceRows || b.N < PieceRows && i+1 < len(got) {
					t.Errorf("seed %d: group %d of %d has %d rows", seed, i, len(got), b.N)
				}
				appendBatch(all, b)
				all.Times = append(all.Times, b.Times...)
			}
			if diff := sameUpdates(all, plainSort(l, batches, byTime)); diff != "" {
				t.Errorf("seed %d, %d workers, by time %v, schema %+v: %s", seed, workers, byTime, s.Fields, diff)
			}
		}
	}
}

// TestRowsCompareAsTheirKeys holds compareRows against a comparison of whole keys.
func TestRowsCompareAsTheirKeys(t *testing.T) {
	for seed := range uint64(200) {
		rng := rand.New(rand.NewPCG(seed, 8))
		s := sortSchema(rng)
		l := newLayout(s)
		b := someRows(rng, s, 20, 1<<rng.IntN(12), false, rng.IntN(2) == 0)
		var equal tie
		for i := range b.N {
			for j := range b.N {
				want := bytes.Compare(l.appendKey(nil, b, i), l.appendKey(nil, b, j))
				if want == 0 {
					want = tailrace.CompareStored(l.order, b, i, b, j)
				}
				if got := equal.compareRows(l, b, i, b, j); got != want {
					t.Fatalf("seed %d, schema %+v: row %d against %d: got %d, want %d", seed, s.Fields, i, j, got, want)
				}
			}
		}
	}
}

// wide is a stripe's worth of a table of 41 columns without a key, in no order.
func wide(rng *rand.Rand, groups int) (*layout, []*tailrace.Batch) {
	s := &tailrace.Schema{Version: 1}
	for i := range 41 {
		s.Fields = append(s.Fields, tailrace.Field{ID: tailrace.ColumnID(i + 1), Name: fmt.Sprint("c", i), Type: tailrace.TypeOf(sortKinds[i%5])})
	}
	var in []*tailrace.Batch
	for range groups {
		in = append(in, someRows(rng, s, PieceRows, 1<<40, false, false))
	}
	return newLayout(s), in
}

// BenchmarkSortStripe sorts a stripe's worth: "plain" makes a key of all columns of each row, "head" of the columns of the key, which are all, as l.sort does.
func BenchmarkSortStripe(b *testing.B) {
	l, in := wide(rand.New(rand.NewPCG(1, 1)), 16)
	rows := int64(16 * PieceRows)
	b.Run("plain", func(b *testing.B) {
		for b.Loop() {
			all := tailrace.NewBatch(l.schema, int(rows))
			for _, x := range in {
				appendBatch(all, x)
			}
			if l.consolidated(l.sorted(all)).N == 0 {
				b.Fatal()
			}
		}
		b.ReportMetric(float64(rows)*float64(b.N)/b.Elapsed().Seconds(), "rows/s")
	})
	for _, workers := range []int{0, 1, 2} {
		b.Run(fmt.Sprintf("tasks-%d", workers), func(b *testing.B) {
			under := helped(b, workers)
			for b.Loop() {
				if _, err := l.sortGroups(under, in, PieceRows, false); err != nil {
					b.Fatal(err)
				}
			}
			b.ReportMetric(float64(rows)*float64(b.N)/b.Elapsed().Seconds(), "rows/s")
		})
	}
}
