package log_test

import (
	"context"
	"errors"
	"fmt"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"tailrace"
	"tailrace/log"
)

// scripted answers some compare-and-sets of the log by itself; the rest go to the store under it.
type scripted struct {
	tailrace.Consensus
	answer atomic.Pointer[func(expect tailrace.SeqNo, value []byte) (bool, error)] // nil: the store under it answers
}

func (s *scripted) CompareAndSet(ctx context.Context, key string, expect tailrace.SeqNo, value []byte) (bool, error) {
	if answer := s.answer.Load(); answer != nil && key == "log" {
		return (*answer)(expect, value)
	}
	return s.Consensus.CompareAndSet(ctx, key, expect, value)
}

func (s *scripted) set(answer func(expect tailrace.SeqNo, value []byte) (bool, error)) {
	s.answer.Store(&answer)
}

// The append is done, its answer lost, and before we ask again others append and truncate our slot away.
func TestTruncatedSlotLeavesTheOutcomeUnknown(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx := context.Background()
		opts := memory()
		under := opts.Consensus
		store := &scripted{Consensus: under}
		opts.Consensus = store
		n := start(t, opts, &node{})
		mustCommit(t, n)
		store.set(func(expect tailrace.SeqNo, value []byte) (bool, error) {
			store.answer.Store(nil)
			other := (&log.Entry{Seq: expect + 2, Time: tailrace.MaxTime / 2}).Encode(nil, 1, session(9))
			_, err1 := under.CompareAndSet(ctx, "log", expect, value)
			_, err2 := under.CompareAndSet(ctx, "log", expect+1, other)
			err3 := under.Truncate(ctx, "log", expect+2)
			if err := errors.Join(err1, err2, err3); err != nil {
				t.Error(err)
			}
			return false, errors.New("connection reset")
		})
		_, err := n.Commit(ctx, log.Txn{ReadTime: n.Newest(), Records: []log.Record{put(1, "x", 1)}})
		if !errors.Is(err, log.ErrUnknown) {
			t.Errorf("commit: got %v, want ErrUnknown", err)
		}
		n.close()
		if !errors.Is(n.err, log.ErrUnknown) {
			t.Errorf("run: got %v, want ErrUnknown", n.err)
		}
	})
}

// Another's entry is in the slot: it is folded, and what still holds is committed after it.
func TestLostSlotIsFoldedAndTriedAgain(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx := context.Background()
		opts := memory()
		under := opts.Consensus
		store := &scripted{Consensus: under}
		opts.Consensus = store
		n := start(t, opts, &node{keep: true})
		read := mustCommit(t, n)
		var other log.Entry
		store.set(func(expect tailrace.SeqNo, value []byte) (bool, error) {
			store.answer.Store(nil)
			other = log.Entry{Seq: expect + 1, Time: read + 500, Txns: []log.Committed{{Time: read + 500, Records: []log.Record{put(1, "other", 5)}}}}
			if _, err := under.CompareAndSet(ctx, "log", expect, other.Encode(nil, 1, session(9))); err != nil {
				t.Error(err)
			}
			return under.CompareAndSet(ctx, "log", expect, value)
		})
		keys := func(k uint64) log.Txn {
			return log.Txn{ReadTime: read, Reads: []log.Read{{Collection: 1, Keys: []uint64{k}}}, Records: []log.Record{put(1, fmt.Sprint(k), k)}}
		}
		at, err := n.Commit(ctx, keys(6))
		if err != nil || at <= read+500 {
			t.Errorf("commit of another key: got %d %v, want a time after %d", at, err, read+500)
		}
		if _, err := n.Commit(ctx, keys(5)); !errors.Is(err, log.ErrConflict) {
			t.Errorf("commit of the key that the other changed: got %v, want ErrConflict", err)
		}
		n.close()
		if got := n.seen[other.Seq-1]; got.Time != other.Time {
			t.Errorf("entry %d applied: got time %d, want %d", other.Seq, got.Time, other.Time)
		}
	})
}

