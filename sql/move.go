package sql

import (
	"errors"
	"fmt"
	"slices"

	"tailrace"
	"tailrace/catalog"
)

// move gives an object another schema or name. What refers to it by name follows.
func (s *Session) move(o object, schema, name string) error {
	if err := s.nameFree(schema, name, o.kind()); err != nil { // its own name is not free either
		if schema != o.schema() {
			return inSchema(err, schema)
		}
		return err
	}
	switch {
	case o.table != nil:
		return s.moveTable(o.table, schema, name)
	case o.view != nil:
		return s.moveView(o.view, schema, name)
	}
	return s.moveType(o.typ, schema, name)
}

// inSchema is the error of nameFree for an object that comes from another schema.
func inSchema(err error, schema string) error {
	var e *tailrace.Error
	if !errors.As(err, &e) {
		return err
	}
	placed := *e
	placed.Message += fmt.Sprintf(" in schema \"%s\"", schema)
	return &placed
}

func (s *Session) moveTable(t *catalog.Table, schema, name string) error {
	moved := *t
	moved.Schema, moved.Name = schema, name
	s.txn.change(catalog.Change{Table: &moved})
	return s.rewriteViews(t.ID, func(q *viewQuery) { q.renameRelation(t.Schema, t.Name, schema, name) })
}

func (s *Session) moveView(v *catalog.View, schema, name string) error {
	moved := *v
	moved.Schema, moved.Name = schema, name
	s.txn.change(catalog.Change{View: &moved})
	return s.rewriteViews(v.ID, func(q *viewQuery) { q.renameRelation(v.Schema, v.Name, schema, name) })
}

// moveType moves a type; the columns of an enum carry its name.
func (s *Session) moveType(t *catalog.UserType, schema, name string) error {
	moved := *t
	moved.Schema, moved.Name = schema, name
	s.txn.change(catalog.Change{Type: &moved})
	if t.Base == nil && name != t.Name {
		if err := s.retypeColumns(t.ID, name); err != nil {
			return err
		}
	}
	return s.rewriteViews(t.ID, func(q *viewQuery) { q.renameType(t.Schema, t.Name, schema, name) })
}

// retypeColumns gives an enum's new name to the columns of it, and to the domains over it.
func (s *Session) retypeColumns(enum catalog.ID, name string) error {
	for _, t := range s.txn.allTables() {
		if !slices.ContainsFunc(t.Columns.Fields, func(f tailrace.Field) bool { return f.Type.ID == enum }) {
			continue
		}
		out := altered(t)
		for i := range out.Columns.Fields {
			if f := &out.Columns.Fields[i]; f.Type.ID == enum {
				f.Type.Name = name
			}
		}
		s.txn.change(catalog.Change{Table: out})
	}
	for _, id := range sortedIDs(s.txn.catalog.Views) {
		v := *s.txn.catalog.Views[id]
		v.Columns = slices.Clone(v.Columns)
		for i := range v.Columns {
			if c := &v.Columns[i]; c.Type.ID == enum {
				c.Type.Name = name
			}
		}
		if !slices.Equal(v.Columns, s.txn.catalog.Views[id].Columns) {
			s.txn.change(catalog.Change{View: &v})
		}
	}
	for _, id := range sortedIDs(s.txn.catalog.Types) {
		if d := *s.txn.catalog.Types[id]; d.Base != nil && d.Base.ID == enum {
			base := *d.Base
			base.Name, d.Base = name, &base
			s.txn.change(catalog.Change{Type: &d})
		}
	}
	return nil
}
