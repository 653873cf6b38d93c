package shard

import (
	"context"
	"fmt"

	"tailrace"
)

// SnapshotOptions say which rows a cursor yields and how.
type SnapshotOptions struct {
	// AsOf is the time whose rows are read: since <= AsOf < upper.
	AsOf tailrace.Time
	// Schema is what the rows are projected to; nil is the newest.
	Schema *tailrace.Schema
	// Columns lists the fields of Schema that are wanted, in the order they are wanted; nil is all. Only they are read, where rows can be
	// told apart without the others.
	Columns []int
	// Ranges leave rows out that the caller does not want; it filters too, see Range. All of them must hold for a row to be wanted.
	Ranges []Range
	// Stats counts what is read; nil counts nothing.
	Stats *ScanStats
	// After continues strictly after the row with this key (Cursor.Position, or any tailrace.AppendRowKey in Schema's sort order).
	After []byte
	// Overlay is a transaction's own updates, in any order, with the columns of any of the collection's schemas.
	Overlay *tailrace.Batch
	// Pending are the transaction's writers, whose updates so far are read like Overlay, but from their parts. They must not be aborted before the cursor
	// is closed; what is appended later does not show.
	Pending []*Writer
	// PieceRows and PieceBytes are where a piece is cut: the row that reaches one is the last, but rows that are equal as SQL values stay
	// together. 0 is the default. They and the data alone decide the pieces.
	PieceRows, PieceBytes int
	// FirstRows makes the first piece smaller, for a reader who wants something at once: it has so many rows, and each next one four times as many until
	// PieceRows. 0 is no such thing.
	FirstRows int
}

// Snapshot returns a cursor over the rows as of a time, in order. It reads one immutable manifest whatever happens meanwhile, so it never
// fails for history that is compacted later. The error is ErrCompacted (wrapped) when the time is no longer readable.
func (sh *Shard) Snapshot(ctx context.Context, opts SnapshotOptions) (*Cursor, error) {
	m, release := sh.pin()
	c, err := sh.snapshot(ctx, m, opts)
	if err != nil {
		release()
		return nil, fmt.Errorf("snapshot of collection %d as of %d: %w", sh.id, opts.AsOf, err)
	}
	c.release = release
	return c, nil
}

func (sh *Shard) snapshot(ctx context.Context, m *manifest, opts SnapshotOptions) (*Cursor, error) {
	if err := sh.readable(m, opts.AsOf); err != nil {
		return nil, err
	}
	return sh.cursorOf(ctx, m, opts)
}

// cursorOf is snapshot of a readable time.
func (sh *Shard) cursorOf(ctx context.Context, m *manifest, opts SnapshotOptions) (*Cursor, error) {
	schema := opts.Schema
	if schema == nil {
		schema = m.schema
	}
	l := newLayout(schema)
	c := newCursor(l, opts)
	views, err := viewsOf(ctx, opts.Pending)
	if err != nil {
		return nil, err
	}
	open := func() (*picture, error) {
		p := &picture{sh: sh, m: m, l: l, newest: sameSchema(schema, m.schema)}
		if err := p.asOf(opts.AsOf); err != nil {
			return nil, err
		}
		p.overlay(opts.Overlay)
		p.pending(views)
		if opts.Columns != nil && (l.keyed() || c.pruned) {
			p.prune(l.with(opts.Columns, opts.Ranges))
		}
		p.narrow(opts.Ranges, opts.Stats)
		return p, nil
	}
	p, err := open()
	if err != nil {
		return nil, err
	}
	c.what = fmt.Sprintf("snapshot of collection %d as of %d", sh.id, opts.AsOf)
	after := opts.After
	if l.keyed() {
		after = cutKey(l, after)
	}
	c.pruned = !l.keyed() && opts.Columns != nil && after == nil && len(p.streams) == 1 && p.streams[0].plain
	if c.pruned {
		p.prune(l.with(opts.Columns, opts.Ranges))
		c.memory.reader = p.readers[0].rr
	}
	c.memory.budget(sh.set.shares.snapshots, p, after, open)
	p.from(after)
	return c, nil
}

func newCursor(l *layout, opts SnapshotOptions) *Cursor {
	c := &Cursor{l: l, cols: opts.Columns, rows: opts.PieceRows, bytes: opts.PieceBytes, ranges: opts.Ranges}
	if c.cols == nil {
		c.cols = make([]int, len(l.schema.Fields))
		for i := range c.cols {
			c.cols[i] = i
		}
	}
	if c.rows <= 0 {
		c.rows = PieceRows
	}
	if c.bytes <= 0 {
		c.bytes = PieceBytes
	}
	if c.most = c.rows; opts.FirstRows > 0 {
		c.rows = min(c.rows, opts.FirstRows)
	}
	return c
}

// readable checks since <= t < upper.
func (sh *Shard) readable(m *manifest, t tailrace.Time) error {
	switch {
	case m.dropped:
		return fmt.Errorf("collection %d: %w", sh.id, ErrDropped)
	case t < m.since:
		return &CompactedError{Collection: sh.id, Oldest: m.since, Time: t}
	case t >= sh.set.Upper():
		return fmt.Errorf("the newest readable time is %d", sh.set.Upper()-1)
	}
	return nil
}
