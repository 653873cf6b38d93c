package bench

import (
	"context"
	"io"
	"os"
	"strconv"
	"testing"

	"tailrace"
	"tailrace/internal/bench/shape"
	"tailrace/stripe"
)

// eachShape runs a benchmark on the file of each shape, for profiles: BENCH_SCALE of its rows (0.2).
func eachShape(b *testing.B, run func(b *testing.B, s *source)) {
	scale, err := strconv.ParseFloat(os.Getenv("BENCH_SCALE"), 64)
	if err != nil {
		scale = 0.2
	}
	l := &loading{Load: Load{Scale: scale}, log: io.Discard, dir: b.TempDir(), r: &Report{}}
	for _, name := range shape.Names() {
		s, err := l.write(name, 1)
		if err != nil {
			b.Fatal(err)
		}
		b.Run(name, func(b *testing.B) {
			b.SetBytes(s.bytes)
			b.ReportAllocs()
			run(b, s)
		})
	}
}

// repeat does the work again and again, and reports CPU time too: of a machine that others use, that is what compares.
func repeat(b *testing.B, work func() error) {
	before := cpuUsed()
	for b.Loop() {
		if err := work(); err != nil {
			b.Fatal(err)
		}
	}
	b.ReportMetric((cpuUsed()-before).Seconds()*1e3/float64(b.N), "cpu-ms/op")
}

func BenchmarkParse(b *testing.B) {
	eachShape(b, func(b *testing.B, s *source) {
		repeat(b, func() error {
			return s.read(nil, func(r *reading, batch *tailrace.Batch) error {
				r.free(batch)
				return nil
			})
		})
	})
}

func BenchmarkPath(b *testing.B) {
	eachShape(b, func(b *testing.B, s *source) {
		repeat(b, func() error {
			_, err := s.whole(context.Background(), nil, 1)
			return err
		})
	})
}

// encoded makes parts of a shape that is in order; a shuffled one is skipped.
func encoded(b *testing.B, s *source) ([]*tailrace.Batch, [][]byte) {
	if s.Shuffled() {
		b.Skip("a stripe's rows are sorted")
	}
	batches, err := s.all(context.Background(), nil)
	if err != nil {
		b.Fatal(err)
	}
	parts, err := encode(s.Schema, batches, nil, stripe.Options{})
	if err != nil {
		b.Fatal(err)
	}
	return batches, parts
}

func BenchmarkEncode(b *testing.B) {
	eachShape(b, func(b *testing.B, s *source) {
		batches, parts := encoded(b, s)
		var size int
		for _, raw := range parts {
			size += len(raw)
		}
		repeat(b, func() error {
			_, err := encode(s.Schema, batches, nil, stripe.Options{})
			return err
		})
		b.ReportMetric(float64(size)/float64(s.bytes), "part/csv")
	})
}

// BenchmarkDecode has a run for each column too: bytes are those of the values in memory.
func BenchmarkDecode(b *testing.B) {
	eachShape(b, func(b *testing.B, s *source) {
		_, parts := encoded(b, s)
		var all []tailrace.ColumnID
		read := func(ids []tailrace.ColumnID) func(b *testing.B) {
			return func(b *testing.B) {
				repeat(b, func() error {
					size, err := scan(context.Background(), parts, ids)
					b.SetBytes(size)
					return err
				})
			}
		}
		for _, c := range s.Schema.Fields {
			all = append(all, c.ID)
			b.Run(c.Name, read([]tailrace.ColumnID{c.ID}))
		}
		b.Run("all", read(all))
	})
}
