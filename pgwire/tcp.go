package pgwire

import (
	"errors"
	"net"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// errDead ends the connection of a peer that acknowledges nothing any more.
var errDead = errors.New("the client's machine has not answered for " + DeadAfter.String())

// tune sets what the limits say on a new socket. A connection that is no TCP socket (a test's pipe) is left as it is.
func tune(nc net.Conn) error {
	tc, ok := nc.(*net.TCPConn)
	if !ok {
		return nil
	}
	if err := tc.SetWriteBuffer(SendBufferBytes); err != nil {
		return err
	}
	return tc.SetKeepAliveConfig(net.KeepAliveConfig{Enable: true, Idle: KeepaliveIdle, Interval: KeepaliveEvery, Count: KeepaliveCount})
}

// peerDead reports whether the peer's kernel has answered neither what it was sent (again and again) nor probes of its closed window for
// DeadAfter. A slow client's kernel answers each probe. One silent try proves nothing: the time since the last answer may be long only because
// nothing was asked.
func peerDead(nc net.Conn) bool {
	sc, ok := nc.(syscall.Conn)
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
