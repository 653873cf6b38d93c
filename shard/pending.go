package shard

import (
	"context"
	"fmt"
	"slices"

	"tailrace"
)

// pendingView is what a writer had when a cursor was opened: runs, whose parts are read as those of the collection are, and what was in memory.
type pendingView struct {
	runs    []*run
	batches []*tailrace.Batch
}

// view returns the updates so far, as they stay whatever is appended later.
func (w *Writer) view(ctx context.Context) (pendingView, error) {
	v := pendingView{}
	if err := w.settle(ctx); err != nil {
		return v, err
	}
	if w.load != nil {
		for _, r := range w.load.written() {
			now := *r
			now.parts = slices.Clone(r.parts)
			v.runs = append(v.runs, &now)
		}
	}
	v.batches = w.lend()
	return v, nil
}

// InMemory reports whether none of the updates is in a part.
func (w *Writer) InMemory() bool { return w.cuts == 0 }

func viewsOf(ctx context.Context, writers []*Writer) ([]pendingView, error) {
	var out []pendingView
	for _, w := range writers {
		v, err := w.view(ctx)
		if err != nil {
			return nil, err
		}
		out = append(out, v)
	}
	return out, nil
}

// pending adds what a transaction's writers have.
func (p *picture) pending(views []pendingView) {
	for _, v := range views {
		for _, r := range v.runs {
			p.run(p.sh.set.readRun(r, p.l))
		}
		for _, b := range v.batches {
			p.overlay(b)
		}
	}
}

// Own is Snapshot of a collection that is nowhere but in the transaction that creates it: opts.Pending and opts.Overlay, in the columns of opts.Schema.
func (s *Set) Own(ctx context.Context, id tailrace.CollectionID, opts SnapshotOptions) (*Cursor, error) {
	sh := newShard(s, id, newManifest(opts.Schema, 0, 0))
	c, err := sh.cursorOf(ctx, sh.m, opts)
	if err != nil {
		return nil, fmt.Errorf("rows of new collection %d: %w", id, err)
	}
	return c, nil
}
