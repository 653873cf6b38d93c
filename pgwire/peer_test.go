package pgwire

import (
	"errors"
	"net"
	"os"
	"testing"
	"time"
)

// TestSlowPeerIsNotDead fills a connection whose peer reads nothing: its kernel answers, so it is slow and may stay so.
func TestSlowPeerIsNotDead(t *testing.T) {
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer ln.Close()
	client, err := net.Dial("tcp", ln.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	defer client.Close()
	nc, err := ln.Accept()
	if err != nil {
		t.Fatal(err)
	}
	defer nc.Close()
	p := &peer{Conn: nc}
	if err := p.tune(); err != nil {
		t.Fatal(err)
	}
	if err := nc.SetWriteDeadline(time.Now().Add(300 * time.Millisecond)); err != nil {
		t.Fatal(err)
	}
	taken := 0
	for err == nil {
		var n int
		n, err = nc.Write(make([]byte, 64<<10))
		taken += n
	}
	if !errors.Is(err, os.ErrDeadlineExceeded) {
		t.Fatal(err)
	}
	if p.dead() {
		t.Error("a peer that reads nothing counts as dead")
	}
	t.Logf("the kernels took %d bytes for a peer that reads nothing", taken)
	nc.Close()
	if !p.dead() {
		t.Error("a closed connection counts as alive")
	}
}
