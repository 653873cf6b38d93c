package stripe

import (
	"sync"
	"sync/atomic"
)

// buffers keeps memory between pages. It counts what is out, so that tests can tell that all comes back.
type buffers struct {
	pool sync.Pool
	out  atomic.Int64
}

// pageBuffers has the encoded pages of stripes under way.
var pageBuffers buffers

// get returns an empty buffer.
func (b *buffers) get() *[]byte {
	b.out.Add(1)
	if x, ok := b.pool.Get().(*[]byte); ok {
		return x
	}
	return new([]byte)
}

func (b *buffers) put(x *[]byte) {
	b.out.Add(-1)
	if cap(*x) > maxKept {
		return
	}
	*x = (*x)[:0]
	b.pool.Put(x)
}

// withRoom is an empty slice with room for n bytes: the memory of b if that is enough. Unlike with slices.Grow new memory is not cleared.
func withRoom(b []byte, n int) []byte {
	if cap(b) < n {
		return make([]byte, 0, n)
	}
	return b[:0]
}
