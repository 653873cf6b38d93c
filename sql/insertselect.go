package sql

import (
	"context"
	"slices"

	pg_query "github.com/pganalyze/pg_query_go/v6"

	"tailrace"
	"tailrace/expr"
)

// insertSelect runs INSERT ... SELECT through the query engine.
func (s *Session) insertSelect(ctx context.Context, st *statement, in *inserting, n *pg_query.InsertStmt) (*Result, error) {
	if err := s.txn.open(ctx, false); err != nil {
		return nil, err
	}
	plan, err := s.planInsert(ctx, st, in, n)
	if err != nil {
		return nil, err
	}
	defaults, err := s.defaults(in.table)
	if err != nil {
		return nil, err
	}
	p, err := s.putting(ctx, st, in)
	if err != nil {
		return nil, err
	}
	rows, err := s.runPlan(ctx, plan, st)
	if err != nil {
		return nil, err
	}
	err = drain(ctx, rows, func(got *tailrace.Batch) error {
		b, err := s.assemble(in, defaults, plan.Columns(), got)
		if err != nil {
			return err
		}
		return p.take(ctx, b)
	})
	return p.result(ctx, err)
}

// assemble makes rows of the table from rows of a query: what it gives converted, the rest by default, multiplicities spread out. Columns that need
// no change are shared with got.
func (s *Session) assemble(in *inserting, defaults filling, cols []tailrace.ResultColumn, got *tailrace.Batch) (*tailrace.Batch, error) {
	got = spreadOut(got)
	fields := in.table.Columns.Fields
	b := &tailrace.Batch{N: got.N, IDs: make([]tailrace.ColumnID, len(fields)), Cols: make([]tailrace.Column, len(fields))}
	from := make([]func(i int) error, len(fields)) // appends row i's value; nil for a column that is there
	row := s.row(nil)
	for c := range fields {
		b.IDs[c] = fields[c].ID
		g := slices.Index(in.columns[:len(cols)], c)
		if g >= 0 && sameStored(cols[g].Type, fields[c].Type) {
			b.Cols[c] = got.Cols[g]
			continue
		}
		col := &b.Cols[c]
		*col = tailrace.MakeColumn(fields[c].Type.Kind, got.N)
		if g < 0 {
			from[c] = func(int) error { return defaults[c].Append(col, row) }
		} else {
			from[c] = func(i int) error { return s.appendConverted(col, fields[c].Type, &got.Cols[g], cols[g].Type, i) }
		}
	}
	if !slices.ContainsFunc(from, func(f func(int) error) bool { return f != nil }) {
		return b, nil
	}
	for i := range got.N {
		for _, f := range from {
			if f == nil {
				continue
			}
			if err := f(i); err != nil {
				return nil, err
			}
		}
	}
	return b, nil
}

// sameStored tells that a value of type from is stored in a column of type to as it is.
func sameStored(from, to tailrace.Type) bool {
	return from.Same(to) && (to.Mod < 0 || to.Mod == from.Mod)
}

// appendConverted adds row i of from, of type ft, to c as type t, by the rules of assignment.
func (s *Session) appendConverted(c *tailrace.Column, t tailrace.Type, from *tailrace.Column, ft tailrace.Type, i int) error {
	if from.IsNull(i) || sameStored(ft, t) {
		c.AppendFrom(from, i)
		return nil
	}
	v, err := expr.Convert(expr.Value{Raw: from.Bytes(i)}, ft, t, false, s.format)
	if err != nil {
		return err
	}
	if v.Null {
		c.AppendNull()
	} else {
		c.Append(v.Raw)
	}
	return nil
}
