package ingest

import (
	"bytes"
	"context"
	"slices"
	"time"

	"golang.org/x/sync/errgroup"

	"tailrace"
	"tailrace/budget"
	"tailrace/catalog"
	"tailrace/log"
)

const (
	// readAhead bounds the pieces read and not yet committed, in bytes; pieceOverhead is what a small one counts.
	readAhead     = 32 << 20
	pieceOverhead = 1 << 10
	// groupTxns and groupBytes bound the transactions that are looked up together.
	groupTxns  = 512
	groupBytes = 4 << 20
)

// stream reads the source's transactions after the committed position and commits each, until ctx is done or something is wrong.
func (r *runner) stream(ctx context.Context, adapter tailrace.Source) error {
	cat := r.i.o.Catalog.Current()
	position := cat.Positions[r.id]
	a := newApplier(r, adapter)
	var known []*tailrace.SourceTable
	for _, t := range cat.TablesOf(r.id) {
		if t.Upstream.State == catalog.StateLive {
			known = append(known, a.follow(t))
		}
	}
	r.tell(adapter, position, 0)
	pieces := make(chan *tailrace.SourcePiece, 1024) // bounded by room, not by this
	room := a.r.i.readAhead()
	g, ctx := errgroup.WithContext(ctx)
	g.Go(func() error {
		return adapter.Read(ctx, position, known, func(p *tailrace.SourcePiece) error {
			r.progress.set(Live, nil)
			if err := room.Acquire(ctx, weight(p, room)); err != nil {
				return err
			}
			select {
			case pieces <- p:
				return nil
			case <-ctx.Done():
				room.Release(weight(p, room))
				return ctx.Err()
			}
		})
	})
	g.Go(func() error { return r.applyAll(ctx, a, pieces, room) })
	err := g.Wait()
	close(pieces)
	for p := range pieces { // read, and nobody applies them
		room.Release(weight(p, room))
	}
	return err
}

// readAhead is what pieces are taken from: the share of all sources, or without a budget one of this source's own.
func (i *Ingest) readAhead() *budget.Share {
	if i.o.Budget == nil {
		return budget.NewShare("read ahead", readAhead)
	}
	return i.o.Budget.Share(budget.Ingest)
}

// weight is what p counts of room: what it has, or all that a source may have read ahead.
func weight(p *tailrace.SourcePiece, room *budget.Share) int64 {
	return min(int64(p.Bytes)+pieceOverhead, readAhead, room.Limit(readAhead)/2)
}

// applyAll commits pieces as they come, in groups of those that came while the group before was under way.
func (r *runner) applyAll(ctx context.Context, a *applier, pieces <-chan *tailrace.SourcePiece, room *budget.Share) error {
	idle := time.NewTicker(r.i.o.IdlePosition)
	defer idle.Stop()
	defer a.abort(context.WithoutCancel(ctx))
	var quiet []byte // newest position that nothing of interest came up to, not yet committed
	held := int64(0) // of room, by the pieces that are being applied
	defer func() { room.Release(held) }()
	for {
		p, isIdle := next(ctx, pieces, idle.C)
		switch {
		case ctx.Err() != nil:
			return ctx.Err()
		case isIdle:
			if quiet != nil && !bytes.Equal(quiet, r.i.o.Catalog.Current().Positions[r.id]) {
				if err := r.commitPosition(ctx, a, quiet); err != nil {
					return err
				}
			}
			quiet = nil
		default:
			group, rest, size := gather(a, p, pieces, room)
			held = size
			if n := len(group); n > 0 {
				quiet = nil // what is committed now is further on; to commit the old one would send the source back
				if len(group[n-1].Changes) == 0 {
					quiet = group[n-1].Position
				}
			}
			group = slices.DeleteFunc(group, func(p *tailrace.SourcePiece) bool { return len(p.Changes) == 0 })
			for _, pieces := range [][]*tailrace.SourcePiece{group, rest} {
				if len(pieces) == 0 {
					continue
				}
				if err := a.apply(ctx, pieces); err != nil {
					return err
				}
			}
			if len(rest) > 0 {
				quiet = nil
			}
			room.Release(size)
			held = 0
		}
	}
}

// next waits for a piece or for idle; a piece that is there goes first.
func next(ctx context.Context, pieces <-chan *tailrace.SourcePiece, idle <-chan time.Time) (p *tailrace.SourcePiece, isIdle bool) {
	select {
	case p = <-pieces:
		return p, false
	default:
	}
	select {
	case p = <-pieces:
		return p, false
	case <-idle:
		return nil, true
	case <-ctx.Done():
		return nil, false
	}
}

// gather takes, after first, the pieces that are there and may be applied together; rest is at most one piece that may not. size is what they
// count of readAhead.
func gather(a *applier, first *tailrace.SourcePiece, pieces <-chan *tailrace.SourcePiece, room *budget.Share) (group, rest []*tailrace.SourcePiece, size int64) {
	total := first.Bytes
	size = weight(first, room)
	if !a.plain(first) {
		return nil, []*tailrace.SourcePiece{first}, size
	}
	group = append(group, first)
	for len(group) < groupTxns && total < groupBytes {
		select {
		case p := <-pieces:
			size += weight(p, room)
			if !a.plain(p) {
				return group, []*tailrace.SourcePiece{p}, size
			}
			group, total = append(group, p), total+p.Bytes
		default:
			return group, nil, size
		}
	}
	return group, nil, size
}

// commitPosition commits that nothing of interest came up to position.
func (r *runner) commitPosition(ctx context.Context, a *applier, position []byte) error {
	txn := log.Txn{
		ReadTime: r.i.o.Log.Newest(), Claim: r.claim, Reads: []log.Read{{Collection: r.id, Whole: true}},
		Records: []log.Record{catalog.PositionRecord(r.id, position)},
	}
	if r.i.o.Catalog.Current().Sources[r.id] == nil {
		return errGone
	}
	if _, err := r.i.o.Log.Commit(ctx, txn); err != nil {
		return err
	}
	a.adapter.Confirm(position)
	r.tell(a.adapter, position, 0)
	return nil
}

// tell notes how far the source is applied here. An adapter that can print a position does so.
func (r *runner) tell(adapter tailrace.Source, position []byte, lag int64) {
	if p, ok := adapter.(interface{ PositionText(position []byte) string }); ok {
		r.progress.reached(p.PositionText(position), lag)
		return
	}
	r.progress.reached("", lag)
}
