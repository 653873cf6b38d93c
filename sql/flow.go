package sql

import (
	"errors"
	"fmt"

	pg_query "github.com/pganalyze/pg_query_go/v6"

	"tailrace"
	"tailrace/catalog"
	"tailrace/dataflow"
	"tailrace/expr"
	"tailrace/parse"
	"tailrace/system"
	"tailrace/tail"
)

// flow is what a SUBSCRIBE follows, planned: a tree of operators, the tables below it, and the columns that come out.
type flow struct {
	root    dataflow.Operator
	tables  []*catalog.Table // one for each Scan of root, in order
	columns []tailrace.ResultColumn
	filters *filters // of the Filters over the only Scan; nil when there is another operator among them
}

// viewDepth is how deep views in views may be.
const viewDepth = 32

// planFlow plans what p follows. st binds parameters.
func (s *Session) planFlow(st *statement, p *parse.Subscribe) (*flow, error) {
	b := &flowBinder{s: s, st: st}
	if p.Object != nil {
		return b.relation(p.Object.Schema, p.Object.Name, p.Object.Loc, true)
	}
	return b.query(p.Query)
}

// flowBinder gives a query's names their meaning.
type flowBinder struct {
	s     *Session
	st    *statement
	depth int // views that are being read
}

// relation is a table, or the query of a view. whole says that the SUBSCRIBE is to it itself.
func (b *flowBinder) relation(schema, name string, loc int32, whole bool) (*flow, error) {
	s := b.s
	switch r := system.Find(schema, name, s.searchPath()); {
	case r == nil:
	case r.Schema == "mz_internal" && r.Name == "mz_subscriptions":
		return tableFlow(tail.SubscriptionsTable), nil
	default:
		return nil, at(s.unsupported("SUBSCRIBE to this relation of the system", "SELECT from it; of the system only mz_internal.mz_subscriptions can be followed."), b.st.pos(loc))
	}
	o := s.named(schema, name)
	switch {
	case o.view != nil:
		return b.view(o.view, loc)
	case o.table != nil && s.txn.isNew(o.table.ID):
		return nil, s.unsupported("SUBSCRIBE in the transaction that created the table", "COMMIT first.")
	case o.table != nil:
		return tableFlow(o.table), nil
	}
	if kind := s.rowless(schema, name); kind != "" && whole {
		return nil, &tailrace.Error{
			Code: "42809", Message: fmt.Sprintf("'%s' cannot be subscribed to because it is a %s", name, kind), Position: b.st.pos(loc),
			Hint: "SUBSCRIBE to a table: SELECT table_name FROM information_schema.tables.",
		}
	}
	return nil, at(noRelation(schema, name), b.st.pos(loc))
}

// rowless is the word for an object that has that name and no rows, "" for none.
func (s *Session) rowless(schema, name string) string {
	c := s.txn.catalog
	switch {
	case schema != "":
	case c.SourceNamed(name) != nil:
		return "source"
	case c.ConnectionNamed(name) != nil:
		return "connection"
	case c.SecretNamed(name) != nil:
		return "secret"
	}
	return ""
}

func tableFlow(t *catalog.Table) *flow {
	f := &flow{root: &dataflow.Scan{Table: t.ID, Schema: t.Columns, Name: t.Name}, tables: []*catalog.Table{t}, filters: &filters{}}
	for i, c := range t.Columns.Fields {
		f.columns = append(f.columns, tailrace.ResultColumn{Name: c.Name, Type: c.Type, Table: t.ID, Attr: int16(i + 1)})
	}
	return f
}

// view is the query of a view, with the view's names for its columns.
func (b *flowBinder) view(v *catalog.View, loc int32) (*flow, error) {
	if b.depth == viewDepth {
		return nil, failure("54001", "views are nested more than %d deep", viewDepth)
	}
	q, err := b.s.openQuery(v)
	if err != nil {
		return nil, err
	}
	inner := &flowBinder{s: b.s, st: &statement{Statement: b.st.Statement}, depth: b.depth + 1}
	f, err := inner.query(q.tree)
	if err != nil {
		return nil, at(err, b.st.pos(loc))
	}
	for i := range f.columns {
		f.columns[i].Name = v.Columns[i].Name
	}
	return f, nil
}

// missing is 0A000 for a part of a query that is not followed.
func (b *flowBinder) missing(what string) error {
	return b.s.unsupported("SUBSCRIBE to a query with "+what, "SUBSCRIBE to the tables it reads, or to a query of SELECT lists, WHERE, UNION ALL and VALUES; SELECT gives the rows of one time.")
}

