package shard

import (
	"context"
	"crypto/sha256"
	"fmt"
	"log/slog"
	"maps"
	"sync"
	"sync/atomic"
	"testing"

	"tailrace"
	"tailrace/pool"
)

// puttingBlob remembers the SHA-256 of every part that was put.
type puttingBlob struct {
	tailrace.Blob
	mu   sync.Mutex
	sums map[string]string
}

func (b *puttingBlob) Put(ctx context.Context, key string, raw []byte) error {
	b.mu.Lock()
	b.sums[key] = fmt.Sprintf("%x", sha256.Sum256(raw))
	b.mu.Unlock()
	return b.Blob.Put(ctx, key, raw)
}

// TestPartsOfAStoryAreTheSameForAnyWorkers runs the stories of TestShardEqualsPlainModel, with all their loads, flushes, merges, changes of schema and crashes, with pools
// of every size, starved, and with tasks that fail before and after their work: each part has the same name and the same bytes every time.
func TestPartsOfAStoryAreTheSameForAnyWorkers(t *testing.T) {
	fault := func(n int64, after bool) func(bool) error {
		var tasks atomic.Int64
		return func(done bool) error {
			if done == after && tasks.Add(1)%n == 0 {
				panic("of the test")
			}
			return nil
		}
	}
	pools := []struct {
		name  string
		make  func(t *testing.T) *pool.Pool
		fault func(bool) error
	}{
		{name: "no pool", make: func(*testing.T) *pool.Pool { return nil }},
		{name: "2 workers", make: func(t *testing.T) *pool.Pool { return runningPool(t, 2) }},
		{name: "8 workers", make: func(t *testing.T) *pool.Pool { return runningPool(t, 8) }},
		{name: "starved", make: func(*testing.T) *pool.Pool { return pool.New(2) }},
		{name: "panics before", make: func(t *testing.T) *pool.Pool { return runningPool(t, 2) }, fault: fault(3, false)},
		{name: "panics after", make: func(t *testing.T) *pool.Pool { return runningPool(t, 2) }, fault: fault(3, true)},
	}
	copied := int64(0)
	stats := map[string]pool.Stats{}
	stories := []uint64{1, 10, 11}
	for seed := 15; seed < *seeds; seed++ {
		stories = append(stories, uint64(seed))
	}
	for _, seed := range stories {
		for _, keyed := range []bool{true, false} {
			var want map[string]string
			for _, x := range pools {
				t.Run(fmt.Sprintf("seed=%d,keyed=%v,%s", seed, keyed, x.name), func(t *testing.T) {
					w := newWorld(t, seed, keyed)
					blob := &puttingBlob{Blob: w.blob, sums: map[string]string{}}
					p := x.make(t)
					if w.pool, w.blob = p, blob; p != nil {
						p.Fault = x.fault
					}
					w.logger = slog.New(slog.DiscardHandler) // of tasks that panic
					w.open(nil)
					w.replay = nil
					w.now = 1000
					w.define(w.schema)
					w.story(100)
					copied += w.stripesCopied()
					s := stats[x.name]
					s.Helped, s.Panicked = s.Helped+p.Stats().Helped, s.Panicked+p.Stats().Panicked
					stats[x.name] = s
					if want == nil {
						want = blob.sums
					}
					if !maps.Equal(blob.sums, want) || len(want) < 5 {
						t.Errorf("%d parts, want the same %d: first that differs %s", len(blob.sums), len(want), firstOther(blob.sums, want))
					}
				})
			}
		}
	}
	if copied == 0 {
		t.Error("no merge copied a stripe")
	}
	for _, x := range pools {
		s := stats[x.name]
		if alone := x.name == "no pool" || x.name == "starved"; alone != (s.Helped == 0) || (x.fault != nil) != (s.Panicked > 0) {
			t.Errorf("%s: got %+v", x.name, s)
		}
	}
}

// firstOther is the least key whose sums differ.
func firstOther(got, want map[string]string) (first string) {
	for _, all := range []map[string]string{got, want} {
		for key := range all {
			if got[key] != want[key] && (first == "" || key < first) {
				first = key
			}
		}
	}
	return first
}
