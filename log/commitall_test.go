package log_test

import (
	"context"
	"errors"
	"fmt"
	"testing"

	"tailrace"
	"tailrace/internal/sim"
	"tailrace/log"
)

func TestCommitAllCommitsABeginning(t *testing.T) {
	n := start(t, log.Options{Consensus: sim.NewConsensus(), Blob: sim.NewBlob(), Session: session(1)}, &node{keep: true})
	ctx := context.Background()
	read, err := n.Sync(ctx)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := n.Commit(ctx, log.Txn{ReadTime: read, Records: []log.Record{{Kind: log.KindCatalog, Collection: 9, Whole: true}}}); err != nil {
		t.Fatal(err)
	}
	var txns []log.Txn
	for i := range 200 {
		id := tailrace.CollectionID(1)
		if i == 150 {
			id = 9 // its catalog record is newer than what the transaction read
		}
		payload := make([]byte, 20000) // so that an entry holds some of them only
		copy(payload, fmt.Sprint(i))
		txns = append(txns, log.Txn{ReadTime: read, Records: []log.Record{{Kind: log.KindData, Collection: id, Keys: []uint64{uint64(i)}, Payload: payload}}})
	}
	if got, err := n.CommitAll(ctx, txns); got != 150 || !errors.Is(err, log.ErrConflict) {
		t.Errorf("committed: got %d (%v), want 150 and a conflict", got, err)
	}
	if got, err := n.CommitAll(ctx, txns[151:]); got != 49 || err != nil {
		t.Errorf("committed: got %d (%v), want 49 and no error", got, err)
	}
	n.stop()
	n.wait.Wait()
	next := 0
	for _, e := range n.seen {
		for _, txn := range e.Txns {
			for _, r := range txn.Records {
				if r.Kind != log.KindData {
					continue
				}
				if next == 150 {
					next++
				}
				if want := fmt.Sprint(next); string(r.Payload[:len(want)]) != want {
					t.Fatalf("transaction in the log: got %q, want %s", r.Payload[:4], want)
				}
				next++
			}
		}
	}
	if next != 200 {
		t.Errorf("transactions in the log: got %d, want all up to 200", next)
	}
}
