package stripe

import (
	"context"
	"encoding/binary"
	"errors"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"tailrace"
)

func TestFilterHoldsEveryValue(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		s, b, opts, _ := drawPart(rt)
		opts.Filters = ids(s)
		part := write(t, s, b, opts, whole)
		if err := Verify(context.Background(), part); err != nil {
			rt.Fatal(err)
		}
		r, err := Open(t.Context(), fetchOf(part), int64(len(part)))
		if err != nil {
			rt.Fatal(err)
		}
		if got := r.Footer().Settings.Filters; !slices.Equal(got, opts.Filters) {
			rt.Fatalf("got filters of columns %v in the footer, want %v", got, opts.Filters)
		}
		row := 0
		for i, st := range r.Footer().Stripes {
			for ; st.Rows > 0; row, st.Rows = row+1, st.Rows-1 {
				for c, f := range s.Fields {
					if b.Cols[c].IsNull(row) {
						continue
					}
					if ok, err := r.MayHold(t.Context(), i, f.ID, tailrace.AppendKey(nil, f.Type, &b.Cols[c], row)); err != nil || !ok {
						rt.Fatalf("stripe %d, row %d, column %d: got %v, %v; want that it may hold it", i, row, c, ok, err)
					}
				}
			}
		}
	})
}

// filtered is a part of rows numbers in two stripes, with a filter.
func filtered(t testing.TB, rows int) (*tailrace.Schema, []byte) {
	s := &tailrace.Schema{Fields: []tailrace.Field{
		{ID: 7, Name: "id", Type: tailrace.TypeOf(tailrace.KindInt8)}, {ID: 9, Name: "v", Type: tailrace.TypeOf(tailrace.KindInt8)},
	}, Key: []int{0}}
	rng := rand.New(rand.NewPCG(1, 9))
	b := tailrace.NewBatch(s, rows)
	for i := range rows {
		b.Cols[0].AppendInt64(int64(i) * 3)
		b.Cols[1].AppendInt64(int64(rng.Uint64() >> 1))
		b.AppendDiff(1)
	}
	return s, write(t, s, b, Options{StripeRows: rows / 2, Filters: []tailrace.ColumnID{7}}, whole)
}

func TestFilterRulesOutMostOthers(t *testing.T) {
	s, part := filtered(t, 20_000)
	fetches := 0
	r, err := Open(t.Context(), func(ctx context.Context, off, n int64) ([]byte, error) {
		fetches++
		return fetchOf(part)(ctx, off, n)
	}, int64(len(part)))
	if err != nil {
		t.Fatal(err)
	}
	before, wrong := fetches, 0
	for i := range 20_000 {
		c := tailrace.MakeColumn(tailrace.KindInt8, 1)
		c.AppendInt64(int64(i)*3 + 1)
		ok, err := r.MayHold(t.Context(), 1, 7, tailrace.AppendKey(nil, s.Fields[0].Type, &c, 0))
		if err != nil {
			t.Fatal(err)
		}
		wrong += boolInt(ok)
	}
	if wrong > 150 { // 78 expected
		t.Errorf("%d of 20,000 values that are not there may be held, want about 1 in 256", wrong)
	}
	if got := fetches - before; got != 1 {
		t.Errorf("got %d reads of the filter, want 1", got)
	}
	for _, id := range []tailrace.ColumnID{9, 1000} {
		if ok, err := r.MayHold(t.Context(), 0, id, []byte{1, 2}); !ok || err != nil {
			t.Errorf("column %d, which has no filter: got %v, %v; want that it may hold anything", id, ok, err)
		}
	}
}

func TestDamagedFilterFailsOnlyWhoAsksIt(t *testing.T) {
	s, part := filtered(t, 2000)
	r, err := Open(t.Context(), fetchOf(part), int64(len(part)))
	if err != nil {
		t.Fatal(err)
	}
	part[r.filters[2].offset+20] ^= 1
	if r, err = Open(t.Context(), fetchOf(part), int64(len(part))); err != nil {
		t.Fatal(err)
	}
	r.Name = "x"
	if _, err := r.MayHold(t.Context(), 0, 7, []byte{1}); !errors.Is(err, tailrace.ErrCorrupt) || !strings.HasPrefix(err.Error(), `part x: column "id", filter: `) {
		t.Errorf("got error %v, want that the filter is corrupt", err)
	}
	if _, err := r.MayHold(t.Context(), 1, 7, []byte{1}); err != nil {
		t.Errorf("the other stripe's filter: %v", err)
	}
	if _, err := r.Read(t.Context(), 0, ids(s)); err != nil {
		t.Errorf("read: %v", err)
	}
	if err := Verify(t.Context(), part); !errors.Is(err, tailrace.ErrCorrupt) {
		t.Errorf("verify: got %v, want ErrCorrupt", err)
	}
}

func FuzzFilter(f *testing.F) {
	e := newEncoder(Options{}.filled())
	for _, n := range []int{1, 2, 5, 300} {
		c := tailrace.MakeColumn(tailrace.KindInt4, n)
		for i := range n {
			c.AppendInt32(int32(i * i))
		}
		f.Add(e.appendFilter(nil, chunkOf(tailrace.TypeOf(tailrace.KindInt4), &c, PageRows), int64(n)), []byte("key"))
	}
	f.Add(binary.LittleEndian.AppendUint64(make([]byte, 8), 1<<40|1), []byte{})
	f.Fuzz(func(t *testing.T, raw, key []byte) {
		x, err := parseFilter(raw)
		if err != nil {
			mustBeCorrupt(t, err)
			return
		}
		x.Contains(hashKey(key))
	})
}

func BenchmarkFilter(b *testing.B) {
	for _, x := range []struct {
		name   string
		values int
	}{{"different", StripeRows}, {"few", 1000}} {
		b.Run(x.name, func(b *testing.B) {
			c := tailrace.MakeColumn(tailrace.KindInt8, StripeRows)
			rng := rand.New(rand.NewPCG(2, 2))
			for range StripeRows {
				c.AppendInt64(int64(rng.IntN(x.values)) * 1_000_003)
			}
			e, src := newEncoder(Options{}.filled()), chunkOf(tailrace.TypeOf(tailrace.KindInt8), &c, PageRows)
			b.SetBytes(int64(c.Size()))
			b.ReportAllocs()
			var out []byte
			for b.Loop() {
				out = e.appendFilter(out[:0], src, int64(x.values))
			}
			b.ReportMetric(float64(8*len(out))/float64(x.values), "bits/value")
		})
	}
}
