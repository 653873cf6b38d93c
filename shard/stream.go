package shard

import (
	"bytes"
	"context"

	"tailrace"
)

// stream is one sorted source at its current row.
type stream struct {
	l     *layout
	next  source
	plain bool // each row is there once, with a diff above 0
	c     *chunk
	i     int
	key   []byte // head key of row keyAt, valid while keyAt == i
	keyAt int
}

// head is the head key of row j of the current chunk, kept for the current row.
func (s *stream) head() []byte {
	if s.keyAt != s.i {
		s.key, s.keyAt = s.l.appendHead(s.key[:0], s.c.b, s.i), s.i
	}
	return s.key
}

// advance moves on by n rows, to the next chunk when this one is through; false at the end.
func (s *stream) advance(ctx context.Context, n int) (bool, error) {
	s.i += n
	if s.c != nil && s.i < s.c.b.N {
		return true, nil
	}
	c, err := s.next(ctx)
	if err != nil || c == nil {
		s.c = nil
		return false, err
	}
	s.c, s.i, s.keyAt = c, 0, -1
	return true, nil
}

// start moves every stream to its first row after the key after (nil: the very first) and builds the heap.
func (c *Cursor) start(ctx context.Context, streams []*stream, after []byte) error {
	for _, s := range streams {
		ok, err := s.advance(ctx, 0)
		for ok && err == nil && after != nil {
			if err = s.c.loadFor(ctx, s.l); err != nil {
				break
			}
			s.i = firstAfter(s, after)
			if s.i < s.c.b.N {
				break
			}
			ok, err = s.advance(ctx, 0)
		}
		if err != nil {
			return err
		}
		if ok {
			c.heap = append(c.heap, s)
		}
	}
	for i := len(c.heap)/2 - 1; i >= 0; i-- {
		if err := c.down(ctx, i); err != nil {
			return err
		}
	}
	return nil
}

// loadFor loads what the head key of l needs: without a primary key that is every column.
func (c *chunk) loadFor(ctx context.Context, l *layout) error {
	if l.keyed() {
		return nil
	}
	return c.load(ctx)
}

// firstAfter is the first row of the stream's chunk whose head key is after key.
func firstAfter(s *stream, key []byte) int {
	var buf []byte
	lo, hi := s.i, s.c.b.N
	for lo < hi {
		mid := (lo + hi) / 2
		buf = s.l.appendHead(buf[:0], s.c.b, mid)
		if bytes.Compare(buf, key) > 0 {
			hi = mid
		} else {
			lo = mid + 1
		}
	}
	return lo
}

// step moves the first stream on by n rows and the heap to its next first row.
func (c *Cursor) step(ctx context.Context, n int) error {
	ok, err := c.heap[0].advance(ctx, n)
	if err != nil {
		return err
	}
	if !ok {
		end := len(c.heap) - 1
		c.heap[0] = c.heap[end]
		c.heap = c.heap[:end]
	}
	if len(c.heap) > 1 {
		return c.down(ctx, 0)
	}
	return nil
}

// down restores the heap below i.
func (c *Cursor) down(ctx context.Context, i int) error {
	for {
		least := i
		for _, child := range [2]int{2*i + 1, 2*i + 2} {
			if child >= len(c.heap) {
				break
			}
			r, err := c.compare(ctx, c.heap[child], c.heap[least])
			if err != nil {
				return err
			}
			if r < 0 {
				least = child
			}
		}
		if least == i {
			return nil
		}
		c.heap[i], c.heap[least] = c.heap[least], c.heap[i]
		i = least
	}
}

// compare orders the current rows of two streams. Columns beyond the head are loaded only when the heads are equal.
func (c *Cursor) compare(ctx context.Context, a, b *stream) (int, error) {
	if r := bytes.Compare(a.head(), b.head()); r != 0 {
		return r, nil
	}
	if err := a.c.load(ctx); err != nil {
		return 0, err
	}
	if err := b.c.load(ctx); err != nil {
		return 0, err
	}
	return c.tie.compare(c.l, a.c.b, a.i, b.c.b, b.i), nil
}

// same reports whether the held row is the stream's current one.
func (c *Cursor) same(ctx context.Context, s *stream) (bool, error) {
	h := &c.held
	if tailrace.CompareStored(c.l.order[:min(1, c.l.head)], h.c.b, h.i, s.c.b, s.i) != 0 {
		return false, nil
	}
	if tailrace.CompareStored(c.l.order[:c.l.head], h.c.b, h.i, s.c.b, s.i) != 0 {
		return false, nil
	}
	if err := h.c.load(ctx); err != nil {
		return false, err
	}
	if err := s.c.load(ctx); err != nil {
		return false, err
	}
	return tailrace.CompareStored(c.l.order[c.l.head:], h.c.b, h.i, s.c.b, s.i) == 0, nil
}

// alone is how many rows of the stream's chunk, from the current one, are before every other stream's current row.
func (c *Cursor) alone(ctx context.Context, s *stream) (int, error) {
	rest := s.c.b.N - s.i
	if len(c.heap) == 1 {
		return rest, nil
	}
	second := c.heap[1]
	if len(c.heap) > 2 {
		r, err := c.compare(ctx, c.heap[2], second)
		if err != nil {
			return 0, err
		}
		if r < 0 {
			second = c.heap[2]
		}
	}
	key := second.head()
	below := func(n int) bool { // row n from here is before key
		c.scratch = s.l.appendHead(c.scratch[:0], s.c.b, s.i+n)
		return bytes.Compare(c.scratch, key) < 0
	}
	if bytes.Compare(s.head(), key) >= 0 {
		return 0, nil
	}
	step := 1
	for step < rest && below(step) {
		step *= 2
	}
	lo, hi := step/2, min(step, rest) // row lo is below, row hi is not or is the end
	for hi-lo > 1 {
		if mid := (lo + hi) / 2; below(mid) {
			lo = mid
		} else {
			hi = mid
		}
	}
	return lo + 1, nil
}
