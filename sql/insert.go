package sql

import (
	"context"
	"errors"
	"fmt"

	pg_query "github.com/pganalyze/pg_query_go/v6"

	"tailrace"
	"tailrace/catalog"
	"tailrace/expr"
)

// insertRowsAtOnce is how many rows of an INSERT are checked and written together.
const insertRowsAtOnce = 4096

// inserting is an INSERT whose names are resolved.
type inserting struct {
	table     *catalog.Table
	columns   []int       // of the table, that the statement gives values for, in its order
	conflict  *onConflict // nil for none
	returning *returning  // likewise
}

// resolveInsert checks the parts of an INSERT that do not depend on its rows.
func (s *Session) resolveInsert(ctx context.Context, st *statement, n *pg_query.InsertStmt) (*inserting, error) {
	table, err := s.target(n.Relation, "insert into")
	if err != nil {
		return nil, at(err, st.pos(n.Relation.Location))
	}
	in := &inserting{table: table}
	seen := map[int]bool{}
	for _, c := range n.Cols {
		t := c.GetResTarget()
		i := table.Columns.ByName(t.Name)
		if i < 0 {
			return nil, at(noColumn(t.Name, table), st.pos(t.Location))
		}
		if seen[i] {
			return nil, at(failure("42701", "column \"%s\" specified more than once", t.Name), st.pos(t.Location))
		}
		seen[i] = true
		in.columns = append(in.columns, i)
	}
	if len(n.Cols) == 0 {
		for i := range table.Columns.Fields {
			in.columns = append(in.columns, i)
		}
	}
	if in.conflict, err = s.resolveConflict(ctx, st, table, n.Relation, n.OnConflictClause); err != nil {
		return nil, err
	}
	in.returning, err = s.resolveReturning(ctx, st, table, n.Relation, n.ReturningList)
	return in, err
}

// insert runs INSERT.
func (s *Session) insert(ctx context.Context, st *statement, n *pg_query.InsertStmt) (*Result, error) {
	values := n.SelectStmt.GetSelectStmt().GetValuesLists()
	plain := n.SelectStmt == nil || len(values) > 0
	if err := s.txn.open(ctx, plain && n.OnConflictClause == nil && s.alone()); err != nil {
		return nil, err
	}
	if k, ok := s.kept(st, n.Relation); ok && k.insert != nil {
		return s.insertFilled(ctx, st, k.insert)
	}
	in, err := s.resolveInsert(ctx, st, n)
	if err != nil {
		return nil, err
	}
	switch {
	case n.SelectStmt == nil:
		return s.insertDefaults(ctx, st, in)
	case len(values) > 0:
		return s.insertValues(ctx, st, in, n)
	}
	return s.insertSelect(ctx, st, in, n)
}

// alone tells that the transaction is a single statement's.
func (s *Session) alone() bool { return s.state == implicit && !s.prior }

// scope is what names in an expression without columns stand for.
func (s *Session) scope(st *statement) *expr.Scope {
	return &expr.Scope{Text: st.Text, Params: &st.types, Settings: s.format, Type: s.namedType}
}

// filling is how the columns of a row come about: by an expression of the statement, or by the column's default.
type filling []*expr.Expr

// defaults is the filling with every column's default.
func (s *Session) defaults(table *catalog.Table) (filling, error) {
	out := make(filling, len(table.Columns.Fields))
	for i := range out {
		e, err := s.defaultOf(&table.Columns.Fields[i])
		if err != nil {
			return nil, err
		}
		out[i] = e
	}
	return out, nil
}

// defaultOf is a column's default as an expression, NULL when it has none.
func (s *Session) defaultOf(f *tailrace.Field) (*expr.Expr, error) {
	text := f.Default
	if d := s.domainOf(f); text == "" && d != nil {
		text = d.Default
	}
	if text == "" {
		text = "NULL"
	}
	text = "SELECT " + text
	sts, err := s.engine.texts.Parse(text)
	if err != nil {
		return nil, fmt.Errorf("read the default of column %s: %w", f.Name, err)
	}
	n := sts[0].Tree.GetSelectStmt().TargetList[0].GetResTarget().Val
	return expr.BindAs(n, &expr.Scope{Settings: s.format, Type: s.namedType}, f.Type, f.Name)
}

// append evaluates the filling into b's columns.
func (fill filling) append(b *tailrace.Batch, r *expr.Row) error {
	for i, e := range fill {
		if err := e.Append(&b.Cols[i], r); err != nil {
			return err
		}
	}
	b.AppendDiff(1)
	return nil
}

