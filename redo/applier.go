package redo

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"tailrace"
	"tailrace/steps"
)

// applier brings the updates of all spans, in time order, into the target. It collects whole times until there is enough for a transaction; a time that alone is more is
// streamed into one (stream.go). Before a snapshot and before a change of a table, what was collected goes out, though the time may not be whole: a target cannot do those
// in the transaction.
type applier struct {
	blob     tailrace.Blob
	sink     tailrace.Sink
	o        ApplyOptions
	log      *redoLog
	limit    int // bytes of a transaction
	progress Progress

	conn    tailrace.SinkConn
	cursors cursors       // that are not at the end
	now     tailrace.Time // of the updates that are being collected
	parts   []*part
	bytes   int // of parts
}

// part is updates of one span that were collected.
type part struct {
	c      *cursor
	target *tailrace.SinkTarget
	rows   *tailrace.Batch
	to     Position // where the span is with them
}

// run applies everything up to the frontier.
func (a *applier) run(ctx context.Context) error {
	for len(a.cursors) > 0 && a.cursors[0].time <= a.log.frontier {
		var err error
		switch next, full := a.cursors[0].time, a.bytes >= a.limit; {
		case full && next == a.now:
			err = a.overflow(ctx)
		case full:
			err = a.flush(ctx)
		default:
			a.now = next
			err = a.step(ctx, a.cursors[0])
			a.cursors.moved()
		}
		if err != nil {
			return err
		}
	}
	for _, c := range a.cursors { // the time that puts it after the frontier may be damaged
		if err := c.open(ctx); err != nil {
			return err
		}
	}
	return a.flush(ctx)
}

// step takes what is next of the first cursor.
func (a *applier) step(ctx context.Context, c *cursor) error {
	if err := c.open(ctx); err != nil {
		return err
	}
	switch c.kind {
	case Snapshot:
		return a.load(ctx, c)
	case Alter:
		return a.alter(ctx, c)
	}
	if c.target == nil && a.collects(c) { // what was collected is of another table
		if err := a.flush(ctx); err != nil {
			return err
		}
	}
	p, err := a.part(ctx, c)
	if err != nil {
		return err
	}
	n := c.run()
	before := p.rows.Size()
	appendRows(p.rows, c.rows, c.row, c.row+n)
	a.bytes += p.rows.Size() - before
	return c.take(ctx, n)
}

// collects reports whether updates of c were collected.
func (a *applier) collects(c *cursor) bool {
	return slices.ContainsFunc(a.parts, func(p *part) bool { return p.c == c })
}

// part is where the updates of c are collected.
func (a *applier) part(ctx context.Context, c *cursor) (*part, error) {
	for _, p := range a.parts {
		if p.c == c {
			return p, nil
		}
	}
	target, err := a.target(ctx, c, false)
	if err != nil {
		return nil, err
	}
	p := &part{c: c, target: target, rows: tailrace.NewBatch(c.table.Columns, 0)}
	a.parts = append(a.parts, p)
	return p, nil
}

// target is the table of c's rows as the target has it.
func (a *applier) target(ctx context.Context, c *cursor, create bool) (*tailrace.SinkTarget, error) {
	if c.target == nil {
		target, err := a.sink.Table(ctx, c.table, create)
		if err != nil {
			return nil, err
		}
		c.target = target
	}
	return c.target, nil
}

// flush brings all that was collected into the target.
func (a *applier) flush(ctx context.Context) error { return a.transact(ctx, a.collected()) }

// collected takes what was collected, with where it leads.
func (a *applier) collected() []*part {
	parts := a.parts
	for _, p := range parts {
		p.to = p.c.position()
	}
	a.parts, a.bytes = nil, 0
	return parts
}

// overflow makes room while a time is not whole: the times before it go out, and if it alone is too much it is streamed.
func (a *applier) overflow(ctx context.Context) error {
	before, rest := split(a.collected(), a.now-1)
	if err := a.transact(ctx, before); err != nil {
		return err
	}
	for _, p := range rest {
		a.bytes += p.rows.Size()
	}
	if a.bytes < a.limit {
		a.parts = rest
		return nil
	}
	a.bytes = 0
	return a.stream(ctx, rest)
}

// transact applies parts as one transaction. When the target refuses a row and there are several times in it, it is done by halves: joined, updates may be
// refused that are not one after the other, where a parent goes and its children get another one before.
func (a *applier) transact(ctx context.Context, parts []*part) error {
	if len(parts) == 0 {
		return nil
	}
	list, err := stepsOf(parts)
	if err != nil {
		return err
	}
	txn := &tailrace.SinkTxn{Steps: list}
	for _, p := range parts {
		txn.Progress = append(txn.Progress, progressOf(p.c.span, p.to))
	}
	err = a.conn.Apply(ctx, txn)
	if se := (*tailrace.SinkError)(nil); errors.As(err, &se) && se.Fault == tailrace.SinkRowFault {
		if first, second := split(parts, middle(parts)); len(first) > 0 && len(second) > 0 {
			if err := a.transact(ctx, first); err != nil {
				return err
			}
			return a.transact(ctx, second)
		}
	}
	if err != nil {
		return err
	}
	for _, p := range parts {
		p.c.seen = p.to
		a.count(p.rows)
	}
	a.tell()
	return nil
}

