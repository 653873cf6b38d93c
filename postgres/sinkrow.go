package postgres

import (
	"context"
	"errors"
	"time"

	"tailrace"
)

// rollbackTimeout bounds what is done without a caller's context.
const rollbackTimeout = 5 * time.Second

// refine finds the row of a transaction's failed step, by applying the transaction again up to the step and then halves of its rows, smaller and smaller; all is
// rolled back. What it cannot find it leaves: the fault is the same.
func (c *sinkConn) refine(ctx context.Context, txn *tailrace.SinkTxn, err error) error {
	se := (*tailrace.SinkError)(nil)
	if !errors.As(err, &se) || se.Fault != tailrace.SinkRowFault || se.Step < 0 {
		return err
	}
	if se.Row < 0 {
		c.find(ctx, txn, se)
	}
	if se.Row >= 0 {
		se.Key = c.sink.options.KeyText(&txn.Steps[se.Step], se.Row)
	}
	return err
}

func (c *sinkConn) find(ctx context.Context, txn *tailrace.SinkTxn, se *tailrace.SinkError) {
	list := c.opening()
	for i := range se.Step {
		list = append(list, c.sink.sinkStatements(&txn.Steps[i], i, 0, txn.Steps[i].Rows.N)...)
	}
	defer c.abandon()
	if c.run(ctx, list, txn.Steps) != nil {
		return
	}
	step := &txn.Steps[se.Step]
	for from, to := 0, step.Rows.N; from < to; {
		middle := (from + to + 1) / 2
		err := c.try(ctx, txn, se.Step, from, middle)
		found := (*tailrace.SinkError)(nil)
		switch {
		case err == nil:
			from = middle
		case !errors.As(err, &found) || found.Fault != tailrace.SinkRowFault:
			return
		case middle-from == 1:
			se.Row, se.Err = from, found.Err
			return
		default:
			to = middle
		}
	}
}

// try applies rows [from, to) of a step inside the open transaction, undone if they fail.
func (c *sinkConn) try(ctx context.Context, txn *tailrace.SinkTxn, step, from, to int) error {
	if err := exec(ctx, c.conn, "SAVEPOINT row"); err != nil {
		return err
	}
	err := c.run(ctx, c.sink.sinkStatements(&txn.Steps[step], step, from, to), txn.Steps)
	if err != nil {
		if back := exec(ctx, c.conn, "ROLLBACK TO SAVEPOINT row"); back != nil {
			return back
		}
	}
	return err
}
