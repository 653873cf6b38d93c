package sql

import (
	"context"
	"maps"
	"slices"

	pg_query "github.com/pganalyze/pg_query_go/v6"

	"tailrace"
	"tailrace/catalog"
)

// comment runs COMMENT ON ... IS 'text' | NULL.
func (s *Session) comment(ctx context.Context, n *pg_query.CommentStmt) (*Result, error) {
	if err := s.txn.open(ctx, false); err != nil {
		return nil, err
	}
	var err error
	switch n.Objtype {
	case pg_query.ObjectType_OBJECT_TABLE, pg_query.ObjectType_OBJECT_VIEW:
		schema, name := nameParts(n.Object)
		err = s.commentRelation(n.Objtype, schema, name, n.Comment)
	case pg_query.ObjectType_OBJECT_COLUMN:
		err = s.commentColumn(n.Object.GetList().GetItems(), n.Comment)
	case pg_query.ObjectType_OBJECT_SCHEMA:
		err = s.commentSchema(n.Object.GetString_().GetSval(), n.Comment)
	case pg_query.ObjectType_OBJECT_TYPE, pg_query.ObjectType_OBJECT_DOMAIN:
		var o object
		if _, o, err = s.objectOf(n.Objtype, nil, n.Object); err == nil {
			out := *o.typ
			out.Comment = n.Comment
			s.txn.change(catalog.Change{Type: &out})
		}
	default:
		err = s.unsupported("COMMENT ON "+objectWord(n.Objtype), "COMMENT ON takes TABLE, COLUMN, VIEW, SCHEMA, TYPE and DOMAIN.")
	}
	if err != nil {
		return nil, err
	}
	return done("COMMENT"), nil
}

func (s *Session) commentRelation(kind pg_query.ObjectType, schema, name, text string) error {
	o := s.named(schema, name)
	switch want := dropWords[kind]; {
	case o.none():
		return noRelation(schema, name)
	case o.kind() != want:
		return failure("42809", "\"%s\" is not a %s", name, want)
	case o.view != nil:
		out := *o.view
		out.Comment = text
		s.txn.change(catalog.Change{View: &out})
		return nil
	}
	out := *o.table
	out.Comment = text
	s.txn.change(catalog.Change{Table: &out})
	return nil
}

// commentColumn comments on [schema.]relation.column.
func (s *Session) commentColumn(names []*pg_query.Node, text string) error {
	if len(names) < 2 {
		return failure("42601", "column name must be qualified")
	}
	schema, name := lastTwo(names[:len(names)-1])
	column := names[len(names)-1].GetString_().GetSval()
	o := s.named(schema, name)
	switch {
	case o.none():
		return noRelation(schema, name)
	case o.view != nil:
		i := slices.IndexFunc(o.view.Columns, func(c catalog.ViewColumn) bool { return c.Name == column })
		if i < 0 {
			return &tailrace.Error{Code: "42703", Message: "column \"" + column + "\" of relation \"" + name + "\" does not exist"}
		}
		out := *o.view
		out.Columns = slices.Clone(out.Columns)
		out.Columns[i].Comment = text
		s.txn.change(catalog.Change{View: &out})
		return nil
	}
	i := o.table.Columns.ByName(column)
	if i < 0 {
		return noColumn(column, o.table)
	}
	out := *o.table
	out.Comments = maps.Clone(out.Comments)
	if out.Comments == nil {
		out.Comments = map[tailrace.ColumnID]string{}
	}
	if id := o.table.Columns.Fields[i].ID; text == "" {
		delete(out.Comments, id)
	} else {
		out.Comments[id] = text
	}
	s.txn.change(catalog.Change{Table: &out})
	return nil
}

func (s *Session) commentSchema(name, text string) error {
	ns := s.txn.catalog.Namespace(name)
	switch {
	case !hasSchema(s.txn.catalog, name):
		return noSchema(name)
	case isSystem(name):
		return failure("42501", "must be owner of schema %s", name)
	case ns == nil: // public, or one that a source's table is in
		ns = &catalog.Namespace{ID: s.txn.newID(), Name: name}
	}
	out := *ns
	out.Comment = text
	s.txn.change(catalog.Change{Namespace: &out})
	return nil
}
