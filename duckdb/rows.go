package duckdb

import (
	"context"
	"io"
	"time"

	capi "github.com/duckdb/duckdb-go-bindings"
)

// Error is what DuckDB said when a query failed. An error of a Source or a Go function is inside the message.
type Error struct{ Message string }

func (e *Error) Error() string { return e.Message }

// Rows is a result on its way. One goroutine uses it.
type Rows struct {
	e       *Engine
	c       capi.Connection
	s       capi.PreparedStatement
	r       capi.Result
	chunk   capi.DataChunk
	vectors []*Vector
	ended   bool // DuckDB gave everything, or failed: it keeps no scan open
	closed  bool
}

// Query starts sql, which is one SELECT. ctx bounds the call only, each Next has its own; a Source must see to it that its scans end when
// the query is given up. The Rows must be closed.
func (e *Engine) Query(ctx context.Context, sql string) (*Rows, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	c, err := e.acquire()
	if err != nil {
		return nil, err
	}
	r := &Rows{e: e, c: c}
	stop := r.watch(ctx)
	err = r.start(sql)
	stop()
	if err == nil {
		return r, nil
	}
	_ = r.Close() // it never started; err says why
	if ctx.Err() != nil {
		return nil, ctx.Err()
	}
	return nil, err
}

func (r *Rows) start(sql string) error {
	if capi.Prepare(r.c, sql, &r.s) == capi.StateError {
		return &Error{capi.PrepareError(r.s)}
	}
	var p capi.PendingResult
	defer capi.DestroyPending(&p)
	// The streaming form is called deprecated for want of a successor; the plain one holds the whole result in memory.
	if capi.PendingPreparedStreaming(r.s, &p) == capi.StateError {
		return &Error{capi.PendingError(p)}
	}
	if capi.ExecutePending(p, &r.r) == capi.StateError {
		return &Error{capi.ResultError(&r.r)}
	}
	return nil
}

// interruptEvery is how long an interrupt is waited for before the next.
const interruptEvery = 5 * time.Millisecond

// watch interrupts the query when ctx ends before stop is called: again and again, because DuckDB forgets an interrupt that comes before a query has begun.
// After stop returned no interrupt is on its way.
func (r *Rows) watch(ctx context.Context) (stop func()) {
	over, done := make(chan struct{}), make(chan struct{})
	cancel := context.AfterFunc(ctx, func() {
		defer close(done)
		for {
			capi.Interrupt(r.c)
			select {
			case <-over:
				return
			case <-time.After(interruptEvery):
			}
		}
	})
	return func() {
		if !cancel() {
			close(over)
			<-done
		}
	}
}

// Column is a column of a result.
type Column struct {
	Name string
	Type Type // capi.TypeInvalid (0) when it has no number here: a list of lists
}

// Columns are the result's.
func (r *Rows) Columns() []Column {
	out := make([]Column, capi.ColumnCount(&r.r))
	for i := range out {
		lt := capi.ColumnLogicalType(&r.r, capi.IdxT(i))
		out[i] = Column{Name: capi.ColumnName(&r.r, capi.IdxT(i)), Type: typeOf(lt)}
		capi.DestroyLogicalType(&lt)
	}
	return out
}

// Next returns the vectors of the next chunk and its number of rows, 1 to MaxRows; they are valid until the next call. The end is io.EOF.
func (r *Rows) Next(ctx context.Context) ([]*Vector, int, error) {
	if r.closed || r.ended {
		return nil, 0, io.EOF
	}
	if err := ctx.Err(); err != nil {
		return nil, 0, err
	}
	capi.DestroyDataChunk(&r.chunk)
	stop := r.watch(ctx)
	r.chunk = capi.FetchChunk(r.r)
	stop()
	if r.chunk.Ptr == nil {
		r.ended = true
		if m := capi.ResultError(&r.r); m != "" {
			if ctx.Err() != nil {
				return nil, 0, ctx.Err()
			}
			return nil, 0, &Error{m}
		}
		return nil, 0, io.EOF
	}
	n := int(capi.DataChunkGetSize(r.chunk))
	if n == 0 {
		r.ended = true
		return nil, 0, io.EOF
	}
	r.vectors = r.vectors[:0]
	for i := range int(capi.DataChunkGetColumnCount(r.chunk)) {
		r.vectors = append(r.vectors, vectorOf(capi.DataChunkGetVector(r.chunk, capi.IdxT(i))))
	}
	return r.vectors, n, nil
}

// Close ends the query. It may be called twice.
func (r *Rows) Close() error {
	if r.closed {
		return nil
	}
	r.closed = true
	capi.DestroyDataChunk(&r.chunk)
	capi.DestroyResult(&r.r)
	capi.DestroyPrepare(&r.s)
	r.e.release(r.c, r.ended)
	return nil
}
