package tailrace

import (
	"bytes"
	"errors"
	"math/rand/v2"
	"testing"
)

// randomBatch has a column of every width, NULLs, and perhaps times and diffs.
func randomBatch(rng *rand.Rand, n int) *Batch {
	s := &Schema{}
	for i, k := range []Kind{KindBool, KindInt2, KindInt4, KindInt8, KindUUID, KindText, KindNumeric} {
		s.Fields = append(s.Fields, Field{ID: ColumnID(10 * (i + 1)), Type: TypeOf(k)})
	}
	b := NewBatch(s, n)
	times := rng.IntN(2) == 0
	for range n {
		for c := range b.Cols {
			if rng.IntN(5) == 0 {
				b.Cols[c].AppendNull()
				continue
			}
			v := make([]byte, b.Cols[c].Width)
			if b.Cols[c].Width == 0 {
				v = make([]byte, rng.IntN(20))
			}
			for i := range v {
				v[i] = byte(rng.Uint32())
			}
			b.Cols[c].Append(v)
		}
		b.AppendDiff(Diff(rng.IntN(3) - 1))
		if times {
			b.Times = append(b.Times, Time(rng.Uint64()))
		}
	}
	return b
}

func TestBatchRoundTrips(t *testing.T) {
	for seed := range uint64(200) {
		rng := rand.New(rand.NewPCG(seed, 1))
		b := randomBatch(rng, rng.IntN(50))
		raw := AppendBatch(nil, b)
		got, rest, err := DecodeBatch(append(raw, "rest"...))
		if err != nil || string(rest) != "rest" {
			t.Fatalf("seed %d: %v, rest %q", seed, err, rest)
		}
		if again := AppendBatch(nil, got); !bytes.Equal(again, raw) {
			t.Fatalf("seed %d: encoded again to other bytes", seed)
		}
		for i := range b.N {
			for c := range b.Cols {
				x, y := &b.Cols[c], &got.Cols[c]
				if x.IsNull(i) != y.IsNull(i) || !x.IsNull(i) && !bytes.Equal(x.Bytes(i), y.Bytes(i)) {
					t.Fatalf("seed %d: row %d column %d differs", seed, i, c)
				}
			}
		}
		for cut := range raw {
			if _, _, err := DecodeBatch(raw[:cut]); !errors.Is(err, ErrCorrupt) {
				t.Fatalf("seed %d: cut at %d: got %v, want ErrCorrupt", seed, cut, err)
			}
		}
	}
}

func TestAppendRangeAndGatherEqualAppendFrom(t *testing.T) {
	for seed := range uint64(200) {
		rng := rand.New(rand.NewPCG(seed, 2))
		b := randomBatch(rng, 1+rng.IntN(40))
		from := rng.IntN(b.N)
		to := from + rng.IntN(b.N-from+1)
		var rows []int32
		for i := from; i < to; i++ {
			rows = append(rows, int32(i))
		}
		for c := range b.Cols {
			plain := Column{Width: b.Cols[c].Width}
			ranged := Column{Width: b.Cols[c].Width}
			if plain.Width == 0 {
				plain.Offsets, ranged.Offsets = []int32{0}, []int32{0}
			}
			for i := from; i < to; i++ {
				plain.AppendFrom(&b.Cols[c], i)
			}
			ranged.AppendRange(&b.Cols[c], from, to)
			for name, col := range map[string]Column{"range": ranged, "gather": b.Cols[c].Gather(rows)} {
				x := AppendBatch(nil, &Batch{N: col.N, IDs: []ColumnID{1}, Cols: []Column{col}})
				y := AppendBatch(nil, &Batch{N: plain.N, IDs: []ColumnID{1}, Cols: []Column{plain}})
				if !bytes.Equal(x, y) {
					t.Fatalf("seed %d: column %d: %s [%d,%d) differs from row by row", seed, c, name, from, to)
				}
			}
		}
	}
}

func FuzzDecodeBatch(f *testing.F) {
	f.Add(AppendBatch(nil, randomBatch(rand.New(rand.NewPCG(1, 1)), 10)))
	f.Fuzz(func(t *testing.T, raw []byte) {
		b, _, err := DecodeBatch(raw)
		if err != nil {
			return
		}
		for c := range b.Cols {
			for i := range b.N {
				if !b.Cols[c].IsNull(i) {
					b.Cols[c].Bytes(i)
				}
			}
		}
		AppendBatch(nil, b)
	})
}
