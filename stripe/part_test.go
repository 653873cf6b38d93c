package stripe

import (
	"bytes"
	"context"
	"io"
	"math/rand/v2"
	"sync"
	"testing"

	"pgregory.net/rapid"

	"tailrace"
)

// drawPart draws a schema, updates and options small enough that a part has several stripes, groups and pages.
func drawPart(t *rapid.T) (*tailrace.Schema, *tailrace.Batch, Options, *rand.Rand) {
	seed := rapid.Uint64().Draw(t, "seed")
	rng := rand.New(rand.NewPCG(seed, 1))
	s := genSchema(rng, rapid.SampledFrom([]int{6, 5, 4, 3, 2, 1, 0}).Draw(t, "columns"), rapid.IntRange(0, 2).Draw(t, "key columns"))
	rows := rapid.SampledFrom([]int{3000, 9000, 1100, 700, 100, 17, 2, 1, 0}).Draw(t, "rows")
	opts := Options{
		PageRows:    rapid.SampledFrom([]int{0, 16, 100, 1024}).Draw(t, "page rows"),
		StripeRows:  rapid.SampledFrom([]int{0, 1500, 300, 0, 1}).Draw(t, "stripe rows"),
		StripeBytes: rapid.SampledFrom([]int{0, 5000}).Draw(t, "stripe bytes"),
		Codec:       rapid.SampledFrom([]Codec{CodecDefault, CodecNone}).Draw(t, "codec"),
	}
	if opts.StripeRows == 1 {
		rows = min(rows, 17)
	}
	return s, genBatch(rng, s, rows), opts, rng
}

func TestPartGivesBackWhatWasWritten(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		s, b, opts, _ := drawPart(rt)
		part := write(t, s, b, opts, whole)
		if err := readAll(t, part, s, b); err != nil {
			rt.Fatalf("read: %v", err)
		}
		if err := Verify(context.Background(), part); err != nil {
			rt.Fatalf("verify: %v", err)
		}
	})
}

func TestBytesDoNotDependOnHowUpdatesAreCutIntoBatches(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		s, b, opts, rng := drawPart(rt)
		want := write(t, s, b, opts, whole)
		most := rapid.SampledFrom([]int{3, 50, 2000}).Draw(rt, "most updates of a batch")
		got := write(t, s, b, opts, func() int { return 1 + rng.IntN(most) })
		if !bytes.Equal(got, want) {
			rt.Fatalf("parts of %d and %d bytes differ", len(got), len(want))
		}
	})
}

func TestScanGivesWhatReadGives(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		s, b, opts, _ := drawPart(rt)
		part := write(t, s, b, opts, whole)
		r, err := Open(t.Context(), fetchOf(part), int64(len(part)))
		if err != nil {
			rt.Fatal(err)
		}
		r.ReadThrough = int64(rapid.SampledFrom([]int{0, 100, 1 << 20}).Draw(rt, "read through"))
		from := rapid.IntRange(0, r.Groups()).Draw(rt, "first group")
		recycles := rapid.Bool().Draw(rt, "recycles")
		scan := r.Scan(from, ids(s))
		for g := from; g < r.Groups(); g++ {
			got, err := scan.Next(t.Context())
			if err != nil {
				rt.Fatal(err)
			}
			first, _ := r.GroupRows(g)
			if diff := compare(got, b, int(first)); diff != "" {
				rt.Fatalf("group %d: %s", g, diff)
			}
			if recycles {
				scan.Recycle()
			}
		}
		if _, err := scan.Next(t.Context()); err != io.EOF {
			rt.Fatalf("after the last group: got %v, want EOF", err)
		}
	})
}

func TestReadGivesOnlyColumnsThatThePartHas(t *testing.T) {
	rng := rand.New(rand.NewPCG(5, 5))
	s := genSchema(rng, 4, 1)
	part := write(t, s, genBatch(rng, s, 100), Options{}, whole)
	r, err := Open(t.Context(), fetchOf(part), int64(len(part)))
	if err != nil {
		t.Fatal(err)
	}
	b, err := r.Read(t.Context(), 0, []tailrace.ColumnID{s.Fields[2].ID, 999, s.Fields[0].ID})
	if err != nil {
		t.Fatal(err)
	}
	if len(b.IDs) != 2 || b.IDs[0] != s.Fields[2].ID || b.IDs[1] != s.Fields[0].ID || b.Cols[1].Width != s.Fields[0].Type.Kind.Width() {
		t.Errorf("got columns %v, want %v and %v", b.IDs, s.Fields[2].ID, s.Fields[0].ID)
	}
}

func TestFooterTellsTheTruth(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		s, b, opts, _ := drawPart(rt)
		part := write(t, s, b, opts, whole)
		r, err := Open(t.Context(), fetchOf(part), int64(len(part)))
		if err != nil {
			rt.Fatal(err)
		}
		f, keys, row := r.Footer(), rowKeys(s, b), 0
		sum := tailrace.Diff(0)
		for i := range b.N {
			sum += b.Diff(i)
			if x := b.Time(i, 0); x < f.MinTime || x > f.MaxTime {
				rt.Fatalf("time %d outside %d..%d", x, f.MinTime, f.MaxTime)
			}
		}
		if f.SumDiff != int64(sum) || f.MinTime > f.MaxTime || len(f.SortKey) != len(s.Fields) || f.Schema.Version != s.Version {
			rt.Fatalf("footer %+v of a part with diffs %d", f, sum)
		}
		for i, st := range f.Stripes {
			if bytes.Compare(st.FirstKey, keys[row]) > 0 || bytes.Compare(st.LastKey, keys[row+st.Rows-1]) < 0 {
				rt.Fatalf("stripe %d: keys %x..%x outside %x..%x", i, keys[row], keys[row+st.Rows-1], st.FirstKey, st.LastKey)
			}
			for c := range s.Fields {
				checkStatistics(rt, &st.Chunks[c+2], s.Fields[c].Type, &b.Cols[c], row, row+st.Rows)
			}
			row += st.Rows
		}
	})
}

