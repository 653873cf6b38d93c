package log_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"math/rand/v2"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/anishathalye/porcupine"

	"tailrace"
	"tailrace/internal/sim"
	"tailrace/log"
)

// stores are what several nodes share, each behind a gate of its own.
type stores struct {
	consensus tailrace.Consensus
	blob      tailrace.Blob
}

// member is a node on shared stores.
type member struct {
	node
	gate *sim.Gate
	plan *sim.Plan
	fold versions
}

// close stops the node and waits for it, and for what it sent and never heard of.
func (m *member) close() {
	m.node.close()
	m.plan.Wait()
}

// join starts a node on the stores. Its calls take a time of up to 1 ms, by the session as seed.
func (s stores) join(t *testing.T, number uint64, f sim.Faults) *member {
	if f.Latency == 0 {
		f.Latency = time.Millisecond
	}
	plan := sim.NewPlan(number, f)
	m := &member{gate: &sim.Gate{}, plan: plan, fold: versions{keys: map[uint64][]version{}}}
	m.node.fold = m.fold.apply
	m.keep = true
	start(t, log.Options{
		Consensus: &sim.GatedConsensus{Under: &sim.FaultyConsensus{Under: s.consensus, Plan: plan}, Gate: m.gate},
		Blob:      &sim.GatedBlob{Under: &sim.FaultyBlob{Under: s.blob, Plan: plan}, Gate: m.gate},
		Session:   session(number), Shared: true, Logger: slog.New(slog.NewTextHandler(io.Discard, nil)),
	}, &m.node)
	return m
}

func memoryStores() stores { return stores{sim.NewConsensus(), sim.NewBlob()} }

// byWhom counts the entries of each session in a log, ticks included.
func byWhom(t *testing.T, c tailrace.Consensus) map[string]int {
	t.Helper()
	page, err := c.Scan(context.Background(), "log", 0, 1<<30)
	if err != nil {
		t.Fatal(err)
	}
	out := map[string]int{}
	for _, v := range page {
		_, _, by, err := log.DecodeEntry(v.Value)
		if err != nil {
			t.Fatal(err)
		}
		out[by]++
	}
	return out
}

func TestSeveralNodesTickOnceASecond(t *testing.T) {
	for nodes := range uint64(4) { // besides the first
		synctest.Test(t, func(t *testing.T) {
			s := memoryStores()
			var all []*member
			for n := range nodes + 1 {
				all = append(all, s.join(t, n+1, sim.Faults{}))
				mustCommit(t, &all[n].node)
			}
			pauseInBubble(time.Second)
			before := all[0].Head()
			pauseInBubble(60 * time.Second)
			want := uint64(60) // up to three nodes, ticks renew all leases in time; a fourth waits too long for its turn
			if nodes == 3 {
				want = 81
			}
			if got := uint64(all[0].Head() - before); got < want-2 || got > want+2 {
				t.Errorf("%d nodes, 60 s of idling: got %d entries, want %d ± 2", nodes+1, got, want)
			}
			for _, m := range all {
				m.close()
				if m.err != nil {
					t.Errorf("%d nodes: run: got %v, want none", nodes+1, m.err)
				}
			}
			for name, n := range byWhom(t, s.consensus) {
				if n < 60/int(nodes+1)-3 {
					t.Errorf("%d nodes: session %s appended %d entries, want a fair part of 60", nodes+1, name, n)
				}
			}
		})
	}
}

// Commits and strict reads through any of three nodes, on stores that fail, are those of one register.
func TestCommitsAndStrictReadsThroughAnyNodeAreLinearizable(t *testing.T) {
	faults := sim.Faults{Lost: 0.05, Unknown: 0.05, Late: 0.03, Slow: 0.05, Torn: 0.2, Latency: 200 * time.Microsecond}
	for seed := range seeds(60) {
		var history []porcupine.Operation
		synctest.Test(t, func(t *testing.T) {
			s := memoryStores()
			var all []*member
			for n := range uint64(3) {
				all = append(all, s.join(t, 10*seed+n+1, faults))
			}
			history = sharedHistory(all, seed)
			for _, m := range all {
				m.close()
			}
		})
		if got := porcupine.CheckOperationsTimeout(register, history, 10*time.Second); got != porcupine.Ok {
			t.Errorf("seed %d: history of %d operations: got %s, want Ok", seed, len(history), got)
		}
	}
}

