package shard

import (
	"bytes"
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"tailrace"
)

// orderSchemas are keys of several shapes: integers that are compared as such, others, several columns, none.
func orderSchemas() []*tailrace.Schema {
	field := func(id int, k tailrace.Kind) tailrace.Field {
		return tailrace.Field{ID: tailrace.ColumnID(id), Name: fmt.Sprint("c", id), Type: tailrace.TypeOf(k)}
	}
	return []*tailrace.Schema{
		{Key: []int{1}, Fields: []tailrace.Field{field(1, tailrace.KindText), field(2, tailrace.KindInt8)}},
		{Key: []int{0}, Fields: []tailrace.Field{field(1, tailrace.KindText), field(2, tailrace.KindInt8)}},
		{Key: []int{1, 0}, Fields: []tailrace.Field{field(1, tailrace.KindText), field(2, tailrace.KindInt4)}},
		{Fields: []tailrace.Field{field(1, tailrace.KindText), field(2, tailrace.KindInt8)}},
		{},
	}
}

// orderRows are n rows of few values, a fifth of them NULL when nulls is set; sometimes in order, with a step back somewhere.
func orderRows(rng *rand.Rand, s *tailrace.Schema, n int, nulls bool) *tailrace.Batch {
	b := tailrace.NewBatch(s, n)
	ascending, back := rng.IntN(2) == 0, rng.IntN(2*n+1)
	for i := range n {
		v := rng.Int64N(20) - 10
		if ascending {
			v = int64(i) - 5
		}
		if i == back {
			v--
		}
		for c, f := range s.Fields {
			switch {
			case nulls && rng.IntN(5) == 0:
				b.Cols[c].AppendNull()
			case f.Type.Kind == tailrace.KindText:
				b.Cols[c].AppendString(fmt.Sprintf("%03d", v+100))
			case f.Type.Kind == tailrace.KindInt4:
				b.Cols[c].AppendInt32(int32(v))
			default:
				b.Cols[c].AppendInt64(v << rng.IntN(2*8) >> 8)
			}
		}
		b.AppendDiff(1)
		b.Times = append(b.Times, tailrace.Time(rng.Uint64N(4)))
	}
	return b
}

// TestSortIsTheOrderOfWholeRowKeys holds sort against its plain form, which makes the key of every row whole.
func TestSortIsTheOrderOfWholeRowKeys(t *testing.T) {
	for seed := range uint64(400) {
		rng := rand.New(rand.NewPCG(seed, 1))
		for k, s := range orderSchemas() {
			b, l := orderRows(rng, s, rng.IntN(40), true), newLayout(s)
			want := make([]int32, b.N)
			for i := range want {
				want[i] = int32(i)
			}
			slices.SortStableFunc(want, func(i, j int32) int {
				if r := bytes.Compare(l.appendKey(nil, b, int(i)), l.appendKey(nil, b, int(j))); r != 0 {
					return r
				}
				return compareTime(b.Times[i], b.Times[j])
			})
			got := l.sorted(b)
			for i, j := range want {
				x, y := l.appendKey(nil, got, i), l.appendKey(nil, b, int(j))
				if !bytes.Equal(x, y) || got.Times[i] != b.Times[j] {
					t.Fatalf("seed %d, schema %d, row %d: got key %x at %d, want %x at %d", seed, k, i, x, got.Times[i], y, b.Times[j])
				}
			}
		}
	}
}

// TestTieIsTheOrderOfTheOtherKeys holds tie against its plain form, which makes the keys of all columns.
func TestTieIsTheOrderOfTheOtherKeys(t *testing.T) {
	seen := map[int]int{}
	for seed := range uint64(300) {
		w := newWorld(t, seed, seed%2 == 0)
		l := newLayout(w.schema)
		b := tailrace.NewBatch(w.schema, 0)
		for range 12 {
			appendRow(b, w.schema, w.randomRow(), 1)
		}
		var equal tie
		for i := range b.N {
			for j := range b.N {
				want := bytes.Compare(tailrace.AppendRowKey(nil, l.schema, l.order[l.head:], b, i), tailrace.AppendRowKey(nil, l.schema, l.order[l.head:], b, j))
				if want == 0 {
					want = tailrace.CompareStored(l.order, b, i, b, j)
				}
				if got := equal.compare(l, b, i, b, j); got != want {
					t.Fatalf("seed %d: %s against %s: got %d, want %d", seed, show(b, i), show(b, j), got, want)
				}
				seen[want]++
			}
		}
	}
	if len(seen) != 3 {
		t.Errorf("results: got %v, want all three", seen)
	}
}

