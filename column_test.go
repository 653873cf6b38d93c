package tailrace

import (
	"bytes"
	"math/rand/v2"
	"testing"
)

// plainGather is Gather a row at a time.
func plainGather(b *Batch, rows []int32) *Batch {
	out := &Batch{IDs: b.IDs, Cols: make([]Column, len(b.Cols))}
	for c := range b.Cols {
		out.Cols[c] = Column{Width: b.Cols[c].Width}
		if out.Cols[c].Width == 0 {
			out.Cols[c].Offsets = []int32{0}
		}
	}
	for _, r := range rows {
		out.AppendUpdate(b, int(r), b.Diff(int(r)))
	}
	return out
}

func TestGatherTakesRowsInTheirOrder(t *testing.T) {
	for seed := range uint64(200) {
		rng := rand.New(rand.NewPCG(seed, 1))
		b := randomBatch(rng, 1+rng.IntN(50))
		b.Times = nil
		for c := range b.Cols { // half of the columns without NULLs
			if rng.IntN(2) == 0 {
				b.Cols[c].Valid = nil
			}
		}
		rows := make([]int32, rng.IntN(60))
		for i := range rows {
			rows[i] = int32(rng.IntN(b.N))
		}
		got, want := b.Gather(rows), plainGather(b, rows)
		want.Diffs = got.Diffs // made when one is not 1
		if x, y := AppendBatch(nil, got), AppendBatch(nil, want); !bytes.Equal(x, y) {
			t.Fatalf("seed %d: got %x, want %x", seed, x, y)
		}
		for i, r := range rows {
			if got.Diff(i) != b.Diff(int(r)) {
				t.Fatalf("seed %d, row %d: got diff %d, want %d", seed, i, got.Diff(i), b.Diff(int(r)))
			}
		}
	}
}

func BenchmarkGather(b *testing.B) {
	rng := rand.New(rand.NewPCG(1, 1))
	in := &Batch{IDs: []ColumnID{1, 2}, Cols: []Column{MakeColumn(KindInt8, 0), MakeColumn(KindText, 0)}}
	var rows []int32
	for i := range 1 << 16 {
		in.Cols[0].AppendInt64(int64(i))
		in.Cols[1].AppendString("some text that goes with it")
		in.AppendDiff(1)
		rows = append(rows, int32(rng.IntN(in.N)))
	}
	for name, f := range map[string]func(){"whole": func() { in.Gather(rows) }, "plain": func() { plainGather(in, rows) }} {
		b.Run(name, func(b *testing.B) {
			b.SetBytes(int64(in.Size()))
			b.ReportAllocs()
			for b.Loop() {
				f()
			}
		})
	}
}
