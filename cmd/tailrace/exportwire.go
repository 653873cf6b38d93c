package main

import (
	"bufio"
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"os"
	"sync"
	"syscall"
	"unicode/utf8"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"

	"tailrace"
	"tailrace/format"
)

// describeTable asks the server for a table's columns.
func describeTable(ctx context.Context, conn *pgx.Conn, table string) ([]tailrace.ResultColumn, error) {
	d, err := conn.PgConn().Prepare(ctx, "", "SELECT * FROM "+table, nil)
	if e := asError(err); tailrace.Code(e) == "42P01" {
		return nil, &tailrace.Error{Code: "42P01", Message: "the server has no table " + table, Hint: "See what it has: psql ... -c '\\d'", Err: err}
	}
	if err != nil {
		return nil, asError(err)
	}
	var out []tailrace.ResultColumn
	for i := range d.Fields {
		t, err := typeOf(ctx, conn, &d.Fields[i])
		if err != nil {
			return nil, err
		}
		out = append(out, tailrace.ResultColumn{Name: d.Fields[i].Name, Type: t})
	}
	return out, nil
}

// typeOf is the type of a column as the server described it.
func typeOf(ctx context.Context, conn *pgx.Conn, f *pgconn.FieldDescription) (tailrace.Type, error) {
	if t, ok := tailrace.BuiltinOf(f.DataTypeOID); ok {
		t.Mod = f.TypeModifier
		return t, nil
	}
	var name string
	var element uint32
	err := conn.QueryRow(ctx, fmt.Sprintf("SELECT format_type(CASE WHEN typelem = 0 THEN oid ELSE typelem END, NULL), typelem FROM pg_catalog.pg_type WHERE oid = %d", f.DataTypeOID)).Scan(&name, &element)
	if err != nil {
		return tailrace.Type{}, fmt.Errorf("ask for the type of column %s: %w", f.Name, asError(err))
	}
	t := tailrace.Type{Kind: tailrace.KindEnum, Mod: -1, Name: name, ID: tailrace.CollectionID(f.DataTypeOID - tailrace.UserOID(0))}
	if element != 0 {
		t.ID = tailrace.CollectionID(element - tailrace.UserOID(0))
		t = tailrace.ArrayOf(t)
	}
	return t, nil
}

// A wire's rows are collected into batches of this many, or of this many bytes.
const (
	wireRows  = 8192
	wireBytes = 8 << 20
)

// wire is the rows of a COPY ... TO STDOUT (FORMAT binary): tailrace.Rows. One goroutine receives and takes messages apart, while another uses the batches.
type wire struct {
	types   []tailrace.Type
	batches chan *tailrace.Batch
	given   chan struct{} // closed when nobody wants more
	give    sync.Once
	cancel  context.CancelFunc
	done    chan struct{} // closed when the goroutine has ended
	err     error         // why, once it has
	show    *progress
}

// startWire begins to receive.
func startWire(ctx context.Context, conn *pgx.Conn, statement string, columns []tailrace.ResultColumn, show *progress) *wire {
	w := &wire{batches: make(chan *tailrace.Batch, 2), given: make(chan struct{}), done: make(chan struct{}), show: show}
	for _, c := range columns {
		w.types = append(w.types, c.Type)
	}
	ctx, w.cancel = context.WithCancel(ctx)
	go func() {
		defer close(w.done)
		defer close(w.batches)
		r := &wireReader{ctx: ctx, wire: w}
		_, err := conn.PgConn().CopyTo(ctx, r, statement)
		if err == nil {
			err = r.send()
		}
		w.err = asError(err)
	}()
	return w
}

