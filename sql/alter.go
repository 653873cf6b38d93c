package sql

import (
	"context"
	"fmt"
	"slices"
	"strings"

	pg_query "github.com/pganalyze/pg_query_go/v6"

	"tailrace"
	"tailrace/catalog"
)

// altered is a copy of t whose schema may be changed.
func altered(t *catalog.Table) *catalog.Table {
	out := *t
	schema := *t.Columns
	schema.Version++
	schema.Fields, schema.Key = slices.Clone(schema.Fields), slices.Clone(schema.Key)
	out.Columns = &schema
	return &out
}

// alterable refuses to alter a source's table, and one that the transaction already wrote to: its rows wait in the shape they were written in.
func (s *Session) alterable(t *catalog.Table) error {
	if err := writable(t, "alter"); err != nil {
		return err
	}
	if w := s.txn.tables[t.ID]; w != nil && w.rows > 0 {
		return s.unsupported("ALTER TABLE after the same transaction wrote to the table", "Alter the table first, or in a transaction of its own.")
	}
	delete(s.txn.tables, t.ID)
	return nil
}

// alterTable runs ALTER TABLE.
func (s *Session) alterTable(ctx context.Context, st *statement, n *pg_query.AlterTableStmt) (*Result, error) {
	if n.Objtype != pg_query.ObjectType_OBJECT_TABLE {
		return nil, s.unsupported("this ALTER", "")
	}
	if err := s.txn.open(ctx, false); err != nil {
		return nil, err
	}
	t := s.find(n.Relation.Schemaname, n.Relation.Relname)
	if t == nil {
		if n.MissingOk {
			s.notice("NOTICE", "00000", fmt.Sprintf("relation \"%s\" does not exist, skipping", n.Relation.Relname))
			return done("ALTER TABLE"), nil
		}
		return nil, noRelation(n.Relation.Schemaname, n.Relation.Relname)
	}
	if err := s.alterable(t); err != nil {
		return nil, err
	}
	out := altered(t)
	for _, c := range n.Cmds {
		if err := s.alterCommand(ctx, st, t, out, c.GetAlterTableCmd()); err != nil {
			return nil, err
		}
	}
	s.txn.change(catalog.Change{Table: out})
	return done("ALTER TABLE"), nil
}

// alterCommand makes one change to out, a copy of t.
func (s *Session) alterCommand(ctx context.Context, st *statement, t, out *catalog.Table, c *pg_query.AlterTableCmd) error {
	switch c.Subtype {
	case pg_query.AlterTableType_AT_AddColumn:
		return s.addColumn(ctx, st, t, out, c)
	case pg_query.AlterTableType_AT_DropColumn:
		return s.dropColumn(out, c)
	case pg_query.AlterTableType_AT_ColumnDefault:
		i := out.Columns.ByName(c.Name)
		if i < 0 {
			return noColumn(c.Name, t)
		}
		f := &out.Columns.Fields[i]
		f.Default = ""
		if c.Def == nil {
			return nil
		}
		var err error
		f.Default, err = s.defaultExpr(st, f, c.Def, 0)
		return err
	case pg_query.AlterTableType_AT_DropNotNull:
		i := out.Columns.ByName(c.Name)
		switch {
		case i < 0:
			return noColumn(c.Name, t)
		case out.Columns.InKey(i):
			return failure("42P16", "column \"%s\" is in a primary key", c.Name)
		}
		out.Columns.Fields[i].NotNull = false
		return nil
	case pg_query.AlterTableType_AT_AlterColumnType:
		return s.unsupported("ALTER COLUMN TYPE", "Add a column of the new type, fill it with UPDATE, drop the old one.")
	case pg_query.AlterTableType_AT_AddConstraint:
		return s.unsupported("ADD CONSTRAINT", "Give the PRIMARY KEY in CREATE TABLE.")
	}
	return s.unsupported("this form of ALTER TABLE", "")
}

// addColumn adds a column. Rows that are there get the default's value now, once, without being rewritten.
func (s *Session) addColumn(ctx context.Context, st *statement, t, out *catalog.Table, c *pg_query.AlterTableCmd) error {
	d := c.Def.GetColumnDef()
	if out.Columns.ByName(d.Colname) >= 0 {
		if c.MissingOk {
			s.notice("NOTICE", "42701", fmt.Sprintf("column \"%s\" of relation \"%s\" already exists, skipping", d.Colname, t.Name))
			return nil
		}
		return failure("42701", "column \"%s\" of relation \"%s\" already exists", d.Colname, t.Name)
	}
	isKey, err := s.addField(st, out, d)
	if err != nil {
		return err
	}
	if isKey {
		return s.unsupported("ADD COLUMN ... PRIMARY KEY", "Give the PRIMARY KEY in CREATE TABLE.")
	}
	f := &out.Columns.Fields[len(out.Columns.Fields)-1]
	if strings.Contains(f.Default, "gen_random_uuid") {
		return s.unsupported("ADD COLUMN with a DEFAULT that differs from row to row", "Add the column without it, then SET DEFAULT and UPDATE.")
	}
	e, err := s.defaultOf(f)
	if err != nil {
		return err
	}
	v, err := e.Eval(s.row(nil))
	if err != nil {
		return err
	}
	if !v.Null {
		f.Missing = append([]byte{}, v.Raw...)
	}
	if f.NotNull && v.Null {
		return s.mustBeEmpty(ctx, t, f)
	}
	return nil
}

