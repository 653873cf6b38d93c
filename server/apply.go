package server

import (
	"context"
	"fmt"
	"sync/atomic"

	"tailrace"
	"tailrace/log"
)

// loop is where the apply loop stands.
type loop struct {
	checkpoint tailrace.SeqNo       // the folds hold everything up to it at the start
	after      tailrace.SeqNo       // following begins here: below the checkpoint, to refill the tail's windows
	fold       chan *log.Checkpoint // the fold that was asked for
	taking     chan struct{}        // held by the one that asks for it
	wanted     atomic.Bool          // a fold is asked for
	entries    atomic.Int64         // applied since the start
	bytes      atomic.Int64         // of records applied since the start
	changes    atomic.Int64         // transactions applied since the start, but for the log's own
	applied    atomic.Uint64        // SeqNo
}

// startAt finds where to begin to follow the log.
func (n *node) startAt(ctx context.Context, c *log.Checkpoint) error {
	n.loop.fold, n.loop.taking = make(chan *log.Checkpoint, 1), make(chan struct{}, 1)
	if c == nil {
		return nil
	}
	oldest, err := n.log.Oldest(ctx)
	if err != nil {
		return fmt.Errorf("find the oldest log entry: %w", err)
	}
	n.loop.checkpoint, n.loop.after = c.Seq, c.Seq
	if oldest > 0 && oldest <= c.Seq {
		n.loop.after = oldest - 1
	}
	return nil
}

// apply applies every entry of the log to the folds, until ctx is done. Between two entries it hands out the fold for a checkpoint.
func (n *node) apply(ctx context.Context) error {
	return n.log.Apply(ctx, n.loop.after, func(e *log.Entry) error {
		if e.Seq <= n.loop.checkpoint {
			n.tail.Apply(e, nil) // the folds hold it already; only the windows do not
			return nil
		}
		if err := n.applyEntry(e); err != nil {
			return fmt.Errorf("apply log entry %d: %w", e.Seq, err)
		}
		if n.loop.wanted.CompareAndSwap(true, false) {
			n.loop.fold <- n.foldAt(e)
		}
		return nil
	})
}

// applyEntry applies one entry, in the order that the package comment gives.
func (n *node) applyEntry(e *log.Entry) error {
	changes, err := n.catalog.Apply(e)
	if err != nil {
		return err
	}
	for _, c := range changes {
		if c.After != nil {
			n.shards.Define(c.After.ID, c.After.Columns, c.After.Retain, c.Time)
		} else {
			n.shards.Drop(c.Before.ID, c.Time)
		}
	}
	if err := n.shards.Apply(e); err != nil {
		return err
	}
	n.tail.Apply(e, changes)
	n.log.Applied(e)

	size, changed, isCatalog := 0, 0, false
	for _, txn := range e.Txns {
		own := true // of the log's: sessions and claims
		for _, r := range txn.Records {
			size += len(r.Payload) + 8*len(r.Keys)
			own = own && (r.Kind == log.KindSession || r.Kind == log.KindClaim)
			isCatalog = isCatalog || r.Kind == log.KindCatalog
		}
		if !own {
			changed++
		}
	}
	if sources := n.ingest.Load(); sources != nil && isCatalog { // another node's statement may have been about sources
		sources.Wake()
	}
	if feeds := n.feeds.Load(); feeds != nil && isCatalog {
		feeds.Wake()
	}
	n.loop.entries.Add(1)
	n.loop.bytes.Add(int64(size))
	n.loop.changes.Add(int64(changed))
	n.loop.applied.Store(uint64(e.Seq))
	return nil
}

// foldAt is the state after e, as a checkpoint keeps it.
func (n *node) foldAt(e *log.Entry) *log.Checkpoint {
	return &log.Checkpoint{Seq: e.Seq, Time: e.Time, Sections: map[string][]byte{
		sectionCatalog: n.catalog.Encode(),
		sectionShards:  n.shards.Encode(),
	}}
}