func (b *flowBinder) query(n *pg_query.Node) (*flow, error) {
	sel := n.GetSelectStmt()
	if sel == nil {
		return nil, b.missing("this statement")
	}
	if err := b.plain(sel); err != nil {
		return nil, err
	}
	switch {
	case sel.Op == pg_query.SetOperation_SETOP_UNION && sel.All:
		return b.union(sel)
	case sel.Op != pg_query.SetOperation_SETOP_NONE:
		return nil, b.missing("UNION without ALL, INTERSECT or EXCEPT")
	case len(sel.ValuesLists) > 0:
		return b.values(sel.ValuesLists)
	}
	in, err := b.from(sel.FromClause)
	if err != nil {
		return nil, err
	}
	sc := in.scope(b)
	f := &flow{root: in.root, tables: in.tables, filters: in.filters}
	if sel.WhereClause != nil {
		cond, err := b.bind(sel.WhereClause, func() (*expr.Expr, error) { return expr.BindCondition(sel.WhereClause, sc) })
		if err != nil {
			return nil, err
		}
		f.root = &dataflow.Filter{In: f.root, Where: cond}
		if f.filters, err = f.filters.with(b, in, cond, sel.WhereClause); err != nil {
			return nil, err
		}
	}
	return b.project(f, in, sc, sel.TargetList)
}

// plain checks that sel has nothing that needs to see several rows at once.
func (b *flowBinder) plain(sel *pg_query.SelectStmt) error {
	for _, c := range []struct {
		there bool
		what  string
	}{
		{len(sel.DistinctClause) > 0, "DISTINCT"},
		{len(sel.GroupClause) > 0 || sel.HavingClause != nil, "GROUP BY"},
		{len(sel.WindowClause) > 0, "window functions"},
		{len(sel.SortClause) > 0, "ORDER BY"},
		{sel.LimitCount != nil || sel.LimitOffset != nil, "LIMIT"},
		{sel.WithClause != nil, "WITH"},
		{len(sel.LockingClause) > 0, "FOR UPDATE"},
		{sel.IntoClause != nil, "INTO"},
	} {
		if c.there {
			return b.missing(c.what)
		}
	}
	return nil
}

// bind binds an expression, and names what it lacks.
func (b *flowBinder) bind(n *pg_query.Node, bind func() (*expr.Expr, error)) (*expr.Expr, error) {
	if what := b.unfit(n); what != "" {
		return nil, at(b.missing(what), b.st.pos(nodeLocation(n)))
	}
	e, err := bind()
	if errors.Is(err, expr.ErrUnsupported) {
		return nil, at(b.missing("an expression like this"), b.st.pos(nodeLocation(n)))
	}
	return e, err
}

// unfit says what in an expression makes its value hang on more than the row, "" when nothing does.
func (b *flowBinder) unfit(n *pg_query.Node) string {
	what := ""
	hasNode(n, func(n *pg_query.Node) bool {
		switch {
		case n.GetSubLink() != nil:
			what = "a subquery in an expression"
		case n.GetSqlvalueFunction() != nil:
			what = "the session's clock or user"
		case n.GetFuncCall() != nil:
			names := n.GetFuncCall().Funcname
			switch name := names[len(names)-1].GetString_().GetSval(); name {
			case "count", "sum", "avg", "min", "max", "array_agg", "string_agg", "bool_and", "bool_or", "every", "json_agg", "jsonb_agg", "stddev", "variance":
				what = "aggregates"
			case "now", "mz_now", "transaction_timestamp", "statement_timestamp", "clock_timestamp", "timeofday", "random", "gen_random_uuid":
				what = name + "(), which is not the same at all times"
			}
		}
		return what != ""
	})
	return what
}

// input is what FROM gives: rows and the name they go by.
type input struct {
	*flow
	name string
}

// from is the FROM clause. Without one there is one row without columns.
func (b *flowBinder) from(list []*pg_query.Node) (*input, error) {
	if len(list) == 0 {
		one := &dataflow.Constant{Schema: &tailrace.Schema{}, Batch: &tailrace.Batch{N: 1}}
		return &input{flow: &flow{root: one}}, nil
	}
	if len(list) > 1 {
		return nil, b.missing("joins")
	}
	switch n := list[0].Node.(type) {
	case *pg_query.Node_RangeVar:
		rel := n.RangeVar
		f, err := b.relation(rel.Schemaname, rel.Relname, rel.Location, false)
		if err != nil {
			return nil, err
		}
		in := &input{flow: f, name: rel.Relname}
		return in, b.alias(in, rel.Alias)
	case *pg_query.Node_RangeSubselect:
		f, err := b.query(n.RangeSubselect.Subquery)
		if err != nil {
			return nil, err
		}
		in := &input{flow: f}
		return in, b.alias(in, n.RangeSubselect.Alias)
	case *pg_query.Node_JoinExpr:
		return nil, b.missing("joins")
	}
	return nil, b.missing("a function in FROM")
}

