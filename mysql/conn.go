package mysql

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"errors"
	"strings"
	"time"

	mysqldriver "github.com/go-sql-driver/mysql"

	"tailrace"
)

// rollbackTimeout bounds what is done without a caller's context.
const rollbackTimeout = 5 * time.Second

// sinkConn is a connection to a target, used by one goroutine at a time.
type sinkConn struct {
	sink  *sink
	conn  *sql.Conn
	feed  string
	epoch uint64
	bytes int // of a statement
	steps int // added to the open transaction
	// failed is the error of the open transaction's last step. After a deadlock the server has rolled back and would commit every further statement by itself, so
	// there are none.
	failed error
}

// Apply runs the steps and moves the progress in one transaction.
func (c *sinkConn) Apply(ctx context.Context, txn *tailrace.SinkTxn) error {
	err := c.Begin(ctx)
	for i := 0; err == nil && i < len(txn.Steps); i++ {
		err = c.Add(ctx, &txn.Steps[i])
	}
	if err != nil {
		c.abandon()
		return err
	}
	return c.Commit(ctx, txn.Progress)
}

// Begin opens a transaction and checks the epoch, in one round trip; the lock on its row is held to the end. What an earlier one left open is rolled back, which
// START TRANSACTION alone would commit.
func (c *sinkConn) Begin(ctx context.Context) error {
	c.steps, c.failed = 0, nil
	var epoch uint64
	err := c.conn.QueryRowContext(ctx, "ROLLBACK; START TRANSACTION; SELECT epoch FROM tailrace.feeds WHERE feed = ? LOCK IN SHARE MODE", c.feed).Scan(&epoch)
	if errors.Is(err, sql.ErrNoRows) || err == nil && epoch != c.epoch {
		err = tailrace.ErrSinkFenced
	}
	if err != nil {
		c.abandon()
	}
	return fault("", err)
}

// Add runs one step of the open transaction. A statement that fails leaves nothing behind, so the row at fault is found by halves, in the same transaction.
func (c *sinkConn) Add(ctx context.Context, step *tailrace.SinkStep) error {
	if c.failed != nil {
		return c.failed
	}
	c.steps++
	for from := 0; from < step.Rows.N; {
		next, err := c.rows(ctx, step, from, step.Rows.N)
		if err != nil {
			se := (*tailrace.SinkError)(nil)
			if errors.As(err, &se) {
				se.Step = c.steps - 1
				if se.Row >= 0 {
					se.Key = c.sink.options.KeyText(step, se.Row)
				}
			}
			c.failed = err
			return err
		}
		from = next
	}
	return nil
}

// rows runs one statement for rows of a step from row from on, at most to row to; next is the row after those in it.
func (c *sinkConn) rows(ctx context.Context, step *tailrace.SinkStep, from, to int) (next int, err error) {
	st, err := c.next(step, from, to)
	if err == nil {
		var res sql.Result
		if res, err = c.conn.ExecContext(ctx, string(st.text)); err == nil && st.want >= 0 {
			if n, countErr := res.RowsAffected(); countErr == nil && n != st.want {
				err = &tailrace.Error{Code: "02000", Message: "the target lacks a row that is to be updated", Hint: "Compare and repair the table: ALTER SINK ... RESYNC TABLE ...;"}
			}
		}
	} else {
		st.to = from + 1
	}
	if err == nil {
		return st.to, nil
	}
	se := (*tailrace.SinkError)(nil)
	if own := (*tailrace.Error)(nil); errors.As(err, &own) { // found before the server was asked, or by counting
		return 0, &tailrace.SinkError{Fault: tailrace.SinkRowFault, Table: step.Target.Name, Step: -1, Row: from, Err: own}
	}
	if err = fault(step.Target.Name, err); !errors.As(err, &se) || se.Fault != tailrace.SinkRowFault {
		return 0, err
	}
	if st.to == from+1 {
		se.Row = from
		return 0, err
	}
	return 0, c.halve(ctx, step, from, st.to, err)
}

// halve finds the first of rows [from, to) that is refused; err is what they were refused with together.
func (c *sinkConn) halve(ctx context.Context, step *tailrace.SinkStep, from, to int, err error) error {
	middle := (from + to) / 2
	if _, half := c.rows(ctx, step, from, middle); half != nil {
		return half // it was halved, too
	}
	if _, half := c.rows(ctx, step, middle, to); half != nil {
		return half
	}
	return err
}

// Commit moves the progress from where this side saw it, and ends the open transaction, in one round trip: after a statement that fails the server does not go on.
// When the answer does not come, the outcome is unknown: what was seen stays, and the next transaction of the lane finds out.
func (c *sinkConn) Commit(ctx context.Context, progress []tailrace.SinkProgress) error {
	if c.failed != nil {
		c.abandon()
		return c.failed
	}
	var text strings.Builder
	var args []any
	for _, p := range progress {
		args = c.move(&text, args, p)
	}
	text.WriteString("COMMIT")
	if _, err := c.conn.ExecContext(ctx, text.String(), args...); err != nil {
		c.abandon()
		if my := (*mysqldriver.MySQLError)(nil); errors.As(err, &my) && (my.Number == errNull || my.Number == errDuplicate) && len(progress) > 0 {
			return tailrace.ErrSinkMoved
		}
		return fault("", err)
	}
	c.sink.seen.Moved(progress)
	return nil
}

// How the server refuses a progress that was not seen: NULL in a column of the primary key, and a row that is there already.
const (
	errNull      = 1048
	errDuplicate = 1062
)

// move adds the statement that moves one lane's progress. Where the target has other progress than was seen, it puts NULL into the primary key and so fails.
func (c *sinkConn) move(text *strings.Builder, args []any, p tailrace.SinkProgress) []any {
	text.WriteString("INSERT INTO tailrace.progress (feed, span, lane, time, ordinal, epoch, note) VALUES (?, ?, ?, ?, ?, ?, ?)")
	args = append(args, c.feed, uint64(p.Span), p.Lane, uint64(p.Time), p.Ordinal, c.epoch, p.Note)
	if last, ok := c.sink.seen.Last(p); ok {
		text.WriteString(" ON DUPLICATE KEY UPDATE feed = IF(time = ? AND ordinal = ? AND note = ?, feed, NULL), " +
			"time = VALUES(time), ordinal = VALUES(ordinal), epoch = VALUES(epoch), note = VALUES(note)")
		args = append(args, uint64(last.Time), last.Ordinal, last.Note)
	}
	text.WriteString("; ")
	return args
}

// Rollback gives the open transaction up.
func (c *sinkConn) Rollback() error {
	ctx, cancel := context.WithTimeout(context.Background(), rollbackTimeout)
	defer cancel()
	_, err := c.conn.ExecContext(ctx, "ROLLBACK")
	return fault("", err)
}

// abandon rolls back after an error, whatever became of the caller's context; when that fails too, the connection is of no more use and the next call says so.
func (c *sinkConn) abandon() { _ = c.Rollback() }

// Close closes the connection. One that the driver has given up is closed already.
func (c *sinkConn) Close() error {
	if err := c.conn.Close(); err != nil && !errors.Is(err, sql.ErrConnDone) && !errors.Is(err, driver.ErrBadConn) {
		return fault("", err)
	}
	return nil
}
