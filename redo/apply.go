package redo

import (
	"cmp"
	"container/heap"
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"tailrace"
)

const (
	// transactionBytes is how much goes into one transaction of the target: what a node can spare, and more is hardly faster.
	transactionBytes = 8 << 20
	// windowBytes is how much of the log all cursors together read ahead.
	windowBytes = 32 << 20
	windowLeast = 4 << 10 // of one cursor
	windowMost  = 4 << 20
	applyTries  = 8 // in a row without progress
)

// ApplyOptions say how a target is brought to the redo frontier.
type ApplyOptions struct {
	// Overwrite empties tables that have rows before the log's snapshot is loaded. Without it they are an error.
	Overwrite bool
	// TransactionBytes is about how much goes into one transaction; 0 is 8 MiB. A time that is larger is one transaction all the same.
	TransactionBytes int
	// Told, if not nil, is told how far it is after each transaction.
	Told func(Progress)
	// State, if not nil, is told each error after which it tries again.
	State func(err error)
}

// Progress is how far Apply is.
type Progress struct {
	Time        tailrace.Time // of what was applied last
	Frontier    tailrace.Time // where it ends
	Rows, Bytes int64         // applied so far, in this run
	Total       int64         // rows there were to apply, about
}

// SinkFeed is the name under which a target keeps how far Apply came with a feed.
func SinkFeed(feed string) string { return "redo " + feed }

// Apply brings the target to the exact state at the feed's redo frontier, from what blob has alone, and returns how far it came. Tables that a snapshot is of are made; a
// table whose log begins with changes is taken as it is. Killed, it goes on where it was when it is called again; called again without need, it changes nothing.
//
// The sink is the caller's, who closes it. An error of it that passes (tailrace.SinkRetry) is tried again; others are returned, with what was applied kept. Damage of the
// log is an error that names the object and wraps tailrace.ErrCorrupt.
func Apply(ctx context.Context, blob tailrace.Blob, feed string, sink tailrace.Sink, o ApplyOptions) (Progress, error) {
	l, err := readLog(ctx, blob, feed)
	if err != nil {
		return Progress{}, fmt.Errorf("redo apply of feed %s: %w", feed, err)
	}
	a := &applier{blob: blob, sink: sink, o: o, log: l, limit: cmp.Or(o.TransactionBytes, transactionBytes), progress: Progress{Frontier: l.frontier}}
	epoch := uint64(time.Now().UnixMicro()) // of two that run, the later one goes on
	for try, rows := 1, int64(0); ; try++ {
		err = a.attempt(ctx, SinkFeed(feed), epoch)
		if a.progress.Rows > rows {
			try, rows = 1, a.progress.Rows
		}
		if err == nil || !passes(err) || try >= applyTries || ctx.Err() != nil {
			break
		}
		if o.State != nil {
			o.State(err)
		}
		if err := pause(ctx, try); err != nil {
			return a.progress, err
		}
	}
	if err != nil {
		return a.progress, fmt.Errorf("redo apply of feed %s: %w", feed, err)
	}
	return a.progress, nil
}

// passes reports whether an error of a sink may be gone at the next try.
func passes(err error) bool {
	se := (*tailrace.SinkError)(nil)
	return errors.Is(err, tailrace.ErrSinkMoved) || errors.As(err, &se) && se.Fault == tailrace.SinkRetry
}

// pause waits longer at each try.
func pause(ctx context.Context, try int) error {
	timer := time.NewTimer(min(retryFirst<<try, retryMost))
	defer timer.Stop()
	select {
	case <-timer.C:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// redoLog is what the store has of a feed.
type redoLog struct {
	folder   string
	frontier tailrace.Time
	places   map[tailrace.CollectionID][]place
}

func readLog(ctx context.Context, blob tailrace.Blob, feed string) (*redoLog, error) {
	s, err := readState(ctx, blob, folder(feed))
	if err != nil {
		return nil, err
	}
	if s.number == 0 {
		return nil, fmt.Errorf("the store has no redo log of it: %w", tailrace.ErrNotFound)
	}
	all, err := s.all(ctx, blob, folder(feed))
	if err != nil {
		return nil, err
	}
	l := &redoLog{folder: folder(feed), places: placesOf(folder(feed), all)}
	if len(s.spans) > 0 {
		l.frontier = frontier(s.spans)
	}
	return l, nil
}

// attempt goes on from what the target has, to the end or to the first error.
func (a *applier) attempt(ctx context.Context, feed string, epoch uint64) error {
	seen, err := a.sink.Prepare(ctx, feed, epoch)
	if err != nil {
		return err
	}
	if a.conn, err = a.sink.Connect(ctx); err != nil {
		return err
	}
	defer a.conn.Close()
	if err := a.begin(ctx, seen); err != nil {
		return err
	}
	return a.run(ctx)
}

// begin sets every cursor to the first update that the target does not have.
func (a *applier) begin(ctx context.Context, seen []tailrace.SinkProgress) error {
	a.cursors, a.now, a.parts, a.bytes = nil, 0, nil, 0
	from := map[tailrace.CollectionID]Position{}
	for _, p := range seen {
		from[p.Span] = Position{p.Time, p.Ordinal}
	}
	window := min(max(windowLeast, windowBytes/max(1, len(a.log.places))), windowMost)
	left := int64(0)
	for span, places := range a.log.places {
		c := &cursor{blob: a.blob, span: span, places: slices.Clone(places), window: window}
		if err := c.start(ctx, from[span]); err != nil {
			return err
		}
		left += a.rowsOf(places, from[span])
		if c.kind != 0 {
			a.cursors = append(a.cursors, c)
		}
	}
	a.progress.Total = a.progress.Rows + left
	heap.Init(&a.cursors)
	return nil
}

// rowsOf is about how many rows the places have after from, up to the frontier.
func (a *applier) rowsOf(places []place, from Position) (rows int64) {
	for _, p := range places {
		if p.last > from.Time && p.first <= a.log.frontier {
			rows += p.rows
		}
	}
	return rows
}
