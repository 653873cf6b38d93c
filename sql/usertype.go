package sql

import (
	"context"
	"fmt"
	"slices"

	pg_query "github.com/pganalyze/pg_query_go/v6"
	"google.golang.org/protobuf/proto"

	"tailrace"
	"tailrace/catalog"
	"tailrace/expr"
)

// labelLength is how long an enum's label may be, in bytes, as in PostgreSQL.
const labelLength = 63

// declared is the type that a column's or a cast's type name says: one of PostgreSQL's, an enum, an array of those, or a domain, which then is not nil beside
// the type under it. Position is left to the caller.
func (s *Session) declared(n *pg_query.TypeName) (t tailrace.Type, domain *catalog.UserType, err error) {
	if len(n.ArrayBounds) > 0 {
		elem := proto.Clone(n).(*pg_query.TypeName)
		elem.ArrayBounds = nil
		t, domain, err = s.declared(elem)
		if err == nil && domain != nil {
			err = s.unsupported("an array of the domain "+domain.Name, "Use an array of "+t.String()+".")
		}
		return tailrace.ArrayOf(t), nil, err
	}
	schema, name := lastTwo(n.Names)
	if schema == "" || schema == systemSchema {
		if t, err = expr.TypeName(n); err == nil || schema != "" {
			return t, nil, err
		}
	}
	u := s.userType(schema, name)
	switch {
	case u == nil && err != nil:
		return t, nil, err
	case u == nil:
		return t, nil, failure("42704", "type \"%s.%s\" does not exist", schema, name)
	case len(n.Typmods) > 0:
		return t, nil, failure("42601", "type modifier is not allowed for type \"%s\"", name)
	case u.Base == nil:
		return u.Named().Type, nil, nil
	}
	return *u.Base, u, nil
}

// createEnum runs CREATE TYPE ... AS ENUM.
func (s *Session) createEnum(ctx context.Context, n *pg_query.CreateEnumStmt) (*Result, error) {
	schema, name, err := s.newType(ctx, n.TypeName)
	if err != nil {
		return nil, err
	}
	t := &catalog.UserType{ID: s.txn.newID(), Schema: schema, Name: name}
	for _, v := range n.Vals {
		label := v.GetString_().GetSval()
		if err := labelFits(label); err != nil {
			return nil, err
		}
		if slices.Contains(t.Labels, label) {
			return nil, &tailrace.Error{
				Code: "23505", Message: "duplicate key value violates unique constraint \"pg_enum_typid_label_index\"",
				Detail: fmt.Sprintf("Key (enumtypid, enumlabel)=(%d, %s) already exists.", tailrace.UserOID(t.ID), label), Constraint: "pg_enum_typid_label_index",
			}
		}
		t.Labels = append(t.Labels, label)
	}
	s.txn.change(catalog.Change{Type: t})
	return done("CREATE TYPE"), nil
}

// newType opens the transaction and finds where a type that names say is created.
func (s *Session) newType(ctx context.Context, names []*pg_query.Node) (schema, name string, err error) {
	if err := s.txn.open(ctx, false); err != nil {
		return "", "", err
	}
	schema, name = lastTwo(names)
	if schema, err = s.schemaFor(schema, name); err != nil {
		return "", "", err
	}
	return schema, name, s.nameFree(schema, name, "type")
}

func labelFits(label string) error {
	if label == "" || len(label) > labelLength {
		return &tailrace.Error{
			Code: "42602", Message: fmt.Sprintf("invalid enum label \"%s\"", label), Detail: fmt.Sprintf("Labels must be %d bytes or less.", labelLength),
		}
	}
	return nil
}

// alterEnum runs ALTER TYPE ... ADD VALUE and RENAME VALUE.
func (s *Session) alterEnum(ctx context.Context, n *pg_query.AlterEnumStmt) (*Result, error) {
	if err := s.txn.open(ctx, false); err != nil {
		return nil, err
	}
	t, err := s.typeNamed(lastTwo(n.TypeName))
	switch {
	case err != nil:
		return nil, err
	case t.Base != nil:
		return nil, failure("42809", "%s is not an enum", t.Name)
	}
	if n.OldVal != "" {
		return done("ALTER TYPE"), s.renameLabel(ctx, t, n.OldVal, n.NewVal)
	}
	return done("ALTER TYPE"), s.addLabel(t, n)
}

