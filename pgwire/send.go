package pgwire

import (
	"context"
	"encoding/binary"
	"errors"
	"io"
	"slices"

	"github.com/jackc/pgx/v5/pgproto3"

	"tailrace"
	"tailrace/format"
	"tailrace/sql"
)

// sending is a result on its way to the client: whole, or with a row limit in parts.
type sending struct {
	res      *sql.Result
	formats  []bool // per column: binary
	settings *format.Settings
	encoder  *format.Encoder // nil until the first row
	batch    *tailrace.Batch // the rows that wait behind a row limit are those from next on
	next     int
	prefix   []byte // of the first row's COPY data
}

// describe is the RowDescription of columns.
func describe(columns []tailrace.ResultColumn, binary []bool) *pgproto3.RowDescription {
	d := &pgproto3.RowDescription{Fields: make([]pgproto3.FieldDescription, len(columns))}
	for i, col := range columns {
		f := pgproto3.FieldDescription{
			Name: []byte(col.Name), TableAttributeNumber: uint16(col.Attr), DataTypeOID: col.Type.OID(), DataTypeSize: col.Type.Size(), TypeModifier: col.Type.Mod,
		}
		if col.Table != 0 {
			f.TableOID = tailrace.UserOID(col.Table)
		}
		if binary[i] {
			f.Format = pgproto3.BinaryFormat
		}
		d.Fields[i] = f
	}
	return d
}

// deliver sends up to limit rows (all for 0), or runs the COPY that the result is. ended tells that nothing is left.
func (c *conn) deliver(ctx context.Context, s *sending, limit int64) (sent int64, ended bool, err error) {
	switch {
	case s.res.CopyIn != nil:
		sent, err = c.copyIn(ctx, s.res.CopyIn)
		return sent, true, err
	case s.res.CopyOut != nil:
		sent, err = c.copyOut(ctx, s)
		return sent, true, err
	case s.res.Rows == nil:
		return 0, true, nil
	}
	if s.encoder == nil {
		s.encoder = &format.Encoder{Layout: format.DataRow, Settings: s.settings}
		for i, col := range s.res.Columns {
			s.encoder.Columns = append(s.encoder.Columns, format.Col{Type: col.Type, Binary: s.formats[i]})
		}
	}
	return c.rows(ctx, s, limit)
}

// rows encodes rows into the outbox, batch by batch, and writes it as it fills up; after each batch when the result streams.
func (c *conn) rows(ctx context.Context, s *sending, limit int64) (sent int64, ended bool, err error) {
	if s.res.Streaming {
		c.server.streams.Add(1)
		if err := c.out.flush(); err != nil { // the client sees the columns before the first row is there
			return 0, false, err
		}
	}
	if s.res.Streaming && limit == 0 && s.batch == nil {
		if e := s.res.Encoded(s.encoder); e != nil {
			sent, err = c.shared(ctx, s, e)
			return sent, err == nil, err
		}
	}
	for limit == 0 || sent < limit {
		if s.batch == nil || s.next == s.batch.N {
			s.batch, s.next = nil, 0
			b, err := s.res.Rows.Next(ctx)
			if errors.Is(err, io.EOF) {
				return sent, true, nil
			}
			if err != nil {
				return sent, false, err
			}
			s.batch = b
		}
		to := s.batch.N
		if limit > 0 {
			to = int(min(int64(to), int64(s.next)+limit-sent))
		}
		sent += int64(to - s.next)
		if err := c.encode(ctx, s, to); err != nil {
			return sent, false, err
		}
		if s.res.Streaming {
			if err := c.out.flush(); err != nil {
				return sent, false, err
			}
		}
	}
	return sent, false, nil
}

