package sql

import (
	"context"
	"errors"
	"fmt"
	"slices"

	pg_query "github.com/pganalyze/pg_query_go/v6"

	"tailrace"
	"tailrace/catalog"
	"tailrace/expr"
)

// changing is an UPDATE or DELETE whose names are resolved.
type changing struct {
	table   *catalog.Table
	rel     *pg_query.RangeVar
	where   *pg_query.Node
	columns []int            // that an UPDATE assigns, as indexes of the table's
	values  []*pg_query.Node // the expressions assigned; a SetToDefault for DEFAULT

	returning *returning // nil for none
}

func (c *changing) alias() string { return c.rel.Alias.GetAliasname() }

// update runs UPDATE.
func (s *Session) update(ctx context.Context, st *statement, n *pg_query.UpdateStmt) (*Result, error) {
	return s.changeRows(ctx, st, "UPDATE", n.Relation, func() (*changing, error) { return s.resolveUpdate(ctx, st, n) })
}

// deleteRows runs DELETE.
func (s *Session) deleteRows(ctx context.Context, st *statement, n *pg_query.DeleteStmt) (*Result, error) {
	return s.changeRows(ctx, st, "DELETE", n.Relation, func() (*changing, error) { return s.resolveDelete(ctx, st, n) })
}

// changeRows runs the UPDATE or DELETE that resolve gives, or what a prepared one kept of its last run.
func (s *Session) changeRows(ctx context.Context, st *statement, verb string, rel *pg_query.RangeVar, resolve func() (*changing, error)) (*Result, error) {
	if err := s.txn.open(ctx, false); err != nil {
		return nil, err
	}
	k, ok := s.kept(st, rel)
	if !ok || k.change == nil {
		c, err := resolve()
		if err != nil {
			return nil, err
		}
		k.change = &keptChange{changing: c}
	}
	out, err := s.returned(ctx, st, k.change.changing.returning)
	if err != nil {
		return nil, err
	}
	var count int64
	if k.change.path != nil {
		count, err = s.applyByKey(ctx, st, k.change, out)
	} else {
		count, err = s.apply(ctx, st, k.change.changing, out)
	}
	if err != nil {
		out.drop(ctx)
		return nil, err
	}
	return out.result(fmt.Sprintf("%s %d", verb, count)), nil
}

func (s *Session) resolveUpdate(ctx context.Context, st *statement, n *pg_query.UpdateStmt) (*changing, error) {
	table, err := s.target(n.Relation, "update")
	if err != nil {
		return nil, at(err, st.pos(n.Relation.Location))
	}
	switch {
	case len(n.FromClause) > 0:
		return nil, s.unsupported("UPDATE ... FROM", "Use a subquery in SET and in WHERE.")
	case n.WithClause != nil:
		return nil, s.unsupported("UPDATE with WITH before it", "Use a subquery.")
	}
	c := &changing{table: table, rel: n.Relation, where: n.WhereClause}
	if c.columns, c.values, err = s.assignments(st, table, n.TargetList); err != nil {
		return nil, err
	}
	c.returning, err = s.resolveReturning(ctx, st, table, n.Relation, n.ReturningList)
	return c, err
}

// assignments resolves a SET list: the columns, and what each is assigned.
func (s *Session) assignments(st *statement, table *catalog.Table, list []*pg_query.Node) (columns []int, values []*pg_query.Node, err error) {
	for _, t := range list {
		rt := t.GetResTarget()
		i := table.Columns.ByName(rt.Name)
		switch {
		case i < 0:
			return nil, nil, at(noColumn(rt.Name, table), st.pos(rt.Location))
		case slices.Contains(columns, i):
			return nil, nil, failure("42601", "multiple assignments to same column \"%s\"", rt.Name)
		}
		value := rt.Val
		if m := value.GetMultiAssignRef(); m != nil {
			items := m.Source.GetRowExpr().GetArgs()
			if int(m.Colno) > len(items) || int(m.Ncolumns) != len(items) {
				return nil, nil, s.unsupported("assigning a row", "Assign each column by itself.")
			}
			value = items[m.Colno-1]
		}
		columns, values = append(columns, i), append(values, value)
	}
	return columns, values, nil
}

