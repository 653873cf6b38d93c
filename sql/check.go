package sql

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	pg_query "github.com/pganalyze/pg_query_go/v6"
	"google.golang.org/protobuf/proto"

	"tailrace"
	"tailrace/catalog"
	"tailrace/expr"
)

// deparseExpr is an expression as SQL.
func deparseExpr(n *pg_query.Node) (string, error) {
	res, err := pg_query.Deparse(&pg_query.ParseResult{Version: grammarVersion, Stmts: []*pg_query.RawStmt{{Stmt: &pg_query.Node{Node: &pg_query.Node_SelectStmt{SelectStmt: &pg_query.SelectStmt{
		TargetList: []*pg_query.Node{{Node: &pg_query.Node_ResTarget{ResTarget: &pg_query.ResTarget{Val: n}}}},
	}}}}}})
	if err != nil {
		return "", fmt.Errorf("write an expression: %w", err)
	}
	return strings.TrimPrefix(res, "SELECT "), nil
}

// parseExpr reads what deparseExpr wrote. The tree is shared: it is not to be changed.
func (s *Session) parseExpr(text string) (*pg_query.Node, error) {
	sts, err := s.engine.texts.Parse("SELECT " + text)
	if err != nil {
		return nil, fmt.Errorf("read the expression %s: %w", text, err)
	}
	return sts[0].Tree.GetSelectStmt().TargetList[0].GetResTarget().Val, nil
}

// checked tells that rows of a table must meet more than NOT NULL and the key.
func checked(t *catalog.Table) bool {
	return len(t.Checks) > 0 || slices.ContainsFunc(t.Columns.Fields, func(f tailrace.Field) bool { return f.Domain != 0 })
}

// checkRows checks rows that are to be written: 23502 for a NULL where there may be none, 23514 for the first row that a CHECK of the table or of a column's
// domain is false for.
func (s *Session) checkRows(ctx context.Context, table *catalog.Table, b *tailrace.Batch) error {
	if err := s.checkNotNull(table, b); err != nil || !checked(table) {
		return err
	}
	row := s.row(nil)
	row.Batch = b
	for i := range table.Columns.Fields {
		if err := s.checkDomain(ctx, &table.Columns.Fields[i], i, b, row); err != nil {
			return err
		}
	}
	sc := &expr.Scope{Settings: s.format, Type: s.namedType, Column: columnsOf(table)}
	for _, c := range table.Checks {
		bad, err := s.violation(ctx, c.Expr, sc, &checkedRows{table.Columns, b}, row)
		if err != nil {
			return err
		}
		if bad >= 0 {
			return &tailrace.Error{
				Code: "23514", Message: fmt.Sprintf("new row for relation \"%s\" violates check constraint \"%s\"", table.Name, c.Name),
				Detail: "Failing row contains " + s.rowText(table, b, bad) + ".", Schema: table.Schema, Table: table.Name, Constraint: c.Name,
			}
		}
	}
	return nil
}

// domainOf is the domain of a column, nil when it has none.
func (s *Session) domainOf(f *tailrace.Field) *catalog.UserType {
	if f.Domain == 0 {
		return nil
	}
	return s.txn.catalog.Types[f.Domain]
}

// checkDomain checks column i of the rows, if it is of a domain.
func (s *Session) checkDomain(ctx context.Context, f *tailrace.Field, i int, b *tailrace.Batch, row *expr.Row) error {
	d := s.domainOf(f)
	if d == nil {
		return nil
	}
	if d.NotNull && b.Cols[i].HasNulls() {
		for k := range b.N {
			if b.Cols[i].IsNull(k) {
				return &tailrace.Error{Code: "23502", Message: fmt.Sprintf("domain %s does not allow null values", d.Name), Schema: d.Schema}
			}
		}
	}
	sc := &expr.Scope{Settings: s.format, Type: s.namedType, Column: valueColumn(i, f.Type)}
	value := &checkedRows{&tailrace.Schema{Fields: []tailrace.Field{{ID: 1, Name: "value", Type: f.Type}}}, &tailrace.Batch{N: b.N, Cols: b.Cols[i : i+1]}}
	for _, c := range d.Checks {
		bad, err := s.violation(ctx, c.Expr, sc, value, row)
		if err != nil {
			return err
		}
		if bad >= 0 {
			return &tailrace.Error{
				Code: "23514", Message: fmt.Sprintf("value for domain %s violates check constraint \"%s\"", d.Name, c.Name), Schema: d.Schema, Constraint: c.Name,
			}
		}
	}
	return nil
}

