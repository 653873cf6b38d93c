package pgwire

import (
	"context"
	"errors"
	"fmt"

	"github.com/jackc/pgx/v5/pgproto3"

	"tailrace"
	"tailrace/sql"
)

// copying is a COPY FROM STDIN: what CopyData messages carry goes from the inbox straight to where it is parsed, whatever the messages' borders are.
type copying struct {
	c    *conn
	in   *sql.CopyIn
	left int // bytes of the CopyData message under way that have not come
}

// copyIn asks for COPY data and gives it to in until the client says that it is complete. It returns the rows copied.
func (c *conn) copyIn(ctx context.Context, in *sql.CopyIn) (int64, error) {
	formats := make([]uint16, in.Columns)
	overall := byte(0)
	if in.Binary {
		overall = 1
		for i := range formats {
			formats[i] = 1
		}
	}
	c.out.send(&pgproto3.CopyInResponse{OverallFormat: overall, ColumnFormatCodes: formats})
	if err := c.out.flush(); err != nil {
		return 0, err
	}
	p := &copying{c: c, in: in}
	rows, err := p.run(ctx)
	if err != nil {
		in.Fail()
		if broken := p.skip(ctx); broken != nil {
			err = broken
		}
	}
	return rows, lost(err)
}

// run takes messages until the client says that the data is complete.
func (p *copying) run(ctx context.Context) (int64, error) {
	for {
		if err := p.data(ctx); err != nil {
			return 0, err
		}
		// A cancel ends the wait between two messages, never inside one: the session goes on afterwards.
		kind, n, err := p.c.receiveHead(context.WithoutCancel(ctx), MessageBytes, ctx.Done())
		if errors.Is(err, errStopped) {
			err = context.Cause(ctx)
		}
		if err != nil {
			return 0, err
		}
		if kind == 'd' {
			p.left = n
			continue
		}
		body, err := p.c.receiveRest(context.WithoutCancel(ctx), n)
		if err != nil {
			return 0, err
		}
		switch kind {
		case 'c':
			return p.in.Done(ctx)
		case 'f':
			return 0, copyFailed(body)
		case 'H', 'S': // as PostgreSQL: no harm in them here
		default:
			return 0, violation("unexpected message type 0x%02X during COPY from stdin", kind)
		}
	}
}

// data takes what has come of CopyData messages, and the message under way to its end.
func (p *copying) data(ctx context.Context) error {
	for {
		room := p.in.Room()
		n, left := p.c.in.takeCopyData(room, p.left)
		if p.left = left; n == 0 {
			if left == 0 {
				return nil
			}
			n = min(len(room), left)
			if err := p.c.in.read(context.WithoutCancel(ctx), room[:n], nil); err != nil {
				return err
			}
			p.left -= n
		}
		if err := p.in.Filled(ctx, n); err != nil {
			return err
		}
		if p.left == 0 && ctx.Err() != nil {
			return context.Cause(ctx)
		}
	}
}

// skip passes over the rest of the message under way. The error is the connection's.
func (p *copying) skip(ctx context.Context) error {
	scratch := make([]byte, min(p.left, InboxBytes))
	for p.left > 0 {
		n := min(len(scratch), p.left)
		if err := p.c.in.read(context.WithoutCancel(ctx), scratch[:n], nil); err != nil {
			return err
		}
		p.left -= n
	}
	return nil
}

// copyFailed is the error for a client that gave up, with the reason that it gave.
func copyFailed(body []byte) error {
	var m pgproto3.CopyFail
	if err := m.Decode(body); err != nil {
		return violation("invalid message format")
	}
	return &tailrace.Error{Code: "57014", Message: fmt.Sprintf("COPY from stdin failed: %s", m.Message)}
}
