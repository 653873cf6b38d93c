package pgwire

import (
	"io"
	"sync/atomic"

	"github.com/jackc/pgx/v5/pgproto3"
)

// outbox collects messages and writes them. Only the session uses it. After an error it swallows everything: the connection is lost,
// and the session finds out at its next flush.
type outbox struct {
	peer *peer
	to   io.Writer     // peer, or TLS over it
	sent *atomic.Int64 // bytes of all connections, before TLS
	made *atomic.Int64 // writes of all connections
	buf  []byte
	err  error
}

// send adds a message.
func (o *outbox) send(m pgproto3.BackendMessage) {
	if o.err != nil {
		return
	}
	buf, err := m.Encode(o.buf)
	if err != nil {
		o.err = err
		return
	}
	o.buf = buf
}

// flush writes what there is, in one Write unless the client is slow.
func (o *outbox) flush() error {
	if o.err == nil && len(o.buf) > 0 {
		o.err = o.write(o.buf)
	}
	if cap(o.buf) > KeepBytes {
		o.buf = nil
	}
	o.buf = o.buf[:0]
	return o.err
}

// put adds messages that were made elsewhere: many in memory that stays theirs are written from there.
func (o *outbox) put(messages []byte) error {
	if len(o.buf)+len(messages) < WriteBytes {
		o.buf = append(o.buf, messages...)
		return nil
	}
	if err := o.flush(); err != nil {
		return err
	}
	o.err = o.write(messages)
	return o.err
}

// write waits as long as the peer is alive, however slow it is.
func (o *outbox) write(p []byte) error {
	n, err := o.to.Write(p)
	o.sent.Add(int64(n))
	o.made.Add(1)
	return err
}

// last writes what there is before the connection is closed; a client that does not read gets CloseGrace for it.
func (o *outbox) last() {
	if o.err == nil {
		o.peer.hurry()
		_ = o.write(o.buf) // the connection is closed whatever comes of it
	}
}
