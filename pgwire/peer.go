package pgwire

import (
	"cmp"
	"errors"
	"net"
	"os"
	"sync/atomic"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// errDead ends the connection of a peer that acknowledges nothing any more.
var errDead = errors.New("the client's machine has not answered for " + DeadAfter.String())

// peer is a client's socket. Reads and writes last as long as the client's machine is there, however slow the client is. One goroutine reads
// and one writes, through TLS or not: a write that is given up half way would break TLS for good.
type peer struct {
	net.Conn
	hurried atomic.Bool
	armed   time.Time // when the write deadline was set last; the writer's
	raw     syscall.RawConn
}

// Read reads once. While nothing comes it looks from time to time whether the client's machine still acknowledges what it was sent.
func (p *peer) Read(b []byte) (int, error) {
	for {
		if err := p.SetReadDeadline(time.Now().Add(DeadAfter)); err != nil {
			return 0, err
		}
		n, err := p.Conn.Read(b)
		if n == 0 && errors.Is(err, os.ErrDeadlineExceeded) {
			if p.dead() {
				return 0, errDead
			}
			continue
		}
		return n, err
	}
}

// Write writes all of b.
func (p *peer) Write(b []byte) (int, error) {
	n, err := p.patiently(func() (int64, error) {
		n, err := p.Conn.Write(b)
		b = b[n:]
		return int64(n), err
	})
	return int(n), err
}

// writeAll writes several stretches in one go.
func (p *peer) writeAll(all net.Buffers) (int64, error) {
	return p.patiently(func() (int64, error) { return all.WriteTo(p.Conn) })
}

// canTry says that the socket takes what is there to be written without waiting.
func (p *peer) canTry() bool {
	if sc, ok := p.Conn.(syscall.Conn); ok && p.raw == nil {
		p.raw, _ = sc.SyscallConn() // nil when it is closed
	}
	return p.raw != nil
}

// try writes as much of b as the socket takes at once.
func (p *peer) try(b []byte) (n int, err error) {
	if err := p.arm(p.hurried.Load()); err != nil {
		return 0, err
	}
	failed := p.raw.Write(func(fd uintptr) bool {
		for {
			n, err = unix.Write(int(fd), b)
			if !errors.Is(err, unix.EINTR) {
				return true // do not wait
			}
		}
	})
	n = max(n, 0)
	if errors.Is(err, unix.EAGAIN) {
		err = nil
	}
	return n, cmp.Or(failed, err)
}

// patiently calls write, which goes on where it was, until it is done or the peer is dead.
func (p *peer) patiently(write func() (int64, error)) (written int64, err error) {
	for {
		hurried := p.hurried.Load()
		if err := p.arm(hurried); err != nil {
			return written, err
		}
		n, err := write()
		written += n
		switch {
		case err == nil:
			return written, nil
		case !errors.Is(err, os.ErrDeadlineExceeded) || hurried:
			return written, err
		case p.dead():
			return written, errDead
		}
		p.armed = time.Time{}
	}
}

// arm sets the write deadline. It is left as it is while most of the time is left: setting it costs a fifth of what a small write does, and who is slow is asked
// anew whenever it is over.
func (p *peer) arm(hurried bool) error {
	now := time.Now()
	if !hurried && now.Sub(p.armed) < DeadAfter/4 {
		return nil
	}
	p.armed = now
	patience := DeadAfter
	if hurried {
		patience, p.armed = CloseGrace, time.Time{}
	}
	return p.SetWriteDeadline(now.Add(patience))
}

// hurry says that the connection is about to be closed: from now on a client that does not read gets CloseGrace.
func (p *peer) hurry() { p.hurried.Store(true) }

// tune sets what the limits say on a new socket. A connection that is no TCP socket (a test's pipe) is left as it is.
func (p *peer) tune() error {
	tc, ok := p.Conn.(*net.TCPConn)
	if !ok {
		return nil
	}
	if err := tc.SetWriteBuffer(SendBufferBytes); err != nil {
		return err
	}
	return tc.SetKeepAliveConfig(net.KeepAliveConfig{Enable: true, Idle: KeepaliveIdle, Interval: KeepaliveEvery, Count: KeepaliveCount})
}

// dead reports whether the peer's kernel has answered neither what it was sent (again and again) nor probes of its closed window for
// DeadAfter. A slow client's kernel answers each probe. One silent try proves nothing: the time since the last answer may be long only because
// nothing was asked.
func (p *peer) dead() bool {
	sc, ok := p.Conn.(syscall.Conn)
	if !ok {
		return false
	}
	raw, err := sc.SyscallConn()
	if err != nil {
		return true // closed
	}
	var info *unix.TCPInfo
	var infoErr error
	if err := raw.Control(func(fd uintptr) { info, infoErr = unix.GetsockoptTCPInfo(int(fd), unix.IPPROTO_TCP, unix.TCP_INFO) }); err != nil {
		return true // closed
	}
	if infoErr != nil {
		return false // no TCP socket
	}
	const silentTries = 2
	silent := info.Probes >= silentTries || (info.Unacked > 0 && info.Retransmits >= silentTries)
	return silent && time.Duration(info.Last_ack_recv)*time.Millisecond >= DeadAfter
}
