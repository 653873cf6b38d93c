package pgwire

import (
	"context"
	"crypto/subtle"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"net"
	"runtime/debug"
	"sync"
	"time"

	"github.com/xdg-go/scram"

	"tailrace"
	"tailrace/sql"
)

// conn is one client's connection. The session goroutine owns everything but what mu guards.
type conn struct {
	server *Server
	peer   *peer
	in     *inbox
	out    outbox
	id     int32
	secret []byte    // what a cancel request has to know
	reader chan feed // what the reader reads next
	fed    bool      // it reads all there is

	tls     *tls.Conn            // nil in the clear
	binding scram.ChannelBinding // of tls

	body []byte // of the message that is handled
	held int64  // bytes of LargeMessages that body counts for

	session    *sql.Session // nil until authenticated
	statements statements
	portals    portals
	skip       bool // an error was sent: extended messages are ignored until Sync
	midway     bool // an extended cycle began and its Sync has not come

	mu        sync.Mutex
	end       context.CancelCauseFunc // ends the session; nil until serve
	ended     error                   // an interrupt that came before serve
	statement context.CancelCauseFunc // ends what runs; nil while nothing does
}

func newConn(s *Server, nc net.Conn) *conn {
	p := &peer{Conn: nc}
	return &conn{server: s, peer: p, in: newInbox(), out: outbox{peer: p, to: p, sent: &s.sent, made: &s.writes}, reader: make(chan feed, 1)}
}

// serve runs the connection until it ends and closes it.
func (c *conn) serve(ctx context.Context) {
	// The server ends its sessions by interrupt, with a reason that the client is told, and not through ctx.
	ctx, end := context.WithCancelCause(context.WithoutCancel(ctx))
	defer end(nil)
	c.began(end)
	done := make(chan struct{})
	var reader sync.WaitGroup
	reader.Go(func() { c.read(done, end) })
	c.farewell(c.run(ctx))
	close(done)
	if c.tls != nil {
		c.peer.hurry()
		_ = c.tls.CloseWrite() // so that the client knows that nothing was cut off
	}
	_ = c.peer.Close() // the reader wakes; what was to be said was flushed
	reader.Wait()
}

// read moves bytes to the inbox until the client is gone, and then ends what the session does.
func (c *conn) read(done <-chan struct{}, end context.CancelCauseFunc) {
	c.fill(done)
	grace := time.NewTimer(GoneGrace)
	defer grace.Stop()
	select {
	case <-done:
	case <-grace.C:
		end(errGone)
	}
}

// fill moves what the client sends to the inbox, where the session finds the error too. Until the session says how to go on it takes no more than the
// head of a packet: behind an SSL request come bytes that only TLS can read.
func (c *conn) fill(done <-chan struct{}) {
	next := feed{from: c.peer}
	for !next.all {
		if c.in.head(next.from) != nil {
			return
		}
		select {
		case next = <-c.reader:
		case <-done:
			return
		}
	}
	_ = c.in.fill(next.from, done, func(n int) { c.server.received.Add(int64(n)) })
}

// began tells interrupt whom to tell.
func (c *conn) began(end context.CancelCauseFunc) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.end = end
	if c.ended != nil {
		end(c.ended)
	}
}

// interrupt ends the session, and what it runs, with why.
func (c *conn) interrupt(why error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.ended = why
	if c.end != nil {
		c.end(why)
	}
}

// cancelStatement ends what the session runs with 57014; nothing when it runs nothing.
func (c *conn) cancelStatement() {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.statement != nil {
		c.statement(errCancelled)
	}
}

// running says whom a cancel request ends, nil for nobody.
func (c *conn) running(statement context.CancelCauseFunc) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.statement = statement
}

func (c *conn) secretIs(secret []byte) bool {
	return len(c.secret) > 0 && subtle.ConstantTimeCompare(c.secret, secret) == 1
}

// run is the connection from its first byte to the reason of its end.
func (c *conn) run(ctx context.Context) (err error) {
	defer func() {
		if c.session != nil {
			c.server.sessions.Add(-1)
		}
		if p := recover(); p != nil {
			c.server.panics.Add(1)
			c.server.logger.Error("panic in a session", "id", c.id, "panic", p, "stack", string(debug.Stack()))
			err = &tailrace.Error{
				Severity: "FATAL", Code: "XX000", Message: fmt.Sprintf("internal error: %v", p),
				Hint: "This is a bug of tailrace; the server's log says more. Other connections go on.",
			}
		}
	}()
	if err := c.peer.tune(); err != nil {
		return err
	}
	if ok, err := c.startup(ctx); !ok || err != nil {
		return err
	}
	defer c.session.Close()
	defer c.portals.close()
	return c.loop(ctx)
}

// loop handles messages until the client or the server ends the session.
func (c *conn) loop(ctx context.Context) error {
	for {
		if err := c.turn(ctx); err != nil {
			return err
		}
	}
}

// turn handles messages until one ends with nothing left open. They share a context, which a cancel request ends: portals that were not read to
// their end live in it, so it outlives a message.
func (c *conn) turn(session context.Context) error {
	ctx, done := context.WithCancelCause(session)
	defer done(nil)
	for ctx.Err() == nil {
		var stop <-chan struct{}
		if !c.midway && c.session.Status() == 'I' {
			stop = c.server.draining
		}
		kind, body, err := c.receive(session, MessageBytes, stop)
		if err != nil {
			if errors.Is(err, errStopped) {
				err = errShutdown
			}
			return err
		}
		c.running(done)
		err = c.handle(ctx, kind, body)
		c.running(nil)
		if err == nil {
			err = c.out.err
		}
		if err != nil {
			return err
		}
		if !c.midway && len(c.portals.open) == 0 {
			return nil
		}
	}
	return context.Cause(session) // nil when only the turn was canceled
}

// handle does what one message asks for. An error ends the connection; what concerns the statement only has been told to the client.
func (c *conn) handle(ctx context.Context, kind byte, body []byte) error {
	switch kind {
	case 'X':
		return io.EOF
	case 'S':
		return c.sync(ctx)
	case 'd', 'c', 'f':
		return nil // the rest of a COPY that ended with an error
	}
	if c.skip {
		return nil
	}
	switch kind {
	case 'Q':
		return c.query(ctx, body)
	case 'P', 'B', 'D', 'E', 'C':
		c.midway = true
		if err := c.extended(ctx, kind, body); err != nil {
			c.skip = true
			return c.fail(ctx, err)
		}
		return nil
	case 'H':
		return c.out.flush()
	case 'F':
		err := &tailrace.Error{Code: "0A000", Message: "function calls by message are not supported", Hint: "Type SELECT and the function."}
		if err := c.fail(ctx, err); err != nil {
			return err
		}
		return c.ready()
	}
	return fmt.Errorf("message type %q in a session: %w", kind, errProtocol)
}