func TestBoundsHoldForEveryGroup(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		s, b, opts, _ := drawPart(rt)
		part := write(t, s, b, opts, whole)
		r, err := Open(t.Context(), fetchOf(part), int64(len(part)))
		if err != nil {
			rt.Fatal(err)
		}
		for g := range r.Groups() {
			first, n := r.GroupRows(g)
			for c, f := range s.Fields {
				m := ChunkMeta{}
				if m.Min, m.Max, m.Nulls, err = r.Bounds(g, f.ID); err != nil {
					rt.Fatal(err)
				}
				m.Distinct = -1
				checkStatistics(rt, &m, f.Type, &b.Cols[c], int(first), int(first)+n)
			}
		}
	})
}

func checkStatistics(t *rapid.T, m *ChunkMeta, typ tailrace.Type, c *tailrace.Column, from, to int) {
	nulls, differ := 0, map[string]bool{}
	for i := from; i < to; i++ {
		if c.IsNull(i) {
			nulls++
			continue
		}
		differ[string(c.Bytes(i))] = true
		key := tailrace.AppendKey(nil, typ, c, i)
		if m.Min != nil && (bytes.Compare(key, m.Min) < 0 || bytes.Compare(key, m.Max) > 0) {
			t.Fatalf("%v: key %x outside %x..%x", typ, key, m.Min, m.Max)
		}
		if m.Min == nil && typ.Kind != tailrace.KindInterval && typ.Kind != tailrace.KindNumeric {
			t.Fatalf("%v: no bounds", typ)
		}
	}
	if m.Nulls != nulls || to-from <= 1024 && m.Distinct >= 0 && m.Distinct != int64(len(differ)) {
		t.Fatalf("%v: got %d nulls, %d different, want %d, %d", typ, m.Nulls, m.Distinct, nulls, len(differ))
	}
}

func TestWideValuesSplitTheirPages(t *testing.T) {
	rng := rand.New(rand.NewPCG(7, 7))
	s := &tailrace.Schema{Fields: []tailrace.Field{
		{ID: 1, Name: "id", Type: tailrace.TypeOf(tailrace.KindInt8)}, {ID: 2, Name: "body", Type: tailrace.TypeOf(tailrace.KindBytea)},
	}, Key: []int{0}}
	b := tailrace.NewBatch(s, 0)
	for i := range 20 {
		b.Cols[0].AppendInt64(int64(i))
		switch raw := make([]byte, rng.IntN(1<<20+1)); {
		case i == 5:
			b.Cols[1].Append(make([]byte, 3<<20))
		case i%4 == 1:
			b.Cols[1].AppendNull()
		default:
			for j := range raw {
				raw[j] = byte(rng.Uint32() >> (i % 8))
			}
			b.Cols[1].Append(raw)
		}
		b.AppendDiff(1)
	}
	part := write(t, s, b, Options{StripeBytes: 6 << 20}, whole)
	if err := readAll(t, part, s, b); err != nil {
		t.Fatal(err)
	}
	if again := write(t, s, b, Options{StripeBytes: 6 << 20}, func() int { return 1 }); !bytes.Equal(again, part) {
		t.Error("row by row gives other bytes")
	}
	r, err := Open(t.Context(), fetchOf(part), int64(len(part)))
	if err != nil {
		t.Fatal(err)
	}
	x, err := r.index(3)
	if err != nil || len(r.footer.Stripes) < 2 || len(x.pages) < 4 {
		t.Errorf("got %d stripes, %d pages, %v; want several", len(r.footer.Stripes), len(x.pages), err)
	}
}

func TestReaderServesSeveralGoroutines(t *testing.T) {
	s, b, part := smallPart(t, 300)
	r, err := Open(t.Context(), fetchOf(part), int64(len(part)))
	if err != nil {
		t.Fatal(err)
	}
	var all sync.WaitGroup
	for range 4 {
		all.Go(func() {
			for g := range r.Groups() {
				first, _ := r.GroupRows(g)
				got, err := r.Read(t.Context(), g, ids(s))
				if err != nil {
					t.Errorf("group %d: %v", g, err)
				} else if diff := compare(got, b, int(first)); diff != "" {
					t.Errorf("group %d: %s", g, diff)
				}
			}
		})
	}
	all.Wait()
}

func TestWriterRefusesUpdatesOutOfOrder(t *testing.T) {
	s := &tailrace.Schema{Fields: []tailrace.Field{{ID: 1, Name: "id", Type: tailrace.TypeOf(tailrace.KindInt4)}}, Key: []int{0}}
	b := tailrace.NewBatch(s, 0)
	for i := range 40 {
		b.Cols[0].AppendInt32(int32(-i))
		b.AppendDiff(1)
	}
	if _, err := encodeBatch(s, b, Options{PageRows: 16}, nil, nil); err == nil {
		t.Error("a part of descending keys was written")
	}
}
