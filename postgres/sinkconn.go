package postgres

import (
	"context"
	"errors"
	"strconv"

	"github.com/jackc/pgx/v5/pgconn"

	"tailrace"
)

// sinkConn is a connection to a target, used by one goroutine at a time.
type sinkConn struct {
	sink   *sink
	conn   *pgconn.PgConn
	feed   string
	epoch  uint64
	steps  int   // added to the open transaction
	failed error // of the open transaction's last step; it goes no further
}

// txIdle is the transaction status of a connection without a transaction.
const txIdle = 'I'

// Apply sends the whole transaction but its end in one go, looks at the answers, and commits.
func (c *sinkConn) Apply(ctx context.Context, txn *tailrace.SinkTxn) error {
	list := c.opening()
	for i := range txn.Steps {
		list = append(list, c.sink.sinkStatements(&txn.Steps[i], i, 0, txn.Steps[i].Rows.N)...)
	}
	list = append(list, c.moves(txn.Progress)...)
	if err := c.run(ctx, list, txn.Steps); err != nil {
		c.abandon()
		return c.refine(ctx, txn, err)
	}
	return c.commit(ctx, txn.Progress)
}

// Begin opens a transaction for Add.
func (c *sinkConn) Begin(ctx context.Context) error {
	c.steps, c.failed = 0, nil
	if err := c.run(ctx, c.opening(), nil); err != nil {
		c.abandon()
		return err
	}
	return nil
}

// Add runs one step of the open transaction.
func (c *sinkConn) Add(ctx context.Context, step *tailrace.SinkStep) error {
	if c.failed != nil {
		return c.failed
	}
	c.steps++
	err := c.run(ctx, c.sink.sinkStatements(step, 0, 0, step.Rows.N), []tailrace.SinkStep{*step})
	if se := (*tailrace.SinkError)(nil); errors.As(err, &se) && se.Step == 0 {
		se.Step = c.steps - 1
		if se.Row >= 0 {
			se.Key = c.sink.options.KeyText(step, se.Row)
		}
	}
	c.failed = err
	return err
}

// Commit moves the progress and ends the open transaction.
func (c *sinkConn) Commit(ctx context.Context, progress []tailrace.SinkProgress) error {
	if c.failed != nil {
		c.abandon()
		return c.failed
	}
	if err := c.run(ctx, c.moves(progress), nil); err != nil {
		c.abandon()
		return err
	}
	return c.commit(ctx, progress)
}

// Rollback gives the open transaction up.
func (c *sinkConn) Rollback() error {
	ctx, cancel := context.WithTimeout(context.Background(), rollbackTimeout)
	defer cancel()
	return sinkFault("", exec(ctx, c.conn, "ROLLBACK"))
}

// Close closes the connection.
func (c *sinkConn) Close() error {
	closeConn(c.conn)
	return nil
}

// opening are the statements that begin a transaction and check the epoch. What an earlier one left open is rolled back, which BEGIN alone would go on with.
func (c *sinkConn) opening() []sinkStatement {
	if c.conn.TxStatus() != txIdle {
		c.abandon()
	}
	feed, epoch := []byte(c.feed), strconv.AppendUint(nil, c.epoch, 10)
	return []sinkStatement{
		{sql: "BEGIN", want: -1, step: -1},
		{sql: sinkShared, params: [][]byte{feed}, want: -1, step: -1},
		{sql: `SELECT 1 FROM tailrace.feeds WHERE feed = $1 AND epoch = $2`, params: [][]byte{feed, epoch}, want: 1, none: tailrace.ErrSinkFenced, step: -1},
	}
}

// moves are the statements that move progress from where this side saw it.
func (c *sinkConn) moves(progress []tailrace.SinkProgress) []sinkStatement {
	number := func(n uint64) []byte { return strconv.AppendUint(nil, n, 10) }
	var list []sinkStatement
	for _, p := range progress {
		params := [][]byte{
			[]byte(c.feed), number(uint64(p.Span)), strconv.AppendInt(nil, int64(p.Lane), 10),
			number(uint64(p.Time)), number(p.Ordinal), number(c.epoch), []byte(p.Note),
		}
		st := sinkStatement{want: 1, none: tailrace.ErrSinkMoved, step: -1}
		if last, ok := c.sink.seen.Last(p); ok {
			st.sql = `UPDATE tailrace.progress SET time = $4, ordinal = $5, epoch = $6, note = $7 ` +
				`WHERE feed = $1 AND span = $2 AND lane = $3 AND time = $8 AND ordinal = $9 AND note = $10`
			params = append(params, number(uint64(last.Time)), number(last.Ordinal), []byte(last.Note))
		} else {
			st.sql = `INSERT INTO tailrace.progress (feed, span, lane, time, ordinal, epoch, note) VALUES ($1, $2, $3, $4, $5, $6, $7) ON CONFLICT DO NOTHING`
		}
		st.params = params
		list = append(list, st)
	}
	return list
}

// run sends statements together and returns the first thing that is wrong with their answers.
func (c *sinkConn) run(ctx context.Context, list []sinkStatement, steps []tailrace.SinkStep) error {
	if len(list) == 0 {
		return nil
	}
	batch := &pgconn.Batch{}
	for i := range list {
		batch.ExecParams(list[i].sql, list[i].params, nil, nil, nil)
	}
	answers := c.conn.ExecBatch(ctx, batch)
	done := 0
	var wrong error
	for done < len(list) && wrong == nil && answers.NextResult() {
		res := answers.ResultReader().Read()
		if res.Err != nil {
			break
		}
		if st := &list[done]; st.want >= 0 && res.CommandTag.RowsAffected() != st.want {
			wrong = st.none
			break
		}
		done++
	}
	if err := answers.Close(); err != nil && wrong == nil {
		wrong = err
	}
	if wrong == nil {
		return nil
	}
	return place(wrong, list[min(done, len(list)-1)], steps)
}

// place says which step and row of it a statement's error is about.
func place(err error, st sinkStatement, steps []tailrace.SinkStep) error {
	if st.step < 0 || st.step >= len(steps) {
		return sinkFault("", err)
	}
	target := steps[st.step].Target
	out := sinkFault(target.Name, err)
	if se := (*tailrace.SinkError)(nil); errors.As(out, &se) {
		se.Step = st.step
		if st.to == st.from+1 {
			se.Row = st.from
		}
	}
	return out
}

// commit ends the transaction. When its answer does not come, its outcome is unknown: what was seen stays, and the next transaction of the lane finds out.
func (c *sinkConn) commit(ctx context.Context, progress []tailrace.SinkProgress) error {
	results, err := c.conn.Exec(ctx, "COMMIT").ReadAll()
	if err != nil {
		return sinkFault("", err)
	}
	if tag := results[0].CommandTag.String(); tag != "COMMIT" {
		return sinkFault("", &tailrace.Error{Code: "25P02", Message: "the target answered COMMIT with " + tag})
	}
	c.sink.seen.Moved(progress)
	return nil
}

// abandon rolls back after an error, whatever became of the caller's context; when that fails too, the connection is of no more use and the next call says so.
func (c *sinkConn) abandon() {
	if !c.conn.IsClosed() {
		_ = c.Rollback()
	}
}
