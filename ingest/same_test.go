package ingest_test

import (
	"context"
	"crypto/sha256"
	"fmt"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"tailrace"
	"tailrace/internal/sim"
	"tailrace/pool"
)

// puts notes the SHA-256 of the parts that are put while there is no position: those of the snapshot.
type puts struct {
	tailrace.Blob
	w    *world
	mu   sync.Mutex
	sums []string
}

func (p *puts) Put(ctx context.Context, key string, raw []byte) error {
	if strings.HasPrefix(key, "part/") && len(p.w.cat.Current().Positions) == 0 {
		p.mu.Lock()
		p.sums = append(p.sums, fmt.Sprintf("%x", sha256.Sum256(raw)))
		p.mu.Unlock()
	}
	return p.Blob.Put(ctx, key, raw)
}

// TestSnapshotIsTheSamePartsForAnyWorkers copies one database with every number of workers, starved, and with tasks that panic and fail: the same parts, byte by
// byte, and the source's rows.
func TestSnapshotIsTheSamePartsForAnyWorkers(t *testing.T) {
	base := newWorld(t)
	base.exec(`CREATE TABLE big (id int PRIMARY KEY, n bigint, s text, m numeric(10,2), at timestamptz);
		INSERT INTO big SELECT g, g * 7919 % 10007, 'text ' || g % 4999, g / 8.0, '2024-01-01Z'::timestamptz + g * interval '1 s' FROM generate_series(1, 150000) g;
		UPDATE big SET n = -1 WHERE id % 5 = 0`) // rows are not in order
	base.stop()
	base.stop = func() {}
	var count atomic.Int64
	panics := func(done bool) error {
		if !done && count.Add(1)%3 == 0 {
			panic("of the test")
		}
		return nil
	}
	fails := func(done bool) error {
		if done && count.Add(1)%4 == 0 {
			return fmt.Errorf("of the test")
		}
		return nil
	}
	var want []string
	for i, x := range []struct {
		name    string
		workers int // of a pool; 0: nobody runs it, -1: there is none
		fault   func(bool) error
	}{{name: "no pool", workers: -1}, {name: "2 workers", workers: 2}, {name: "8 workers", workers: 8}, {name: "starved"}, {name: "panics", workers: 2, fault: panics}, {name: "fails, starved", fault: fails}} {
		t.Run(x.name, func(t *testing.T) {
			db := fmt.Sprintf("%s_%d", base.db, i)
			base.srv.Exec(t, fmt.Sprintf("CREATE DATABASE %s TEMPLATE %s", db, base.db))
			w := &world{t: t, srv: base.srv, db: db, consensus: sim.NewConsensus(), blob: sim.NewBlob(), changed: make(chan struct{})}
			w.puts = &puts{Blob: w.blob, w: w}
			if x.workers >= 0 {
				w.pool = pool.New(max(x.workers, 2))
				w.pool.Fault = x.fault
			}
			if x.workers > 0 {
				ctx, stop := context.WithCancel(context.Background())
				var run sync.WaitGroup
				run.Go(func() { _ = w.pool.Run(ctx) }) // it says that ctx ended
				t.Cleanup(func() { stop(); run.Wait() })
			}
			w.start()
			t.Cleanup(func() { w.stop() })
			w.live(w.attach("big"))
			if i == 0 {
				w.same("big") // the others' parts are equal to these
			}
			w.puts.mu.Lock()
			got := slices.Sorted(slices.Values(w.puts.sums))
			w.puts.mu.Unlock()
			if want == nil {
				want = got
			}
			if !slices.Equal(got, want) || len(got) < 2 {
				t.Errorf("parts: got %q, want %q", got, want)
			}
			s := w.pool.Stats()
			if (s.Helped > 0) != (x.workers > 0) || (s.Failed+s.Panicked > 0) != (x.fault != nil) {
				t.Errorf("got %+v", s)
			}
		})
	}
}
