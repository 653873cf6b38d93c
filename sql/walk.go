package sql

import (
	"context"
	"fmt"
	"slices"

	"tailrace"
)

// walk goes over the rows of a table, once, and changes those that are found.
type walk struct {
	s     *Session
	c     *changing
	out   *returned       // nil without RETURNING
	rows  tailrace.Rows   // nil before the first
	batch *tailrace.Batch // of rows, from number base on
	base  int64
	last  int64 // number changed
	count int64 // of rows changed
	again *walk // for rows that come late; reads what this one reads
	// meet gets the changes; nil: they are written.
	meet func(*pendingChange) error
}

func newWalk(s *Session, c *changing, out *returned) *walk {
	return &walk{s: s, c: c, out: out, last: -1}
}

// pendingChange is old rows and what becomes of them.
type pendingChange struct{ old, fresh *tailrace.Batch }

// take changes the rows of h, whose numbers ascend and are above those taken before. A row that stands for equal ones comes as often: it is changed once.
func (w *walk) take(ctx context.Context, h *hits) error {
	h.rows = slices.CompactFunc(h.rows, func(a, b found) bool { return a.number == b.number })
	left := h.rows
	if len(left) > 0 && left[0].number == w.last {
		left = left[1:]
	}
	for len(left) > 0 {
		if left[0].number <= w.last {
			return fmt.Errorf("change rows of table %s: row %d comes after row %d", w.c.table.Name, left[0].number, w.last)
		}
		if err := w.reach(ctx, left[0].number); err != nil {
			return err
		}
		n := 0
		for n < len(left) && left[n].number < w.base+int64(w.batch.N) && (n == 0 || left[n].number > left[n-1].number) {
			n++
		}
		if err := w.write(ctx, h, left[:n]); err != nil {
			return err
		}
		w.last, left = left[n-1].number, left[n:]
	}
	return nil
}

// reach makes batch the one with row number; -1 only begins.
func (w *walk) reach(ctx context.Context, number int64) (err error) {
	if w.rows == nil { // before anything is changed
		if w.rows, err = w.s.scan(ctx, w.c.table.ID, w.c.table.Columns, nil); err != nil {
			return err
		}
		w.batch = &tailrace.Batch{}
		if w.again != nil {
			if err := w.again.reach(ctx, -1); err != nil {
				return err
			}
		}
	}
	for number >= w.base+int64(w.batch.N) {
		w.base += int64(w.batch.N)
		if w.batch, err = w.rows.Next(ctx); err != nil {
			return fmt.Errorf("read row %d of table %s: %w", number, w.c.table.Name, err)
		}
	}
	return nil
}

// write changes the rows of batch that mine numbers.
func (w *walk) write(ctx context.Context, h *hits, mine []found) error {
	p, err := w.s.changeOf(w.c, h, w.batch, w.base, mine)
	if err != nil {
		return err
	}
	for i := range p.old.N {
		w.count += int64(p.old.Diff(i))
	}
	if w.meet != nil {
		return w.meet(p)
	}
	return w.change(ctx, p)
}

// change writes what becomes of rows, and returns them.
func (w *walk) change(ctx context.Context, p *pendingChange) error {
	if err := w.s.change(ctx, w.c.table, p.old, p.fresh, w.c.columns); err != nil {
		return err
	}
	return w.tell(ctx, p)
}

// tell returns what became of rows that are written.
func (w *walk) tell(ctx context.Context, p *pendingChange) error {
	if p.fresh == nil {
		return w.out.take(ctx, p.old)
	}
	after := *p.fresh
	after.Diffs = p.old.Diffs
	return w.out.take(ctx, &after)
}

func (w *walk) close() {
	if w.rows != nil {
		w.rows.Close()
	}
}
