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
		return nil, s.noObject(n.Relation)
	}
	if err := writable(t, "alter"); err != nil {
		return nil, err
	}
	out := altered(t)
	var retypes []*retyped
	for _, n := range n.Cmds {
		c := n.GetAlterTableCmd()
		if c.Subtype != pg_query.AlterTableType_AT_AlterColumnType {
			if err := s.alterCommand(ctx, st, t, out, c); err != nil {
				return nil, err
			}
			continue
		}
		if len(out.Columns.Fields) != len(t.Columns.Fields) || !sameKey(out.Columns, t.Columns) && retypes == nil {
			return nil, s.unsupported("ALTER COLUMN TYPE after another change of the columns in one ALTER TABLE", "Use an ALTER TABLE of its own for it, in the same transaction.")
		}
		r, err := s.retype(st, out, c)
		if err != nil {
			return nil, err
		}
		if r != nil {
			retypes = append(retypes, r)
		}
	}
	if retypes != nil && len(out.Columns.Fields) != len(t.Columns.Fields) {
		return nil, s.unsupported("ALTER COLUMN TYPE before another change of the columns in one ALTER TABLE", "Use an ALTER TABLE of its own for it, in the same transaction.")
	}
	if err := s.keepViews(tableOutline(t), tableOutline(out), cascades(n.Cmds)); err != nil {
		return nil, err
	}
	if err := s.keepChecks(t, out); err != nil {
		return nil, err
	}
	out.Checks = slices.DeleteFunc(out.Checks, func(k catalog.Check) bool { return dropsConstraint(n.Cmds, k.Name) })
	if len(t.Columns.Key) == 0 && len(out.Columns.Key) > 0 {
		if retypes != nil {
			return nil, s.unsupported("ADD PRIMARY KEY beside ALTER COLUMN TYPE", "Use an ALTER TABLE of its own for it, in the same transaction.")
		}
		return done("ALTER TABLE"), s.remake(ctx, t, out)
	}
	if retypes != nil {
		if err := s.rewrite(ctx, st, t, out, retypes); err != nil {
			return nil, err
		}
	}
	s.txn.change(catalog.Change{Table: out})
	return done("ALTER TABLE"), nil
}

// dropsConstraint tells that one of the commands drops the constraint called name.
func dropsConstraint(cmds []*pg_query.Node, name string) bool {
	return slices.ContainsFunc(cmds, func(n *pg_query.Node) bool {
		c := n.GetAlterTableCmd()
		return c.Subtype == pg_query.AlterTableType_AT_DropConstraint && c.Name == name
	})
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
	case pg_query.AlterTableType_AT_SetNotNull:
		return s.setNotNull(ctx, t, out, c.Name)
	case pg_query.AlterTableType_AT_AddConstraint:
		return s.addConstraint(st, out, c.Def.GetConstraint())
	case pg_query.AlterTableType_AT_DropConstraint:
		return s.dropConstraint(t, out, c)
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
