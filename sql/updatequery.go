package sql

import (
	"cmp"
	"context"
	"slices"

	pg_query "github.com/pganalyze/pg_query_go/v6"
	"google.golang.org/protobuf/proto"

	"tailrace"
	"tailrace/query"
)

// found is what the query engine says about one row to change: its number in the scan, and the values assigned.
type found struct {
	number int64
	batch  *tailrace.Batch
	i      int
}

// applyByQuery lets the query engine pick row numbers and compute the assigned values, then walks over the same snapshot for the old rows.
func (s *Session) applyByQuery(ctx context.Context, st *statement, c *changing) (int64, error) {
	plan, err := s.planChange(ctx, st, c)
	if err != nil {
		return 0, err
	}
	rows, err := s.runPlan(ctx, plan, st)
	if err != nil {
		return 0, err
	}
	var hits []found
	err = drain(ctx, rows, func(b *tailrace.Batch) error {
		kept := *b
		if len(c.columns) > 0 {
			kept = copyOf(b)
		}
		numbers := b.Cols[0].Int64s()
		for i := range b.N {
			hits = append(hits, found{numbers[i], &kept, i})
		}
		return nil
	})
	if err != nil {
		return 0, err
	}
	slices.SortFunc(hits, func(a, b found) int { return cmp.Compare(a.number, b.number) })
	return s.applyHits(ctx, c, plan.Columns(), slices.CompactFunc(hits, func(a, b found) bool { return a.number == b.number }))
}

// copyOf is b with memory of its own.
func copyOf(b *tailrace.Batch) tailrace.Batch {
	all := make([]int32, b.N)
	for i := range all {
		all[i] = int32(i)
	}
	return *b.Gather(all)
}

// applyHits walks over the table's rows in scan order and changes those that hits, sorted, numbers.
func (s *Session) applyHits(ctx context.Context, c *changing, cols []tailrace.ResultColumn, hits []found) (int64, error) {
	if len(hits) == 0 {
		return 0, nil
	}
	all, err := s.scan(ctx, c.table.ID, c.table.Columns, nil)
	if err != nil {
		return 0, err
	}
	count, base := int64(0), int64(0)
	var pending []*pendingChange
	err = drain(ctx, all, func(b *tailrace.Batch) error {
		var old []int32
		var mine []found
		for len(hits) > 0 && hits[0].number < base+int64(b.N) {
			old = append(old, int32(hits[0].number-base))
			mine, hits = append(mine, hits[0]), hits[1:]
		}
		base += int64(b.N)
		if len(old) == 0 {
			return nil
		}
		p := &pendingChange{old: b.Gather(old)}
		p.old.IDs, p.old.Times = tailrace.NewBatch(c.table.Columns, 0).IDs, nil
		for i := range p.old.N {
			count += int64(p.old.Diff(i))
		}
		if p.fresh, err = s.freshRows(c, cols, p.old, mine); err != nil {
			return err
		}
		pending = append(pending, p)
		return nil
	})
	if err != nil {
		return 0, err
	}
	return count, s.changeAll(ctx, c, pending)
}

// pendingChange is old rows and what becomes of them.
type pendingChange struct{ old, fresh *tailrace.Batch }

// changeAll writes the changes. When keys may move they are checked as one, so that a row may take the key that another one leaves.
func (s *Session) changeAll(ctx context.Context, c *changing, pending []*pendingChange) error {
	if touchesKey(c.table.Columns, c.columns) && len(pending) > 1 {
		one := &pendingChange{old: tailrace.NewBatch(c.table.Columns, 0), fresh: tailrace.NewBatch(c.table.Columns, 0)}
		for _, p := range pending {
			appendBatch(one.old, p.old)
			appendBatch(one.fresh, p.fresh)
		}
		pending = []*pendingChange{one}
	}
	for _, p := range pending {
		if err := s.change(ctx, c.table, p.old, p.fresh, c.columns); err != nil {
			return err
		}
	}
	return nil
}

// freshRows is old with the assigned columns replaced; nil for a DELETE.
func (s *Session) freshRows(c *changing, cols []tailrace.ResultColumn, old *tailrace.Batch, hits []found) (*tailrace.Batch, error) {
	if len(c.columns) == 0 {
		return nil, nil
	}
	fresh := &tailrace.Batch{N: old.N, IDs: old.IDs, Cols: slices.Clone(old.Cols)}
	out := 1 // column 0 is the row number
	for k, i := range c.columns {
		f := &c.table.Columns.Fields[i]
		col := tailrace.MakeColumn(f.Type.Kind, old.N)
		if c.values[k].GetSetToDefault() != nil {
			e, err := s.defaultOf(f)
			if err != nil {
				return nil, err
			}
			for range hits {
				if err := e.Append(&col, s.row(nil)); err != nil {
					return nil, err
				}
			}
		} else {
			for _, h := range hits {
				if err := s.appendConverted(&col, f.Type, &h.batch.Cols[out], cols[out].Type, h.i); err != nil {
					return nil, err
				}
			}
			out++
		}
		fresh.Cols[i] = col
	}
	return fresh, nil
}

// planChange plans SELECT values FROM table WHERE ... with row numbers.
func (s *Session) planChange(ctx context.Context, st *statement, c *changing) (*query.Plan, error) {
	sel := &pg_query.SelectStmt{
		FromClause:  []*pg_query.Node{{Node: &pg_query.Node_RangeVar{RangeVar: c.rel}}},
		WhereClause: c.where, LimitOption: pg_query.LimitOption_LIMIT_OPTION_DEFAULT, Op: pg_query.SetOperation_SETOP_NONE,
	}
	var fields []*tailrace.Field
	for k, n := range c.values {
		if n.GetSetToDefault() != nil {
			continue
		}
		f := &c.table.Columns.Fields[c.columns[k]]
		fields = append(fields, f)
		val := typed(proto.Clone(n).(*pg_query.Node), f.Type)
		sel.TargetList = append(sel.TargetList, &pg_query.Node{Node: &pg_query.Node_ResTarget{ResTarget: &pg_query.ResTarget{Val: val, Name: f.Name, Location: nodeLocation(n)}}})
	}
	p, err := s.plan(ctx, st, &pg_query.Node{Node: &pg_query.Node_SelectStmt{SelectStmt: sel}}, query.RowRef)
	if err != nil {
		return nil, err
	}
	for i, f := range fields {
		if err := assignable(f, p.Columns()[i+1].Type); err != nil {
			return nil, at(err, st.pos(nodeLocation(sel.TargetList[i].GetResTarget().Val)))
		}
	}
	return p, nil
}