// mustBeEmpty is 23502 when t has rows, which would have no value for f.
func (s *Session) mustBeEmpty(ctx context.Context, t *catalog.Table, f *tailrace.Field) error {
	rows, err := s.scan(ctx, t.ID, t.Columns, nil)
	if err != nil {
		return err
	}
	return drain(ctx, rows, func(b *tailrace.Batch) error {
		if b.N == 0 {
			return nil
		}
		return &tailrace.Error{
			Code: "23502", Message: fmt.Sprintf("column \"%s\" of relation \"%s\" contains null values", f.Name, t.Name), Table: t.Name, Column: f.Name,
			Hint: "Give it a DEFAULT.",
		}
	})
}

// dropColumn drops a column; with a key column the key goes.
func (s *Session) dropColumn(out *catalog.Table, c *pg_query.AlterTableCmd) error {
	i := out.Columns.ByName(c.Name)
	if i < 0 {
		if c.MissingOk {
			s.notice("NOTICE", "42703", fmt.Sprintf("column \"%s\" of relation \"%s\" does not exist, skipping", c.Name, out.Name))
			return nil
		}
		return noColumn(c.Name, out)
	}
	if len(out.Columns.Fields) == 1 {
		return s.unsupported("dropping the last column", "Use DROP TABLE.")
	}
	if out.Columns.InKey(i) {
		out.Columns.Key = nil
	}
	out.Columns.Fields = slices.Delete(out.Columns.Fields, i, i+1)
	for k, at := range out.Columns.Key {
		if at > i {
			out.Columns.Key[k]--
		}
	}
	return nil
}

// rename runs ALTER TABLE ... RENAME [COLUMN a] TO b.
func (s *Session) rename(ctx context.Context, st *statement, n *pg_query.RenameStmt) (*Result, error) {
	if err := s.txn.open(ctx, false); err != nil {
		return nil, err
	}
	column := n.RenameType == pg_query.ObjectType_OBJECT_COLUMN
	if !column && n.RenameType != pg_query.ObjectType_OBJECT_TABLE {
		return nil, s.unsupported("this RENAME", "")
	}
	t := s.find(n.Relation.Schemaname, n.Relation.Relname)
	if t == nil {
		if n.MissingOk {
			s.notice("NOTICE", "00000", fmt.Sprintf("relation \"%s\" does not exist, skipping", n.Relation.Relname))
			return done("ALTER TABLE"), nil
		}
		return nil, noRelation(n.Relation.Schemaname, n.Relation.Relname)
	}
	if err := s.alterable(t); err != nil {
		return nil, err
	}
	out := altered(t)
	if column {
		i := out.Columns.ByName(n.Subname)
		if i < 0 {
			return nil, failure("42703", "column \"%s\" does not exist", n.Subname)
		}
		if out.Columns.ByName(n.Newname) >= 0 {
			return nil, failure("42701", "column \"%s\" of relation \"%s\" already exists", n.Newname, t.Name)
		}
		out.Columns.Fields[i].Name = n.Newname
	} else {
		if s.txn.catalog.Table(t.Schema, n.Newname) != nil {
			return nil, failure("42P07", "relation \"%s\" already exists", n.Newname)
		}
		out.Name = n.Newname
	}
	s.txn.change(catalog.Change{Table: out})
	return done("ALTER TABLE"), nil
}

// dropTables runs DROP TABLE.
func (s *Session) dropTables(ctx context.Context, st *statement, n *pg_query.DropStmt) (*Result, error) {
	if n.RemoveType != pg_query.ObjectType_OBJECT_TABLE {
		what := strings.ReplaceAll(strings.TrimPrefix(n.RemoveType.String(), "OBJECT_"), "_", " ")
		return nil, s.unsupported("DROP "+what, "")
	}
	if err := s.txn.open(ctx, false); err != nil {
		return nil, err
	}
	var tables []*catalog.Table
	for _, o := range n.Objects {
		schema, name := "", ""
		for _, part := range o.GetList().Items {
			schema, name = name, part.GetString_().Sval
		}
		t := s.find(schema, name)
		switch {
		case t == nil && n.MissingOk:
			s.notice("NOTICE", "00000", fmt.Sprintf("table \"%s\" does not exist, skipping", name))
			continue
		case t == nil:
			return nil, failure("42P01", "table \"%s\" does not exist", name)
		case t.Upstream != nil:
			return nil, &tailrace.Error{
				Code: "42809", Message: fmt.Sprintf("cannot drop \"%s\": it is a copy of a source's table", t.Name), Hint: "Use DROP SOURCE to drop all tables of the source.",
			}
		}
		tables = append(tables, t)
	}
	for _, t := range tables {
		if s.txn.catalog.Tables[t.ID] == nil {
			continue // named twice
		}
		if w := s.txn.tables[t.ID]; w != nil {
			w.writer.Abort(ctx)
			delete(s.txn.tables, t.ID)
		}
		s.txn.change(catalog.Change{Drop: t.ID})
	}
	return done("DROP TABLE"), nil
}