func (s *Session) insertDefaults(ctx context.Context, st *statement, in *inserting) (*Result, error) {
	fill, err := s.defaults(in.table)
	if err != nil {
		return nil, err
	}
	return s.insertFilled(ctx, st, &keptInsert{in, []filling{fill}})
}

// bindValues binds the rows of VALUES. The error is expr.ErrUnsupported when one needs the query engine.
func (s *Session) bindValues(st *statement, in *inserting, rows []*pg_query.Node) ([]filling, error) {
	defaults, err := s.defaults(in.table)
	if err != nil {
		return nil, err
	}
	sc := s.scope(st)
	out := make([]filling, 0, len(rows))
	for _, row := range rows {
		items := row.GetList().Items
		if err := s.checkWidth(st, in, len(items), items, len(rows[0].GetList().Items)); err != nil {
			return nil, err
		}
		fill := append(filling(nil), defaults...)
		for i, item := range items {
			if item.GetSetToDefault() != nil {
				continue
			}
			f := &in.table.Columns.Fields[in.columns[i]]
			if fill[in.columns[i]], err = expr.BindAs(item, sc, f.Type, f.Name); err != nil {
				return nil, err
			}
		}
		out = append(out, fill)
	}
	return out, nil
}

// checkWidth is 42601 when a row has more values than columns, or the statement names more columns than values.
func (s *Session) checkWidth(st *statement, in *inserting, n int, items []*pg_query.Node, first int) error {
	n0 := len(in.columns)
	switch {
	case n != first:
		return at(failure("42601", "VALUES lists must all be the same length"), st.pos(locate(items, 0)))
	case n > n0:
		return at(failure("42601", "INSERT has more expressions than target columns"), st.pos(locate(items, n0)))
	case n < n0 && st.Tree.GetInsertStmt() != nil && len(st.Tree.GetInsertStmt().Cols) > 0:
		c := st.Tree.GetInsertStmt().Cols[n].GetResTarget()
		return at(failure("42601", "INSERT has more target columns than expressions"), st.pos(c.Location))
	}
	return nil
}

func locate(items []*pg_query.Node, i int) int32 {
	if i >= len(items) {
		return -1
	}
	return nodeLocation(items[i])
}

// nodeLocation is where an expression begins, -1 when its node does not say.
func nodeLocation(n *pg_query.Node) int32 {
	switch n := n.GetNode().(type) {
	case *pg_query.Node_AConst:
		return n.AConst.Location
	case *pg_query.Node_ColumnRef:
		return n.ColumnRef.Location
	case *pg_query.Node_ParamRef:
		return n.ParamRef.Location
	case *pg_query.Node_TypeCast:
		return nodeLocation(n.TypeCast.Arg)
	case *pg_query.Node_FuncCall:
		return n.FuncCall.Location
	case *pg_query.Node_AExpr:
		if n.AExpr.Lexpr != nil {
			return nodeLocation(n.AExpr.Lexpr)
		}
		return n.AExpr.Location
	case *pg_query.Node_SetToDefault:
		return n.SetToDefault.Location
	}
	return -1
}

func (s *Session) insertValues(ctx context.Context, st *statement, in *inserting, n *pg_query.InsertStmt) (*Result, error) {
	sel := n.SelectStmt.GetSelectStmt()
	if sel.SortClause != nil || sel.LimitCount != nil || sel.LimitOffset != nil || sel.WithClause != nil {
		return s.insertSelect(ctx, st, in, n)
	}
	fills, err := s.bindValues(st, in, sel.ValuesLists)
	if errors.Is(err, expr.ErrUnsupported) {
		return s.insertSelect(ctx, st, in, n)
	}
	if err != nil {
		return nil, err
	}
	k := &keptInsert{in, fills}
	s.keep(st, kept{table: in.table, insert: k})
	return s.insertFilled(ctx, st, k)
}

// insertFilled inserts a row for each filling.
func (s *Session) insertFilled(ctx context.Context, st *statement, k *keptInsert) (*Result, error) {
	s.way = "values"
	p, err := s.putting(ctx, st, k.in)
	if err != nil {
		return nil, err
	}
	return p.result(ctx, p.fill(ctx, k.fills))
}

// fill inserts a row for each filling.
func (p *putting) fill(ctx context.Context, fills []filling) error {
	row := p.s.row(p.st.params)
	schema := p.in.table.Columns
	b := tailrace.NewBatch(schema, min(len(fills), insertRowsAtOnce))
	for i, fill := range fills {
		if err := fill.append(b, row); err != nil {
			return err
		}
		if b.N == insertRowsAtOnce || i == len(fills)-1 {
			if err := p.take(ctx, b); err != nil {
				return err
			}
			b = tailrace.NewBatch(schema, min(len(fills)-i-1, insertRowsAtOnce))
		}
	}
	return nil
}
