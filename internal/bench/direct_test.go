package bench

import (
	"context"
	"io"
	"os"
	"strconv"
	"testing"
	"time"
)

// BenchmarkDirect is the first half of Lookup, for profiles: BENCH_ROWS rows (1 million).
func BenchmarkDirect(b *testing.B) {
	rows, err := strconv.Atoi(os.Getenv("BENCH_ROWS"))
	if err != nil {
		rows = 1_000_000
	}
	for b.Loop() {
		r := &Report{}
		if err := (Lookup{Rows: rows, Updates: 60_000, Seconds: 5 * time.Second}).direct(context.Background(), r, io.Discard); err != nil {
			b.Fatal(err)
		}
		for _, f := range r.figures {
			b.ReportMetric(median(f.values[ours]), f.name)
		}
	}
}
