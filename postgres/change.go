package postgres

import (
	"context"
	"errors"
	"fmt"

	"tailrace"
)

// relation takes a table as it is from here on.
func (r *reader) relation(ctx context.Context, m *wireRelation) error {
	f := r.tables[m.rel]
	if f == nil || f.failed {
		return nil
	}
	if r.catalog == nil || r.catalog.IsClosed() {
		conn, err := r.s.c.connect(ctx)
		if err != nil {
			return err
		}
		r.catalog = conn
	}
	t, err := r.s.c.resolve(ctx, r.catalog, m, f.table, r.xid)
	if err != nil {
		return err
	}
	f.table, f.ready, f.changes = t, true, nil
	if t.Err != nil {
		r.fail(f, t.Err)
	}
	return nil
}

// fail ends the following of a table.
func (r *reader) fail(f *followed, why *tailrace.Error) {
	f.failed = true
	if f.changes != nil { // a row may be half in it
		f.changes.List, f.changes.New, f.changes.Old, f.changes.Unchanged, f.changes.Err = nil, nil, nil, nil, why
		return
	}
	r.piece.Changes = append(r.piece.Changes, &tailrace.SourceChanges{Table: f.table, Err: why})
}

// changesOf is where changes of f go.
func (r *reader) changesOf(f *followed) *tailrace.SourceChanges {
	if f.changes == nil {
		f.changes = &tailrace.SourceChanges{Table: f.table, New: emptyBatch(f.table), Old: &tailrace.Batch{}}
		r.piece.Changes = append(r.piece.Changes, f.changes)
	}
	return f.changes
}

func (r *reader) truncate(rel uint32) {
	f := r.tables[rel]
	if f == nil || f.failed || r.skip {
		return
	}
	c := r.changesOf(f)
	c.List = append(c.List, tailrace.SourceChange{Kind: tailrace.ChangeTruncate, New: -1, Old: -1})
}

// change adds an insert, update or delete to the piece.
func (r *reader) change(b []byte) error {
	m, err := readChange(b)
	if err != nil {
		return err
	}
	f := r.tables[m.rel]
	if f == nil || f.failed || r.skip {
		return nil
	}
	if !f.ready {
		return fmt.Errorf("a change of table %d, which no Relation message described: %w", m.rel, tailrace.ErrCorrupt)
	}
	if err := r.addChange(r.changesOf(f), f.table, &m); err != nil {
		var own *tailrace.Error
		if !errors.As(err, &own) {
			return err
		}
		own.Message = "table " + plainTable(f.table.Schema, f.table.Name) + ": " + own.Message
		own.Table = f.table.Name
		r.fail(f, own)
		return nil
	}
	r.piece.Bytes += len(b)
	if r.piece.Bytes >= pieceBytes {
		return r.hand(r.take())
	}
	return nil
}

// addChange adds m to c. An *Error concerns the table alone.
func (r *reader) addChange(c *tailrace.SourceChanges, t *tailrace.SourceTable, m *wireChange) error {
	ch := tailrace.SourceChange{Kind: tailrace.ChangeInsert, New: -1, Old: -1}
	switch m.kind {
	case msgUpdate:
		ch.Kind = tailrace.ChangeUpdate
	case msgDelete:
		ch.Kind = tailrace.ChangeDelete
	}
	if m.oldKind != 0 {
		if m.oldKind != 'O' && len(t.Key) == 0 {
			return alteredError(t, "no longer sends whole old rows, which a table without a key needs")
		}
		if c.Old.N == 0 { // most transactions send no old rows
			*c.Old = *emptyBatch(t)
		}
		ch.Old, ch.OldFull = int32(c.Old.N), m.oldKind == 'O'
		if err := r.addRow(c, t, c.Old, &m.old, -1); err != nil {
			return err
		}
	} else if ch.Kind == tailrace.ChangeUpdate && len(t.Key) == 0 {
		return alteredError(t, "no longer sends whole old rows, which a table without a key needs")
	}
	if m.kind != msgDelete {
		ch.New = int32(c.New.N)
		from := int32(-1)
		if ch.OldFull {
			from = ch.Old
		}
		if err := r.addRow(c, t, c.New, &m.new, from); err != nil {
			return err
		}
	}
	c.List = append(c.List, ch)
	return nil
}

// addRow adds a row to b, which is c.New or c.Old. Cells that were not sent come from row old of c.Old when it is >= 0, else they are noted.
func (r *reader) addRow(c *tailrace.SourceChanges, t *tailrace.SourceTable, b *tailrace.Batch, row *tuple, old int32) error {
	if row.n != len(t.Columns) {
		return fmt.Errorf("a row of %d columns in table %s of %d: %w", row.n, t.Name, len(t.Columns), tailrace.ErrCorrupt)
	}
	for i := range t.Columns {
		kind, text := row.cell()
		switch {
		case kind == 't':
			if err := appendValue(r.s.c.Parse, &t.Columns[i], &b.Cols[i], text); err != nil {
				return err
			}
		case kind == 'u' && old >= 0:
			b.Cols[i].AppendFrom(&c.Old.Cols[i], int(old))
		case kind == 'u' && b == c.New:
			b.Cols[i].AppendNull()
			c.Unchanged = append(c.Unchanged, tailrace.SourceCell{Row: int32(b.N), Col: int32(i)})
		case kind == 'n' || kind == 'u':
			b.Cols[i].AppendNull()
		default:
			return fmt.Errorf("a cell of kind %q in table %s: %w", kind, t.Name, tailrace.ErrCorrupt)
		}
	}
	b.N++
	return nil
}