func TestFullStoreRefusesAndRecovers(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx := context.Background()
		opts := memory()
		store := &scripted{Consensus: opts.Consensus}
		opts.Consensus = store
		full := func(tailrace.SeqNo, []byte) (bool, error) { return false, fmt.Errorf("append: %w", tailrace.ErrFull) }
		store.set(full) // full at the start: the session cannot be opened
		n := start(t, opts, &node{})
		for range 2 {
			if _, err := n.Commit(ctx, log.Txn{}); !errors.Is(err, tailrace.ErrFull) {
				t.Errorf("commit before there is space: got %v, want ErrFull", err)
			}
		}
		store.answer.Store(nil)
		pauseInBubble(log.TickInterval)
		synctest.Wait()
		mustCommit(t, n, put(1, "x", 1))
		store.set(full)
		if _, err := n.Commit(ctx, log.Txn{ReadTime: n.Newest(), Records: []log.Record{put(1, "y", 1)}}); !errors.Is(err, tailrace.ErrFull) {
			t.Errorf("commit while full: got %v, want ErrFull", err)
		}
		store.answer.Store(nil)
		mustCommit(t, n, put(1, "z", 1))
		n.close()
		if n.err != nil {
			t.Errorf("run: got %v, want none", n.err)
		}
	})
}

func TestCheckpointIsRefusedBeforeItIsApplied(t *testing.T) {
	n := start(t, memory(), &node{})
	defer n.close()
	mustCommit(t, n)
	if err := n.WriteCheckpoint(context.Background(), &log.Checkpoint{Seq: n.Head() + 1000}); err == nil {
		t.Errorf("checkpoint of an entry to come: got no error, want one")
	}
}

func TestStartUpReadsNoMoreThanIsRetained(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx := context.Background()
		opts := memory()
		for life := range uint64(3) {
			opts.Session = session(life + 1)
			n := start(t, opts, &node{keep: true})
			mustCommit(t, n)
			for range 200 {
				pauseInBubble(log.TickInterval)
				mustCommit(t, n, put(1, "x", 1))
			}
			if err := n.WriteCheckpoint(ctx, &log.Checkpoint{Seq: n.seen[len(n.seen)-1].Seq, Time: n.Newest()}); err != nil {
				t.Errorf("write checkpoint: got %v, want none", err)
			}
			oldest, err := n.Oldest(ctx)
			kept := n.Head() - oldest
			if err != nil || kept < 30 || kept > 70 {
				t.Errorf("life %d: kept below the checkpoint: got %d entries %v, want those of 30 s", life, kept, err)
			}
			n.close()
			if life > 0 && len(n.seen) > 420 {
				t.Errorf("life %d: got %d entries applied, want those of this life only", life, len(n.seen))
			}
		}
	})
}

// An entry that is in Consensus, and of which this node's committer does not know yet, is not shown to followers: they would apply it
// before the commits in it are known to be in it.
func TestFollowerStopsAtWhatIsPublished(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		opts := memory()
		n := start(t, opts, &node{})
		mustCommit(t, n, put(1, "x", 1))
		n.close()
		opts.Session = session(2)
		l, _, err := log.Open(context.Background(), opts)
		if err != nil {
			t.Fatal(err)
		}
		head := l.Head()
		raw := (&log.Entry{Seq: head + 1, Time: tailrace.MaxTime / 2}).Encode(nil, 1, session(9))
		if ok, err := opts.Consensus.CompareAndSet(context.Background(), "log", head, raw); !ok || err != nil {
			t.Fatalf("append: got %v %v, want true", ok, err)
		}
		ctx, cancel := context.WithTimeout(context.Background(), time.Second)
		defer cancel()
		last := tailrace.SeqNo(0)
		for e, err := range l.Follow(ctx, 0) {
			if err == nil {
				last = e.Seq
			}
		}
		if last != head {
			t.Errorf("last entry followed: got %d, want %d", last, head)
		}
	})
}
