package log_test

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"tailrace"
	"tailrace/internal/sim"
	"tailrace/log"
)

// Neither a node that has the store at hand nor its many writers keep one that is far from getting its commits in, and its lease.
func TestBusyNodeLetsAnotherIn(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := memoryStores()
		near := s.join(t, 1, sim.Faults{Latency: 500 * time.Microsecond})
		far := s.join(t, 2, sim.Faults{Latency: 20 * time.Millisecond})
		ctx, cancel := context.WithCancel(context.Background())
		var wg sync.WaitGroup
		for client := range 4 {
			wg.Go(func() {
				for i := 0; ctx.Err() == nil; i++ {
					mustCommit(t, &near.node, put(1, fmt.Sprintf("%d.%d", client, i), uint64(client)))
				}
			})
		}
		pauseInBubble(time.Second)
		worst := time.Duration(0)
		for i := range 40 {
			began := time.Now()
			if _, err := far.Commit(context.Background(), log.Txn{ReadTime: far.Newest(), Records: []log.Record{put(2, fmt.Sprint(i), 9)}}); err != nil {
				t.Errorf("commit through the far node: got %v, want none", err)
			}
			worst = max(worst, time.Since(began))
		}
		if worst > 2*time.Second {
			t.Errorf("commit through the far node: got up to %v, want less than 2 s", worst)
		}
		cancel()
		wg.Wait()
		near.close()
		far.close()
		t.Logf("longest commit through the far node: %v; entries: %v", worst, byWhom(t, s.consensus))
	})
}

func TestOthersEntriesAreSeenSoon(t *testing.T) {
	for _, watches := range []bool{false, true} {
		synctest.Test(t, func(t *testing.T) {
			s := memoryStores()
			writer := s.join(t, 1, sim.Faults{})
			var reader *node
			if watches {
				reader = start(t, log.Options{Consensus: s.consensus, Blob: s.blob, Session: session(2), Shared: true}, &node{})
			} else {
				reader = &s.join(t, 2, sim.Faults{}).node
			}
			if _, err := reader.Sync(context.Background()); err != nil {
				t.Fatal(err)
			}
			worst := time.Duration(0)
			for range 50 {
				pauseInBubble(330 * time.Millisecond)
				at := mustCommit(t, &writer.node, put(1, "x", 1))
				began := time.Now()
				if err := reader.WaitTime(context.Background(), at); err != nil {
					t.Fatal(err)
				}
				worst = max(worst, time.Since(began))
			}
			want := 105 * time.Millisecond
			if watches {
				want = 2 * time.Millisecond
			}
			if worst > want {
				t.Errorf("watching %v: another's commit was seen after up to %v, want %v", watches, worst, want)
			}
			writer.close()
			reader.close()
		})
	}
}

// slowHead answers Head of the log with what was so when the call began, as soon as it is told to.
type slowHead struct {
	tailrace.Consensus
	calls atomic.Int64
	waits atomic.Bool
	gate  chan struct{}
}

func (s *slowHead) Head(ctx context.Context, key string) (tailrace.Versioned, error) {
	v, err := s.Consensus.Head(ctx, key)
	if key == "log" && s.waits.Load() {
		s.calls.Add(1)
		<-s.gate
	}
	return v, err
}

