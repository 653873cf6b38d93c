package log_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"tailrace"
	"tailrace/internal/sim"
	"tailrace/log"
)

// folded is a fold of the log as a room keeps one: which transaction is at which time. It has a checkpoint's section.
type folded struct {
	mu   sync.Mutex
	seq  tailrace.SeqNo
	time tailrace.Time
	at   map[string]tailrace.Time
	told []string
}

func (f *folded) apply(e *log.Entry) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if e.Seq != f.seq+1 {
		f.told = append(f.told, fmt.Sprintf("entry %d applied after %d", e.Seq, f.seq))
	}
	f.seq, f.time = e.Seq, e.Time
	for _, txn := range e.Txns {
		for _, r := range txn.Records {
			if _, twice := f.at[string(r.Payload)]; twice {
				f.told = append(f.told, fmt.Sprintf("%s applied twice", r.Payload))
			}
			if r.Kind == log.KindData {
				f.at[string(r.Payload)] = txn.Time
			}
		}
	}
}

func (f *folded) checkpoint(tb testing.TB) *log.Checkpoint {
	f.mu.Lock()
	defer f.mu.Unlock()
	raw, err := json.Marshal(f.at)
	if err != nil {
		tb.Error(err)
	}
	return &log.Checkpoint{Seq: f.seq, Time: f.time, Sections: map[string][]byte{"fold": raw}}
}

func restore(tb testing.TB, c *log.Checkpoint) *folded {
	f := &folded{at: map[string]tailrace.Time{}}
	if c == nil {
		return f
	}
	f.seq, f.time = c.Seq, c.Time
	if err := json.Unmarshal(c.Sections["fold"], &f.at); err != nil || len(c.Sections) != 1 {
		tb.Errorf("restore: got %v and %d sections, want none and 1", err, len(c.Sections))
	}
	return f
}

// checkpoints writes one every now and then until ctx ends.
func checkpoints(ctx context.Context, tb testing.TB, n *node, f *folded) {
	for ctx.Err() == nil {
		pauseInBubble(700 * time.Microsecond)
		checkpoint(ctx, tb, n, f)
	}
}

func checkpoint(ctx context.Context, tb testing.TB, n *node, f *folded) {
	err := n.WriteCheckpoint(ctx, f.checkpoint(tb))
	if err != nil && ctx.Err() == nil && !errors.Is(err, sim.ErrFault) {
		tb.Errorf("write checkpoint: got %v, want none or a fault", err)
	}
}

func TestFoldSurvivesCheckpointsTruncationAndCrashes(t *testing.T) {
	truncated := 0
	for seed := range seeds(60) {
		synctest.Test(t, func(t *testing.T) {
			w := newWorld(seed, sim.Faults{Lost: 0.04, Unknown: 0.04, Late: 0.02, Torn: 0.2, Latency: 100 * time.Microsecond})
			for life := range uint64(4) {
				n := &node{}
				var f *folded
				n.fold = func(e *log.Entry) {
					if f == nil { // the apply loop's first entry comes after Open
						f = restore(t, n.checkpoint)
					}
					f.apply(e)
				}
				w.start(t, life+1, n)
				if _, err := n.Sync(context.Background()); err != nil {
					t.Error(err)
				}
				wg := w.clients(n, life)
				ctx, cancel := context.WithCancel(context.Background())
				_ = n.WaitTime(ctx, n.Newest()+1) // something is applied, so that f is there
				var loop sync.WaitGroup
				loop.Go(func() { checkpoints(ctx, t, n, f) })
				wg.Wait()
				cancel()
				loop.Wait()
				if life%2 == 0 {
					pauseInBubble(2 * log.RetainAge)
					checkpoint(context.Background(), t, n, f)
				}
				w.crash(n)
				w.told = append(w.told, f.told...)
			}
			w.plan.Heal()
			w.plan.Wait()
			if w.check(t) > 1 {
				truncated++
			}
		})
	}
	if truncated == 0 {
		t.Errorf("worlds whose log was truncated: got none, want some")
	}
}

// check starts a last node, and holds its fold against what clients were told. It returns the oldest entry left in the log.
func (w *world) check(t *testing.T) tailrace.SeqNo {
	n := &node{keep: true}
	w.start(t, 99, n)
	if _, err := n.Commit(context.Background(), log.Txn{}); err != nil {
		t.Errorf("seed %d: last commit: got %v, want none", w.seed, err)
	}
	oldest, err := n.Oldest(context.Background())
	if err != nil {
		t.Errorf("seed %d: oldest: got %v, want none", w.seed, err)
	}
	n.close()
	f := restore(t, n.checkpoint)
	for _, e := range n.seen {
		f.apply(e)
	}
	for _, wrong := range append(w.told, f.told...) {
		t.Errorf("seed %d: %s", w.seed, wrong)
	}
	committed := maps.Clone(f.at)
	for _, o := range w.outcomes {
		at, isIn := committed[o.id]
		if o.err == nil && at != o.time || o.err != nil && isNotDone(o.err) && isIn {
			t.Errorf("seed %d: %s told %d %v, folded %d %v", w.seed, o.id, o.time, o.err, at, isIn)
		}
	}
	blobs := 0
	for _, err := range w.blob.List(context.Background(), "checkpoint/") {
		if blobs++; err != nil {
			t.Error(err)
		}
	}
	if blobs > 40 {
		t.Errorf("seed %d: checkpoints in Blob: got %d, want few", w.seed, blobs)
	}
	return oldest
}
