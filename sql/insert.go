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
	table   *catalog.Table
	columns []int // of the table, that the statement gives values for, in its order
}

// resolveInsert checks the parts of an INSERT that do not depend on its rows.
func (s *Session) resolveInsert(st *statement, n *pg_query.InsertStmt) (*inserting, error) {
	table, err := s.target(n.Relation, "insert into")
	if err != nil {
		return nil, at(err, st.pos(n.Relation.Location))
	}
	switch {
	case n.OnConflictClause != nil:
		return nil, s.unsupported("ON CONFLICT", "Use UPDATE, and INSERT when it changed no row, in one transaction.")
	case len(n.ReturningList) > 0:
		return nil, s.unsupported("RETURNING", "Read the rows with SELECT.")
	case n.WithClause != nil:
		return nil, s.unsupported("INSERT with WITH before it", "Put WITH into the SELECT: INSERT INTO t WITH ... SELECT.")
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
	return in, nil
}

// insert runs INSERT.
func (s *Session) insert(ctx context.Context, st *statement, n *pg_query.InsertStmt) (*Result, error) {
	values := n.SelectStmt.GetSelectStmt().GetValuesLists()
	plain := n.SelectStmt == nil || len(values) > 0
	if err := s.txn.open(ctx, plain && s.alone()); err != nil {
		return nil, err
	}
	if k, ok := s.kept(st, n.Relation); ok && k.insert != nil {
		count, err := s.insertFilled(ctx, st, k.insert)
		if err != nil {
			return nil, err
		}
		return done(fmt.Sprintf("INSERT 0 %d", count)), nil
	}
	in, err := s.resolveInsert(st, n)
	if err != nil {
		return nil, err
	}
	var count int64
	switch {
	case n.SelectStmt == nil:
		count, err = 1, s.insertDefaults(ctx, st, in)
	case len(values) > 0:
		count, err = s.insertValues(ctx, st, in, n)
	default:
		count, err = s.insertSelect(ctx, st, in, n)
	}
	if err != nil {
		return nil, err
	}
	return done(fmt.Sprintf("INSERT 0 %d", count)), nil
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

func (s *Session) insertDefaults(ctx context.Context, _ *statement, in *inserting) error {
	fill, err := s.defaults(in.table)
	if err != nil {
		return err
	}
	b := tailrace.NewBatch(in.table.Columns, 1)
	if err := fill.append(b, s.row(nil)); err != nil {
		return err
	}
	return s.insertRows(ctx, in.table, b)
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

func (s *Session) insertValues(ctx context.Context, st *statement, in *inserting, n *pg_query.InsertStmt) (int64, error) {
	sel := n.SelectStmt.GetSelectStmt()
	if sel.SortClause != nil || sel.LimitCount != nil || sel.LimitOffset != nil || sel.WithClause != nil {
		return s.insertSelect(ctx, st, in, n)
	}
	fills, err := s.bindValues(st, in, sel.ValuesLists)
	if errors.Is(err, expr.ErrUnsupported) {
		return s.insertSelect(ctx, st, in, n)
	}
	if err != nil {
		return 0, err
	}
	k := &keptInsert{in, fills}
	s.keep(st, kept{table: in.table, insert: k})
	return s.insertFilled(ctx, st, k)
}

// insertFilled inserts a row for each filling.
func (s *Session) insertFilled(ctx context.Context, st *statement, k *keptInsert) (int64, error) {
	in, fills := k.in, k.fills
	row := s.row(st.params)
	b := tailrace.NewBatch(in.table.Columns, min(len(fills), insertRowsAtOnce))
	for i, fill := range fills {
		if err := fill.append(b, row); err != nil {
			return 0, err
		}
		if b.N == insertRowsAtOnce || i == len(fills)-1 {
			if err := s.insertRows(ctx, in.table, b); err != nil {
				return 0, err
			}
			b = tailrace.NewBatch(in.table.Columns, min(len(fills)-i-1, insertRowsAtOnce))
		}
	}
	return int64(len(fills)), nil
}
