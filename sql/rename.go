package sql

import (
	"context"
	"fmt"
	"slices"

	pg_query "github.com/pganalyze/pg_query_go/v6"

	"tailrace"
	"tailrace/catalog"
)

// rename runs ALTER ... RENAME.
func (s *Session) rename(ctx context.Context, n *pg_query.RenameStmt) (*Result, error) {
	if err := s.txn.open(ctx, false); err != nil {
		return nil, err
	}
	switch n.RenameType {
	case pg_query.ObjectType_OBJECT_SCHEMA:
		return s.renameSchema(n)
	case pg_query.ObjectType_OBJECT_COLUMN:
		return s.renameColumn(n)
	case pg_query.ObjectType_OBJECT_TABLE, pg_query.ObjectType_OBJECT_VIEW, pg_query.ObjectType_OBJECT_TYPE, pg_query.ObjectType_OBJECT_DOMAIN:
	default:
		return nil, s.unsupported("ALTER "+objectWord(n.RenameType)+" RENAME", "")
	}
	tag, o, err := s.objectOf(n.RenameType, n.Relation, n.Object)
	switch {
	case n.MissingOk && tailrace.Code(err) == "42P01":
		s.notice("NOTICE", "00000", fmt.Sprintf("relation \"%s\" does not exist, skipping", n.Relation.Relname))
		return done("ALTER " + objectWord(n.RenameType)), nil
	case err != nil:
		return nil, err
	}
	return done("ALTER " + tag), s.move(o, o.schema(), n.Newname)
}

// renameColumn runs ALTER TABLE | VIEW ... RENAME COLUMN.
func (s *Session) renameColumn(n *pg_query.RenameStmt) (*Result, error) {
	kind := n.RelationType
	tag, o, err := s.objectOf(kind, n.Relation, nil)
	switch {
	case n.MissingOk && tailrace.Code(err) == "42P01":
		s.notice("NOTICE", "00000", fmt.Sprintf("relation \"%s\" does not exist, skipping", n.Relation.Relname))
		return done("ALTER " + objectWord(kind)), nil
	case err != nil:
		return nil, err
	case o.view != nil:
		return done("ALTER " + tag), s.renameViewColumn(o.view, n.Subname, n.Newname)
	}
	t := o.table
	i := t.Columns.ByName(n.Subname)
	switch {
	case i < 0:
		return nil, failure("42703", "column \"%s\" does not exist", n.Subname)
	case t.Columns.ByName(n.Newname) >= 0:
		return nil, failure("42701", "column \"%s\" of relation \"%s\" already exists", n.Newname, t.Name)
	}
	out := altered(t)
	out.Columns.Fields[i].Name = n.Newname
	if err := s.keepViews(tableOutline(t), tableOutline(out), false); err != nil {
		return nil, err
	}
	if err := s.keepChecks(t, out); err != nil {
		return nil, err
	}
	s.txn.change(catalog.Change{Table: out})
	return done("ALTER " + tag), nil
}

func (s *Session) renameViewColumn(v *catalog.View, was, name string) error {
	at := func(name string) int {
		return slices.IndexFunc(v.Columns, func(c catalog.ViewColumn) bool { return c.Name == name })
	}
	switch {
	case at(was) < 0:
		return failure("42703", "column \"%s\" does not exist", was)
	case at(name) >= 0:
		return failure("42701", "column \"%s\" of relation \"%s\" already exists", name, v.Name)
	}
	out := *v
	out.Columns = slices.Clone(v.Columns)
	out.Columns[at(was)].Name = name
	if err := s.keepViews(viewOutline(v), viewOutline(&out), false); err != nil {
		return err
	}
	s.txn.change(catalog.Change{View: &out})
	return nil
}
