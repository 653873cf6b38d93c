package world

import (
	"context"
	"fmt"
	"math/rand/v2"
	"net"
	"strings"
	"sync"
	"time"
)

// door is a node's listener without sockets: each dial makes a net.Pipe, and the node's end stands behind its gate.
type door struct {
	life   *life
	conns  chan net.Conn
	closed chan struct{}
	once   sync.Once

	mu     sync.Mutex
	open   []net.Conn     // the clients' ends
	dialed map[string]int // how often by whom
}

func newDoor(l *life) *door {
	return &door{life: l, conns: make(chan net.Conn), closed: make(chan struct{}), dialed: map[string]int{}}
}

// Accept implements net.Listener.
func (d *door) Accept() (net.Conn, error) {
	select {
	case c := <-d.conns:
		return c, nil
	case <-d.closed:
		return nil, net.ErrClosed
	}
}

// Close implements net.Listener.
func (d *door) Close() error {
	d.once.Do(func() { close(d.closed) })
	return nil
}

// Addr implements net.Listener.
func (d *door) Addr() net.Addr { return &net.UnixAddr{Name: "pipe", Net: "pipe"} }

func (d *door) dial(ctx context.Context, name string) (net.Conn, error) {
	client, server := net.Pipe()
	select {
	case d.conns <- gated{server, d.life, name, d.chance(name), d.sender(name)}:
	case <-d.closed:
		return nil, net.ErrClosed
	case <-ctx.Done():
		return nil, ctx.Err()
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	d.open = append(d.open, client)
	return client, nil
}

// chance is that of the next connection of somebody.
func (d *door) chance(name string) *rand.Rand {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.dialed[name]++
	return d.life.world.rand(fmt.Sprint("connection ", d.life.name, " ", name, " ", d.dialed[name]))
}

// sender is what spoils what the node sends to somebody; nil when nothing does.
func (d *door) sender(name string) *sender {
	if bug := d.life.world.bug; bug >= SentTwice && strings.Contains(name, "subscriber") {
		return &sender{bug: bug}
	}
	return nil
}

// hangUp ends every connection: what was not read of it by now is not read any more.
func (d *door) hangUp() {
	d.mu.Lock()
	defer d.mu.Unlock()
	for _, c := range d.open {
		_ = c.Close() // the other end notices
	}
	d.open = nil
}

// wireTime is how long at most what a client sends is on its way: how long its chance says, to the nanosecond, so that those who were answered at one moment are
// heard one after the other.
const wireTime = 100 * time.Microsecond

// gated is a node's end of the connection of somebody. While the node is stopped nothing that it was sent reaches it and it says nothing.
type gated struct {
	net.Conn
	life *life
	name string
	rng  *rand.Rand // of the goroutine that reads
	bug  *sender    // nil: what the node sends is sent
}

func (c gated) Read(p []byte) (int, error) {
	n, err := c.Conn.Read(p)
	sleep(context.Background(), upTo(c.rng, wireTime))
	_ = c.life.pass("read " + c.name) // of a dead process the connections are closed
	return n, err
}

func (c gated) Write(p []byte) (int, error) {
	_ = c.life.pass("write " + c.name)
	if c.bug == nil {
		return c.Conn.Write(p)
	}
	_, err := c.Conn.Write(c.bug.sent(p))
	return len(p), err
}
