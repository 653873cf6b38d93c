package sql

import (
	"context"
	"errors"
	"io"

	pg_query "github.com/pganalyze/pg_query_go/v6"

	"tailrace"
	"tailrace/expr"
)

// insertSelect runs INSERT ... SELECT through the query engine.
func (s *Session) insertSelect(ctx context.Context, st *statement, in *inserting, n *pg_query.InsertStmt) (int64, error) {
	if err := s.txn.open(ctx, false); err != nil {
		return 0, err
	}
	plan, err := s.planInsert(ctx, st, in, n)
	if err != nil {
		return 0, err
	}
	rows, err := s.runPlan(ctx, plan, st)
	if err != nil {
		return 0, err
	}
	defer rows.Close()
	defaults, err := s.defaults(in.table)
	if err != nil {
		return 0, err
	}
	count := int64(0)
	for {
		got, err := rows.Next(ctx)
		if errors.Is(err, io.EOF) {
			return count, nil
		}
		if err != nil {
			return 0, err
		}
		b, err := s.assemble(in, defaults, plan.Columns(), got)
		if err != nil {
			return 0, err
		}
		count += int64(b.N)
		if err := s.insertRows(ctx, in.table, b); err != nil {
			return 0, err
		}
	}
}

// assemble makes rows of the table from rows of a query: what it gives converted, the rest by default, multiplicities spread out.
func (s *Session) assemble(in *inserting, defaults filling, cols []tailrace.ResultColumn, got *tailrace.Batch) (*tailrace.Batch, error) {
	b := tailrace.NewBatch(in.table.Columns, got.N)
	given := make([]int, len(in.table.Columns.Fields))
	for i := range given {
		given[i] = -1
	}
	for i := range cols {
		given[in.columns[i]] = i
	}
	row := s.row(nil)
	for i := range got.N {
		for range got.Diff(i) {
			for c := range b.Cols {
				if given[c] < 0 {
					if err := defaults[c].Append(&b.Cols[c], row); err != nil {
						return nil, err
					}
					continue
				}
				from := &got.Cols[given[c]]
				if err := s.appendConverted(&b.Cols[c], in.table.Columns.Fields[c].Type, from, cols[given[c]].Type, i); err != nil {
					return nil, err
				}
			}
			b.AppendDiff(1)
		}
	}
	return b, nil
}

// appendConverted adds row i of from, of type ft, to c as type t, by the rules of assignment.
func (s *Session) appendConverted(c *tailrace.Column, t tailrace.Type, from *tailrace.Column, ft tailrace.Type, i int) error {
	if from.IsNull(i) || ft.Kind == t.Kind && (t.Mod < 0 || t.Mod == ft.Mod) {
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
