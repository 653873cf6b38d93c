package pgwire

import (
	"context"
	"errors"

	"github.com/jackc/pgx/v5/pgproto3"

	"tailrace"
)

// fail tells the client of an error and the session that it was told. It returns the error when that ends the connection.
func (c *conn) fail(ctx context.Context, err error) error {
	if c.out.err != nil {
		return c.out.err // the client cannot be reached, and that is all there is to it
	}
	err = cause(ctx, err)
	e := form(err)
	c.portals.close()
	c.session.Fail(err)
	if e.Code == "XX000" {
		c.server.logger.Error("internal error in a statement", "id", c.id, "error", err, "cause", errors.Unwrap(e))
	}
	if fatal(e) {
		return e
	}
	c.server.errors.Add(1)
	c.out.send(response(e))
	return c.out.flush()
}

// ready ends a query or an extended cycle.
func (c *conn) ready() error {
	status := c.session.Status()
	if status == 'I' {
		c.portals.close() // they live as long as their transaction
	}
	c.out.send(&pgproto3.ReadyForQuery{TxStatus: status})
	return c.out.flush()
}

// farewell tells the client why the connection ends, when that is for it to know.
func (c *conn) farewell(err error) {
	var e *tailrace.Error
	switch {
	case errors.Is(err, errProtocol):
		c.server.garbage.Add(1)
		c.server.logger.Info("close a connection that does not speak the protocol", "id", c.id, "from", c.peer.RemoteAddr(), "error", err)
		if c.session == nil {
			return
		}
		e = &tailrace.Error{Severity: "FATAL", Code: "08P01", Message: err.Error()}
	case !errors.As(err, &e) || errors.Is(err, errGone):
		return // it left by itself, or cannot be reached
	}
	c.server.errors.Add(1)
	c.out.send(response(e))
	c.out.last()
}
