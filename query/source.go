package query

import (
	"context"
	"errors"
	"io"

	"tailrace"
	"tailrace/duckdb"
)

// source is one reference to a table within one run.
type source struct {
	ctx context.Context //nolint:containedctx // of the run: DuckDB calls back without one
	ref scanRef
	run *run
}

// Columns are the table's, and the row number if it is asked for.
func (s *source) Columns() []duckdb.Type {
	var out []duckdb.Type
	for _, f := range s.ref.table.Columns.Fields {
		out = append(out, engineType(f.Type.Kind))
	}
	if s.ref.numbed {
		out = append(out, duckdb.BigInt)
	}
	return out
}

// Open begins a scan. DuckDB wants at least one vector, also for count(*), where nobody reads it.
func (s *source) Open(projection []int) (duckdb.Scan, error) {
	c := &scan{s: s}
	var cols []int
	for _, p := range projection {
		switch fields := len(s.ref.table.Columns.Fields); {
		case p < 0:
			c.from = append(c.from, nobody)
		case p == fields:
			c.from = append(c.from, rowNumber)
		default:
			c.from = append(c.from, len(cols))
			c.kinds = append(c.kinds, s.ref.table.Columns.Fields[p].Type.Kind)
			cols = append(cols, p)
		}
	}
	rows, err := s.ref.open(s.ctx, cols)
	if err != nil {
		return nil, s.run.blame(err)
	}
	c.rows = rows
	return c, nil
}

// open begins a scan, of fewer rows where the table can leave some out and their numbers do not matter.
func (r *scanRef) open(ctx context.Context, cols []int) (tailrace.Rows, error) {
	if r.table.Within != nil && len(r.filters) > 0 && !r.numbed {
		return r.table.Within(ctx, cols, r.filters)
	}
	return r.table.Scan(ctx, cols)
}

// Where a vector's values come from, when not from a column.
const (
	nobody    = -1
	rowNumber = -2
)

// scan copies batches of a table into DuckDB's vectors.
type scan struct {
	s     *source
	rows  tailrace.Rows
	from  []int  // for each vector the column of the batch
	kinds []kind // of the columns of the batch
	batch *tailrace.Batch
	at    int           // next row of the batch
	left  tailrace.Diff // how often that row still comes, when the batch has diffs
	base  int64         // number of the batch's first row
}

// Close ends the scan.
func (c *scan) Close() error { return c.rows.Close() }

// Fill writes the next rows. A row of multiplicity n is written n times.
func (c *scan) Fill(out []*duckdb.Vector) (int, error) {
	for c.batch == nil || c.at >= c.batch.N {
		if c.batch != nil {
			c.base += int64(c.batch.N)
		}
		b, err := c.rows.Next(c.s.ctx)
		if errors.Is(err, io.EOF) {
			return 0, nil
		}
		if err != nil {
			return 0, c.s.run.blame(err)
		}
		c.batch, c.at, c.left = b, 0, 0
	}
	if c.batch.Diffs != nil {
		return c.expand(out)
	}
	from := c.at
	n := min(duckdb.MaxRows, c.batch.N-from)
	c.at += n
	for i, v := range out {
		switch f := c.from[i]; f {
		case nobody:
		case rowNumber:
			for k := range n {
				duckdb.Values[int64](v, n)[k] = c.base + int64(from+k)
			}
		default:
			fill(v, c.kinds[f], &c.batch.Cols[f], from, n)
		}
	}
	return n, nil
}

// expand writes rows as often as their diffs say.
func (c *scan) expand(out []*duckdb.Vector) (int, error) {
	var rows []int32
	for len(rows) < duckdb.MaxRows && c.at < c.batch.N {
		if c.left == 0 {
			c.left = c.batch.Diffs[c.at]
		}
		if c.left < 0 {
			return 0, c.s.run.blame(raise(codeInternal, "a row of the table has a negative multiplicity"))
		}
		for ; c.left > 0 && len(rows) < duckdb.MaxRows; c.left-- {
			rows = append(rows, int32(c.at))
		}
		if c.left == 0 {
			c.at++
		}
	}
	if len(rows) == 0 {
		return c.Fill(out) // a batch of rows that are not there: diff 0
	}
	for i, v := range out {
		switch f := c.from[i]; f {
		case nobody:
		case rowNumber:
			for k, r := range rows {
				duckdb.Values[int64](v, len(rows))[k] = c.base + int64(r)
			}
		default:
			col := c.batch.Cols[f].Gather(rows)
			fill(v, c.kinds[f], &col, 0, len(rows))
		}
	}
	return len(rows), nil
}

// fill copies rows [from, from+n) of a column into a vector.
func fill(v *duckdb.Vector, k kind, c *tailrace.Column, from, n int) {
	switch w := width(k); {
	case w > 0:
		copy(v.Fixed(w, n), c.Data[from*w:(from+n)*w])
	case c.Width > 0: // uuid and interval
		offsets := make([]int32, n+1)
		for i := range offsets {
			offsets[i] = int32(i * c.Width)
		}
		v.SetTexts(c.Data[from*c.Width:], offsets)
	default:
		v.SetTexts(c.Data, c.Offsets[from:from+n+1])
	}
	if c.Valid != nil {
		v.SetValidity(c.Valid, from, n)
	}
}
