package pgwire

import (
	"context"
	"errors"
	"net"
	"os"
	"sync"
	"time"
)

// errStopped ends a wait for the next message that was told to stop.
var errStopped = errors.New("told to stop")

// inbox is what a client sent and the session has not read yet, at most InboxBytes. The reader fills it and waits while it is full; the
// session reads from it and waits while it is empty.
type inbox struct {
	mu    sync.Mutex
	buf   []byte        // the unread bytes
	err   error         // why no more will come
	data  chan struct{} // 1: there may be more to read
	space chan struct{} // 1: there may be room
}

func newInbox() *inbox {
	return &inbox{data: make(chan struct{}, 1), space: make(chan struct{}, 1)}
}

// signal wakes whoever waits on c, now or at its next wait.
func signal(c chan struct{}) {
	select {
	case c <- struct{}{}:
	default:
	}
}

// fill moves bytes from the socket to the inbox until the socket ends, or done is closed while it waits for room. It returns why.
func (in *inbox) fill(nc net.Conn, done <-chan struct{}, count func(n int)) error {
	chunk := make([]byte, 2<<10)
	for {
		n, err := readAlive(nc, chunk)
		count(n)
		for rest := chunk[:n]; len(rest) > 0; {
			rest = rest[in.put(rest):]
			if len(rest) == 0 {
				break
			}
			select {
			case <-in.space:
			case <-done:
				return net.ErrClosed
			}
		}
		if err != nil {
			in.end(err)
			return err
		}
		if n == len(chunk) && n < InboxBytes/2 {
			chunk = make([]byte, 4*n) // a client that sends much, such as COPY
		}
	}
}

// readAlive reads once. While nothing comes it looks from time to time whether the peer still acknowledges what it was sent.
func readAlive(nc net.Conn, p []byte) (int, error) {
	for {
		if err := nc.SetReadDeadline(time.Now().Add(DeadAfter)); err != nil {
			return 0, err
		}
		n, err := nc.Read(p)
		if n == 0 && errors.Is(err, os.ErrDeadlineExceeded) {
			if peerDead(nc) {
				return 0, errDead
			}
			continue
		}
		return n, err
	}
}

// put adds as much of p as there is room for.
func (in *inbox) put(p []byte) int {
	in.mu.Lock()
	n := min(len(p), InboxBytes-len(in.buf))
	in.buf = append(in.buf, p[:n]...)
	in.mu.Unlock()
	if n > 0 {
		signal(in.data)
	}
	return n
}

// end says that nothing more will come.
func (in *inbox) end(err error) {
	in.mu.Lock()
	in.err = err
	in.mu.Unlock()
	signal(in.data)
}

// take moves unread bytes to p; err is set when there are none and none will come.
func (in *inbox) take(p []byte) (n int, err error) {
	in.mu.Lock()
	defer in.mu.Unlock()
	n = copy(p, in.buf)
	switch {
	case n == 0 && len(p) > 0:
		return 0, in.err
	case n == len(in.buf) && cap(in.buf) > 4<<10:
		in.buf = nil // an idle connection keeps little
	default:
		in.buf = append(in.buf[:0], in.buf[n:]...)
	}
	signal(in.space)
	return n, nil
}

// read fills p. A nil stop never stops; else once it is closed the error is errStopped, unless p was read in part.
func (in *inbox) read(ctx context.Context, p []byte, stop <-chan struct{}) error {
	for len(p) > 0 {
		select {
		case <-stop:
			return errStopped
		default:
		}
		n, err := in.take(p)
		if err != nil {
			return err
		}
		if n > 0 {
			p, stop = p[n:], nil
			continue
		}
		select {
		case <-in.data:
		case <-stop:
			return errStopped
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	}
	return nil
}