// Next implements tailrace.Rows.
func (w *wire) Next(ctx context.Context) (*tailrace.Batch, error) {
	select {
	case b, ok := <-w.batches:
		if ok {
			return b, nil
		}
		<-w.done
		if w.err != nil {
			return nil, w.err
		}
		return nil, io.EOF
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

// Close implements tailrace.Rows. What still comes is thrown away as it comes, so that the connection, and its transaction, can be used again: see wait.
func (w *wire) Close() error {
	w.give.Do(func() { close(w.given) })
	return nil
}

// wait waits for the end of a wire that was closed.
func (w *wire) wait() {
	if w != nil {
		<-w.done
	}
}

// stop ends a wire, and its connection if something was still to come.
func (w *wire) stop() {
	if w != nil {
		w.cancel()
		<-w.done
	}
}

// wireReader makes batches of messages: one for each row, the signature before the first, the end marker in the last.
type wireReader struct {
	ctx   context.Context //nolint:containedctx // io.Writer has none
	wire  *wire
	begun bool
	waste bool // nobody wants more
	batch *tailrace.Batch
	size  int
}

// copySignature begins a binary COPY; flags and the length of an extension follow, four bytes each.
const copySignature = "PGCOPY\n\xff\r\n\x00"

var errBadCopy = errors.New("what the server sends is no binary COPY data")

// Write implements io.Writer: one message.
func (r *wireReader) Write(message []byte) (int, error) {
	if r.waste {
		return len(message), nil
	}
	rest := message
	if !r.begun {
		if !bytes.HasPrefix(rest, []byte(copySignature)) || len(rest) < len(copySignature)+8 {
			return 0, errBadCopy
		}
		rest, r.begun = rest[len(copySignature)+8:], true
	}
	if len(rest) == 0 || len(rest) == 2 && binary.BigEndian.Uint16(rest) == 1<<16-1 {
		return len(message), nil
	}
	if r.batch == nil {
		r.batch, r.size = &tailrace.Batch{Cols: make([]tailrace.Column, len(r.wire.types))}, 0
		for i, t := range r.wire.types {
			r.batch.Cols[i] = tailrace.MakeColumn(t.Kind, wireRows)
		}
	}
	if err := r.row(rest); err != nil {
		return 0, err
	}
	r.size += len(rest)
	if r.batch.N == wireRows || r.size >= wireBytes {
		return len(message), r.send()
	}
	return len(message), nil
}

// row appends one row.
func (r *wireReader) row(raw []byte) error {
	if len(raw) < 2 || int(binary.BigEndian.Uint16(raw)) != len(r.wire.types) {
		return errBadCopy
	}
	raw = raw[2:]
	for i, t := range r.wire.types {
		if len(raw) < 4 {
			return errBadCopy
		}
		n := int(int32(binary.BigEndian.Uint32(raw)))
		raw = raw[4:]
		if n < 0 {
			r.batch.Cols[i].AppendNull()
			continue
		}
		if n > len(raw) {
			return errBadCopy
		}
		if err := receive(&r.batch.Cols[i], t, raw[:n]); err != nil {
			return fmt.Errorf("receive a value of type %s: %w", t, err)
		}
		raw = raw[n:]
	}
	r.batch.N++
	return nil
}

// settings are those that values are received with; nothing of them matters for the binary form.
var settings = format.Default()

// receive appends a value by its binary form. Texts, which are the most, are looked at and copied; for the rest there is package format.
func receive(c *tailrace.Column, t tailrace.Type, raw []byte) error {
	switch t.Kind {
	case tailrace.KindText, tailrace.KindVarchar, tailrace.KindChar, tailrace.KindEnum:
		if utf8.Valid(raw) && bytes.IndexByte(raw, 0) < 0 {
			c.Append(raw)
			return nil
		}
	}
	return format.ParseBinary(c, t, raw, settings)
}

// send hands over what there is.
func (r *wireReader) send() error {
	b := r.batch
	r.batch = nil
	if b == nil {
		return nil
	}
	select {
	case r.wire.batches <- b:
		r.wire.show.add(int64(b.N), int64(b.N), int64(r.size))
		return nil
	case <-r.wire.given:
		r.waste = true
		return nil
	case <-r.ctx.Done():
		return r.ctx.Err()
	}
}

// countedWriter writes messages, of one row each, to a file.
type countedWriter struct {
	w    *bufio.Writer
	rows int64 // messages
	show *progress
}

const fileChunk = 1 << 20 // bytes of one write to a file

func newCountedWriter(f *os.File, show *progress) *countedWriter {
	return &countedWriter{w: bufio.NewWriterSize(f, fileChunk), show: show}
}

// Write implements io.Writer: one message.
func (c *countedWriter) Write(message []byte) (int, error) {
	if c.rows > 0 { // the first is the header
		c.show.add(1, 1, int64(len(message)))
	}
	c.rows++
	return c.w.Write(message)
}

func (c *countedWriter) flush() error { return c.w.Flush() }

// writeError is an error about a file as users see it.
func writeError(err error, name string) error {
	switch {
	case errors.Is(err, syscall.ENOSPC), errors.Is(err, syscall.EDQUOT):
		return &tailrace.Error{Code: "53100", Message: fmt.Sprintf("writing \"%s\": no space left on device", name), Hint: "Free some space, or choose another disk.", Err: err}
	case errors.Is(err, syscall.EFBIG):
		return &tailrace.Error{Code: "53100", Message: fmt.Sprintf("writing \"%s\": the file would be larger than this process may make it", name), Hint: "Raise its limit: ulimit -f unlimited.", Err: err}
	}
	return err
}
