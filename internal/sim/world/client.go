package world

import (
	"context"
	"errors"
	"fmt"
	"net"
	"strings"

	"github.com/jackc/pgx/v5/pgproto3"
)

// client is a session on a node: a driver with no goroutine of its own and no lock that it waits under, so that a bubble's clock goes on while it waits.
type client struct {
	net.Conn
	life   *life
	front  *pgproto3.Frontend
	closed bool
}

// serverError is an error that the node told.
type serverError struct{ pgproto3.ErrorResponse }

func (e *serverError) Error() string {
	return fmt.Sprintf("%s: %s (SQLSTATE %s) %s %s", e.Severity, e.Message, e.Code, e.Detail, e.Hint)
}

// codeOf is an error's SQLSTATE, "" when the connection broke.
func codeOf(err error) string {
	var e *serverError
	if errors.As(err, &e) {
		return e.Code
	}
	return ""
}

// connect makes a session of somebody on the node that lives l, or fails.
func connect(ctx context.Context, l *life, name string) (*client, error) {
	conn, err := l.door.dial(ctx, name)
	if err != nil {
		return nil, err
	}
	c := &client{Conn: conn, life: l, front: pgproto3.NewFrontend(conn, conn)}
	stop := context.AfterFunc(ctx, c.drop)
	defer stop()
	c.front.Send(&pgproto3.StartupMessage{ProtocolVersion: pgproto3.ProtocolVersion30, Parameters: map[string]string{"user": "tester", "database": "postgres"}})
	if err := c.exchange(nil, nil); err != nil {
		c.drop()
		return nil, err
	}
	return c, nil
}

// drop ends the connection without a word.
func (c *client) drop() { _ = c.Close() }

// exchange sends what waits to be sent and reads until the node is ready for the next query. row, if not nil, gets the values of each row, or the lines of COPY
// data, which live until the next; its error ends the exchange in the middle. tag gets each command tag.
func (c *client) exchange(row func([][]byte) error, tag func(string)) error {
	if err := c.front.Flush(); err != nil {
		c.closed = true
		return err
	}
	var failed error
	for {
		m, err := c.front.Receive()
		if err != nil {
			c.closed = true
			return errors.Join(failed, err)
		}
		switch m := m.(type) {
		case *pgproto3.ErrorResponse:
			failed = &serverError{*m}
		case *pgproto3.DataRow:
			err = row(m.Values)
		case *pgproto3.CopyData:
			err = eachLine(m.Data, row)
		case *pgproto3.CommandComplete:
			if tag != nil {
				tag(string(m.CommandTag))
			}
		case *pgproto3.CopyInResponse:
			return nil
		case *pgproto3.ReadyForQuery:
			return failed
		}
		if err != nil {
			c.closed = true
			return err
		}
	}
}

// eachLine gives each row of COPY data to row.
func eachLine(data []byte, row func([][]byte) error) error {
	for line := range strings.Lines(string(data)) {
		var values [][]byte
		for _, c := range columns(strings.TrimSuffix(line, "\n")) {
			values = append(values, []byte(c))
		}
		if err := row(values); err != nil {
			return err
		}
	}
	return nil
}

// ask runs a statement, or several, and gives back the rows if there are any, else the command tags.
func (c *client) ask(sql string) (string, error) {
	var rows, tags []string
	c.front.SendQuery(&pgproto3.Query{String: sql})
	err := c.exchange(func(values [][]byte) error {
		rows = append(rows, textOf(values))
		return nil
	}, func(t string) {
		if !strings.HasPrefix(t, "SELECT ") {
			tags = append(tags, t)
		}
	})
	return strings.Join(append(rows, tags...), " "), err
}

// stream runs a statement that gives rows for as long as the connection lasts, or row.
func (c *client) stream(sql string, row func([][]byte) error) error {
	c.front.SendQuery(&pgproto3.Query{String: sql})
	return c.exchange(row, nil)
}

// pour runs COPY FROM STDIN, sends data in pieces and returns the tag.
func (c *client) pour(sql, data string) (tag string, err error) {
	c.front.SendQuery(&pgproto3.Query{String: sql})
	if err := c.exchange(nil, nil); err != nil {
		return "", err
	}
	const piece = 1000 // bytes, which is in the middle of a row
	for from := 0; from < len(data); from += piece {
		c.front.Send(&pgproto3.CopyData{Data: []byte(data[from:min(from+piece, len(data))])})
		if err := c.front.Flush(); err != nil {
			c.closed = true
			return "", err
		}
	}
	c.front.Send(&pgproto3.CopyDone{})
	err = c.exchange(nil, func(t string) { tag = t })
	return tag, err
}

// textOf is a row as text; NULL is empty.
func textOf(values [][]byte) string {
	var b strings.Builder
	for i, v := range values {
		if i > 0 {
			b.WriteByte('\t')
		}
		b.Write(v)
	}
	return b.String()
}
