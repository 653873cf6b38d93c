package log_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"math/rand/v2"
	"os"
	"strconv"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"tailrace"
	"tailrace/internal/sim"
	"tailrace/log"
)

// outcome is what a client was told of its transaction.
type outcome struct {
	id   string
	time tailrace.Time
	err  error // nil acknowledged
	txn  log.Txn
}

// isNotDone says whether the error promises that nothing was done.
func isNotDone(err error) bool {
	for _, is := range []error{log.ErrConflict, log.ErrTooLarge, log.ErrEnded, log.ErrClosed, tailrace.ErrFull} {
		if errors.Is(err, is) {
			return true
		}
	}
	return false
}

// world is one seed: stores, the nodes that live and die on them, and what clients were told.
type world struct {
	seed      uint64
	rng       *rand.Rand
	plan      *sim.Plan
	consensus *sim.Consensus
	blob      *sim.Blob

	mu       sync.Mutex
	outcomes []outcome
	seen     map[tailrace.SeqNo]log.Entry // what apply loops got
	told     []string                     // what was wrong while it ran
}

func newWorld(seed uint64, f sim.Faults) *world {
	w := &world{
		seed: seed, rng: rand.New(rand.NewPCG(seed, 1)), plan: sim.NewPlan(seed, f),
		consensus: sim.NewConsensus(), blob: sim.NewBlob(), seen: map[tailrace.SeqNo]log.Entry{},
	}
	w.consensus.SyncTime, w.blob.SyncTime = 100*time.Microsecond, 300*time.Microsecond
	return w
}

func (w *world) start(tb testing.TB, number uint64, n *node) *node {
	return start(tb, log.Options{
		Consensus: &sim.FaultyConsensus{Under: w.consensus, Plan: w.plan}, Blob: &sim.FaultyBlob{Under: w.blob, Plan: w.plan},
		Session: session(number), Logger: slog.New(slog.NewTextHandler(io.Discard, nil)),
	}, n)
}

// see keeps what an apply loop got and checks that no node ever gets another entry in the same place.
func (w *world) see(e *log.Entry) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if before, ok := w.seen[e.Seq]; ok && before.Time != e.Time {
		w.told = append(w.told, fmt.Sprintf("entry %d: got time %d, and %d before", e.Seq, e.Time, before.Time))
	}
	w.seen[e.Seq] = *e
}

// clients commit a few transactions each, of keys that they fight for, while n lives. A client gives up on some.
func (w *world) clients(n *node, life uint64) *sync.WaitGroup {
	var wg sync.WaitGroup
	for c := range 4 {
		rng := rand.New(rand.NewPCG(w.seed, 100*life+uint64(c)))
		wg.Go(func() {
			for i := range 12 {
				w.commit(n, rng, fmt.Sprintf("%d/%d/%d", life, c, i))
			}
		})
	}
	return &wg
}

func (w *world) commit(n *node, rng *rand.Rand, id string) {
	ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second)
	if rng.IntN(10) == 0 {
		cancel()
		ctx, cancel = context.WithTimeout(context.Background(), time.Duration(rng.IntN(300))*time.Microsecond)
	}
	defer cancel()
	read, write := rng.Uint64N(6), rng.Uint64N(6)
	txn := log.Txn{ReadTime: n.Newest(), Reads: []log.Read{{Collection: 1, Keys: []uint64{read, write}}}, Records: []log.Record{put(1, id, write)}}
	pauseInBubble(time.Duration(rng.IntN(200)) * time.Microsecond) // what was read gets old
	t, err := n.Commit(ctx, txn)
	if err == nil && n.Newest() < t {
		w.tell(fmt.Sprintf("commit %s at %d returned with only %d applied", id, t, n.Newest()))
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	w.outcomes = append(w.outcomes, outcome{id, t, err, txn})
}

func (w *world) tell(what string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.told = append(w.told, what)
}

// crash ends a node as kill -9 does to its disk: with the power cut, or only the process gone and late writes still under way.
func (w *world) crash(n *node) {
	if w.rng.IntN(2) == 0 {
		consensus, blob := w.consensus.PowerCut(w.rng), w.blob.PowerCut(w.rng)
		n.close()
		w.consensus, w.blob = consensus, blob
		return
	}
	n.close()
}

// run is three lives of a node with crashes between them, and then the checks of what is left.
func (w *world) run(tb testing.TB) []string {
	for life := range uint64(3) {
		n := w.start(tb, life+1, &node{fold: w.see})
		wg := w.clients(n, life)
		pauseInBubble(time.Duration(w.rng.IntN(4000)) * time.Microsecond)
		if w.rng.IntN(3) > 0 {
			wg.Wait() // a quiet end
		}
		w.crash(n)
		wg.Wait()
	}
	w.plan.Heal()
	w.plan.Wait()
	n := w.start(tb, 99, &node{fold: w.see})
	if _, err := n.Commit(context.Background(), log.Txn{ReadTime: tailrace.MaxTime}); err != nil {
		w.tell(fmt.Sprintf("commit in a healed world: got %v, want none", err))
	}
	n.close()
	return append(w.told, check(entriesOf(tb, w.consensus), w.outcomes, w.seen)...)
}

