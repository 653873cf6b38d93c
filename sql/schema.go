package sql

import (
	"context"
	"fmt"
	"strings"

	pg_query "github.com/pganalyze/pg_query_go/v6"

	"tailrace"
	"tailrace/catalog"
)

// createSchema runs CREATE SCHEMA.
func (s *Session) createSchema(ctx context.Context, n *pg_query.CreateSchemaStmt) (*Result, error) {
	if err := s.txn.open(ctx, false); err != nil {
		return nil, err
	}
	name := n.Schemaname
	if name == "" {
		name = n.Authrole.GetRolename() // CREATE SCHEMA AUTHORIZATION user
	}
	if name == "" {
		name = s.options.User
	}
	switch {
	case len(n.SchemaElts) > 0:
		return nil, s.unsupported("CREATE SCHEMA with objects in it", "Use CREATE SCHEMA, then CREATE TABLE "+quoteName(name)+".t.")
	case hasSchema(s.txn.catalog, name) && n.IfNotExists:
		s.notice("NOTICE", "42P06", fmt.Sprintf("schema \"%s\" already exists, skipping", name))
		return done("CREATE SCHEMA"), nil
	}
	if err := s.schemaNameFree(name); err != nil {
		return nil, err
	}
	s.txn.change(catalog.Change{Namespace: &catalog.Namespace{ID: s.txn.newID(), Name: name}})
	return done("CREATE SCHEMA"), nil
}

// schemaNameFree refuses a name that a schema cannot get.
func (s *Session) schemaNameFree(name string) error {
	switch {
	case hasSchema(s.txn.catalog, name):
		return failure("42P06", "schema \"%s\" already exists", name)
	case strings.HasPrefix(name, "pg_"):
		return &tailrace.Error{Code: "42939", Message: fmt.Sprintf("unacceptable schema name \"%s\"", name), Detail: "The prefix \"pg_\" is reserved for system schemas."}
	}
	return nil
}

// renameSchema runs ALTER SCHEMA ... RENAME TO: all that is in the schema moves.
func (s *Session) renameSchema(n *pg_query.RenameStmt) (*Result, error) {
	was, name := n.Subname, n.Newname
	ns := s.txn.catalog.Namespace(was)
	switch {
	case !hasSchema(s.txn.catalog, was):
		return nil, noSchema(was)
	case isSystem(was) || was == publicSchema || ns == nil: // public is where CREATE goes, and a source's tables are named after those at the source
		return nil, s.unsupported(fmt.Sprintf("renaming the schema \"%s\"", was), "CREATE SCHEMA "+quoteName(name)+", then ALTER TABLE ... SET SCHEMA "+quoteName(name)+".")
	}
	if err := s.schemaNameFree(name); err != nil {
		return nil, err
	}
	for _, t := range s.txn.allTables() {
		if t.Schema == was && t.Upstream != nil {
			return nil, s.unsupported("renaming a schema that a source fills", "DROP SOURCE first.")
		}
	}
	renamed := *ns
	renamed.Name = name
	s.txn.change(catalog.Change{Namespace: &renamed})
	for _, id := range sortedIDs(s.txn.catalog.Tables) {
		if t := s.txn.catalog.Tables[id]; t.Schema == was {
			if err := s.moveTable(t, name, t.Name); err != nil {
				return nil, err
			}
		}
	}
	for _, id := range sortedIDs(s.txn.catalog.Views) {
		if v := s.txn.catalog.Views[id]; v.Schema == was {
			if err := s.moveView(v, name, v.Name); err != nil {
				return nil, err
			}
		}
	}
	for _, id := range sortedIDs(s.txn.catalog.Types) {
		if t := s.txn.catalog.Types[id]; t.Schema == was {
			if err := s.moveType(t, name, t.Name); err != nil {
				return nil, err
			}
		}
	}
	return done("ALTER SCHEMA"), nil
}

// setSchema runs ALTER TABLE | VIEW | TYPE | DOMAIN ... SET SCHEMA.
func (s *Session) setSchema(ctx context.Context, n *pg_query.AlterObjectSchemaStmt) (*Result, error) {
	if err := s.txn.open(ctx, false); err != nil {
		return nil, err
	}
	if isSystem(n.Newschema) || !hasSchema(s.txn.catalog, n.Newschema) {
		if _, err := s.schemaFor(n.Newschema, ""); err != nil {
			return nil, err
		}
	}
	kind, object, err := s.objectOf(n.ObjectType, n.Relation, n.Object)
	switch {
	case err != nil && n.MissingOk && tailrace.Code(err) == "42P01":
		kind = objectWord(n.ObjectType)
		s.notice("NOTICE", "00000", fmt.Sprintf("relation \"%s\" does not exist, skipping", n.Relation.Relname))
	case err != nil:
		return nil, err
	default:
		if err := s.move(object, n.Newschema, object.name()); err != nil {
			return nil, err
		}
	}
	return done("ALTER " + kind), nil
}

// dropSchemas drops schemas, and with cascade what is in them.
func (s *Session) dropSchemas(names []string, cascade bool) error {
	for _, name := range names {
		if name == publicSchema || isSystem(name) {
			return failure("2BP01", "cannot drop schema %s because it is required by the database system", name)
		}
		var within []object
		for _, id := range sortedIDs(s.txn.catalog.Tables) {
			if t := s.txn.catalog.Tables[id]; t.Schema == name {
				within = append(within, object{table: t})
			}
		}
		for _, id := range sortedIDs(s.txn.catalog.Views) {
			if v := s.txn.catalog.Views[id]; v.Schema == name {
				within = append(within, object{view: v})
			}
		}
		for _, id := range sortedIDs(s.txn.catalog.Types) {
			if t := s.txn.catalog.Types[id]; t.Schema == name {
				within = append(within, object{typ: t})
			}
		}
		if len(within) > 0 {
			if err := s.dropAll(within, cascade, name); err != nil {
				return err
			}
		}
		if ns := s.txn.catalog.Namespace(name); ns != nil {
			s.txn.change(catalog.Change{Drop: ns.ID})
		}
	}
	return nil
}
