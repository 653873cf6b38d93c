package log_test

import (
	"context"
	"fmt"
	"sync"
	"sync/atomic"
	"testing"

	"tailrace"
	"tailrace/internal/sim"
	"tailrace/log"
	"tailrace/pebble"
)

// BenchmarkCommit is durable commits on pebble, each of one key with 100 bytes that it read before.
func BenchmarkCommit(b *testing.B) {
	for _, writers := range []int{1, 32} {
		b.Run(fmt.Sprintf("writers=%d", writers), func(b *testing.B) {
			c, err := pebble.Open(b.TempDir(), pebble.Options{})
			if err != nil {
				b.Fatal(err)
			}
			defer c.Close()
			n := start(b, log.Options{Consensus: c, Blob: sim.NewBlob(), Session: session(1)}, &node{})
			defer n.close()
			payload := make([]byte, 100)
			var left atomic.Int64
			left.Store(int64(b.N))
			b.ReportAllocs()
			b.ResetTimer()
			var wg sync.WaitGroup
			for w := range writers {
				wg.Go(func() {
					for i := uint64(0); left.Add(-1) >= 0; i++ {
						keys := []uint64{uint64(w)<<32 | i}
						_, err := n.Commit(context.Background(), log.Txn{
							ReadTime: n.Newest(), Reads: []log.Read{{Collection: 7, Keys: keys}},
							Records: []log.Record{{Kind: log.KindData, Collection: 7, Keys: keys, Payload: payload}},
						})
						if err != nil {
							b.Errorf("commit: got %v, want none", err)
							return
						}
					}
				})
			}
			wg.Wait()
			b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "commits/s")
			b.ReportMetric(float64(b.N)/float64(n.Head()), "commits/entry")
		})
	}
}

// BenchmarkDecodeEntry is one entry of 32 transactions with a key and 100 bytes each.
func BenchmarkDecodeEntry(b *testing.B) {
	e := log.Entry{Seq: 1}
	for i := range 32 {
		e.Time = tailrace.Time(1000 + i)
		e.Txns = append(e.Txns, log.Committed{Time: e.Time, Records: []log.Record{put(7, string(make([]byte, 100)), uint64(i))}})
	}
	raw := e.Encode(nil, 1, session(1))
	b.SetBytes(int64(len(raw)))
	b.ReportAllocs()
	for b.Loop() {
		if _, _, _, err := log.DecodeEntry(raw); err != nil {
			b.Fatal(err)
		}
	}
}
