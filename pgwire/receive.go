package pgwire

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"slices"

	"tailrace"
)

// The codes that a startup packet begins with instead of a protocol version.
const (
	codeCancel = 80877102
	codeSSL    = 80877103
	codeGSS    = 80877104
)

// startupHead is the length of a startup packet's head: its length and code, 4 bytes each.
const startupHead = 8

// errProtocol marks what no client that knows the protocol sends: random bytes, a length that cannot be. The connection is closed and counted.
var errProtocol = errors.New("protocol violation")

// receiveStartup reads a packet that has no type byte: its code and what follows. It is valid until the next receive.
func (c *conn) receiveStartup(ctx context.Context) (code uint32, body []byte, err error) {
	var head [startupHead]byte
	if err := c.in.read(ctx, head[:], c.server.draining); err != nil {
		return 0, nil, err
	}
	n := int64(binary.BigEndian.Uint32(head[:]))
	if n < int64(len(head)) || n > StartupBytes {
		return 0, nil, fmt.Errorf("startup packet of %d bytes: %w", n, errProtocol)
	}
	code = binary.BigEndian.Uint32(head[4:])
	if n == int64(len(head)) && (code == codeSSL || code == codeGSS) {
		return code, nil, nil // what follows depends on the answer
	}
	c.feed(feed{c.peer, true})
	if err := c.receiveBody(ctx, int(n)-len(head)); err != nil {
		return 0, nil, err
	}
	return code, c.body, nil
}

// receive reads the next message; its body is valid until the next receive. limit is the most bytes that it may have. When stop is closed
// before a message begins, the error is errStopped.
func (c *conn) receive(ctx context.Context, limit int, stop <-chan struct{}) (kind byte, body []byte, err error) {
	kind, n, err := c.receiveHead(ctx, limit, stop)
	if err != nil {
		return 0, nil, err
	}
	body, err = c.receiveRest(ctx, n)
	return kind, body, err
}

// messageHead is the length of a message's head: its type and its length.
const messageHead = 5

// receiveHead reads the head of the next message: its type and the bytes of its body, which come next.
func (c *conn) receiveHead(ctx context.Context, limit int, stop <-chan struct{}) (kind byte, n int, err error) {
	c.releaseBody()
	var head [messageHead]byte
	if err := c.in.read(ctx, head[:], stop); err != nil {
		return 0, 0, err
	}
	size := int64(binary.BigEndian.Uint32(head[1:])) - 4
	if !slices.Contains(frontendKinds, head[0]) || size < 0 {
		return 0, 0, fmt.Errorf("message type %q of %d bytes: %w", head[0], size, errProtocol)
	}
	if size > int64(limit) {
		return 0, 0, &tailrace.Error{
			Severity: "FATAL", Code: "54000", Message: fmt.Sprintf("message of %d bytes is too large", size),
			Detail: fmt.Sprintf("A message may have %d bytes here.", limit), Hint: "Split the statement, or load the rows with COPY.",
		}
	}
	return head[0], int(size), nil
}

// receiveRest reads the body of a message, n bytes.
func (c *conn) receiveRest(ctx context.Context, n int) ([]byte, error) {
	if n >= LargeMessage {
		if !c.server.large.TryAcquire(int64(n)) {
			err := c.server.large.Full(fmt.Sprintf("A message of %d bytes came", n))
			err.Severity, err.Message = "FATAL", "too many large messages at once"
			return nil, err
		}
		c.held = int64(n)
	}
	if err := c.receiveBody(ctx, n); err != nil {
		return nil, err
	}
	return c.body, nil
}

// frontendKinds are the types of messages that a client may send after startup.
var frontendKinds = []byte("BCDEFHPQSXcdfp")

// receiveBody reads n bytes into c.body, which grows with what arrives and not by what the client announced.
func (c *conn) receiveBody(ctx context.Context, n int) error {
	c.body = c.body[:0]
	for len(c.body) < n {
		from := len(c.body)
		c.body = slices.Grow(c.body, min(n-from, InboxBytes))
		c.body = c.body[:from+min(n-from, InboxBytes)]
		if err := c.in.read(ctx, c.body[from:], nil); err != nil {
			return err
		}
	}
	return nil
}

// releaseBody gives up the last message.
func (c *conn) releaseBody() {
	if c.held > 0 {
		c.server.large.Release(c.held)
		c.held = 0
	}
	if cap(c.body) > KeepBytes {
		c.body = nil
	}
}
