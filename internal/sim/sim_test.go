package sim_test

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"net"
	"path/filepath"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"go.uber.org/goleak"

	"tailrace"
	"tailrace/internal/sim"
	"tailrace/internal/sim/conform"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func TestMemoryBlobConforms(t *testing.T) {
	conform.Blob(t, func(*testing.T) conform.Opened[tailrace.Blob] {
		b := sim.NewBlob()
		return conform.Opened[tailrace.Blob]{Store: b, Again: func() tailrace.Blob { return b.PowerCut(rand.New(rand.NewPCG(1, 1))) }}
	})
}

func TestMemoryConsensusConforms(t *testing.T) {
	conform.Consensus(t, func(*testing.T) conform.Opened[tailrace.Consensus] {
		c := sim.NewConsensus()
		return conform.Opened[tailrace.Consensus]{Store: c, Again: func() tailrace.Consensus { return c.PowerCut(rand.New(rand.NewPCG(1, 1))) }}
	})
}

// remote serves stores in this process and connects to them.
func remote(t *testing.T, c tailrace.Consensus, b tailrace.Blob) *sim.Remote {
	path := filepath.Join(t.TempDir(), "s")
	l, err := net.Listen("unix", path)
	if err != nil {
		t.Fatal(err)
	}
	var wait sync.WaitGroup
	wait.Go(func() { sim.Serve(l, c, b) })
	r, err := sim.Dial(path)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = r.Close() // nothing is under way
		_ = l.Close()
		wait.Wait()
	})
	return r
}

func TestRemoteStoresConform(t *testing.T) {
	conform.Blob(t, func(t *testing.T) conform.Opened[tailrace.Blob] {
		r := remote(t, sim.NewConsensus(), sim.NewBlob())
		return conform.Opened[tailrace.Blob]{Store: r, Again: func() tailrace.Blob { return r }}
	})
	conform.Consensus(t, func(t *testing.T) conform.Opened[tailrace.Consensus] {
		r := remote(t, sim.NewConsensus(), sim.NewBlob())
		return conform.Opened[tailrace.Consensus]{Store: r, Again: func() tailrace.Consensus { return r }}
	})
}

// A healed plan changes nothing but the time that calls take.
func TestHealedFaultyStoresConform(t *testing.T) {
	plan := sim.NewPlan(1, sim.Faults{Lost: 1})
	plan.Heal()
	conform.Blob(t, func(*testing.T) conform.Opened[tailrace.Blob] {
		b := &sim.FaultyBlob{Under: sim.NewBlob(), Plan: plan}
		return conform.Opened[tailrace.Blob]{Store: b, Again: func() tailrace.Blob { return b }}
	})
	conform.Consensus(t, func(*testing.T) conform.Opened[tailrace.Consensus] {
		c := &sim.FaultyConsensus{Under: sim.NewConsensus(), Plan: plan}
		return conform.Opened[tailrace.Consensus]{Store: c, Again: func() tailrace.Consensus { return c }}
	})
}

func TestPowerCutLosesOnlyWhatWasNotAcknowledged(t *testing.T) {
	kept, lost := 0, 0
	for seed := range uint64(50) {
		synctest.Test(t, func(t *testing.T) {
			ctx := context.Background()
			c, b := sim.NewConsensus(), sim.NewBlob()
			c.SyncTime, b.SyncTime = time.Millisecond, time.Millisecond
			if ok, err := c.CompareAndSet(ctx, "k", 0, []byte("acked")); !ok || err != nil {
				t.Fatalf("seed %d: compare and set: got %v %v, want true", seed, ok, err)
			}
			errs := make(chan error, 2)
			go func() { _, err := c.CompareAndSet(ctx, "k", 1, []byte("in flight")); errs <- err }()
			go func() { errs <- b.Put(ctx, "in-flight", nil) }()
			synctest.Wait()
			rng := rand.New(rand.NewPCG(seed, 0))
			c2, b2 := c.PowerCut(rng), b.PowerCut(rng)
			for range 2 {
				if err := <-errs; !errors.Is(err, sim.ErrPower) {
					t.Errorf("seed %d: write in flight: got %v, want ErrPower", seed, err)
				}
			}
			head, _ := c2.Head(ctx, "k")
			switch fmt.Sprintf("%d %s", head.Seq, head.Value) {
			case "1 acked":
				lost++
			case "2 in flight":
				kept++
			default:
				t.Errorf("seed %d: head: got %d %s, want 1 acked or 2 in flight", seed, head.Seq, head.Value)
			}
			if _, err := b2.Get(ctx, "in-flight", 0, -1); err != nil && !errors.Is(err, tailrace.ErrNotFound) {
				t.Errorf("seed %d: get: got %v, want a value or ErrNotFound", seed, err)
			}
		})
	}
	if kept == 0 || lost == 0 {
		t.Errorf("an unacknowledged write: got %d times kept, %d times lost, want some of both", kept, lost)
	}
}

func TestLazySyncLosesAcknowledgedWrites(t *testing.T) {
	ctx := context.Background()
	c := sim.NewConsensus()
	c.LazySync = true
	for i := range tailrace.SeqNo(12) {
		if ok, err := c.CompareAndSet(ctx, "k", i, nil); !ok || err != nil {
			t.Fatalf("compare and set: got %v %v, want true", ok, err)
		}
	}
	lost := false
	for seed := range uint64(20) {
		head, _ := c.PowerCut(rand.New(rand.NewPCG(seed, 0))).Head(ctx, "k")
		lost = lost || head.Seq < 12
	}
	if !lost {
		t.Errorf("12 lazy writes and 20 power cuts: got none lost, want one")
	}
}