// A strict read must not be answered by a call of Head that began before it: another node may have acknowledged a commit in between.
func TestStrictReadJoinsTheNextHead(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := memoryStores()
		writer := s.join(t, 1, sim.Faults{})
		slow := &slowHead{Consensus: &sim.GatedConsensus{Under: s.consensus, Gate: &sim.Gate{}}, gate: make(chan struct{})}
		reader := start(t, log.Options{Consensus: slow, Blob: s.blob, Session: session(2), Shared: true}, &node{})
		if _, err := reader.Sync(context.Background()); err != nil {
			t.Fatal(err)
		}
		slow.waits.Store(true) // from here on each call of Head waits
		pauseInBubble(200 * time.Millisecond)
		if slow.calls.Load() != 1 {
			t.Fatalf("calls of Head under way: got %d, want 1", slow.calls.Load())
		}
		at := mustCommit(t, &writer.node, put(1, "x", 1))
		var answered atomic.Int64
		var wg sync.WaitGroup
		for range 3 {
			wg.Go(func() {
				read, err := reader.Sync(context.Background())
				if err != nil || read < at {
					t.Errorf("strict read after a commit at %d: got %d %v", at, read, err)
				}
				answered.Add(1)
			})
		}
		synctest.Wait()
		slow.gate <- struct{}{} // the call that began before
		synctest.Wait()
		if n := answered.Load(); n != 0 {
			t.Errorf("strict reads answered by a call that began before them: got %d, want none", n)
		}
		slow.gate <- struct{}{}
		wg.Wait()
		if n := slow.calls.Load(); n > 3 {
			t.Errorf("calls of Head for three strict reads: got %d, want one that they share", n-1)
		}
		close(slow.gate)
		writer.close()
		reader.close()
	})
}

// While the store is away nobody can append, so nobody is taken for dead; and nobody gets an answer to a strict read.
func TestOutageEndsNobody(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := memoryStores()
		var all []*member
		for n := range uint64(3) {
			all = append(all, s.join(t, n+1, sim.Faults{}))
			mustCommit(t, &all[n].node)
		}
		for _, m := range all {
			m.plan.Set(sim.Faults{Lost: 1, Latency: time.Millisecond})
		}
		began := time.Now()
		if _, err := all[1].Sync(context.Background()); !errors.Is(err, log.ErrUnreachable) || time.Since(began) > log.LeaseTime+time.Second {
			t.Errorf("strict read in an outage: got %v after %v, want ErrUnreachable after %v", err, time.Since(began), log.LeaseTime)
		}
		pauseInBubble(time.Minute)
		for i, m := range all { // they come back one after another
			m.plan.Heal()
			mustCommit(t, &m.node, put(1, "x", 1))
			if i == 1 {
				pauseInBubble(log.LeaseTime / 2)
			}
		}
		pauseInBubble(2 * log.LeaseTime)
		for i, m := range all {
			mustCommit(t, &m.node, put(1, "y", 1))
			m.close()
			if m.err != nil {
				t.Errorf("node %d: run: got %v, want none", i, m.err)
			}
		}
	})
}

// A claim is free as soon as its node leaves, without waiting for a lease.
func TestLeavingNodeFreesItsClaims(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := memoryStores()
		a, b := s.join(t, 1, sim.Faults{}), s.join(t, 2, sim.Faults{})
		first, err := a.TakeClaim(context.Background(), "maintenance")
		if err != nil {
			t.Fatal(err)
		}
		ctx, cancel := context.WithTimeout(context.Background(), time.Second)
		defer cancel()
		if _, err := b.TakeClaim(ctx, "maintenance"); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("take a claim that is held: got %v, want to wait", err)
		}
		began := time.Now()
		a.close()
		second, err := b.TakeClaim(context.Background(), "maintenance")
		if err != nil || second.Epoch <= first.Epoch || time.Since(began) > time.Second {
			t.Errorf("take the claim of a node that left: got %v %v after %v, want a later epoch at once", second, err, time.Since(began))
		}
		if _, err := b.Commit(context.Background(), log.Txn{ReadTime: b.Newest(), Claim: first}); !errors.Is(err, log.ErrFenced) {
			t.Errorf("commit under the epoch before: got %v, want ErrFenced", err)
		}
		if err := b.GiveClaim(context.Background(), second); err != nil {
			t.Error(err)
		}
		b.close()
	})
}

