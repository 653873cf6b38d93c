package pgwire

import (
	"context"
	"encoding/binary"
	"errors"
	"io"
	"net"
	"sync"
)

// errStopped ends a wait for the next message that was told to stop.
var errStopped = errors.New("told to stop")

// inbox is what a client sent and the session has not read yet, at most InboxBytes. The reader fills it and waits while it is full; the session reads from it and
// waits while it is empty. The socket is read straight into the inbox's memory, and the session's read is the one copy of it.
//
//	session ─▶ |  chunk  |  chunk  |  chunk ...... | ◀─ reader
//	             oldest                   free
//
// Everything before the newest chunk's end is guarded by mu; what is free behind it is the reader's alone.
type inbox struct {
	mu     sync.Mutex
	chunks []*chunk // oldest first; the newest may be empty
	spare  []byte   // memory of a chunk that was read
	held   int      // unread bytes
	size   int      // bytes of the next chunk: small for a client that sends little
	err    error    // why no more will come

	data  chan struct{} // 1: there may be more to read
	space chan struct{} // 1: there may be room
}

// chunk is memory that the socket is read into: buf[from:to] is unread.
type chunk struct {
	buf      []byte
	from, to int
}

const (
	// smallestChunk is what an idle connection keeps, in bytes.
	smallestChunk = 2 << 10
	// fewestFree is how many bytes must be free at the end of a chunk for it to be read into.
	fewestFree = 512
)

func newInbox() *inbox {
	return &inbox{size: smallestChunk, data: make(chan struct{}, 1), space: make(chan struct{}, 1)}
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
	for {
		room := in.room()
		if room == nil {
			select {
			case <-in.space:
				continue
			case <-done:
				return net.ErrClosed
			}
		}
		n, err := from.Read(room)
		count(n)
		in.came(n, len(room))
		if err != nil {
			in.end(err)
			return err
		}
	}
}

// room is where the next bytes of the client go, for its reader; nil when the inbox is full.
func (in *inbox) room() []byte {
	in.mu.Lock()
	defer in.mu.Unlock()
	left := InboxBytes - in.held
	if left < InboxBytes/4 {
		return nil // rather than a little at a time
	}
	last := in.last()
	if last == nil || len(last.buf)-last.to < fewestFree || len(last.buf) > 4*in.size {
		last = &chunk{buf: in.memory()}
		in.chunks = append(in.chunks, last)
	}
	return last.buf[last.to:min(len(last.buf), last.to+left)]
}

// last is the newest chunk, from its beginning when all of it was read.
func (in *inbox) last() *chunk {
	if len(in.chunks) == 0 {
		return nil
	}
	last := in.chunks[len(in.chunks)-1]
	if last.from == last.to {
		last.from, last.to = 0, 0
		if len(last.buf) != in.size {
			in.chunks = in.chunks[:len(in.chunks)-1]
			return nil
		}
	}
	return last
}

// memory is for a new chunk.
func (in *inbox) memory() []byte {
	buf := in.spare
	in.spare = nil
	if len(buf) != in.size {
		buf = make([]byte, in.size)
	}
	return buf
}

// came says that n bytes were put into room, which had space for of.
func (in *inbox) came(n, of int) {
	in.mu.Lock()
	in.chunks[len(in.chunks)-1].to += n
	in.held += n
	switch {
	case n == of && of >= in.size/2:
		in.size = min(4*in.size, InboxBytes) // a client that sends much, such as COPY
	case n < in.size/4:
		in.size = max(in.size/4, smallestChunk)
	}
	in.mu.Unlock()
	if n > 0 {
		signal(in.data)
	}
}

// put adds p, which there is room for.
func (in *inbox) put(p []byte) {
	for len(p) > 0 {
		room := in.room()
		n := copy(room, p)
		in.came(n, len(room)+1) // what was not read from a socket tells nothing of its size
		p = p[n:]
	}
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
	if n = in.move(p); n == 0 && len(p) > 0 {
		return 0, in.err
	}
	signal(in.space)
	return n, nil
}

// move moves unread bytes to p.
func (in *inbox) move(p []byte) (n int) {
	for len(in.chunks) > 0 && n < len(p) {
		c := in.chunks[0]
		k := copy(p[n:], c.buf[c.from:c.to])
		n, c.from, in.held = n+k, c.from+k, in.held-k
		if c.from < c.to || len(in.chunks) == 1 { // the newest is the reader's
			break
		}
		in.chunks[0] = nil
		in.chunks = in.chunks[1:]
		if len(c.buf) == in.size {
			in.spare = c.buf
		}
	}
	return n
}

// peek copies the next bytes to p, fewer when there are fewer.
func (in *inbox) peek(p []byte) (n int) {
	for _, c := range in.chunks {
		n += copy(p[n:], c.buf[c.from:c.to])
	}
	return n
}

// next is the type of the next message, 0 when it is not there yet.
func (in *inbox) next() byte {
	in.mu.Lock()
	defer in.mu.Unlock()
	var b [1]byte
	in.peek(b[:])
	return b[0]
}

// takeCopyData moves to p what messages of COPY data carry, as far as they have come: a client may send one for each row. left is what is missing of the message
// that the last call ended in, and the result what is missing now. It stops at any other message.
func (in *inbox) takeCopyData(p []byte, left int) (n, missing int) {
	in.mu.Lock()
	defer in.mu.Unlock()
	for {
		k := in.move(p[n:min(len(p), n+left)])
		n, left = n+k, left-k
		var head [messageHead]byte
		if left > 0 || n == len(p) || in.peek(head[:]) < len(head) || head[0] != 'd' {
			break
		}
		size := int64(binary.BigEndian.Uint32(head[1:])) - 4
		if size < 0 || size > MessageBytes {
			break // for receive to refuse
		}
		in.move(head[:])
		left = int(size)
	}
	if n > 0 {
		signal(in.space)
	}
	return n, left
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
