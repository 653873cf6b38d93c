package changefeed

import (
	"errors"
	"fmt"
	"strings"

	"tailrace"
	"tailrace/format"
	"tailrace/shard"
)

// rowError is a row that the target refuses, after it was tried alone.
type rowError struct {
	table string // its name here
	time  tailrace.Time
	size  int
	sink  string
	err   *tailrace.SinkError
}

func (e *rowError) Error() string { return e.user().Error() }

func (e *rowError) Unwrap() error { return e.err }

// user is the error as a user sees it: which row, why, and how to go on.
func (e *rowError) user() *tailrace.Error {
	name := e.table
	why := e.err.Err
	hint := fmt.Sprintf("Mend it at the target or here, then ALTER SINK %s RESUME TABLE %s; or ALTER SINK %s SET (ON ERROR = 'dead letter').", e.sink, name, e.sink)
	if why.Hint != "" {
		hint = why.Hint + " " + hint
	}
	return &tailrace.Error{
		Code: why.Code, Message: fmt.Sprintf("%s refuses the row with %s: %s", e.err.Table, e.err.Key, why.Message),
		Detail: fmt.Sprintf("The row was changed at %d and has %d bytes.", e.time, e.size), Hint: hint, Err: e.err,
	}
}

// readError says why a span's updates cannot be read.
func (f *feed) readError(s *span, err error) error {
	if !errors.Is(err, shard.ErrCompacted) {
		return err
	}
	name := f.tableName(s.tables[0].id)
	return &tailrace.Error{
		Code: "55000", Message: fmt.Sprintf("the changes of table \"%s\" after %d are gone", name, whole(s.read)), Err: err,
		Hint: fmt.Sprintf("ALTER SINK %s RESYNC TABLE %s.", f.sink.Name, name),
	}
}

// keyText is the key of a row as people read it.
func (f *feed) keyText(tb *table, b *tailrace.Batch, i int) string {
	o := tailrace.SinkOptions{Text: func(dst []byte, t tailrace.Type, c *tailrace.Column, i int) []byte {
		return format.AppendText(dst, t, c, i, format.Default())
	}}
	return o.KeyText(&tailrace.SinkStep{Target: tb.target, Rows: b}, i)
}

// explainedSpan is why a span stands still, as a user sees it.
func explainedSpan(err error) *tailrace.Error {
	var row *rowError
	if errors.As(err, &row) {
		return row.user()
	}
	var se *tailrace.SinkError
	if errors.As(err, &se) && se.Table != "" && !strings.Contains(se.Err.Message, se.Table) {
		named := *se.Err
		named.Message = se.Table + ": " + named.Message
		return &named
	}
	return explained(err)
}
