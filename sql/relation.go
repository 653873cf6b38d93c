package sql

import (
	"fmt"

	pg_query "github.com/pganalyze/pg_query_go/v6"

	"tailrace"
	"tailrace/catalog"
)

// find is the table that a name stands for, nil when there is none: also when it stands for a view.
func (s *Session) find(schema, name string) *catalog.Table { return s.named(schema, name).table }

// namedType is the enum or domain that a name stands for, nil when there is none.
func (s *Session) namedType(schema, name string) *tailrace.NamedType {
	if s.txn == nil || s.txn.catalog == nil {
		return nil
	}
	if t := s.userType(schema, name); t != nil {
		return t.Named()
	}
	return nil
}

// userType is the enum or domain that a name stands for, nil when there is none.
func (s *Session) userType(schema, name string) *catalog.UserType {
	c := s.txn.catalog
	switch {
	case len(c.Types) == 0:
		return nil
	case schema != "":
		return c.Type(schema, name)
	}
	for _, p := range s.path {
		if t := c.Type(p, name); t != nil {
			return t
		}
	}
	return nil
}

// labels are those of an enum, in order, as all sessions see them now.
func (e *Engine) labels(enum catalog.ID) []string {
	if t := e.Catalog.Current().Types[enum]; t != nil {
		return t.Labels
	}
	return nil
}

// labels are those of an enum, in order.
func (s *Session) labels(enum catalog.ID) []string {
	c := s.engine.Catalog.Current()
	if s.txn != nil && s.txn.catalog != nil {
		c = s.txn.catalog
	}
	return labelsIn(c, enum)
}

// labelsIn are the labels that an enum has in a catalog.
func labelsIn(c *catalog.Catalog, enum catalog.ID) []string {
	switch t := c.Types[enum]; {
	case t == nil:
		return nil
	case t.Labels == nil:
		return []string{} // none: nil would take any
	default:
		return t.Labels
	}
}

// relation is the table that rel names; 42P01 when there is none, 42809 when it is a view.
func (s *Session) relation(rel *pg_query.RangeVar) (*catalog.Table, error) {
	switch r := s.named(rel.Schemaname, rel.Relname); {
	case r.table != nil:
		return r.table, nil
	case r.view != nil:
		return nil, &tailrace.Error{Code: "42809", Message: fmt.Sprintf("\"%s\" is not a table", rel.Relname), Detail: "This operation is not supported for views."}
	}
	return nil, noRelation(rel.Schemaname, rel.Relname)
}

func noRelation(schema, name string) error {
	if schema != "" {
		name = schema + "." + name
	}
	return &tailrace.Error{Code: "42P01", Message: fmt.Sprintf("relation \"%s\" does not exist", name)}
}

// noObject is noRelation for statements that change what exists: they look at the schema first.
func (s *Session) noObject(rel *pg_query.RangeVar) error {
	if rel.Schemaname != "" && !hasSchema(s.txn.catalog, rel.Schemaname) {
		return noSchema(rel.Schemaname)
	}
	return noRelation(rel.Schemaname, rel.Relname)
}

// target is relation for a table that a statement writes: not a source's.
func (s *Session) target(rel *pg_query.RangeVar, verb string) (*catalog.Table, error) {
	if isSystem(rel.Schemaname) {
		return nil, &tailrace.Error{Code: "42501", Message: fmt.Sprintf("permission denied for table %s", rel.Relname), Hint: "Tables of the system are read-only."}
	}
	if v := s.named(rel.Schemaname, rel.Relname).view; v != nil {
		return nil, readsOnly(v, verb)
	}
	t, err := s.relation(rel)
	if err != nil && verb == "truncate" {
		return nil, s.noObject(rel)
	}
	if err != nil {
		return nil, err
	}
	return t, writable(t, verb)
}

// readsOnly is the error for a statement that writes to a view.
func readsOnly(v *catalog.View, verb string) error {
	if verb == "truncate" {
		return failure("42809", "\"%s\" is not a table", v.Name)
	}
	return &tailrace.Error{
		Code: "55000", Message: fmt.Sprintf("cannot %s view \"%s\"", verb, v.Name), Table: v.Name, Detail: "Views are not updatable here.",
		Hint: "Write to the tables that the view reads: SELECT pg_get_viewdef('" + v.Name + "'::regclass).",
	}
}

// writable refuses a source's table.
func writable(t *catalog.Table, verb string) error {
	if t.Upstream == nil {
		return nil
	}
	return &tailrace.Error{
		Code: "42809", Message: fmt.Sprintf("cannot %s \"%s\": it is a copy of a source's table", verb, t.Name), Table: t.Name,
		Hint: "Change the rows in the source; they appear here by themselves.",
	}
}

// noColumn is the error for a column that a statement assigns.
func noColumn(name string, t *catalog.Table) *tailrace.Error {
	return &tailrace.Error{Code: "42703", Message: fmt.Sprintf("column \"%s\" of relation \"%s\" does not exist", name, t.Name)}
}
