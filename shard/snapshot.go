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
	// After continues strictly after the row with this key (Cursor.Position, or any tailrace.AppendRowKey in Schema's sort order).
	After []byte
	// Overlay is a transaction's own updates, in any order, with the columns of any of the collection's schemas.
	Overlay *tailrace.Batch
	// PieceRows and PieceBytes are where a piece is cut: the row that reaches one is the last, but rows that are equal as SQL values stay
	// together. 0 is the default. They and the data alone decide the pieces.
	PieceRows, PieceBytes int
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
	schema := opts.Schema
	if schema == nil {
		schema = m.schema
	}
	l := newLayout(schema)
	p := &picture{sh: sh, m: m, l: l, newest: sameSchema(schema, m.schema)}
	if err := p.asOf(opts.AsOf); err != nil {
		return nil, err
	}
	p.overlay(opts.Overlay)
	c := newCursor(l, opts)
	c.what = fmt.Sprintf("snapshot of collection %d as of %d", sh.id, opts.AsOf)
	after := opts.After
	if l.keyed() {
		after = cutKey(l, after)
	}
	c.pruned = !l.keyed() && opts.Columns != nil && after == nil && len(p.streams) == 1 && p.streams[0].plain
	if opts.Columns != nil && (l.keyed() || c.pruned) {
		p.prune(opts.Columns)
	}
	p.from(after)
	return c, c.start(ctx, p.streams, after)
}

func newCursor(l *layout, opts SnapshotOptions) *Cursor {
	c := &Cursor{l: l, cols: opts.Columns, rows: opts.PieceRows, bytes: opts.PieceBytes}
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
	return c
}

// readable checks since <= t < upper.
func (sh *Shard) readable(m *manifest, t tailrace.Time) error {
	switch {
	case m.dropped:
		return fmt.Errorf("collection %d: %w", sh.id, ErrDropped)
	case t < m.since:
		return fmt.Errorf("the oldest readable time is %d: %w", m.since, ErrCompacted)
	case t >= sh.set.Upper():
		return fmt.Errorf("the newest readable time is %d", sh.set.Upper()-1)
	}
	return nil
}
