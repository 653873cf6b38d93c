package redo

import (
	"fmt"

	"tailrace"
)

// Kind says what a Piece holds.
type Kind uint8

// The kinds of pieces. The numbers are those of records in a segment, which has others besides.
const (
	// Snapshot is rows of the table as of To.Time, all with that time; updates at or before it are not sent as Changes. A snapshot at another time than that of the
	// one before begins the table anew. One without rows makes an empty table.
	Snapshot Kind = 2
	// Changes is updates, in time order, those of one key and one time in the order -old, +new.
	Changes Kind = 3
	// Alter is a change of the table at To.Time. It counts as one update there.
	Alter Kind = 4
)

// Piece is what one span sends at a time.
type Piece struct {
	Kind Kind
	// Table is what Rows are of. It may be nil when it is that of the span's piece before, in the same Writer; after an Alter it is the one that it leads to.
	Table *tailrace.SinkTable
	// Rows has the columns of Table in order. Of Changes it has Times; of a Snapshot they are not looked at.
	Rows  *tailrace.Batch
	Alter *tailrace.SinkAlter
	// To is how far the span is with this piece.
	To Position
}

// check reports what is wrong with p after a piece that came to last, with the table that it is of.
func (p *Piece) check(table *tailrace.SinkTable, last Position) error {
	switch {
	case p.To.Before(last):
		return fmt.Errorf("it leads to %+v, and the span is at %+v", p.To, last)
	case p.Kind == Alter && p.Alter == nil, p.Kind == Alter && p.Rows != nil:
		return fmt.Errorf("an alter has Alter and no Rows")
	case p.Kind == Alter:
		return nil
	case p.Kind != Snapshot && p.Kind != Changes:
		return fmt.Errorf("kind %d is not known", p.Kind)
	case table == nil:
		return fmt.Errorf("the span's first piece has no Table")
	case p.Rows == nil || p.Rows.N == 0:
		return nil
	}
	if err := fits(p.Rows, table); err != nil {
		return err
	}
	if p.Kind == Changes {
		return p.checkTimes(last)
	}
	return nil
}

// fits reports whether rows have the columns of t, in order.
func fits(rows *tailrace.Batch, t *tailrace.SinkTable) error {
	if t == nil || len(rows.Cols) != len(t.Columns.Fields) || len(rows.IDs) != len(rows.Cols) {
		return fmt.Errorf("the rows have other columns than the table")
	}
	for i, f := range t.Columns.Fields {
		if rows.IDs[i] != f.ID || rows.Cols[i].Width != f.Type.Kind.Width() {
			return fmt.Errorf("column %d of the rows is not %s of the table", i, f.Name)
		}
	}
	return nil
}

// checkTimes wants the times after last, in order, and up to p.To.
func (p *Piece) checkTimes(last Position) error {
	if len(p.Rows.Times) != p.Rows.N {
		return fmt.Errorf("there are %d times for %d updates", len(p.Rows.Times), p.Rows.N)
	}
	before := last.Resolved() // at this time nothing more may come, unless it is the zero time
	for i, at := range p.Rows.Times {
		if at <= last.Resolved() || at < before || at > p.To.Time {
			return fmt.Errorf("update %d is at %d, after one at %d and with the span going from %+v to %+v", i, at, before, last, p.To)
		}
		before = at
	}
	return nil
}