func pauseInBubble(d time.Duration) {
	t := time.NewTimer(d)
	defer t.Stop()
	<-t.C
}

// check holds a log against what clients were told and followers saw: the validators order, once, acknowledged, refused, complete, and
// serializable.
func check(entries []log.Entry, outcomes []outcome, seen map[tailrace.SeqNo]log.Entry) (wrong []string) {
	tell := func(format string, args ...any) { wrong = append(wrong, fmt.Sprintf(format, args...)) }
	committed := map[string]tailrace.Time{}
	changed := map[uint64][]tailrace.Time{}
	last := tailrace.Time(0)
	for i, e := range entries {
		if e.Seq != entries[0].Seq+tailrace.SeqNo(i) || e.Time <= last {
			tell("order: entry %d at time %d after entry %d at %d", e.Seq, e.Time, entries[max(i-1, 0)].Seq, last)
		}
		for _, txn := range e.Txns {
			if txn.Time <= last || txn.Time > e.Time {
				tell("order: time %d after %d in an entry of %d", txn.Time, last, e.Time)
			}
			last = txn.Time
			for _, r := range txn.Records {
				if r.Kind != log.KindData {
					continue
				}
				if t, twice := committed[string(r.Payload)]; twice {
					tell("once: %s committed at %d and at %d", r.Payload, t, txn.Time)
				}
				committed[string(r.Payload)] = txn.Time
				changed[r.Keys[0]] = append(changed[r.Keys[0]], txn.Time)
			}
		}
		last = e.Time
		if s, ok := seen[e.Seq]; ok && (s.Time != e.Time || len(s.Txns) != len(e.Txns)) {
			tell("complete: followers saw entry %d at %d, the log has it at %d", e.Seq, s.Time, e.Time)
		}
	}
	for _, o := range outcomes {
		t, isIn := committed[o.id]
		switch {
		case o.err == nil && (!isIn || t != o.time):
			tell("acknowledged: %s at %d is in the log at %d", o.id, o.time, t)
		case o.err != nil && isNotDone(o.err) && isIn:
			tell("refused: %s with %v is in the log at %d", o.id, o.err, t)
		}
		for _, k := range o.txn.Reads[0].Keys {
			for _, at := range changed[k] {
				if isIn && at > o.txn.ReadTime && at < t {
					tell("serializable: %s read key %d at %d and committed at %d, but it changed at %d", o.id, k, o.txn.ReadTime, t, at)
				}
			}
		}
	}
	return wrong
}

// seeds is how many worlds a test runs: TAILRACE_SEEDS for the long run.
func seeds(short int) uint64 {
	if n, err := strconv.ParseUint(os.Getenv("TAILRACE_SEEDS"), 10, 64); err == nil {
		return n
	}
	return uint64(short)
}

func TestCommitsUnderFaultsAndCrashes(t *testing.T) {
	told := map[string]int{}
	for seed := range seeds(300) {
		synctest.Test(t, func(t *testing.T) {
			w := newWorld(seed, sim.Faults{Lost: 0.08, Unknown: 0.08, Late: 0.05, Slow: 0.05, Torn: 0.2, Latency: 200 * time.Microsecond})
			for _, wrong := range w.run(t) {
				t.Errorf("seed %d: %s", seed, wrong)
			}
			for _, o := range w.outcomes {
				switch {
				case o.err == nil:
					told["acknowledged"]++
				case errors.Is(o.err, log.ErrConflict):
					told["conflict"]++
				case isNotDone(o.err):
					told["refused"]++
				default:
					told["unknown"]++
				}
			}
		})
	}
	t.Logf("outcomes: %v", told)
	for _, kind := range []string{"acknowledged", "conflict", "refused", "unknown"} {
		if told[kind] == 0 {
			t.Errorf("outcomes: got no %s, want some of each: %v", kind, told)
		}
	}
}

// The test of the test: a store that acknowledges before it syncs is found out.
func TestAcknowledgingBeforeSyncIsCaught(t *testing.T) {
	caught := 0
	for seed := range uint64(30) {
		synctest.Test(t, func(t *testing.T) {
			w := newWorld(seed, sim.Faults{Latency: 200 * time.Microsecond})
			w.consensus.LazySync = true
			if len(w.run(t)) > 0 {
				caught++
			}
		})
	}
	if caught == 0 {
		t.Errorf("30 worlds whose store acknowledges before it syncs: got none wrong, want some")
	}
}
