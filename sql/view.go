package sql

import (
	"context"
	"fmt"
	"slices"

	pg_query "github.com/pganalyze/pg_query_go/v6"
	"google.golang.org/protobuf/proto"

	"tailrace"
	"tailrace/catalog"
	"tailrace/query"
)

// createView runs CREATE [OR REPLACE] VIEW.
func (s *Session) createView(ctx context.Context, st *statement, n *pg_query.ViewStmt) (*Result, error) {
	if err := s.txn.open(ctx, false); err != nil {
		return nil, err
	}
	if err := s.viewable(st, n); err != nil {
		return nil, err
	}
	schema, err := s.schemaFor(n.View.Schemaname, n.View.Relname)
	if err != nil {
		return nil, at(err, st.pos(n.View.Location))
	}
	columns, err := s.viewColumns(ctx, st, n)
	if err != nil {
		return nil, err
	}
	was := relationIn(s.txn.catalog, schema, n.View.Relname)
	switch {
	case was.none():
		if err := s.nameFree(schema, n.View.Relname, "view"); err != nil {
			return nil, err
		}
	case !n.Replace:
		return nil, failure("42P07", "relation \"%s\" already exists", n.View.Relname)
	case was.view == nil:
		return nil, failure("42809", "\"%s\" is not a view", n.View.Relname)
	default:
		if err := replaceable(was.view, columns); err != nil {
			return nil, err
		}
	}
	q := &viewQuery{tree: proto.Clone(n.Query).(*pg_query.Node)}
	v := &catalog.View{Schema: schema, Name: n.View.Relname, Columns: columns, Uses: s.qualify(q)}
	for _, c := range columns {
		if c.Type.ID != 0 && !slices.Contains(v.Uses, c.Type.ID) {
			v.Uses = append(v.Uses, c.Type.ID)
		}
	}
	if v.Query, err = q.text(); err != nil {
		return nil, err
	}
	if was.view == nil {
		v.ID = s.txn.newID()
		s.txn.change(catalog.Change{View: v})
		return done("CREATE VIEW"), nil
	}
	return done("CREATE VIEW"), s.replaceView(was.view, v)
}

// replaceView puts v in the place of was. Columns may have been added at the end, which views that read it do not see.
func (s *Session) replaceView(was, v *catalog.View) error {
	v.ID, v.Comment = was.ID, was.Comment
	for i := range was.Columns {
		v.Columns[i].Comment = was.Columns[i].Comment
	}
	reached := slices.Clone(v.Uses)
	for i := 0; i < len(reached); i++ { // it grows
		if reached[i] == v.ID {
			return failure("42P17", "infinite recursion detected in rules for relation \"%s\"", v.Name)
		}
		if u := s.txn.catalog.Views[reached[i]]; u != nil {
			reached = append(reached, u.Uses...)
		}
	}
	if err := s.keepViews(viewOutline(was), viewOutline(v), false); err != nil {
		return err
	}
	s.txn.change(catalog.Change{View: v})
	return nil
}

// viewable refuses the forms of CREATE VIEW that are not here.
func (s *Session) viewable(st *statement, n *pg_query.ViewStmt) error {
	switch {
	case n.View.Relpersistence == "t":
		return s.unsupported("CREATE TEMPORARY VIEW", "Use CREATE VIEW, and DROP VIEW when done.")
	case n.WithCheckOption != pg_query.ViewCheckOption_NO_CHECK_OPTION:
		return s.unsupported("WITH CHECK OPTION", "Views are only read here; leave it out.")
	case len(n.Options) > 0:
		return s.unsupported("CREATE VIEW with options", "Leave WITH (...) out.")
	case n.Query.GetSelectStmt() == nil:
		return s.unsupported("a view of a statement that is not a SELECT", "")
	case n.Query.GetSelectStmt().IntoClause != nil:
		return failure("42601", "views must not contain SELECT INTO")
	case s.engine.Query == nil:
		return s.unsupported("CREATE VIEW", "Start the server with its query engine.")
	}
	return nil
}

// viewColumns plans a view's query and gives its columns the names of the view's list.
func (s *Session) viewColumns(ctx context.Context, st *statement, n *pg_query.ViewStmt) ([]catalog.ViewColumn, error) {
	plan, err := s.engine.Query.Plan(ctx, n.Query, st.Text, &resolver{s: s}, nil)
	if err != nil {
		return nil, err
	}
	out := make([]catalog.ViewColumn, len(plan.Columns()))
	switch {
	case len(plan.Params()) > 0:
		return nil, failure("42P02", "there is no parameter $1")
	case len(n.Aliases) > len(out):
		return nil, failure("42601", "CREATE VIEW specifies more column names than columns")
	case len(out) == 0:
		return nil, failure("42P16", "view must have at least one column")
	}
	seen := map[string]bool{}
	for i, c := range plan.Columns() {
		out[i] = catalog.ViewColumn{Name: c.Name, Type: c.Type}
		if i < len(n.Aliases) {
			out[i].Name = n.Aliases[i].GetString_().GetSval()
		}
		if seen[out[i].Name] {
			return nil, failure("42701", "column \"%s\" specified more than once", out[i].Name)
		}
		seen[out[i].Name] = true
	}
	return out, nil
}

// replaceable is 42P16 when a view with these columns may not take v's place: readers of it rely on its columns.
func replaceable(v *catalog.View, columns []catalog.ViewColumn) error {
	if len(columns) < len(v.Columns) {
		return failure("42P16", "cannot drop columns from view")
	}
	for i, c := range v.Columns {
		switch is := columns[i]; {
		case is.Name != c.Name:
			return &tailrace.Error{
				Code: "42P16", Message: fmt.Sprintf("cannot change name of view column \"%s\" to \"%s\"", c.Name, is.Name),
				Hint: "Use ALTER VIEW ... RENAME COLUMN ... to change name of view column instead.",
			}
		case is.Type != c.Type:
			return failure("42P16", "cannot change data type of view column \"%s\" from %s to %s", c.Name, c.Type, is.Type)
		}
	}
	return nil
}

// viewTable is a view as a query reads it: its own query takes its place.
func (s *Session) viewTable(v *catalog.View) (*query.Table, error) {
	sts, err := s.engine.texts.Parse(v.Query)
	if err != nil {
		return nil, fmt.Errorf("read the query of view %s: %w", v.Name, err)
	}
	columns := &tailrace.Schema{Version: 1}
	for i, c := range v.Columns {
		columns.Fields = append(columns.Fields, tailrace.Field{ID: tailrace.ColumnID(i + 1), Name: c.Name, Type: c.Type})
	}
	return &query.Table{ID: v.ID, Columns: columns, View: &query.View{Tree: sts[0].Tree, Text: sts[0].Text}}, nil
}
