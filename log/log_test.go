package log_test

import (
	"context"
	"errors"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"tailrace"
	"tailrace/internal/sim"
	"tailrace/log"
)

func memory() log.Options {
	return log.Options{Consensus: sim.NewConsensus(), Blob: sim.NewBlob(), Session: session(1)}
}

func TestIdleLogTicksOnceASecond(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		n := start(t, memory(), &node{keep: true})
		mustCommit(t, n)
		pauseInBubble(time.Millisecond)
		before := mustCommit(t, n, put(1, "x", 1))
		pauseInBubble(10*time.Second + time.Millisecond)
		n.close()
		ticks := 0
		for _, e := range n.seen {
			if len(e.Txns) == 0 {
				ticks++
			}
		}
		if ticks != 10 || n.Newest() != before+10_000_000 {
			t.Errorf("10 s of idling: got %d ticks, time moved %d µs, want 10 and 10000000", ticks, n.Newest()-before)
		}
	})
}

func TestCommitReturnsOnceApplied(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		gate := make(chan struct{})
		n := start(t, memory(), &node{slow: true, fold: func(e *log.Entry) {
			if len(e.Txns) > 0 && len(e.Txns[0].Records) > 0 && e.Txns[0].Records[0].Kind == log.KindData {
				<-gate
			}
		}})
		before := mustCommit(t, n)
		var mu sync.Mutex
		done := map[string]bool{}
		finished := func(what string) {
			mu.Lock()
			defer mu.Unlock()
			done[what] = true
		}
		var wg sync.WaitGroup
		wg.Go(func() { mustCommit(t, n, put(1, "x", 1)); finished("commit") })
		synctest.Wait()
		wg.Go(func() {
			if got, err := n.Sync(context.Background()); err != nil || got <= before {
				t.Errorf("sync: got %d %v, want more than %d", got, err, before)
			}
			finished("sync")
		})
		wg.Go(func() {
			if err := n.WaitTime(context.Background(), before+1); err != nil {
				t.Errorf("wait: got %v, want none", err)
			}
			finished("wait")
		})
		synctest.Wait()
		mu.Lock()
		if len(done) != 0 || n.Newest() > before {
			t.Errorf("before it is applied: got %v done, want none", done)
		}
		mu.Unlock()
		close(gate)
		wg.Wait()
		n.close()
		if len(done) != 3 {
			t.Errorf("after it is applied: got %v done, want commit, sync, wait", done)
		}
	})
}

// TestCommitEndsWithTheNode stops a node whose apply loop ends before it has applied what was appended.
func TestCommitEndsWithTheNode(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		gate := make(chan struct{})
		n := start(t, memory(), &node{slow: true, fold: func(e *log.Entry) {
			if len(e.Txns) > 0 && len(e.Txns[0].Records) > 0 && e.Txns[0].Records[0].Kind == log.KindData {
				<-gate
			}
		}})
		mustCommit(t, n)
		var err error
		var wg sync.WaitGroup
		wg.Go(func() { _, err = n.Commit(context.Background(), log.Txn{Records: []log.Record{put(1, "x", 1)}}) })
		synctest.Wait()
		n.stop()
		n.Abandon()
		wg.Wait() // a commit that never returned would end the test as a deadlock
		if !errors.Is(err, log.ErrUnknown) {
			t.Errorf("commit that was appended and not applied: got %v, want %v", err, log.ErrUnknown)
		}
		close(gate)
		n.wait.Wait()
	})
}

func TestWaitsEndWithTheirContext(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		opts := memory()
		l, _, err := log.Open(context.Background(), opts)
		if err != nil {
			t.Fatal(err)
		}
		ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
		defer cancel()
		var wg sync.WaitGroup
		for i := range 10 {
			wg.Go(func() {
				if err := l.WaitTime(ctx, tailrace.Time(100-i)); !errors.Is(err, context.DeadlineExceeded) {
					t.Errorf("wait: got %v, want the deadline's error", err)
				}
			})
		}
		wg.Go(func() {
			if _, err := l.Commit(ctx, log.Txn{}); !errors.Is(err, context.DeadlineExceeded) {
				t.Errorf("commit before Run: got %v, want the deadline's error", err)
			}
		})
		wg.Wait()
	})
}

func TestFollowersShareEntriesAndSlowOnesRereadThem(t *testing.T) {
	n := start(t, memory(), &node{keep: true})
	big := strings.Repeat("x", 900_000)
	for i := range 40 { // 36 MB: more than is shared from memory
		mustCommit(t, n, put(1, big, uint64(i)))
	}
	var slow []*log.Entry
	for e, err := range n.Follow(context.Background(), 0) {
		if err != nil {
			t.Fatalf("follow: got %v, want none", err)
		}
		if slow = append(slow, e); e.Seq == n.Head() {
			break
		}
	}
	n.close()
	if len(slow) < len(n.seen) {
		t.Fatalf("slow follower: got %d entries, want %d", len(slow), len(n.seen))
	}
	shared := 0
	for i, e := range n.seen {
		if e.Seq != slow[i].Seq || e.Time != slow[i].Time || len(e.Txns) != len(slow[i].Txns) {
			t.Errorf("slow follower: got entry %d at %d, want %d at %d", slow[i].Seq, slow[i].Time, e.Seq, e.Time)
		}
		if e == slow[i] {
			shared++
		}
	}
	if shared == 0 || shared > 20 {
		t.Errorf("entries shared from memory: got %d of %d, want some, at most 20", shared, len(slow))
	}
}