// What a node reads is kept for it until it promises more, or its session ends.
func TestPromisesHoldUntilTheSessionEnds(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := memoryStores()
		a := s.join(t, 1, sim.Faults{})
		reads := atomic.Uint64{}
		reads.Store(1000)
		gate := &sim.Gate{}
		b := start(t, log.Options{
			Consensus: &sim.GatedConsensus{Under: s.consensus, Gate: gate}, Blob: s.blob, Session: session(2), Shared: true,
			Reads: func() tailrace.Time { return tailrace.Time(reads.Load()) },
		}, &node{})
		mustCommit(t, b)
		see := func(what string, want tailrace.Time) {
			t.Helper()
			if _, err := a.Sync(context.Background()); err != nil || a.OthersRead() != want {
				t.Errorf("%s: got %d %v, want %d", what, a.OthersRead(), err, want)
			}
		}
		see("the first promise", 1000)
		reads.Store(2000)
		pauseInBubble(log.RenewEvery + time.Second)
		see("the next promise", 2000)
		gate.Shut()
		pauseInBubble(log.LeaseTime - time.Second)
		see("of a node that stopped", 2000)
		pauseInBubble(2 * time.Second)
		see("once its session ended", tailrace.MaxTime)
		gate.Open()
		b.close()
		a.close()
	})
}

// A node's apply loop is so slow that the log is cut off before its place: it is told so, and starts from the other's checkpoint.
func TestSlowFollowerStartsFromTheCheckpoint(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx := context.Background()
		s := memoryStores()
		a := s.join(t, 1, sim.Faults{})
		claim, err := a.TakeClaim(ctx, "source/1")
		if err != nil {
			t.Fatal(err)
		}
		slow, _, err := log.Open(ctx, log.Options{Consensus: s.consensus, Blob: s.blob, Session: session(2), Shared: true})
		if err != nil {
			t.Fatal(err)
		}
		for range 100 {
			pauseInBubble(time.Second)
			mustCommit(t, &a.node, put(1, "x", 1))
		}
		c := &log.Checkpoint{Seq: a.Head(), Time: a.Newest(), Sections: map[string][]byte{"fold": []byte("state")}}
		if err := a.WriteCheckpoint(ctx, c); err != nil {
			t.Fatal(err)
		}
		var got error
		for _, err := range slow.Follow(ctx, 1) {
			if got = err; err != nil {
				break
			}
		}
		if !errors.Is(got, log.ErrTruncated) {
			t.Errorf("follow from before the cut: got %v, want ErrTruncated", got)
		}
		again, from, err := log.Open(ctx, log.Options{Consensus: s.consensus, Blob: s.blob, Session: session(3), Shared: true})
		if err != nil || from == nil || from.Seq != c.Seq || string(from.Sections["fold"]) != "state" || len(from.Sections) != 1 {
			t.Fatalf("start of another node: got checkpoint %v %v, want that of entry %d", from, err, c.Seq)
		}
		if holder, held := again.ClaimHolder("source/1"); !held || holder != session(1) {
			t.Errorf("claim in the checkpoint: got %s, want that of the first node at %d", holder, claim.Epoch)
		}
		a.close()
	})
}

// Between a start's look at the pointer and at the blob, another node replaces the checkpoint.
func TestStartWhileTheCheckpointIsReplaced(t *testing.T) {
	ctx := context.Background()
	s := memoryStores()
	a := start(t, log.Options{Consensus: s.consensus, Blob: s.blob, Session: session(1), Shared: true}, &node{})
	defer a.close()
	write := func() {
		mustCommit(t, a, put(1, "x", 1))
		if err := a.WriteCheckpoint(ctx, &log.Checkpoint{Seq: a.Head(), Time: a.Newest()}); err != nil {
			t.Fatal(err)
		}
	}
	write()
	racing := &racingBlob{Blob: s.blob, before: write}
	_, from, err := log.Open(ctx, log.Options{Consensus: s.consensus, Blob: racing, Session: session(2), Shared: true})
	if err != nil || from == nil || !racing.raced {
		t.Errorf("open: got %v %v, want the newer checkpoint", from, err)
	}
}

// racingBlob has something happen before the first Get.
type racingBlob struct {
	tailrace.Blob
	before func()
	raced  bool
}

func (b *racingBlob) Get(ctx context.Context, key string, off, n int64) ([]byte, error) {
	if !b.raced {
		b.raced = true
		b.before()
	}
	return b.Blob.Get(ctx, key, off, n)
}