// alias gives the rows another name, and columns others too.
func (b *flowBinder) alias(in *input, a *pg_query.Alias) error {
	if a == nil {
		return nil
	}
	in.name = a.Aliasname
	if len(a.Colnames) > len(in.columns) {
		return failure("42P10", "table \"%s\" has %d columns available but %d columns specified", in.name, len(in.columns), len(a.Colnames))
	}
	for i, n := range a.Colnames {
		in.columns[i].Name = n.GetString_().GetSval()
	}
	return nil
}

// scope is what names mean above in.
func (in *input) scope(b *flowBinder) *expr.Scope {
	sc := b.s.scope(b.st)
	sc.Column = func(qualifier, name string) (int, tailrace.Type, bool) {
		if qualifier != "" && qualifier != in.name {
			return 0, tailrace.Type{}, false
		}
		for i, c := range in.columns {
			if c.Name == name {
				return i, c.Type, true
			}
		}
		return 0, tailrace.Type{}, false
	}
	return sc
}

// project puts a SELECT list over f.
func (b *flowBinder) project(f *flow, in *input, sc *expr.Scope, list []*pg_query.Node) (*flow, error) {
	p := &dataflow.Project{In: f.root}
	for _, n := range list {
		t := n.GetResTarget()
		if star, ok, err := b.star(t.Val, in); ok || err != nil {
			if err != nil {
				return nil, err
			}
			for _, c := range star {
				e, err := expr.BindOutput(columnNode(in.columns[c].Name), b.at(in, c))
				if err != nil {
					return nil, err
				}
				p.List, f.columns = append(p.List, e), append(f.columns, in.columns[c])
			}
			continue
		}
		if err := in.unambiguous(b, t.Val); err != nil {
			return nil, err
		}
		e, err := b.bind(t.Val, func() (*expr.Expr, error) { return expr.BindOutput(t.Val, sc) })
		if err != nil {
			return nil, err
		}
		col := tailrace.ResultColumn{Name: t.Name, Type: e.Type}
		if e.Column >= 0 {
			col = in.columns[e.Column]
			col.Name = t.Name
		}
		if col.Name == "" {
			col.Name, _ = columnName(t.Val)
		}
		p.List, f.columns = append(p.List, e), append(f.columns, col)
	}
	if in.isAll(p.List) {
		for i := range f.columns { // the same rows under other names
			f.columns[i].Type = in.columns[i].Type
		}
		return f, nil
	}
	p.Schema = outputSchema(f.columns, in.root.Rows(), p.List)
	f.root = p
	if _, again := in.root.(*dataflow.Project); again {
		f.filters = nil
	}
	return f, nil
}

// at is a scope of one column, in's place c, under its name.
func (b *flowBinder) at(in *input, c int) *expr.Scope {
	sc := b.s.scope(b.st)
	sc.Column = func(string, string) (int, tailrace.Type, bool) { return c, in.columns[c].Type, true }
	return sc
}

// unambiguous checks that a plain column reference names one column of in.
func (in *input) unambiguous(b *flowBinder, n *pg_query.Node) error {
	fields := n.GetColumnRef().GetFields()
	if len(fields) == 0 {
		return nil
	}
	name, found := fields[len(fields)-1].GetString_().GetSval(), 0
	for _, c := range in.columns {
		if c.Name == name {
			found++
		}
	}
	if found > 1 {
		return &tailrace.Error{Code: "42702", Message: "column reference \"" + name + "\" is ambiguous", Position: b.st.pos(n.GetColumnRef().Location)}
	}
	return nil
}

// star is the columns that * or t.* stands for; ok is false for anything else.
func (b *flowBinder) star(n *pg_query.Node, in *input) (columns []int, ok bool, err error) {
	fields := n.GetColumnRef().GetFields()
	if len(fields) == 0 || fields[len(fields)-1].GetAStar() == nil {
		return nil, false, nil
	}
	if len(fields) > 1 {
		if q := fields[len(fields)-2].GetString_().GetSval(); q != in.name {
			return nil, false, &tailrace.Error{Code: "42P01", Message: fmt.Sprintf("missing FROM-clause entry for table \"%s\"", q), Position: b.st.pos(n.GetColumnRef().Location)}
		}
	}
	for c := range in.columns {
		columns = append(columns, c)
	}
	return columns, true, nil
}