// shared sends rows that mostly were encoded for others too, all of them: a delivery is one Write unless it is large.
func (c *conn) shared(ctx context.Context, s *sending, e *sql.Encoded) (sent int64, err error) {
	pushed := int64(0)
	defer func() { sent += pushed }()
	if c.out.pushes() {
		e.PushTo(func(messages []byte, rows int) bool {
			pushed += int64(rows)
			c.server.rows.Add(int64(rows))
			return c.out.push(messages)
		})
	}
	for {
		d, err := e.Next(ctx)
		if errors.Is(err, io.EOF) {
			return sent, nil
		}
		if err != nil {
			return sent, err
		}
		c.server.rows.Add(int64(d.N - d.Rows.N))
		for _, messages := range d.Messages {
			if err := c.put(s, messages); err != nil {
				return sent, err
			}
			if ctx.Err() != nil {
				return sent, context.Cause(ctx)
			}
		}
		s.batch, s.next = d.Rows, 0
		if err := c.encode(ctx, s, d.Rows.N); err != nil {
			return sent, err
		}
		if err := c.out.flush(); err != nil {
			return sent, err
		}
		sent += int64(d.N)
	}
}

// put sends messages of rows that others may be sending too.
func (c *conn) put(s *sending, messages []byte) error {
	if s.prefix == nil {
		return c.out.put(messages)
	}
	first, size := len(c.out.buf), 1+binary.BigEndian.Uint32(messages[1:])
	c.out.buf = prefixed(append(c.out.buf, messages[:size]...), first, s.prefix)
	s.prefix = nil
	return c.out.put(messages[size:])
}

// encode sends the rows of the batch up to to. The outbox is written each time it holds WriteBytes, so that a large batch takes no
// second copy of itself in memory.
func (c *conn) encode(ctx context.Context, s *sending, to int) error {
	c.server.rows.Add(int64(to - s.next))
	step := max(1, WriteBytes/(s.batch.Size()/max(1, s.batch.N)+16*len(s.batch.Cols)+16))
	for s.next < to {
		until := min(to, s.next+step)
		first := len(c.out.buf)
		c.out.buf = s.encoder.AppendBatch(c.out.buf, s.batch, s.next, until)
		if s.prefix != nil && until > s.next {
			c.out.buf = prefixed(c.out.buf, first, s.prefix)
			s.prefix = nil
		}
		s.next = until
		if len(c.out.buf) < WriteBytes {
			continue
		}
		if err := c.out.flush(); err != nil {
			return err
		}
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
	}
	return nil
}

// complete ends a result that was sent to its end with its command tag.
func (c *conn) complete(ctx context.Context, s *sending, sent int64) error {
	tag, err := s.res.Finish(ctx, sent)
	if err != nil {
		return err
	}
	c.out.send(&pgproto3.CommandComplete{CommandTag: []byte(tag)})
	return nil
}

// prefixed puts prefix before the content of the message that begins at byte at of buf.
func prefixed(buf []byte, at int, prefix []byte) []byte {
	buf = slices.Insert(buf, at+5, prefix...)
	size := binary.BigEndian.Uint32(buf[at+1:])
	binary.BigEndian.PutUint32(buf[at+1:], size+uint32(len(prefix)))
	return buf
}

// copyOut sends rows as COPY data, one CopyData message each.
func (c *conn) copyOut(ctx context.Context, s *sending) (int64, error) {
	formats := make([]uint16, len(s.res.Columns))
	overall := byte(0)
	if s.res.CopyOut.Binary {
		overall = 1
		for i := range formats {
			formats[i] = 1
		}
	}
	c.out.send(&pgproto3.CopyOutResponse{OverallFormat: overall, ColumnFormatCodes: formats})
	switch header := s.res.CopyOut.Header; {
	case s.res.CopyOut.Binary:
		s.prefix = header // psycopg expects it in the first row's message, where PostgreSQL puts it
	case header != nil:
		c.out.send(&pgproto3.CopyData{Data: header})
	}
	s.encoder = s.res.CopyOut.Encoder
	sent, _, err := c.rows(ctx, s, 0)
	if err != nil {
		return sent, err
	}
	if s.res.CopyOut.Trailer != nil {
		c.out.send(&pgproto3.CopyData{Data: append(s.prefix, s.res.CopyOut.Trailer...)}) // the signature too when there was no row
	}
	c.out.send(&pgproto3.CopyDone{})
	return sent, nil
}
