package pgwire

import (
	"errors"
	"net"
	"os"
	"sync/atomic"
	"time"

	"github.com/jackc/pgx/v5/pgproto3"
)

// outbox collects messages and writes them. Only the session uses it. After an error it swallows everything: the connection is lost,
// and the session finds out at its next flush.
type outbox struct {
	nc   net.Conn
	sent *atomic.Int64 // bytes of all connections
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

// write waits as long as the peer is alive, however slow it is.
func (o *outbox) write(p []byte) error {
	for {
		if err := o.nc.SetWriteDeadline(time.Now().Add(DeadAfter)); err != nil {
			return err
		}
		n, err := o.nc.Write(p)
		o.sent.Add(int64(n))
		p = p[n:]
		switch {
		case err == nil:
			return nil
		case !errors.Is(err, os.ErrDeadlineExceeded):
			return err
		case peerDead(o.nc):
			return errDead
		}
	}
}

// last writes what there is before the connection is closed; a client that does not read gets CloseGrace for it.
func (o *outbox) last() {
	if o.err != nil {
		return
	}
	if err := o.nc.SetWriteDeadline(time.Now().Add(CloseGrace)); err != nil {
		return
	}
	n, _ := o.nc.Write(o.buf) // the connection is closed whatever comes of it
	o.sent.Add(int64(n))
}