// isAll says that list is all columns of in, in their order.
func (in *input) isAll(list []*expr.Expr) bool {
	if len(list) != len(in.columns) || len(list) == 0 {
		return false
	}
	for i, e := range list {
		if e.Column != i {
			return false
		}
	}
	return true
}

// columnNode is a reference to a column.
func columnNode(name string) *pg_query.Node {
	return &pg_query.Node{Node: &pg_query.Node_ColumnRef{ColumnRef: &pg_query.ColumnRef{Fields: []*pg_query.Node{stringNode(name)}}}}
}

// outputSchema describes the rows that list makes of rows of in. They keep the key if it is among them.
func outputSchema(columns []tailrace.ResultColumn, in *tailrace.Schema, list []*expr.Expr) *tailrace.Schema {
	out := &tailrace.Schema{Version: in.Version}
	place := map[int]int{}
	for i, c := range columns {
		out.Fields = append(out.Fields, tailrace.Field{ID: tailrace.ColumnID(i + 1), Name: c.Name, Type: c.Type})
		if list == nil || list[i].Column < 0 {
			continue
		}
		if _, there := place[list[i].Column]; !there {
			place[list[i].Column] = i
		}
	}
	for _, k := range in.Key {
		i, there := place[k]
		if !there {
			out.Key = nil
			return out
		}
		out.Key = append(out.Key, i)
	}
	return out
}

// union is UNION ALL: columns are called as those of the first, and both have the same types.
func (b *flowBinder) union(sel *pg_query.SelectStmt) (*flow, error) {
	l, err := b.query(&pg_query.Node{Node: &pg_query.Node_SelectStmt{SelectStmt: sel.Larg}})
	if err != nil {
		return nil, err
	}
	r, err := b.query(&pg_query.Node{Node: &pg_query.Node_SelectStmt{SelectStmt: sel.Rarg}})
	if err != nil {
		return nil, err
	}
	if len(l.columns) != len(r.columns) {
		return nil, failure("42601", "each UNION query must have the same number of columns")
	}
	for i := range l.columns {
		if x, y := l.columns[i].Type, r.columns[i].Type; x.Kind != y.Kind || x.ID != y.ID || x.Elem != y.Elem {
			return nil, b.missing("UNION ALL of columns of different types (cast them)")
		}
		l.columns[i].Table, l.columns[i].Attr = 0, 0
	}
	f := &flow{tables: append(l.tables, r.tables...), columns: l.columns}
	f.root = &dataflow.Union{In: []dataflow.Operator{l.root, r.root}, Schema: outputSchema(f.columns, &tailrace.Schema{}, nil)}
	return f, nil
}

// values is VALUES (...), (...).
func (b *flowBinder) values(lists []*pg_query.Node) (*flow, error) {
	f := &flow{}
	sc := b.s.scope(b.st)
	var rows [][]*expr.Expr
	for _, l := range lists {
		var row []*expr.Expr
		for _, n := range l.GetList().Items {
			e, err := b.bind(n, func() (*expr.Expr, error) { return expr.BindOutput(n, sc) })
			if err != nil {
				return nil, err
			}
			row = append(row, e)
		}
		if len(rows) > 0 && len(row) != len(rows[0]) {
			return nil, failure("42601", "VALUES lists must all be the same length")
		}
		rows = append(rows, row)
	}
	for i, e := range rows[0] {
		for _, row := range rows[1:] {
			if row[i].Type.Kind != e.Type.Kind {
				return nil, b.missing("VALUES of different types (cast them)")
			}
		}
		f.columns = append(f.columns, tailrace.ResultColumn{Name: fmt.Sprintf("column%d", i+1), Type: e.Type})
	}
	schema := outputSchema(f.columns, &tailrace.Schema{}, nil)
	batch := tailrace.NewBatch(schema, len(rows))
	for _, row := range rows {
		for i, e := range row {
			if err := e.Append(&batch.Cols[i], b.s.row(b.st.params)); err != nil {
				return nil, err
			}
		}
		batch.N++
	}
	f.root = &dataflow.Constant{Schema: schema, Batch: batch}
	return f, nil
}
