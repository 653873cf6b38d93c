package pgwire

import (
	"io"
	"net"
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
	lent net.Buffers // what goes before buf[from:]: stretches of buf, and messages in memory of others
	size int         // of lent, in bytes
	from int
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
	if o.err == nil {
		o.err = o.write()
	}
	if cap(o.buf) > KeepBytes {
		o.buf = nil
	}
	clear(o.lent)
	o.buf, o.lent, o.size, o.from = o.buf[:0], o.lent[:0], 0, 0
	return o.err
}

// put adds messages that were made elsewhere, and stay as they are until the next flush: only small ones are copied.
func (o *outbox) put(messages []byte) error {
	if len(messages) < LendBytes {
		o.buf = append(o.buf, messages...)
	} else {
		if o.from < len(o.buf) {
			o.lent = append(o.lent, o.buf[o.from:])
		}
		o.lent = append(o.lent, messages)
		o.size += len(o.buf) - o.from + len(messages)
		o.from = len(o.buf)
	}
	if o.size+len(o.buf)-o.from < WriteBytes {
		return nil
	}
	return o.flush()
}

// write waits as long as the peer is alive, however slow it is.
func (o *outbox) write() (err error) {
	all := o.lent
	if o.from < len(o.buf) {
		all = append(all, o.buf[o.from:])
	}
	var n int64
	switch {
	case len(all) == 0:
		return nil
	case o.to == o.peer && len(all) > 1:
		n, err = o.peer.writeAll(all)
	default:
		for _, p := range all {
			m, failed := o.to.Write(p)
			n += int64(m)
			if err = failed; err != nil {
				break
			}
		}
	}
	o.sent.Add(n)
	o.made.Add(1)
	return err
}

// pushes says that push is of use.
func (o *outbox) pushes() bool { return o.to == o.peer && o.peer.canTry() }

// push writes messages as far as that goes without waiting, and keeps the rest for the next flush; there is nothing else to write. It reports false when there is a rest, or an
// error for the next flush to tell. Another goroutine than the session's may call it, while the session waits for that.
func (o *outbox) push(messages []byte) bool {
	if o.err != nil {
		return false
	}
	n, err := o.peer.try(messages)
	o.sent.Add(int64(n))
	o.made.Add(1)
	o.err = err
	o.buf = append(o.buf, messages[n:]...)
	return err == nil && n == len(messages)
}

// last writes what there is before the connection is closed; a client that does not read gets CloseGrace for it.
func (o *outbox) last() {
	if o.err == nil {
		o.peer.hurry()
		_ = o.write() // the connection is closed whatever comes of it
	}
}