// sharedHistory is what clients saw that go to any node for each operation.
func sharedHistory(all []*member, seed uint64) []porcupine.Operation {
	var clock atomic.Int64
	var mu sync.Mutex
	var history []porcupine.Operation
	var wg sync.WaitGroup
	for client := range 5 {
		rng := rand.New(rand.NewPCG(seed, uint64(client)))
		wg.Go(func() {
			for i := range 12 {
				m := all[rng.IntN(len(all))]
				c := call{key: rng.Uint64N(2), isRead: rng.IntN(3) == 0, isSwap: rng.IntN(2) == 0, value: fmt.Sprintf("%d.%d", client, i)}
				begin := clock.Add(1)
				answer := operate(&m.node, &m.fold, &c, rng)
				end := clock.Add(1)
				if answer == "unknown" {
					end = 1 << 60
				}
				mu.Lock()
				history = append(history, porcupine.Operation{ClientId: client, Input: c, Call: begin, Output: answer, Return: end})
				mu.Unlock()
			}
		})
	}
	wg.Wait()
	return history
}

// A node is stopped in the middle of appends, its lease runs out, its claim goes to another, and it wakes up.
func TestStoppedNodeCommitsNothingAfterItsLease(t *testing.T) {
	for seed := range seeds(40) {
		synctest.Test(t, func(t *testing.T) {
			s := memoryStores()
			rng := rand.New(rand.NewPCG(seed, 9))
			a, b := s.join(t, 10*seed+1, sim.Faults{}), s.join(t, 10*seed+2, sim.Faults{})
			claim, err := a.TakeClaim(context.Background(), "source/7")
			if err != nil {
				t.Fatalf("seed %d: take claim: got %v, want none", seed, err)
			}
			var wg sync.WaitGroup
			var mu sync.Mutex
			var outcomes []outcome
			for client := range 3 {
				wg.Go(func() {
					for i := range 1000 {
						txn := log.Txn{ReadTime: a.Newest(), Claim: claim, Reads: []log.Read{{Collection: 1, Keys: []uint64{7}}}, Records: []log.Record{put(1, fmt.Sprintf("a%d.%d", client, i), uint64(client))}}
						at, err := a.Commit(context.Background(), txn)
						mu.Lock()
						outcomes = append(outcomes, outcome{fmt.Sprintf("a%d.%d", client, i), at, err, txn})
						mu.Unlock()
						if errors.Is(err, log.ErrEnded) || errors.Is(err, log.ErrClosed) {
							return
						}
					}
				})
			}
			pauseInBubble(time.Duration(rng.IntN(20_000)) * time.Microsecond)
			a.gate.Shut()
			took, err := b.TakeClaim(context.Background(), "source/7")
			if err != nil || took.Epoch <= claim.Epoch {
				t.Errorf("seed %d: take the claim of a node that stopped: got %v %v, want an epoch after %d", seed, took, err, claim.Epoch)
			}
			end := b.Head()
			pauseInBubble(time.Duration(rng.IntN(20)) * time.Second)
			a.gate.Open()
			wg.Wait()
			<-a.ran // it ends by itself
			if !errors.Is(a.err, log.ErrEnded) {
				t.Errorf("seed %d: run of the node that woke up: got %v, want ErrEnded", seed, a.err)
			}
			if _, err := a.Sync(context.Background()); !errors.Is(err, log.ErrEnded) {
				t.Errorf("seed %d: strict read of the node that woke up: got %v, want ErrEnded", seed, err)
			}
			a.close()
			b.close()
			for _, v := range scanAll(t, s.consensus) {
				if _, _, by, err := log.DecodeEntry(v.Value); err != nil || v.Seq > end && by == session(10*seed+1) {
					t.Errorf("seed %d: entry %d is of the ended session (%v), which ended by entry %d", seed, v.Seq, err, end)
				}
			}
			for _, wrong := range check(entriesOf(t, s.consensus), outcomes, nil) {
				t.Errorf("seed %d: %s", seed, wrong)
			}
		})
	}
}

func scanAll(t *testing.T, c tailrace.Consensus) []tailrace.Versioned {
	t.Helper()
	page, err := c.Scan(context.Background(), "log", 0, 1<<30)
	if err != nil {
		t.Fatal(err)
	}
	return page
}
