package shard

import (
	"context"
	"fmt"
	"sync"

	"tailrace"
)

// cutter writes a Writer's full buffers to parts while the next one is filled: a goroutine at most, which wait waits for. Only its owner calls it, and looks at
// what the goroutine changes after wait.
//
//	Append ─▶ buffer ─ hand ─▶ [sort, unless in order] ─▶ encode ─▶ Blob
//	             ▲──────────── the buffer before ◀──────────────────┘
type cutter struct {
	set *Set
	l   *layout

	under sync.WaitGroup // the goroutine
	runs  []*runWriter
	open  bool            // the last run can take rows that follow its own
	spare *tailrace.Batch // a buffer that was written
	err   error           // the first, for good
}

// hand begins to write b, which is sorted already or not, and returns an empty buffer to be filled meanwhile. follows tells that b's rows come after all
// rows of the run that is open; keep that somebody else may still read b. ctx does not end the write once it began: the statement that
// filled the buffer may be over before.
func (c *cutter) hand(ctx context.Context, b *tailrace.Batch, sorted, follows, keep bool) (*tailrace.Batch, error) {
	if err := c.wait(); err != nil {
		return nil, err
	}
	next := c.buffer()
	ctx = context.WithoutCancel(ctx)
	c.under.Go(func() {
		if c.err = c.write(ctx, b, sorted, follows); c.err == nil && !keep {
			c.spare = b
		}
	})
	return next, nil
}

// wait waits until what was handed over is written.
func (c *cutter) wait() error {
	c.under.Wait()
	return c.err
}

func (c *cutter) write(ctx context.Context, b *tailrace.Batch, sorted, follows bool) error {
	if !sorted {
		b = c.l.consolidated(c.l.sorted(b), false)
	}
	if b.N == 0 {
		return nil
	}
	if !c.open || !follows {
		if err := c.close(ctx); err != nil {
			return err
		}
		c.runs, c.open = append(c.runs, c.set.newRunWriter(c.l, 0, 1, true)), true
	}
	return c.runs[len(c.runs)-1].append(ctx, b)
}

// close finishes the part under way.
func (c *cutter) close(ctx context.Context) error {
	if !c.open {
		return nil
	}
	c.open = false
	return c.runs[len(c.runs)-1].cut(ctx)
}

// settle waits until every row that was handed over is in a part in Blob.
func (c *cutter) settle(ctx context.Context) error {
	if err := c.wait(); err != nil {
		return err
	}
	c.err = c.close(ctx)
	return c.err
}

// buffer is an empty batch: one that was written, with its memory, or a new one.
func (c *cutter) buffer() *tailrace.Batch {
	b := c.spare
	c.spare = nil
	if b == nil {
		return tailrace.NewBatch(c.l.schema, 2) // an UPDATE's: most transactions change one row
	}
	for i := range b.Cols {
		b.Cols[i].Reset()
	}
	b.N, b.Times, b.Diffs = 0, nil, nil
	return b
}

// each calls fn with every update in parts, which are read back.
func (c *cutter) each(ctx context.Context, fn func(*tailrace.Batch) error) error {
	if err := c.settle(ctx); err != nil {
		return err
	}
	for _, w := range c.runs {
		rr := c.set.readRun(&w.out, c.l)
		for {
			chunk, err := rr.next(ctx)
			if err != nil {
				return fmt.Errorf("read back rows: %w", err)
			}
			if chunk == nil {
				break
			}
			if err := fn(chunk.b); err != nil {
				return err
			}
		}
	}
	return nil
}

// abort deletes what was written.
func (c *cutter) abort(ctx context.Context) {
	c.under.Wait()
	for _, w := range c.runs {
		w.abort(ctx, nil)
	}
	c.runs, c.open, c.spare = nil, false, nil
}