// TestAscendingIsThatEachKeyIsAboveTheLast holds Take, in pieces, against a comparison of all keys.
func TestAscendingIsThatEachKeyIsAboveTheLast(t *testing.T) {
	yes := 0
	for seed := range uint64(2000) {
		rng := rand.New(rand.NewPCG(seed, 1))
		for k, s := range orderSchemas() {
			if len(s.Key) == 0 {
				continue
			}
			b, l := orderRows(rng, s, 1+rng.IntN(12), rng.IntN(4) == 0), newLayout(s)
			want := true
			for i := 1; i < b.N; i++ {
				want = want && bytes.Compare(l.appendHead(nil, b, i-1), l.appendHead(nil, b, i)) < 0
			}
			a, got := NewAscending(s), true
			for from := 0; from < b.N && got; {
				to := min(b.N, from+rng.IntN(5))
				got = a.Take(b, from, to)
				from = to
			}
			if got != want {
				t.Fatalf("seed %d, schema %d: got %v, want %v", seed, k, got, want)
			}
			if got {
				yes++
			}
		}
	}
	if yes < 100 {
		t.Errorf("%d of the batches ascend: too few to tell anything", yes)
	}
}

// keyBytes is the tailrace.AppendKey of a key of a world's table.
func keyBytes(v int32) []byte {
	c := tailrace.MakeColumn(tailrace.KindInt4, 1)
	c.AppendInt32(v)
	return tailrace.AppendKey(nil, tailrace.TypeOf(tailrace.KindInt4), &c, 0)
}

// TestAboveKnowsTheHighestKey asks for the highest key and the next one, wherever rows are kept. (checkLookup asks for others.)
func TestAboveKnowsTheHighestKey(t *testing.T) {
	ctx := context.Background()
	w := newWorld(t, 4, true)
	if above, err := w.shard().Above(keyBytes(-100)); !above || err != nil {
		t.Errorf("above all of no rows: got %v, %v, want true", above, err)
	}
	w.from, w.keys = 0, 10
	for step, do := range []func(){
		func() { w.write(ctx, 3) },
		func() { w.try("flush", w.shard().flush(ctx, w.commit, 1)) },
		func() { w.write(ctx, 150) },
		func() { w.try("merge", w.shard().merge(ctx, w.commit)) },
		func() { w.write(ctx, 3) },
	} {
		w.from += 10
		do()
		highest := int32(-1)
		for _, u := range w.model {
			highest = max(highest, int32((*u.row[2])[0])|int32((*u.row[2])[1])<<8)
		}
		for key := highest; key <= highest+1; key++ {
			above, err := w.shard().Above(keyBytes(key))
			if want := key > highest; above != want || err != nil {
				t.Errorf("step %d: %d above all, the highest of which is %d: got %v, %v, want %v", step, key, highest, above, err, want)
			}
		}
	}
}

// TestRowsInOrderBecomeOneRun writes rows in order, then some that are not.
func TestRowsInOrderBecomeOneRun(t *testing.T) {
	ctx := context.Background()
	w := newWorld(t, 2, true)
	for _, disorder := range []bool{false, true} {
		wr := w.set.NewWriter(table, w.schema, WriteOptions{})
		for i := range 2000 {
			k := i
			if disorder && i == 1000 {
				k = -1
			}
			b := tailrace.NewBatch(w.schema, 1)
			b.Cols[0].AppendString("text")
			b.Cols[1].AppendInt32(int32(k))
			b.Cols[2].AppendNull()
			b.AppendDiff(1)
			if err := wr.Append(ctx, b); err != nil {
				t.Fatal(err)
			}
		}
		if err := wr.Cut(ctx); err != nil {
			t.Fatal(err)
		}
		if n := len(wr.load.runs); (n == 1) == disorder {
			t.Errorf("disorder %v: got %d runs", disorder, n)
		}
		rows := 0
		err := wr.Each(ctx, func(b *tailrace.Batch) error {
			rows += b.N
			return nil
		})
		if err != nil || rows != 2000 {
			t.Errorf("disorder %v: read back %d rows (%v), want 2000", disorder, rows, err)
		}
		wr.Abort(ctx)
	}
}

// appendKey is the plain way to compare rows.
func (l *layout) appendKey(dst []byte, b *tailrace.Batch, i int) []byte {
	return tailrace.AppendRowKey(dst, l.schema, l.order, b, i)
}
