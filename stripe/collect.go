package stripe

import (
	"context"
	"errors"
	"fmt"
	"runtime/debug"

	"tailrace/pool"
)

// A task that fails or panics does not fail the stripe: its chunk is encoded again from the start, once, by the goroutine that collects. If that fails too
// the fault is the input's. Chunks are collected in order, so that of several that fail the error is that of the first.

// encode makes the stripe at once, by the plain loop.
func (x *work) encode() (*Stripe, error) {
	s := x.stripe()
	for i := range x.chunks {
		if err := x.encodeChunk(s, &x.chunks[i]); err != nil {
			if err := x.again(s, &x.chunks[i], err); err != nil {
				s.Release()
				return nil, err
			}
		}
	}
	return s, nil
}

// collect waits for the tasks and puts what they made together.
func (x *work) collect() (*Stripe, error) {
	s := x.stripe()
	for i := range x.chunks {
		c := &x.chunks[i]
		err := c.await()
		switch {
		case errors.Is(err, context.Canceled), errors.Is(err, context.DeadlineExceeded):
			s.Release()
			return nil, fmt.Errorf("write stripe %d: %w", x.n, err)
		case err != nil:
			if err := x.again(s, c, err); err != nil {
				s.Release()
				return nil, err
			}
			continue
		}
		at := s.begin()
		s.add(c.v.front)
		for _, b := range c.bufs {
			s.addPage(b)
		}
		c.bufs = nil
		s.addFilter(c.number, c.filter)
		s.end(at, &c.chunk, &c.v, c.pages)
	}
	return s, nil
}

// await returns the first error of the chunk's tasks, if it has any, once all are done.
func (c *chunkWork) await() error {
	if c.decide == nil {
		return nil
	}
	err := c.decide.Wait()
	for _, t := range c.tasks {
		if e := t.Wait(); err == nil {
			err = e
		}
	}
	return err
}

// await waits for all tasks.
func (x *work) await() {
	for i := range x.chunks {
		_ = x.chunks[i].await() // of a stripe that is given up
	}
}

// again encodes chunk c, whose task failed because of why, into s.
func (x *work) again(s *Stripe, c *chunkWork, why error) error {
	args := []any{"stripe", x.n, "column", plainName(x.w.schema, c.number), "error", why}
	if p := (*pool.Panic)(nil); errors.As(why, &p) {
		args = append(args, "stack", string(p.Stack))
	}
	x.w.logger().Warn("encode a column again: a task failed", args...)
	return x.encodeChunk(s, c)
}

// encodeChunk adds chunk c to s by the plain loop, which every other way must equal byte by byte.
func (x *work) encodeChunk(s *Stripe, c *chunkWork) (err error) {
	page, start := -1, s.mark()
	defer func() {
		if v := recover(); v != nil {
			err = &pool.Panic{Value: v, Stack: debug.Stack()}
		}
		if err != nil {
			s.cut(start)
			x.w.enc = nil // an encoder that panicked is in no known state
			where := x.name(c)
			if page >= 0 {
				where = fmt.Sprintf("%s, page %d", where, page)
			}
			err = fmt.Errorf("write stripe %d: %s: %w", x.n, where, err)
		}
	}()
	if err := x.fault(c, page); err != nil {
		return err
	}
	e, at := x.w.encoder(), s.begin()
	spans, pages := c.appendPages(e.spans[:0]), e.pages[:0]
	v := e.decide(&c.chunk, spans)
	s.add(v.front)
	for page = range spans {
		if err := x.fault(c, page); err != nil {
			return err
		}
		pages = append(pages, s.encodePage(e, &v, &c.chunk, spans[page]))
	}
	if x.w.filtered[c.number] {
		s.addFilter(c.number, e.appendFilter(nil, &c.chunk, v.distinct))
	}
	s.end(at, &c.chunk, &v, pages)
	e.spans, e.pages = spans, pages
	return nil
}

// fault is Options.Fault.
func (x *work) fault(c *chunkWork, page int) error {
	if f := x.w.opts.Fault; f != nil {
		return f(x.n, c.number, page)
	}
	return nil
}

// name is what errors call a chunk.
func (x *work) name(c *chunkWork) string { return chunkName(x.w.schema, c.number) }