// middle is the time between the first and the last of parts.
func middle(parts []*part) tailrace.Time {
	first, last := tailrace.MaxTime, tailrace.Time(0)
	for _, p := range parts {
		first, last = min(first, p.rows.Times[0]), max(last, p.rows.Times[p.rows.N-1])
	}
	return first + (last-first)/2
}

// split divides parts into the updates at or before t, which are whole times, and those after.
func split(parts []*part, t tailrace.Time) (before, after []*part) {
	for _, p := range parts {
		n := 0
		for n < p.rows.N && p.rows.Times[n] <= t {
			n++
		}
		if n > 0 && n < p.rows.N {
			first := &part{p.c, p.target, cut(p.rows, 0, n), Position{Time: p.rows.Times[n-1]}}
			before, after = append(before, first), append(after, &part{p.c, p.target, cut(p.rows, n, p.rows.N), p.to})
			continue
		}
		if n == 0 {
			after = append(after, p)
		} else {
			before = append(before, p)
		}
	}
	return before, after
}

// stepsOf are the steps of parts in the order of one transaction.
func stepsOf(parts []*part) ([]tailrace.SinkStep, error) {
	var each [][]tailrace.SinkStep
	for _, p := range parts {
		list, err := steps.Of(p.target, steps.All(p.rows))
		if err != nil {
			return nil, err
		}
		each = append(each, list)
	}
	return steps.Order(each), nil
}

func progressOf(span tailrace.CollectionID, p Position) tailrace.SinkProgress {
	return tailrace.SinkProgress{Span: span, Time: p.Time, Ordinal: p.Ordinal}
}

func (a *applier) count(rows *tailrace.Batch) {
	a.progress.Rows += int64(rows.N)
	a.progress.Bytes += int64(rows.Size())
}

func (a *applier) tell() {
	a.progress.Time = a.now
	if a.o.Told != nil {
		a.o.Told(a.progress)
	}
}

// alter carries a change of c's table over. Killed before its progress is there, it is asked again, which the target knows.
func (a *applier) alter(ctx context.Context, c *cursor) error {
	if err := a.flush(ctx); err != nil {
		return err
	}
	if err := a.conn.Alter(ctx, c.alter); err != nil {
		return err
	}
	c.setTable(c.alter.After, nil)
	if err := c.take(ctx, 1); err != nil {
		return err
	}
	return a.reached(ctx, c)
}

// reached notes at the target that it has all that was taken of c.
func (a *applier) reached(ctx context.Context, c *cursor) error {
	to := c.position()
	if err := a.conn.Apply(ctx, &tailrace.SinkTxn{Progress: []tailrace.SinkProgress{progressOf(c.span, to)}}); err != nil {
		return err
	}
	c.seen = to
	a.tell()
	return nil
}

// load takes as many rows of a snapshot as go into one transaction.
func (a *applier) load(ctx context.Context, c *cursor) error {
	if err := a.flush(ctx); err != nil {
		return err
	}
	at := c.time
	target, err := a.target(ctx, c, true)
	if err != nil {
		return err
	}
	if c.seen.Time != at {
		if err := a.empty(ctx, c); err != nil {
			return err
		}
	}
	rows := tailrace.NewBatch(target.Table.Columns, 0)
	for c.kind == Snapshot && c.time == at && c.target == target && rows.Size() < a.limit {
		if err := c.open(ctx); err != nil {
			return err
		}
		appendRows(rows, c.rows, c.row, c.rows.N)
		if err := c.take(ctx, c.rows.N-c.row); err != nil {
			return err
		}
	}
	to := c.position()
	if rows.N == 0 && c.taken == 0 && c.kind != 0 && c.time == at {
		return nil // no position says that none of several rows are there
	}
	if rows.N == 0 {
		return a.reached(ctx, c)
	}
	if err := a.conn.Load(ctx, target, rows, []tailrace.SinkProgress{progressOf(c.span, to)}); err != nil {
		return err
	}
	c.seen = to
	a.count(rows)
	a.tell()
	return nil
}

// empty makes the table of a snapshot that begins have no rows.
func (a *applier) empty(ctx context.Context, c *cursor) error {
	if c.seen == (Position{}) {
		if !c.target.Loaded {
			return nil
		}
		if !a.o.Overwrite {
			return &tailrace.Error{
				Code: "55000", Message: fmt.Sprintf("the target's table %s has rows already", c.target.Name),
				Hint: "Apply to a target without it, or give --overwrite to empty it first.",
			}
		}
	}
	return a.conn.Alter(ctx, &tailrace.SinkAlter{Kind: tailrace.SinkTruncate, Before: c.table, After: c.table})
}
