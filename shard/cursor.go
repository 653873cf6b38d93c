package shard

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"slices"

	"tailrace"
)

const (
	// PieceRows is how many rows a piece of a snapshot has when its options do not say.
	PieceRows = 8192
	// PieceBytes is the size of a piece in bytes of values when its options do not say: the row that reaches it is the last.
	PieceBytes = 4 << 20
)

// Cursor yields the consolidated sum of sorted streams in row order, piece by piece. Where only one stream has rows, stretches are copied
// by column; where several meet, rows are compared one by one. It is used by one goroutine and must be closed.
type Cursor struct {
	l       *layout
	cols    []int // fields of the result, in order
	heap    []*stream
	rows    int // limits of a piece
	bytes   int
	most    int  // what rows grows to
	signed  bool // rows may have any multiplicity: sums of updates, not a snapshot
	ranges  []Range
	pruned  bool // without all columns that rows are told apart by: pieces end anywhere, at no position
	release func()
	memory  memory

	held     heldRow // the row that is being added up
	last     heldRow // the last row of the piece
	out      *tailrace.Batch
	outBytes int
	position []byte
	what     string // for errors: what is being read
	err      error
	scratch  []byte
	tie      tie
}

type heldRow struct {
	c   *chunk
	i   int
	sum tailrace.Diff
}

// pieceGrowth is how much larger each piece is than the one before, after a small first one.
const pieceGrowth = 4

// Next returns the next piece: rows in order, each once, with its multiplicity in Diffs (nil: 1 each). The caller owns it. After the last
// piece the error is io.EOF. After another error the cursor is of no more use.
func (c *Cursor) Next(ctx context.Context) (*tailrace.Batch, error) {
	if c.err != nil {
		return nil, c.err
	}
	err := c.enter(ctx)
	var out *tailrace.Batch
	if err == nil {
		out, err = c.piece(ctx)
	}
	if err != nil {
		c.err = err
		c.memory.rest()
		return nil, err
	}
	c.leave()
	c.rows = min(c.rows*pieceGrowth, c.most)
	return out, nil
}

func (c *Cursor) piece(ctx context.Context) (*tailrace.Batch, error) {
	c.reset()
	var lastKey []byte
	for len(c.heap) > 0 {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		top := c.heap[0]
		if c.held.c != nil {
			same, err := c.same(ctx, top)
			if err != nil {
				return nil, err
			}
			if same {
				c.held.sum += top.c.b.Diff(top.i)
				if err := c.step(ctx, 1); err != nil {
					return nil, err
				}
				continue
			}
			if err := c.settle(); err != nil {
				return nil, err
			}
		}
		n := 0
		if c.full() {
			if c.pruned {
				return c.finish(), nil
			}
			if lastKey == nil {
				lastKey = c.lastHead()
			}
			if !bytes.Equal(top.head(), lastKey) {
				return c.finish(), nil
			}
		} else if top.plain {
			var err error
			if n, err = c.alone(ctx, top); err != nil {
				return nil, err
			}
		}
		if n > 0 {
			n = c.copyRange(top, n)
		} else {
			c.held, n = heldRow{top.c, top.i, top.c.b.Diff(top.i)}, 1
		}
		if err := c.step(ctx, n); err != nil {
			return nil, err
		}
	}
	if err := c.settle(); err != nil {
		return nil, err
	}
	if c.out.N == 0 {
		return nil, io.EOF
	}
	return c.finish(), nil
}

func (c *Cursor) reset() {
	c.out = &tailrace.Batch{IDs: make([]tailrace.ColumnID, len(c.cols)), Cols: make([]tailrace.Column, len(c.cols))}
	for i, f := range c.cols {
		field := &c.l.schema.Fields[f]
		c.out.IDs[i], c.out.Cols[i] = field.ID, tailrace.MakeColumn(field.Type.Kind, min(c.rows, PieceRows))
	}
	c.outBytes = 0
}

func (c *Cursor) full() bool { return c.out.N >= c.rows || c.outBytes >= c.bytes }

// settle adds the held row, whose sum is complete, to the piece.
func (c *Cursor) settle() error {
	h := c.held
	c.held.c = nil
	switch {
	case h.c == nil || h.sum == 0:
		return nil
	case h.sum < 0 && !c.signed && c.unwanted(h):
		return nil // updates of it were passed over
	case h.sum < 0 && !c.signed:
		return fmt.Errorf("%s: a row has multiplicity %d: %w", c.what, h.sum, tailrace.ErrCorrupt)
	}
	size := 0
	for i, f := range c.cols {
		col := &h.c.b.Cols[f]
		c.out.Cols[i].AppendFrom(col, h.i)
		size += valueBytes(col, h.i, h.i+1)
	}
	c.out.AppendDiff(h.sum)
	c.outBytes += size
	c.last = h
	return nil
}

// copyRange adds up to n rows of a plain stream to the piece, as many as it has room for, and returns how many.
//
// Hot: by column.
func (c *Cursor) copyRange(s *stream, n int) int {
	b, from := s.c.b, s.i
	n = c.fitting(b, from, min(n, c.rows-c.out.N))
	for i, f := range c.cols {
		c.out.Cols[i].AppendRange(&b.Cols[f], from, from+n)
		c.outBytes += valueBytes(&b.Cols[f], from, from+n)
	}
	appendDiffs(c.out, b, from, from+n)
	c.last = heldRow{c: s.c, i: from + n - 1}
	return n
}

// fitting is how many of n rows the piece takes: those up to the one that reaches its size in bytes.
func (c *Cursor) fitting(b *tailrace.Batch, from, n int) int {
	size := func(k int) int {
		sum := c.outBytes
		for _, f := range c.cols {
			sum += valueBytes(&b.Cols[f], from, from+k)
		}
		return sum
	}
	if size(n) < c.bytes {
		return n
	}
	lo, hi := 0, n // lo rows do not reach it, hi do
	for hi-lo > 1 {
		if mid := (lo + hi) / 2; size(mid) < c.bytes {
			lo = mid
		} else {
			hi = mid
		}
	}
	return hi
}

// valueBytes is the size of rows [from, to) of c, the same whatever batch they are in.
func valueBytes(c *tailrace.Column, from, to int) int {
	if c.Width > 0 {
		return (to - from) * c.Width
	}
	return int(c.Offsets[to]-c.Offsets[from]) + 4*(to-from)
}

func (c *Cursor) lastHead() []byte { return c.l.appendHead(nil, c.last.c.b, c.last.i) }

// finish ends the piece and remembers where.
func (c *Cursor) finish() *tailrace.Batch {
	c.position = nil
	if !c.pruned {
		c.position = c.lastHead()
	}
	return c.out
}

// Position is where the last piece ended, for SnapshotOptions.After: the row key of its last row, of which a collection with a primary key
// needs the key's columns only. nil before the first piece, and for a collection without one when only some columns are read.
func (c *Cursor) Position() []byte { return slices.Clone(c.position) }

// Close gives up what the cursor pins. It may be called twice.
func (c *Cursor) Close() error {
	if c.release != nil {
		c.release()
		c.release = nil
	}
	c.heap, c.held.c, c.last.c = nil, nil, nil
	c.memory.rest()
	if c.err == nil {
		c.err = fmt.Errorf("%s: the cursor is closed", c.what)
	}
	return nil
}
