package sql

import (
	"fmt"

	pg_query "github.com/pganalyze/pg_query_go/v6"

	"tailrace"
	"tailrace/catalog"
)

// publicSchema is where tables are.
const publicSchema = "public"

// find is the table that rel names: in public when it names no schema, else in the first schema that has it as a source may have brought others.
func (s *Session) find(schema, name string) *catalog.Table {
	if schema != "" {
		return s.txn.catalog.Table(schema, name)
	}
	return s.txn.catalog.Table(publicSchema, name)
}

// namedType is the enum or domain that a name stands for, nil when there is none.
func (s *Session) namedType(schema, name string) *tailrace.NamedType {
	if s.txn == nil || s.txn.catalog == nil {
		return nil
	}
	if schema == "" {
		schema = publicSchema
	}
	t := s.txn.catalog.Type(schema, name)
	if t == nil {
		return nil
	}
	return t.Named()
}

// labels are those of an enum, in order.
func (s *Session) labels(enum catalog.ID) []string {
	c := s.engine.Catalog.Current()
	if s.txn != nil && s.txn.catalog != nil {
		c = s.txn.catalog
	}
	if t := c.Types[enum]; t != nil {
		return t.Labels
	}
	return nil
}

// relation is the table that rel names; 42P01 when there is none.
func (s *Session) relation(rel *pg_query.RangeVar) (*catalog.Table, error) {
	t := s.find(rel.Schemaname, rel.Relname)
	if t == nil {
		return nil, noRelation(rel.Schemaname, rel.Relname)
	}
	return t, nil
}

func noRelation(schema, name string) error {
	if schema != "" {
		name = schema + "." + name
	}
	return &tailrace.Error{Code: "42P01", Message: fmt.Sprintf("relation \"%s\" does not exist", name)}
}

// target is relation for a table that a statement writes: not a source's.
func (s *Session) target(rel *pg_query.RangeVar, verb string) (*catalog.Table, error) {
	if isSystem(rel.Schemaname) {
		return nil, &tailrace.Error{Code: "42501", Message: fmt.Sprintf("permission denied for table %s", rel.Relname), Hint: "Tables of the system are read-only."}
	}
	t, err := s.relation(rel)
	if err != nil {
		return nil, err
	}
	return t, writable(t, verb)
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