func (s *Session) addLabel(t *catalog.UserType, n *pg_query.AlterEnumStmt) error {
	if slices.Contains(t.Labels, n.NewVal) {
		if n.SkipIfNewValExists {
			s.notice("NOTICE", "42710", fmt.Sprintf("enum label \"%s\" already exists, skipping", n.NewVal))
			return nil
		}
		return failure("42710", "enum label \"%s\" already exists", n.NewVal)
	}
	if err := labelFits(n.NewVal); err != nil {
		return err
	}
	at := len(t.Labels)
	if n.NewValNeighbor != "" {
		if at = slices.Index(t.Labels, n.NewValNeighbor); at < 0 {
			return failure("22023", "\"%s\" is not an existing enum label", n.NewValNeighbor)
		}
		if n.NewValIsAfter {
			at++
		}
	}
	out := *t
	out.Labels = slices.Insert(slices.Clone(t.Labels), at, n.NewVal)
	s.txn.change(catalog.Change{Type: &out})
	return nil
}

// renameLabel renames a label. Rows hold the label itself, so those that have it are rewritten in the same transaction.
func (s *Session) renameLabel(ctx context.Context, t *catalog.UserType, was, label string) error {
	i := slices.Index(t.Labels, was)
	switch {
	case i < 0:
		return failure("22023", "\"%s\" is not an existing enum label", was)
	case slices.Contains(t.Labels, label):
		return failure("42710", "enum label \"%s\" already exists", label)
	}
	if err := labelFits(label); err != nil {
		return err
	}
	if len(viewsOf(s.txn.catalog, t.ID)) > 0 {
		return s.unsupported("renaming a label of a type that views use", "DROP VIEW first, and create it again afterwards.")
	}
	out := *t
	out.Labels = slices.Clone(t.Labels)
	out.Labels[i] = label
	s.txn.change(catalog.Change{Type: &out})
	for _, table := range s.txn.allTables() {
		if err := s.relabel(ctx, table, t, was, label); err != nil {
			return err
		}
	}
	return nil
}

// relabel rewrites the rows of a table that have the label was of an enum.
func (s *Session) relabel(ctx context.Context, table *catalog.Table, enum *catalog.UserType, was, label string) error {
	var cols []int
	for i, f := range table.Columns.Fields {
		switch {
		case f.Type.ID != enum.ID:
		case table.Upstream != nil:
			return s.unsupported("renaming a label of a type that a source's table has", "Rename it at the source.")
		case f.Type.Kind == tailrace.KindArray:
			return s.unsupported(fmt.Sprintf("renaming a label of a type that column \"%s\" of table \"%s\" has in arrays", f.Name, table.Name), "ALTER TYPE ... ADD VALUE, then UPDATE.")
		case f.Missing != nil && string(f.Missing) == was:
			return s.unsupported(fmt.Sprintf("renaming the label that rows older than column \"%s\" of table \"%s\" have", f.Name, table.Name), "ALTER TYPE ... ADD VALUE, then UPDATE.")
		default:
			if _, err := s.defaultOf(&f); err != nil {
				return s.unsupported(fmt.Sprintf("renaming a label that the default of column \"%s\" of table \"%s\" names", f.Name, table.Name), "ALTER TABLE ... ALTER COLUMN ... DROP DEFAULT first.")
			}
			cols = append(cols, i)
		}
	}
	if cols == nil {
		return nil
	}
	rows, err := s.scan(ctx, table.ID, table.Columns, nil)
	if err != nil {
		return err
	}
	return drain(ctx, rows, func(b *tailrace.Batch) error {
		var with []int32
		for i := range b.N {
			if slices.ContainsFunc(cols, func(c int) bool { return !b.Cols[c].IsNull(i) && string(b.Cols[c].Bytes(i)) == was }) {
				with = append(with, int32(i))
			}
		}
		if len(with) == 0 {
			return nil
		}
		old := b.Gather(with)
		old.IDs, old.Times = tailrace.NewBatch(table.Columns, 0).IDs, nil
		fresh := &tailrace.Batch{N: old.N, IDs: old.IDs, Cols: slices.Clone(old.Cols)}
		for _, c := range cols {
			col := tailrace.MakeColumn(tailrace.KindEnum, old.N)
			for i := range old.N {
				if v := &old.Cols[c]; !v.IsNull(i) && string(v.Bytes(i)) == was {
					col.AppendString(label)
				} else {
					col.AppendFrom(v, i)
				}
			}
			fresh.Cols[c] = col
		}
		return s.change(ctx, table, old, fresh, cols)
	})
}
