package log_test

import (
	"context"
	"errors"
	"sync"
	"testing"
	"testing/synctest"

	"tailrace"
	"tailrace/log"
)

func hasData(e *log.Entry) bool {
	return len(e.Txns) > 0 && len(e.Txns[0].Records) > 0 && e.Txns[0].Records[0].Kind == log.KindData
}

// TestLoneCommitterAppliesItsEntry tells goroutines apart by who blocks: fold waits for a commit that nothing but fold's own goroutine can end.
func TestLoneCommitterAppliesItsEntry(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		gate, inside := make(chan struct{}), false
		n := start(t, memory(), &node{fold: func(e *log.Entry) {
			if hasData(e) && !inside {
				inside = true
				<-gate
			}
		}})
		mustCommit(t, n)
		synctest.Wait() // the log is idle
		ctx, cancel := context.WithCancel(context.Background())
		ended := false
		var wg sync.WaitGroup
		wg.Go(func() {
			_, _ = n.Commit(ctx, log.Txn{ReadTime: n.Newest(), Records: []log.Record{put(1, "x", 1)}})
			ended = true
		})
		synctest.Wait()
		cancel()
		synctest.Wait()
		if !inside || ended {
			t.Errorf("a commit on an idle log: applied %v, ended with its context %v, want it to be busy applying", inside, ended)
		}
		close(gate)
		wg.Wait()
		n.close()
	})
}

// TestEntriesAreAppliedInOrderByAnyone commits from many goroutines, some of which lead, and looks at what was applied.
func TestEntriesAreAppliedInOrderByAnyone(t *testing.T) {
	const writers, each = 8, 200
	n := start(t, memory(), &node{keep: true})
	mustCommit(t, n)
	var wg sync.WaitGroup
	for w := range writers {
		wg.Go(func() {
			for i := range each {
				at, err := n.Commit(context.Background(), log.Txn{ReadTime: n.Newest(), Records: []log.Record{put(1, "x", uint64(w*each+i))}})
				if err != nil || n.Newest() < at {
					t.Errorf("commit: got %d %v at %d, want it to be applied", at, err, n.Newest())
				}
			}
		})
	}
	wg.Wait()
	n.close()
	txns, next := 0, tailrace.SeqNo(1)
	for _, e := range n.seen {
		if e.Seq != next {
			t.Fatalf("entry %d was applied where %d belongs", e.Seq, next)
		}
		next++
		for _, txn := range e.Txns {
			if len(txn.Records) > 0 && txn.Records[0].Kind == log.KindData {
				txns++
			}
		}
	}
	if txns != writers*each {
		t.Errorf("%d transactions were applied, want %d", txns, writers*each)
	}
}

// TestApplyTellsWhatALeaderMet lets fn fail and panic on a committer's goroutine.
func TestApplyTellsWhatALeaderMet(t *testing.T) {
	bad := errors.New("bad entry")
	for _, panics := range []bool{false, true} {
		synctest.Test(t, func(t *testing.T) {
			l, _, err := log.Open(context.Background(), memory())
			if err != nil {
				t.Fatal(err)
			}
			ctx, stop := context.WithCancel(context.Background())
			var wg sync.WaitGroup
			wg.Go(func() { _ = l.Run(ctx) }) // it returns nil
			var applied error
			wg.Go(func() {
				applied = l.Apply(ctx, 0, func(e *log.Entry) error {
					if !hasData(e) {
						l.Applied(e)
						return nil
					}
					if panics {
						panic("a bug")
					}
					return bad
				})
				l.Abandon()
				stop()
			})
			synctest.Wait()
			func() {
				defer func() {
					if r := recover(); (r != nil) != panics {
						t.Errorf("panics %v: recovered %v", panics, r)
					}
				}()
				_, err = l.Commit(context.Background(), log.Txn{ReadTime: l.Newest(), Records: []log.Record{put(1, "x", 1)}})
			}()
			wg.Wait()
			if !panics && !errors.Is(err, log.ErrUnknown) {
				t.Errorf("the commit: got %v, want ErrUnknown", err)
			}
			if applied == nil || !panics && !errors.Is(applied, bad) {
				t.Errorf("panics %v: Apply ended with %v", panics, applied)
			}
			stop()
		})
	}
}
