package log_test

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"testing"

	"go.uber.org/goleak"

	"tailrace"
	"tailrace/internal/sim"
	"tailrace/log"
)

func TestMain(m *testing.M) {
	crashChild() // does not return in the child of TestAcknowledgedCommitsSurviveKill
	goleak.VerifyTestMain(m)
}

// node is a Log with its apply loop and its committer, as the server has them.
type node struct {
	*log.Log
	checkpoint *log.Checkpoint // it started from

	fold func(*log.Entry) // set before start; nil is nothing
	slow bool             // fold may wait, so that nobody who commits may call it
	keep bool             // entries in seen

	stop context.CancelFunc
	ran  chan struct{} // closed when Run has returned
	wait sync.WaitGroup
	seen []*log.Entry // applied, if keep; to be read after close
	err  error        // of Run; to be read after close
}

func session(n uint64) string { return fmt.Sprintf("%016x", n) }

// start opens a node. A store's planned faults are waited out, other errors fail the test.
func start(tb testing.TB, opts log.Options, n *node) *node {
	tb.Helper()
	for {
		var err error
		if n.Log, n.checkpoint, err = log.Open(context.Background(), opts); err == nil {
			break
		}
		if !errors.Is(err, sim.ErrFault) {
			tb.Fatalf("open log: got %v, want none", err)
		}
	}
	var ctx context.Context
	ctx, n.stop = context.WithCancel(context.Background())
	n.wait.Go(func() { n.apply(ctx, tb) })
	n.ran = make(chan struct{})
	n.wait.Go(func() {
		defer close(n.ran)
		n.err = n.Run(ctx)
	})
	return n
}

func (n *node) apply(ctx context.Context, tb testing.TB) {
	var after tailrace.SeqNo
	if n.checkpoint != nil {
		after = n.checkpoint.Seq
	}
	one := func(e *log.Entry) error {
		if n.keep {
			n.seen = append(n.seen, e)
		}
		if n.fold != nil {
			n.fold(e)
		}
		n.Applied(e)
		after = e.Seq
		return nil
	}
	unexpected := func(err error) bool {
		if err == nil || errors.Is(err, sim.ErrFault) || ctx.Err() != nil {
			return false
		}
		tb.Errorf("follow: got %v, want none", err)
		return true
	}
	if !n.slow {
		if err := n.Apply(ctx, after, one); unexpected(err) {
			return
		}
	}
	for ctx.Err() == nil { // after a fault, too
		for e, err := range n.Follow(ctx, after) {
			if unexpected(err) {
				return
			}
			if err != nil {
				break
			}
			_ = one(e)
		}
	}
}

// close stops the node and waits for it.
func (n *node) close() {
	n.stop()
	n.wait.Wait()
}

func put(collection tailrace.CollectionID, payload string, keys ...uint64) log.Record {
	return log.Record{Kind: log.KindData, Collection: collection, Keys: keys, Payload: []byte(payload)}
}

// mustCommit commits records that rely on nothing but the schema as of now.
func mustCommit(tb testing.TB, n *node, records ...log.Record) tailrace.Time {
	tb.Helper()
	t, err := n.Commit(context.Background(), log.Txn{ReadTime: n.Newest(), Records: records})
	if err != nil {
		tb.Fatalf("commit: got %v, want none", err)
	}
	return t
}

// entriesOf reads the log in a store.
func entriesOf(tb testing.TB, c tailrace.Consensus) []log.Entry {
	tb.Helper()
	var out []log.Entry
	for from := tailrace.SeqNo(0); ; {
		page, err := c.Scan(context.Background(), "log", from, 1000)
		if err != nil {
			tb.Fatalf("scan log: got %v, want none", err)
		}
		if len(page) == 0 {
			return out
		}
		for _, v := range page {
			e, _, _, err := log.DecodeEntry(v.Value)
			if err != nil || e.Seq != v.Seq {
				tb.Fatalf("slot %d: got entry %d %v, want its own", v.Seq, e.Seq, err)
			}
			out = append(out, e)
			from = v.Seq + 1
		}
	}
}
