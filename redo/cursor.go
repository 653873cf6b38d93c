package redo

import (
	"bytes"
	"context"
	"errors"
	"fmt"

	"tailrace"
)

// place is where a segment has records of a span.
type place struct {
	key         string
	offset      int64
	length      int
	rows        int64
	first, last tailrace.Time
}

// placesOf are the places of each span, in order.
func placesOf(folder string, all []segment) map[tailrace.CollectionID][]place {
	places := map[tailrace.CollectionID][]place{}
	for i := range all {
		offset := int64(segmentHead)
		for _, r := range all[i].regions {
			places[r.span] = append(places[r.span], place{folder + segmentRoom + all[i].name, offset, r.length, int64(r.rows), r.first, r.last})
			offset += int64(r.length)
		}
	}
	return places
}

// cursor reads the updates of one span in order. Its head is what comes next:
//
//	Snapshot  rows from row on, at time
//	Changes   rows from row on; row is at time
//	Alter     alter, at time
//
// Of a head that nobody has opened only the kind and the time are there: a cursor that waits for others holds window bytes, and one that is in the middle of a record
// that record besides.
type cursor struct {
	blob   tailrace.Blob
	span   tailrace.CollectionID
	places []place // that were not read yet
	window int     // bytes to read at a time

	buf  []byte // read, not decoded
	from place  // what buf ends before: the rest of a region

	table *tailrace.SinkTable // of the rows
	raw   []byte              // the table as its record says it; nil after an alter
	kind  Kind                // of the head; 0 at the end
	time  tailrace.Time
	last  tailrace.Time // of the record before
	shut  bool          // the head was not opened
	rows  *tailrace.Batch
	row   int
	alter *tailrace.SinkAlter

	at    tailrace.Time // of the updates that were taken last
	taken uint64        // of those at that time

	target *tailrace.SinkTarget // the applier's: the table as the target has it; nil: not asked yet
	seen   Position             // the applier's: what the target has of the span
}

// start brings the cursor to the first update after from.
func (c *cursor) start(ctx context.Context, from Position) error {
	for len(c.places) > 0 && c.places[0].last < from.Time {
		c.places = c.places[1:]
	}
	c.seen = from
	err := c.next(ctx)
	for err == nil && c.kind != 0 && c.isSeen(from) {
		if err = c.open(ctx); err == nil {
			err = c.take(ctx, min(1, c.left()))
		}
	}
	return err
}

// left is how many updates the head has from here on.
func (c *cursor) left() int {
	if c.kind == Alter {
		return 1
	}
	return c.rows.N - c.row
}

// isSeen reports whether the head is at or before p.
func (c *cursor) isSeen(p Position) bool {
	ordinal := uint64(1)
	if c.time == c.at {
		ordinal = c.taken + 1
	}
	return !p.Before(Position{c.time, ordinal})
}

// run is how many rows of the open head are at its time.
func (c *cursor) run() int {
	if c.kind != Changes {
		return c.rows.N - c.row
	}
	end := c.row + 1
	for end < c.rows.N && c.rows.Times[end] == c.time {
		end++
	}
	return end - c.row
}

// take moves on over n rows of the open head at its time, or over an alter.
func (c *cursor) take(ctx context.Context, n int) error {
	if c.time != c.at {
		c.at, c.taken = c.time, 0
	}
	c.taken += uint64(n)
	c.row += n
	switch {
	case c.kind == Alter || c.row >= c.rows.N:
		return c.next(ctx)
	case c.kind == Changes:
		c.time = c.rows.Times[c.row]
	}
	return nil
}

// position is how far the cursor is: the whole time of what was taken last, if the head is after it.
func (c *cursor) position() Position {
	if c.kind == 0 || c.time > c.at {
		return Position{Time: c.at}
	}
	return Position{c.at, c.taken}
}

// next makes the next record that is no table the head, and leaves it shut.
func (c *cursor) next(ctx context.Context) error {
	c.last = c.time
	c.kind, c.rows, c.row, c.alter = 0, nil, 0, nil
	for {
		if more, err := c.more(ctx); err != nil || !more {
			return err
		}
		if kind, at := recordKind(c.buf); kind != kindTable {
			c.kind, c.time, c.shut = kind, at, true
			return nil
		}
		if err := c.record(ctx); err != nil {
			return err
		}
	}
}

// open reads the head, if that was not done. Until then its kind and time are as the store has them, unchecked.
func (c *cursor) open(ctx context.Context) error {
	if !c.shut {
		return nil
	}
	c.shut = false
	return c.record(ctx)
}

// read makes r the head, or the table of the rows that follow.
func (c *cursor) read(r *record) error {
	what, err := r.decode()
	switch {
	case err != nil:
		return err
	case r.span != c.span:
		return fmt.Errorf("a record of span %d among those of %d: %w", r.span, c.span, tailrace.ErrCorrupt)
	case r.kind == kindTable:
		c.setTable(what.table, r.payload)
		return nil
	case r.time < c.last:
		return fmt.Errorf("time %d of span %d comes after %d: %w", r.time, c.span, c.last, tailrace.ErrCorrupt)
	}
	if what.rows != nil {
		if err := fits(what.rows, c.table); err != nil {
			return fmt.Errorf("record of span %d: %w: %w", c.span, err, tailrace.ErrCorrupt)
		}
	}
	c.kind, c.time, c.rows, c.row, c.alter = r.kind, r.time, what.rows, 0, what.alter
	return nil
}

// setTable notes the table of the rows that follow; the target is asked for it again, if it is another one.
func (c *cursor) setTable(t *tailrace.SinkTable, raw []byte) {
	if raw == nil || !bytes.Equal(raw, c.raw) {
		c.table, c.raw, c.target = t, bytes.Clone(raw), nil
	}
}

// more reads the start of the next record; false says that there is none.
func (c *cursor) more(ctx context.Context) (bool, error) {
	if len(c.buf) == 0 && c.from.length == 0 {
		if len(c.places) == 0 {
			return false, nil
		}
		c.from, c.places = c.places[0], c.places[1:]
	}
	return true, c.fill(ctx, recordHead)
}

// record reads the record that more has begun.
func (c *cursor) record(ctx context.Context) error {
	if err := c.fill(ctx, recordLength(c.buf)); err != nil {
		return err
	}
	r, rest, err := readRecord(c.buf)
	if err == nil {
		err = c.read(&r)
	}
	if err != nil {
		return fmt.Errorf("%s: %w", c.from.key, err)
	}
	c.buf = rest
	return nil
}

// fill reads on until buf has n bytes. Its errors name the segment.
func (c *cursor) fill(ctx context.Context, n int) error {
	missing := n - len(c.buf)
	if missing <= 0 {
		return nil
	}
	if missing > c.from.length {
		return fmt.Errorf("%s: a record of %d bytes runs past its region: %w", c.from.key, n, tailrace.ErrCorrupt)
	}
	size := min(max(missing, c.window), c.from.length)
	raw, err := c.blob.Get(ctx, c.from.key, c.from.offset, int64(size))
	switch {
	case errors.Is(err, tailrace.ErrNotFound):
		return fmt.Errorf("%s: the segment is missing: %w", c.from.key, tailrace.ErrCorrupt)
	case err != nil:
		return err
	case len(raw) < size:
		return fmt.Errorf("%s: the segment is cut short: %w", c.from.key, tailrace.ErrCorrupt)
	}
	c.buf = append(append(make([]byte, 0, len(c.buf)+size), c.buf...), raw...)
	c.from.offset += int64(size)
	c.from.length -= size
	return nil
}