func TestFollowFromATruncatedPlaceSaysSo(t *testing.T) {
	opts := memory()
	n := start(t, opts, &node{})
	for i := range 5 {
		mustCommit(t, n, put(1, "x", uint64(i)))
	}
	n.close()
	if err := opts.Consensus.Truncate(context.Background(), "log", 4); err != nil {
		t.Fatal(err)
	}
	opts.Session = session(2)
	l, _, err := log.Open(context.Background(), opts)
	if err != nil {
		t.Fatal(err)
	}
	for _, err := range l.Follow(context.Background(), 1) {
		if !errors.Is(err, log.ErrTruncated) {
			t.Errorf("follow after entry 1: got %v, want ErrTruncated", err)
		}
	}
	if oldest, err := l.Oldest(context.Background()); oldest != 4 || err != nil {
		t.Errorf("oldest: got %d %v, want 4", oldest, err)
	}
}

func TestNewSessionEndsTheOthers(t *testing.T) {
	opts := memory()
	for i := range uint64(3) {
		opts.Session = session(i + 1)
		n := start(t, opts, &node{})
		mustCommit(t, n)
		for j := range uint64(4) {
			if got, want := n.Ended(session(j+1)), j < i; got != want {
				t.Errorf("in session %d, is %d ended: got %v, want %v", i+1, j+1, got, want)
			}
		}
		n.close()
	}
}

func TestCommitInAnEndedSessionIsRefused(t *testing.T) {
	opts := memory()
	n := start(t, opts, &node{})
	mustCommit(t, n)
	opts.Session = session(2) // a second process, as if the folder were not locked
	other := start(t, opts, &node{})
	mustCommit(t, other)
	_, err := n.Commit(context.Background(), log.Txn{ReadTime: n.Newest(), Records: []log.Record{put(1, "late", 1)}})
	if !errors.Is(err, log.ErrEnded) {
		t.Errorf("commit in the first session: got %v, want ErrEnded", err)
	}
	other.close()
	n.close()
	if !errors.Is(n.err, log.ErrEnded) {
		t.Errorf("run: got %v, want ErrEnded", n.err)
	}
	for _, e := range entriesOf(t, opts.Consensus) {
		for _, txn := range e.Txns {
			for _, r := range txn.Records {
				if string(r.Payload) == "late" {
					t.Errorf("entry %d holds the refused transaction, want it nowhere", e.Seq)
				}
			}
		}
	}
}

func TestClosedLogRefuses(t *testing.T) {
	n := start(t, memory(), &node{})
	mustCommit(t, n)
	n.close()
	if n.err != nil {
		t.Errorf("run: got %v, want none", n.err)
	}
	if _, err := n.Commit(context.Background(), log.Txn{}); !errors.Is(err, log.ErrClosed) {
		t.Errorf("commit: got %v, want ErrClosed", err)
	}
	if err := n.Run(context.Background()); err == nil {
		t.Errorf("run again: got no error, want one")
	}
}

func TestTooLargeTransactionIsRefused(t *testing.T) {
	n := start(t, memory(), &node{})
	defer n.close()
	for _, size := range []int{log.MaxEntry, 100 * log.MaxEntry} {
		_, err := n.Commit(context.Background(), log.Txn{ReadTime: n.Newest(), Records: []log.Record{{Kind: log.KindData, Payload: make([]byte, size)}}})
		if !errors.Is(err, log.ErrTooLarge) {
			t.Errorf("commit %d bytes: got %v, want ErrTooLarge", size, err)
		}
	}
	mustCommit(t, n, log.Record{Kind: log.KindData, Payload: make([]byte, log.MaxEntry-1000)})
}

func TestCorruptLogIsNotOpened(t *testing.T) {
	for name, damage := range map[string]func(o log.Options){
		"head": func(o log.Options) { _, _ = o.Consensus.CompareAndSet(context.Background(), "log", 0, []byte("junk")) },
		"pointer": func(o log.Options) {
			_, _ = o.Consensus.CompareAndSet(context.Background(), "checkpoint", 0, []byte("junk"))
		},
		"misplaced head": func(o log.Options) {
			raw := (&log.Entry{Seq: 2, Time: 1}).Encode(nil, 1, session(1))
			_, _ = o.Consensus.CompareAndSet(context.Background(), "log", 0, raw)
		},
	} {
		opts := memory()
		damage(opts)
		if _, _, err := log.Open(context.Background(), opts); !errors.Is(err, tailrace.ErrCorrupt) {
			t.Errorf("%s damaged: got %v, want ErrCorrupt", name, err)
		}
	}
	opts := memory()
	opts.Session = "S"
	if _, _, err := log.Open(context.Background(), opts); err == nil {
		t.Errorf("session S: got no error, want one")
	}
}
