package sql

import (
	"context"
	"errors"
	"fmt"
	"io"
	"time"

	"tailrace"
	"tailrace/format"
)

// Result is what a statement answers. The caller sends Columns, then Rows until io.EOF, and calls Finish; after an error it calls Session.Fail
// and Close.
type Result struct {
	Columns []tailrace.ResultColumn
	Rows    tailrace.Rows // nil: none
	CopyOut *CopyOut      // Rows go out as COPY data
	CopyIn  *CopyIn
	// Streaming tells to flush after each batch.
	Streaming bool

	complete bool // Rows wait, all of them: the statement is done
	tag      func(sent int64) string
	finish   func(ctx context.Context) error
	session  *Session // told when all rows went out; nil for a result within another
}

// CopyOut says how rows are laid out as COPY data: Encoder has Layout, Columns, Settings and the CSV options set.
type CopyOut struct {
	Encoder *format.Encoder
	// Header is sent before the first row and Trailer after the last, each the payload of one CopyData; nil for none.
	Header, Trailer []byte
	// Binary tells the format code of CopyOutResponse.
	Binary bool
}

// done is the result of a statement that only has a tag.
func done(tag string) *Result { return &Result{tag: func(int64) string { return tag }} }

// rowsOf is a result of rows whose tag is verb and their number.
func rowsOf(verb string, columns []tailrace.ResultColumn, rows tailrace.Rows) *Result {
	return &Result{Columns: columns, Rows: rows, tag: func(sent int64) string { return fmt.Sprintf("%s %d", verb, sent) }}
}

// Finish is called after all rows went out; sent counts them. It commits when the statement ends its implicit transaction, and returns
// the command tag.
func (r *Result) Finish(ctx context.Context, sent int64) (tag string, err error) {
	r.Close()
	if r.finish != nil {
		finish := r.finish
		r.finish = nil
		if err := finish(ctx); err != nil {
			return "", userError(ctx, err)
		}
	}
	tag = r.tag(sent)
	if r.session != nil {
		r.session.finished(tag)
	}
	return tag, nil
}

// Close gives up what the rows hold. It may be called twice.
func (r *Result) Close() {
	if r.CopyIn != nil {
		r.CopyIn.close()
	}
	if r.Rows != nil {
		r.Rows.Close() // there is nobody to tell that reading ended badly after all was read
	}
}

// literal is rows that are already there.
type literal struct {
	batch *tailrace.Batch
}

func (l *literal) Next(context.Context) (*tailrace.Batch, error) {
	b := l.batch
	l.batch = nil
	if b == nil || b.N == 0 {
		return nil, io.EOF
	}
	return b, nil
}

func (l *literal) Close() error { return nil }

// within is rows that must all be there by a deadline, with errors as the client sees them.
type within struct {
	rows     tailrace.Rows
	deadline time.Time // zero: none
}

func (w *within) Next(ctx context.Context) (*tailrace.Batch, error) {
	return inTime(ctx, w.deadline, w.rows.Next)
}

// inTime is what next returns by the deadline, with errors as the client sees them.
func inTime[T any](ctx context.Context, deadline time.Time, next func(context.Context) (T, error)) (T, error) {
	if !deadline.IsZero() {
		timed, stop := context.WithDeadlineCause(ctx, deadline, errTimeout)
		defer stop()
		ctx = timed
	}
	out, err := next(ctx)
	if errors.Is(err, io.EOF) {
		return out, err
	}
	return out, userError(ctx, err)
}

func (w *within) Close() error { return w.rows.Close() }

// textResult is a result of text columns.
func textResult(verb string, names []string, rows ...[]string) *Result {
	b := &tailrace.Batch{}
	var cols []tailrace.ResultColumn
	for i, n := range names {
		cols = append(cols, tailrace.ResultColumn{Name: n, Type: tailrace.TypeOf(tailrace.KindText)})
		c := tailrace.MakeColumn(tailrace.KindText, len(rows))
		for _, r := range rows {
			c.AppendString(r[i])
		}
		b.Cols = append(b.Cols, c)
	}
	b.N = len(rows)
	r := rowsOf(verb, cols, &literal{b})
	if verb == "SHOW" || verb == "EXPLAIN" {
		r.tag = func(int64) string { return verb }
	}
	return r
}
