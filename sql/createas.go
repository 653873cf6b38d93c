package sql

import (
	"context"
	"fmt"

	pg_query "github.com/pganalyze/pg_query_go/v6"
	"google.golang.org/protobuf/proto"

	"tailrace"
	"tailrace/catalog"
)

// createTableAs runs CREATE TABLE ... AS SELECT.
func (s *Session) createTableAs(ctx context.Context, st *statement, n *pg_query.CreateTableAsStmt) (*Result, error) {
	switch {
	case n.Objtype != pg_query.ObjectType_OBJECT_TABLE:
		return nil, s.unsupported("CREATE MATERIALIZED VIEW", "Use CREATE VIEW, or CREATE TABLE ... AS.")
	case n.Query.GetSelectStmt() == nil:
		return nil, s.unsupported("CREATE TABLE AS EXECUTE", "Write the SELECT itself.")
	}
	return s.fillNew(ctx, st, n.Into, n.Query, n.IfNotExists)
}

// selectInto runs SELECT ... INTO table.
func (s *Session) selectInto(ctx context.Context, st *statement, n *pg_query.SelectStmt) (*Result, error) {
	return s.fillNew(ctx, st, n.IntoClause, withoutInto(n), false)
}

// withoutInto is the SELECT of a SELECT INTO.
func withoutInto(n *pg_query.SelectStmt) *pg_query.Node {
	plain := proto.Clone(n).(*pg_query.SelectStmt)
	plain.IntoClause = nil
	return &pg_query.Node{Node: &pg_query.Node_SelectStmt{SelectStmt: plain}}
}

// fillNew creates a table of the columns of q and puts q's rows into it.
func (s *Session) fillNew(ctx context.Context, st *statement, into *pg_query.IntoClause, q *pg_query.Node, ifNotExists bool) (*Result, error) {
	if err := s.txn.open(ctx, false); err != nil {
		return nil, err
	}
	rel := into.Rel
	if err := s.creatable(&pg_query.CreateStmt{Relation: rel, Options: into.Options}); err != nil {
		return nil, err
	}
	schema, err := s.schemaFor(rel.Schemaname, rel.Relname)
	if err != nil {
		return nil, at(err, st.pos(rel.Location))
	}
	if err := s.nameFree(schema, rel.Relname, "table"); err != nil {
		if ifNotExists && tailrace.Code(err) == "42P07" {
			s.notice("NOTICE", "42P07", fmt.Sprintf("relation \"%s\" already exists, skipping", rel.Relname))
			return done("CREATE TABLE AS"), nil
		}
		return nil, err
	}
	columns, rows, err := s.selectRows(ctx, st, q)
	if err != nil {
		return nil, err
	}
	t := &catalog.Table{Schema: schema, Name: rel.Relname, Retain: catalog.DefaultRetain}
	if st.Retain != nil {
		t.Retain, err = s.retention(st, st.Retain)
	}
	if err == nil {
		t.Columns, err = schemaOf(columns, into.ColNames)
	}
	if err != nil {
		return nil, closing(rows, err)
	}
	t.ID = s.txn.newID()
	s.txn.change(catalog.Change{Table: t})
	if into.SkipData {
		return done("CREATE TABLE AS"), rows.Close()
	}
	count := 0
	err = drain(ctx, rows, func(b *tailrace.Batch) error {
		b = spreadOut(b)
		count += b.N
		return s.insertRows(ctx, t, &tailrace.Batch{N: b.N, IDs: tailrace.NewBatch(t.Columns, 0).IDs, Cols: b.Cols})
	})
	return done(fmt.Sprintf("SELECT %d", count)), err
}

// closing closes rows that err makes useless.
func closing(rows tailrace.Rows, err error) error {
	_ = rows.Close() // err says what matters
	return err
}

// schemaOf is a table's columns for those of a query; names rename the first ones.
func schemaOf(columns []tailrace.ResultColumn, names []*pg_query.Node) (*tailrace.Schema, error) {
	if len(names) > len(columns) {
		return nil, failure("42601", "too many column names were specified")
	}
	if len(columns) > columnsLimit {
		return nil, failure("54011", "tables can have at most %d columns", columnsLimit)
	}
	schema := &tailrace.Schema{Version: 1, NextColumn: 1}
	for i, c := range columns {
		name := c.Name
		if i < len(names) {
			name = names[i].GetString_().GetSval()
		}
		if schema.ByName(name) >= 0 {
			return nil, failure("42701", "column \"%s\" specified more than once", name)
		}
		schema.Fields = append(schema.Fields, tailrace.Field{ID: schema.NextColumn, Name: name, Type: c.Type})
		schema.NextColumn++
	}
	return schema, nil
}

// What LIKE ... INCLUDING copies, as bits of its options.
const (
	likeConstraints = 1 << 2
	likeDefaults    = 1 << 3
	likeIndexes     = 1 << 6
)

// like adds the columns of another table to t, for CREATE TABLE (LIKE other). key is its primary key, when INCLUDING INDEXES says so.
func (s *Session) like(st *statement, t *catalog.Table, n *pg_query.TableLikeClause) (key []string, err error) {
	from, err := s.relation(n.Relation)
	if err != nil {
		return nil, at(err, st.pos(n.Relation.Location))
	}
	if n.Options&likeConstraints != 0 {
		t.Checks = append(t.Checks, from.Checks...)
	}
	for _, f := range from.Columns.Fields {
		if t.Columns.ByName(f.Name) >= 0 {
			return nil, failure("42701", "column \"%s\" specified more than once", f.Name)
		}
		f.ID, f.Missing = t.Columns.NextColumn, nil
		if n.Options&likeDefaults == 0 {
			f.Default = ""
		}
		t.Columns.NextColumn++
		t.Columns.Fields = append(t.Columns.Fields, f)
	}
	if n.Options&likeIndexes != 0 {
		for _, k := range from.Columns.Key {
			key = append(key, from.Columns.Fields[k].Name)
		}
	}
	return key, nil
}
