package sql

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"tailrace"
	"tailrace/format"
)

// take writes rows with the columns that the COPY names, whose memory stays the caller's.
func (c *CopyIn) take(ctx context.Context, b *tailrace.Batch) error {
	rows, err := c.session.assemble(c.in, c.defaults, c.types, b)
	if err != nil {
		return err
	}
	c.rows += int64(rows.N)
	return c.session.insertRows(ctx, c.in.table, rows)
}

// write writes the rows of m, parsed: the memory of b is given away with them. Of several rows that are refused the error is that of the first.
func (c *CopyIn) write(ctx context.Context, b *tailrace.Batch, m *format.Morsel) error {
	rows, err := c.complete(b)
	if err != nil {
		return err
	}
	s, table := c.session, c.in.table
	if err := s.checkRows(ctx, table, rows); err != nil {
		bad, err := c.firstBad(ctx, rows, err)
		if twice := c.checkKeys(ctx, piece(rows, 0, bad)); twice != nil {
			return twice
		}
		return c.place(err, m, bad)
	}
	if err := c.checkKeys(ctx, rows); err != nil {
		return err
	}
	c.rows += int64(rows.N)
	return s.txn.write(table).top().take(ctx, rows)
}

// checkKeys is 23505 for the first of rows whose key is there.
func (c *CopyIn) checkKeys(ctx context.Context, rows *tailrace.Batch) error {
	if len(c.in.table.Columns.Key) == 0 || rows.N == 0 {
		return nil
	}
	return c.session.unique(ctx, c.session.txn.write(c.in.table), rows)
}

// firstBad is the first row that a check refuses, and its error; whole is what the checks said of all rows.
func (c *CopyIn) firstBad(ctx context.Context, rows *tailrace.Batch, whole error) (int, error) {
	for i := range rows.N {
		if err := c.session.checkRows(ctx, c.in.table, piece(rows, i, i+1)); err != nil {
			return i, err
		}
	}
	return rows.N, whole // of no row: a cancel
}

// place adds where row i of m came from to its error, as PostgreSQL's CONTEXT.
func (c *CopyIn) place(err error, m *format.Morsel, i int) error {
	var e *tailrace.Error
	if i >= m.Rows || !errors.As(err, &e) || e.Where != "" {
		return err
	}
	at := *e
	at.Where = fmt.Sprintf("COPY %s, %s", c.in.table.Name, m.Where(i))
	return &at
}

// complete makes rows of the table from rows with the columns that the data has: the others have their default.
func (c *CopyIn) complete(b *tailrace.Batch) (*tailrace.Batch, error) {
	fields := c.in.table.Columns.Fields
	out := &tailrace.Batch{N: b.N, IDs: make([]tailrace.ColumnID, len(fields)), Cols: make([]tailrace.Column, len(fields))}
	row := c.session.row(nil)
	for i := range fields {
		out.IDs[i] = fields[i].ID
		if k := slices.Index(c.in.columns, i); k >= 0 {
			out.Cols[i] = b.Cols[k]
			continue
		}
		col := &out.Cols[i]
		*col = tailrace.MakeColumn(fields[i].Type.Kind, b.N)
		if c.defaults[i].Const {
			if err := c.defaults[i].Append(col, row); err != nil {
				return nil, err
			}
			var value []byte
			if !col.IsNull(0) {
				value = slices.Clone(col.Bytes(0))
			}
			*col = tailrace.ConstColumn(fields[i].Type.Kind, value, b.N)
			continue
		}
		for range b.N {
			if err := c.defaults[i].Append(col, row); err != nil {
				return nil, err
			}
		}
	}
	return out, nil
}
