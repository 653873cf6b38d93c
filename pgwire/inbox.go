package pgwire

import (
	"context"
	"errors"
	"io"
	"net"
	"sync"
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

// head moves the first bytes of a packet to the inbox: no more than the packet surely has.
func (in *inbox) head(from io.Reader) error {
	var b [startupHead]byte
	n, err := io.ReadFull(from, b[:])
	in.put(b[:n])
	if err != nil {
		in.end(err)
	}
	return err
}

// fill moves bytes from the client to the inbox until there will be no more, or done is closed while it waits for room. It returns why.
func (in *inbox) fill(from io.Reader, done <-chan struct{}, count func(n int)) error {
	chunk := make([]byte, 2<<10)
	for {
		n, err := from.Read(chunk)
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

// next is the type of the next message, 0 when it is not there yet.
func (in *inbox) next() byte {
	in.mu.Lock()
	defer in.mu.Unlock()
	if len(in.buf) == 0 {
		return 0
	}
	return in.buf[0]
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
