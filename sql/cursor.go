package sql

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strconv"
	"time"

	pg_query "github.com/pganalyze/pg_query_go/v6"

	"tailrace"
	"tailrace/parse"
)

// cursorsLimit is how many cursors a transaction may have open.
const cursorsLimit = 1000

// cursor is a DECLAREd cursor: over the rows of a SELECT, or over a SUBSCRIBE, which begins with the first FETCH.
type cursor struct {
	level   int // savepoints that stood when it was declared
	columns []tailrace.ResultColumn
	rows    tailrace.Rows   // of a SELECT
	batch   *tailrace.Batch // the rows of it that wait are those from next on
	next    int

	subscribe *parse.Subscribe
	st        *statement
	sub       subscription // nil before the first FETCH
}

func (c *cursor) close() {
	if c.rows != nil {
		c.rows.Close()
	}
	if c.sub != nil {
		c.sub.Close()
	}
}

func (s *Session) closeCursors() {
	for _, c := range s.cursors {
		c.close()
	}
	clear(s.cursors)
}

// declarable checks what every DECLARE must meet.
func (s *Session) declarable(name string, hold bool) error {
	switch {
	case hold:
		return s.unsupported("WITH HOLD", "Use the cursor within its transaction.")
	case s.state != open:
		return &tailrace.Error{Code: "25P01", Message: "DECLARE CURSOR can only be used in transaction blocks", Hint: "Type BEGIN first."}
	case s.cursors[name] != nil:
		return failure("42P03", "cursor \"%s\" already exists", name)
	case len(s.cursors) >= cursorsLimit:
		return &tailrace.Error{Code: "53400", Message: "too many open cursors", Hint: "CLOSE those that are no longer needed."}
	}
	return nil
}

// declare runs DECLARE name CURSOR FOR SELECT.
func (s *Session) declare(ctx context.Context, st *statement, n *pg_query.DeclareCursorStmt) (*Result, error) {
	const hold = 32
	if err := s.declarable(n.Portalname, n.Options&hold != 0); err != nil {
		return nil, err
	}
	if n.Query.GetSelectStmt() == nil {
		return nil, failure("42P11", "cannot open cursor for a statement that is not a SELECT")
	}
	columns, rows, err := s.selectRows(ctx, st, n.Query)
	if err != nil {
		return nil, err
	}
	s.cursors[n.Portalname] = &cursor{level: len(s.txn.points), columns: columns, rows: &spread{rows}}
	return done("DECLARE CURSOR"), nil
}

// closeCursor runs CLOSE name and CLOSE ALL.
func (s *Session) closeCursor(n *pg_query.ClosePortalStmt) (*Result, error) {
	if n.Portalname == "" {
		s.closeCursors()
		return done("CLOSE CURSOR ALL"), nil
	}
	c, err := s.cursor(n.Portalname)
	if err != nil {
		return nil, err
	}
	c.close()
	delete(s.cursors, n.Portalname)
	return done("CLOSE CURSOR"), nil
}

func (s *Session) cursor(name string) (*cursor, error) {
	if c := s.cursors[name]; c != nil {
		return c, nil
	}
	return nil, failure("34000", "cursor \"%s\" does not exist", name)
}

// fetch runs FETCH and MOVE.
func (s *Session) fetch(ctx context.Context, st *statement, f *parse.Fetch) (*Result, error) {
	wait, err := fetchTimeout(f)
	if err != nil {
		return nil, at(err, st.pos(f.TimeoutLoc))
	}
	c, err := s.cursor(f.Cursor)
	if err != nil {
		return nil, err
	}
	if f.Backward {
		return nil, &tailrace.Error{Code: "55000", Message: "cursor can only scan forward", Hint: "Cursors here go forward only; DECLARE it again to start over."}
	}
	rows := tailrace.Rows(&cut{c, f.Count})
	if c.subscribe != nil {
		if rows, err = s.fetchSubscribe(ctx, c, f.Count, wait); err != nil {
			return nil, err
		}
	}
	if f.Move {
		n := int64(0)
		if err := drain(ctx, rows, func(b *tailrace.Batch) error { n += int64(b.N); return nil }); err != nil {
			return nil, err
		}
		return done(fmt.Sprintf("MOVE %d", n)), nil
	}
	return rowsOf("FETCH", c.columns, rows), nil
}

// fetchTimeout is how long a FETCH may wait: below 0 until a row is there. A bare number is seconds.
func fetchTimeout(f *parse.Fetch) (time.Duration, error) {
	if !f.HasTimeout {
		return -1, nil
	}
	d, err := readTimeout(f.Timeout)
	if err != nil {
		return 0, &tailrace.Error{Code: "22023", Message: fmt.Sprintf("invalid timeout: \"%s\"", f.Timeout), Hint: "Write it like '1s', '500ms' or '2h'."}
	}
	if d < 0 || d > 24*time.Hour {
		return 0, &tailrace.Error{Code: "22023", Message: "timeout out of range", Hint: "Use a time from '0s' to '24h'."}
	}
	return d, nil
}

func readTimeout(text string) (time.Duration, error) {
	if secs, err := strconv.ParseFloat(text, 64); err == nil {
		return time.Duration(min(max(secs, -1e6), 1e6) * float64(time.Second)), nil
	}
	if d, err := parseDuration(text); err == nil {
		return d, nil
	}
	return time.ParseDuration(text)
}

// cut is the next rows of a cursor, left at most; all for a negative number.
type cut struct {
	c    *cursor
	left int64
}

func (r *cut) Next(ctx context.Context) (*tailrace.Batch, error) {
	if r.left == 0 {
		return nil, io.EOF
	}
	c := r.c
	for c.batch == nil || c.next >= c.batch.N {
		b, err := c.rows.Next(ctx)
		if err != nil {
			if errors.Is(err, io.EOF) {
				c.batch = nil
			}
			return nil, err
		}
		c.batch, c.next = b, 0
	}
	to := c.batch.N
	if r.left > 0 {
		to = int(min(int64(to), int64(c.next)+r.left))
		r.left -= int64(to - c.next)
	}
	out := between(c.batch, c.next, to)
	c.next = to
	return out, nil
}

// Close leaves the cursor open.
func (r *cut) Close() error { return nil }

// between is rows [from, to) of b.
func between(b *tailrace.Batch, from, to int) *tailrace.Batch {
	if from == 0 && to == b.N {
		return b
	}
	out := &tailrace.Batch{N: to - from, Cols: make([]tailrace.Column, len(b.Cols))}
	for i := range b.Cols {
		c := tailrace.Column{Width: b.Cols[i].Width}
		if c.Width == 0 {
			c.Offsets = []int32{0}
		}
		c.AppendRange(&b.Cols[i], from, to)
		out.Cols[i] = c
	}
	return out
}