func (s *Session) resolveDelete(ctx context.Context, st *statement, n *pg_query.DeleteStmt) (*changing, error) {
	table, err := s.target(n.Relation, "delete from")
	if err != nil {
		return nil, at(err, st.pos(n.Relation.Location))
	}
	switch {
	case len(n.UsingClause) > 0:
		return nil, s.unsupported("DELETE ... USING", "Use a subquery in WHERE.")
	case n.WithClause != nil:
		return nil, s.unsupported("DELETE with WITH before it", "Use a subquery.")
	}
	c := &changing{table: table, rel: n.Relation, where: n.WhereClause}
	c.returning, err = s.resolveReturning(ctx, st, table, n.Relation, n.ReturningList)
	return c, err
}

// apply finds the rows and changes them: by key without the query engine where that is possible.
func (s *Session) apply(ctx context.Context, st *statement, c *changing, out *returned) (int64, error) {
	path, err := s.keyPath(st, c.table, c.alias(), c.where)
	if err == nil {
		var exprs []*expr.Expr
		if exprs, err = s.bindAssigned(st, c); err == nil {
			k := &keptChange{c, path, exprs}
			s.keep(st, kept{table: c.table, change: k})
			return s.applyByKey(ctx, st, k, out)
		}
	}
	if err = passOn(err); !errors.Is(err, expr.ErrUnsupported) {
		return 0, err
	}
	return s.applyByQuery(ctx, st, c, out)
}

// bindAssigned binds what SET assigns.
func (s *Session) bindAssigned(st *statement, c *changing) ([]*expr.Expr, error) {
	var out []*expr.Expr
	sc := s.tableScope(st, c.table, c.alias())
	for i, n := range c.values {
		f := &c.table.Columns.Fields[c.columns[i]]
		var e *expr.Expr
		var err error
		if n.GetSetToDefault() != nil {
			e, err = s.defaultOf(f)
		} else {
			e, err = expr.BindAs(n, sc, f.Type, f.Name)
		}
		if err != nil {
			return nil, err
		}
		out = append(out, e)
	}
	return out, nil
}

func (s *Session) applyByKey(ctx context.Context, st *statement, k *keptChange, out *returned) (int64, error) {
	c, exprs := k.changing, k.values
	old, err := k.path.find(ctx, s, st)
	if err != nil || old.N == 0 {
		return 0, err
	}
	if len(c.columns) == 0 {
		if err := s.change(ctx, c.table, old, nil, nil); err != nil {
			return 0, err
		}
		return int64(old.N), out.take(ctx, old)
	}
	row := s.row(st.params)
	row.Batch = old
	fresh := &tailrace.Batch{N: old.N, IDs: old.IDs, Cols: slices.Clone(old.Cols)}
	for n, i := range c.columns {
		col := tailrace.MakeColumn(c.table.Columns.Fields[i].Type.Kind, old.N)
		for row.I = 0; row.I < old.N; row.I++ {
			if err := exprs[n].Append(&col, row); err != nil {
				return 0, err
			}
		}
		fresh.Cols[i] = col
	}
	if err := s.change(ctx, c.table, old, fresh, c.columns); err != nil {
		return 0, err
	}
	return int64(old.N), out.take(ctx, fresh)
}

// truncate runs TRUNCATE: every row of the tables is deleted.
func (s *Session) truncate(ctx context.Context, st *statement, n *pg_query.TruncateStmt) (*Result, error) {
	if err := s.txn.open(ctx, false); err != nil {
		return nil, err
	}
	var tables []*catalog.Table
	for _, r := range n.Relations {
		t, err := s.target(r.GetRangeVar(), "truncate")
		if err != nil {
			return nil, err
		}
		tables = append(tables, t)
	}
	for _, t := range tables {
		rows, err := s.scan(ctx, t.ID, t.Columns, nil)
		if err != nil {
			return nil, err
		}
		err = drain(ctx, rows, func(b *tailrace.Batch) error {
			old := b.Project(t.Columns)
			old.Times = nil
			return s.change(ctx, t, old, nil, nil)
		})
		if err != nil {
			return nil, err
		}
	}
	return done("TRUNCATE TABLE"), nil
}
