package sql

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"

	pg_query "github.com/pganalyze/pg_query_go/v6"

	"tailrace"
	"tailrace/catalog"
	"tailrace/format"
)

// CopyIn takes the data of a COPY FROM STDIN.
type CopyIn struct {
	Columns int  // for CopyInResponse
	Binary  bool // likewise

	session  *Session
	in       *inserting
	defaults filling
	types    []tailrace.ResultColumn
	reader   *format.CopyReader
	rows     int64
}

// copyFrom runs COPY table FROM STDIN up to where the data comes.
func (s *Session) copyFrom(st *statement, n *pg_query.CopyStmt, o *copyOptions) (*Result, error) {
	table, err := s.target(n.Relation, "copy to")
	if err != nil {
		return nil, err
	}
	if n.WhereClause != nil {
		return nil, s.unsupported("COPY FROM with WHERE", "Delete the rows afterwards, in the same transaction.")
	}
	cols, err := copyColumns(table, n.Attlist)
	if err != nil {
		return nil, err
	}
	c := &CopyIn{Columns: len(cols), Binary: o.layout == format.CopyBinary, session: s, in: &inserting{table: table, columns: cols}}
	if c.defaults, err = s.defaults(table); err != nil {
		return nil, err
	}
	ro := format.CopyOptions{
		Layout: o.layout, Copy: o.spelling(), Table: table.Name, HeaderMatch: o.headerMatch,
		ForceNotNull: flags(o.forceNotNull, table, cols), ForceNull: flags(o.forceNull, table, cols),
	}
	var types []tailrace.Type
	for _, i := range cols {
		f := table.Columns.Fields[i]
		types = append(types, f.Type)
		ro.Columns = append(ro.Columns, f.Name)
		c.types = append(c.types, tailrace.ResultColumn{Name: f.Name, Type: f.Type})
	}
	f := *s.format
	f.Now = s.start
	c.reader = format.NewCopyReader(ro, types, &f)
	return &Result{CopyIn: c, tag: func(int64) string { return fmt.Sprintf("COPY %d", c.rows) }}, nil
}

// flags marks the columns that list names; nil when it names none.
func flags(list []string, table *catalog.Table, cols []int) []bool {
	if len(list) == 0 {
		return nil
	}
	out := make([]bool, len(cols))
	for i, c := range cols {
		out[i] = slices.Contains(list, "*") || slices.Contains(list, table.Columns.Fields[c].Name)
	}
	return out
}

// Write takes a chunk of the data, cut anywhere. After an error the COPY is over.
func (c *CopyIn) Write(ctx context.Context, chunk []byte) error {
	c.reader.Feed(chunk)
	return userError(ctx, c.pump(ctx))
}

// pump writes the rows that are complete.
func (c *CopyIn) pump(ctx context.Context) error {
	for {
		b, err := c.reader.Next()
		if errors.Is(err, io.EOF) || b == nil && err == nil {
			return nil
		}
		if err != nil {
			return err
		}
		if err := c.take(ctx, b); err != nil {
			return err
		}
	}
}

func (c *CopyIn) take(ctx context.Context, b *tailrace.Batch) error {
	rows, err := c.session.assemble(c.in, c.defaults, c.types, b)
	if err != nil {
		return err
	}
	c.rows += int64(rows.N)
	return c.session.insertRows(ctx, c.in.table, rows)
}

// Done tells that all data came, and returns how many rows there were. Then call Result.Finish.
func (c *CopyIn) Done(ctx context.Context) (rows int64, err error) {
	c.reader.Finish()
	err = userError(ctx, c.pump(ctx))
	return c.rows, err
}

// Fail tells that the client gave up, with its reason. The rows so far wait in the transaction, which Session.Fail then undoes.
func (c *CopyIn) Fail(string) { c.reader = nil }

// spread is rows with each row as often as its multiplicity says.
type spread struct{ rows tailrace.Rows }

func (r *spread) Next(ctx context.Context) (*tailrace.Batch, error) {
	b, err := r.rows.Next(ctx)
	if err != nil {
		return nil, err
	}
	return spreadOut(b), nil
}

func (r *spread) Close() error { return r.rows.Close() }

func spreadOut(b *tailrace.Batch) *tailrace.Batch {
	if b.Diffs == nil {
		return b
	}
	var at []int32
	plain := true
	for i, d := range b.Diffs {
		plain = plain && d == 1
		for range d {
			at = append(at, int32(i))
		}
	}
	src := *b
	src.Diffs = nil
	if plain {
		return &src
	}
	return src.Gather(at)
}