// violation is the first row for which a condition is false, -1 when there is none: NULL passes.
func (s *Session) violation(ctx context.Context, text string, sc *expr.Scope, rows *checkedRows, row *expr.Row) (int, error) {
	n, err := s.parseExpr(text)
	if err != nil {
		return -1, err
	}
	e, err := expr.BindCondition(n, sc)
	if err = passOn(err); errors.Is(err, expr.ErrUnsupported) {
		return rows.violation(ctx, s, n)
	}
	if err != nil {
		return -1, fmt.Errorf("bind the check %s: %w", text, err)
	}
	for row.I = 0; row.I < rows.b.N; row.I++ {
		v, err := e.Eval(row)
		if err != nil {
			return -1, err
		}
		if !v.Null && v.Raw[0] == 0 {
			return row.I, nil
		}
	}
	return -1, nil
}

// columnsOf finds a table's columns by name.
func columnsOf(t *catalog.Table) func(qualifier, name string) (int, tailrace.Type, bool) {
	return func(qualifier, name string) (int, tailrace.Type, bool) {
		i := t.Columns.ByName(name)
		if i < 0 || qualifier != "" && qualifier != t.Name {
			return 0, tailrace.Type{}, false
		}
		return i, t.Columns.Fields[i].Type, true
	}
}

// addChecks adds the CHECKs of a new table, whose columns are all there.
func (s *Session) addChecks(ctx context.Context, st *statement, t *catalog.Table, elements []*pg_query.Node) error {
	for _, e := range elements {
		for _, n := range e.GetColumnDef().GetConstraints() {
			if c := n.GetConstraint(); c.GetContype() == pg_query.ConstrType_CONSTR_CHECK {
				if err := s.addCheck(ctx, st, t, c, e.GetColumnDef().Colname); err != nil {
					return err
				}
			}
		}
		if c := e.GetConstraint(); c.GetContype() == pg_query.ConstrType_CONSTR_CHECK {
			if err := s.addCheck(ctx, st, t, c, ""); err != nil {
				return err
			}
		}
	}
	return nil
}

// addCheck adds a CHECK to a table whose columns are all there; column is the one that it was written at, "" for one of the table.
func (s *Session) addCheck(ctx context.Context, st *statement, t *catalog.Table, c *pg_query.Constraint, column string) error {
	if c.IsNoInherit {
		return at(s.unsupported("NO INHERIT", "Leave it out."), st.pos(c.Location))
	}
	sc := s.scope(st)
	sc.Column = columnsOf(t)
	if err := s.checkable(ctx, st, c, sc, t.Columns); err != nil {
		return err
	}
	text, err := deparseExpr(c.RawExpr)
	if err != nil {
		return err
	}
	named := func(name string) bool {
		return slices.ContainsFunc(t.Checks, func(k catalog.Check) bool { return k.Name == name })
	}
	if c.Conname != "" {
		if named(c.Conname) {
			return failure("42710", "check constraint \"%s\" already exists", c.Conname)
		}
		t.Checks = append(t.Checks, catalog.Check{Name: c.Conname, Expr: text})
		return nil
	}
	if cols := columnsIn(c.RawExpr); column == "" && len(cols) == 1 {
		column = cols[0]
	}
	stem := t.Name + "_check"
	if column != "" {
		stem = t.Name + "_" + column + "_check"
	}
	name := stem
	for i := 1; named(name); i++ {
		name = fmt.Sprintf("%s%d", stem, i)
	}
	t.Checks = append(t.Checks, catalog.Check{Name: name, Expr: text})
	return nil
}

// columnsIn lists the names of the columns that an expression reads, each once.
func columnsIn(n *pg_query.Node) []string {
	var out []string
	walkNode(n, nil, func(n *pg_query.Node, _ []string) {
		if f := n.GetColumnRef().GetFields(); len(f) > 0 {
			if name := f[len(f)-1].GetString_().GetSval(); !slices.Contains(out, name) {
				out = append(out, name)
			}
		}
	})
	return out
}

// keepChecks makes the checks of becomes follow its columns, which were those of was: a name that changes is written anew, and a check of a column that goes, goes.
func (s *Session) keepChecks(was, becomes *catalog.Table) error {
	checks := becomes.Checks
	becomes.Checks = nil
	for _, c := range checks {
		n, err := s.parseExpr(c.Expr)
		if err != nil {
			return err
		}
		n = proto.Clone(n).(*pg_query.Node)
		gone := false
		walkNode(n, nil, func(n *pg_query.Node, _ []string) {
			fields := n.GetColumnRef().GetFields()
			if len(fields) == 0 {
				return
			}
			last := &fields[len(fields)-1]
			i := was.Columns.ByName((*last).GetString_().GetSval())
			if i < 0 {
				return
			}
			if k := becomes.Columns.Index(was.Columns.Fields[i].ID); k >= 0 {
				n.GetColumnRef().Fields = []*pg_query.Node{stringNode(becomes.Columns.Fields[k].Name)}
			} else {
				gone = true
			}
		})
		if gone {
			continue
		}
		if c.Expr, err = deparseExpr(n); err != nil {
			return err
		}
		becomes.Checks = append(becomes.Checks, c)
	}
	return nil
}
