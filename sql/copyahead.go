package sql

import (
	"context"
	"fmt"

	"tailrace"
	"tailrace/format"
	"tailrace/pool"
	"tailrace/stripe"
)

const (
	// aheadOf is how many morsels for each worker are cut and not written yet: one that is parsed, and the next.
	aheadOf = 2
	// copyFloor is what a COPY may hold without asking, in bytes: a buffer, a morsel of wide rows and its batch. Beyond it asks for memory of the node.
	copyFloor = 12 << 20
)

// parsing is a morsel on its way to a batch.
type parsing struct {
	morsel *format.Morsel
	task   *pool.Task
	batch  *tailrace.Batch
	err    error // of the input, behind the rows of batch
}

// parse queues the parsing of a morsel: behind the encoding of stripes before its own.
func (c *CopyIn) parse(m *format.Morsel) {
	p := &parsing{morsel: m}
	into := c.memory()
	rank := c.cut / stripe.StripeRows
	c.cut += int64(m.Rows)
	c.ahead = append(c.ahead, p)
	p.task = c.flight.Go(rank, int64(m.Bytes), func() error {
		p.batch, p.err = c.parser.Parse(m, into)
		return nil
	})
}

// memory is a batch whose memory the next one may have, nil for none: with the columns that the data has.
func (c *CopyIn) memory() *tailrace.Batch {
	w := c.session.txn.tables[c.in.table.ID]
	if w == nil || len(w.layers) == 0 {
		return nil
	}
	b := w.top().writer.Spare()
	if b == nil || len(b.Cols) != len(c.in.table.Columns.Fields) {
		return nil
	}
	out := &tailrace.Batch{Cols: make([]tailrace.Column, len(c.in.columns))}
	for i, k := range c.in.columns {
		out.Cols[i] = b.Cols[k]
	}
	return out
}

// settle writes the oldest morsels until no more than most are ahead and the node's memory has room for those.
func (c *CopyIn) settle(ctx context.Context, most int) error {
	for len(c.ahead) > most {
		if err := c.next(ctx); err != nil {
			return err
		}
	}
	return c.afford(ctx)
}

// afford takes memory for what is held, and writes morsels while there is none.
func (c *CopyIn) afford(ctx context.Context) error {
	for {
		need := c.splitter.Size() - copyFloor
		for _, p := range c.ahead {
			need += int64(p.morsel.Bytes) // values take about what their text does
		}
		if c.grant.Set(max(need, 0)) {
			return nil
		}
		if len(c.ahead) == 0 {
			return c.grant.Full(fmt.Sprintf("A row of COPY data has %d bytes or more", c.splitter.Size()))
		}
		if err := c.next(ctx); err != nil {
			return err
		}
	}
}

// next waits for the oldest morsel and writes its rows.
func (c *CopyIn) next(ctx context.Context) error {
	defer context.AfterFunc(ctx, c.stop)()
	p := c.ahead[0]
	err := c.wait(p)
	if err == nil {
		err = ctx.Err()
	}
	if err != nil {
		return err // close gives the morsel back, when no task reads it any more
	}
	c.ahead = c.ahead[1:]
	defer p.morsel.Release()
	if p.batch.N > 0 {
		if err := c.write(ctx, p.batch, p.morsel); err != nil {
			return err
		}
	}
	return p.err
}

// wait waits for the task. One that failed is run again, by this goroutine: if it does so twice the input is to blame.
func (c *CopyIn) wait(p *parsing) error {
	return p.task.Redo(func() error {
		p.batch, p.err = c.parser.Parse(p.morsel, nil)
		return nil
	}, func(err error) {
		c.session.engine.logger().Warn("a task of a COPY failed and is done again", "error", err)
	})
}
