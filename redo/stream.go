package redo

import (
	"context"
	"slices"

	"tailrace"
	"tailrace/steps"
)

// stream applies the updates of the time a.now, of which parts were collected and more is to come, as one transaction that may be larger than memory. No order by
// itself keeps foreign and unique keys whole in the middle of it, so the time is read twice, a piece at a time:
//
//	first    what goes, children before parents; of tables with unique keys the old version of every row, for its values to be free
//	second   what comes, parents before children
func (a *applier) stream(ctx context.Context, parts []*part) error {
	for _, c := range a.cursors {
		if c.time == a.now && c.kind == Changes && !slices.ContainsFunc(parts, func(p *part) bool { return p.c == c }) {
			if err := c.open(ctx); err != nil {
				return err
			}
			target, err := a.target(ctx, c, false)
			if err != nil {
				return err
			}
			parts = append(parts, &part{c: c, target: target, rows: tailrace.NewBatch(c.table.Columns, 0)})
		}
	}
	parts = parentsFirst(parts)
	if err := a.conn.Begin(ctx); err != nil {
		return err
	}
	for _, p := range slices.Backward(parts) {
		ahead := *p.c
		if err := a.pieces(ctx, p, &ahead, going); err != nil {
			return err
		}
	}
	for _, p := range parts {
		if err := a.pieces(ctx, p, p.c, coming); err != nil {
			return err
		}
	}
	var progress []tailrace.SinkProgress
	for _, p := range parts {
		progress = append(progress, progressOf(p.c.span, p.c.position()))
	}
	if err := a.conn.Commit(ctx, progress); err != nil {
		return err
	}
	for _, p := range parts {
		p.c.seen = p.c.position()
	}
	a.cursors.movedAll()
	a.tell()
	return nil
}

// pieces adds the steps that choose gives for what was collected in p, and for what c has of the time and the table after it.
func (a *applier) pieces(ctx context.Context, p *part, c *cursor, choose chooser) error {
	piece := p.rows
	for first := true; first || piece.N > 0; first = false {
		list, err := choose(p.target, piece)
		if err != nil {
			return err
		}
		for i := range list {
			if err := a.conn.Add(ctx, &list[i]); err != nil {
				return err
			}
		}
		if c == p.c {
			a.count(piece)
		}
		if piece, err = a.piece(ctx, p, c); err != nil {
			return err
		}
	}
	return nil
}

// piece takes what c has of the time and the table, up to about the size of a transaction.
func (a *applier) piece(ctx context.Context, p *part, c *cursor) (*tailrace.Batch, error) {
	piece := tailrace.NewBatch(p.target.Table.Columns, 0)
	for c.kind == Changes && c.time == a.now && c.target == p.target && piece.Size() < a.limit {
		if err := c.open(ctx); err != nil {
			return nil, err
		}
		n := c.run()
		appendRows(piece, c.rows, c.row, c.row+n)
		if err := c.take(ctx, n); err != nil {
			return nil, err
		}
	}
	return piece, nil
}

// parentsFirst sorts parts of different tables.
func parentsFirst(parts []*part) []*part {
	targets := make([]*tailrace.SinkTarget, len(parts))
	for i, p := range parts {
		targets[i] = p.target
	}
	out := make([]*part, 0, len(parts))
	for _, i := range steps.ParentsFirst(targets) {
		out = append(out, parts[i])
	}
	return out
}

// chooser gives some of the steps of updates.
type chooser func(target *tailrace.SinkTarget, updates *tailrace.Batch) ([]tailrace.SinkStep, error)

func going(target *tailrace.SinkTarget, updates *tailrace.Batch) ([]tailrace.SinkStep, error) {
	if len(target.Unique) > 0 && len(target.Table.Columns.Key) > 0 {
		var old []int32
		for i := range updates.N {
			if updates.Diff(i) < 0 {
				old = append(old, int32(i))
			}
		}
		return steps.Of(target, steps.All(updates.Gather(old)))
	}
	return some(target, updates, func(k tailrace.SinkStepKind) bool { return k == tailrace.SinkDelete })
}

func coming(target *tailrace.SinkTarget, updates *tailrace.Batch) ([]tailrace.SinkStep, error) {
	return some(target, updates, func(k tailrace.SinkStepKind) bool { return k != tailrace.SinkDelete })
}

// some are the steps of updates that are of some kinds.
func some(target *tailrace.SinkTarget, updates *tailrace.Batch, is func(tailrace.SinkStepKind) bool) ([]tailrace.SinkStep, error) {
	list, err := steps.Of(target, steps.All(updates))
	return slices.DeleteFunc(list, func(s tailrace.SinkStep) bool { return !is(s.Kind) }), err
}
