package index_test

import (
	"bytes"
	"context"
	"encoding/binary"
	"fmt"
	"math/rand/v2"
	"os"
	"slices"
	"strconv"
	"testing"

	"tailrace/index"
	"tailrace/internal/sim"
)

// BenchmarkGet looks up random keys of INDEX_ROWS rows (1 million) of about 64 bytes.
func BenchmarkGet(b *testing.B) {
	rows := 1_000_000
	if v, err := strconv.Atoi(os.Getenv("INDEX_ROWS")); err == nil {
		rows = v
	}
	ctx := context.Background()
	s, _, err := index.Open(ctx, b.TempDir(), sim.NewConsensus(), 0, index.Options{})
	if err != nil {
		b.Fatal(err)
	}
	defer s.Close()
	l, err := s.NewLoad(1, index.State{})
	if err != nil {
		b.Fatal(err)
	}
	key := func(i int) []byte { return binary.BigEndian.AppendUint64([]byte{1}, uint64(i)^1<<63) }
	rng := rand.New(rand.NewPCG(1, 1))
	var row []byte
	for i := range rows {
		row = row[:0]
		for range 5 {
			row = strconv.AppendUint(row, rng.Uint64()|1<<60, 36)
		}
		if err := l.Add(key(i), row); err != nil {
			b.Fatal(err)
		}
	}
	if err := l.Finish(ctx); err != nil {
		b.Fatal(err)
	}
	b.Logf("%d bytes on disk", s.DiskBytes())
	for _, per := range []int{1, 100} {
		b.Run(fmt.Sprintf("keys=%d", per), func(b *testing.B) {
			keys := make([][]byte, per)
			b.ReportAllocs()
			for b.Loop() {
				for i := range keys {
					keys[i] = key(rng.IntN(rows))
				}
				slices.SortFunc(keys, bytes.Compare)
				n := 0
				if err := s.Get(ctx, 1, keys, func(int, []byte) error { n++; return nil }); err != nil || n != per {
					b.Fatalf("got %d rows (%v), want %d", n, err, per)
				}
			}
			b.ReportMetric(float64(per*b.N)/b.Elapsed().Seconds(), "keys/s")
		})
	}
}
