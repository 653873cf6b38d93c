package sql

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	pg_query "github.com/pganalyze/pg_query_go/v6"

	"tailrace"
	"tailrace/catalog"
	"tailrace/expr"
)

// columnsLimit is the most columns that a table may have, as in PostgreSQL.
const columnsLimit = 1600

// createTable runs CREATE TABLE.
func (s *Session) createTable(ctx context.Context, st *statement, n *pg_query.CreateStmt) (*Result, error) {
	if err := s.txn.open(ctx, false); err != nil {
		return nil, err
	}
	rel := n.Relation
	if err := s.creatable(n); err != nil {
		return nil, err
	}
	schema, err := s.schemaFor(rel.Schemaname, rel.Relname)
	if err != nil {
		return nil, at(err, st.pos(rel.Location))
	}
	if err := s.nameFree(schema, rel.Relname, "table"); err != nil {
		if n.IfNotExists && tailrace.Code(err) == "42P07" {
			s.notice("NOTICE", "42P07", fmt.Sprintf("relation \"%s\" already exists, skipping", rel.Relname))
			return done("CREATE TABLE"), nil
		}
		return nil, err
	}
	t := &catalog.Table{Schema: schema, Name: rel.Relname, Retain: catalog.DefaultRetain, Columns: &tailrace.Schema{Version: 1, NextColumn: 1}}
	if st.Retain != nil {
		var err error
		if t.Retain, err = s.retention(st, st.Retain); err != nil {
			return nil, err
		}
	}
	var keyNames []string
	keyAt := int32(-1)
	for _, e := range n.TableElts {
		if l := e.GetTableLikeClause(); l != nil {
			names, err := s.like(st, t, l)
			if err != nil {
				return nil, err
			}
			if len(keyNames) > 0 && len(names) > 0 {
				return nil, twoKeys(t.Name)
			}
			keyNames = append(keyNames, names...)
		}
		if d := e.GetColumnDef(); d != nil {
			isKey, err := s.addField(st, t, d)
			if err != nil {
				return nil, err
			}
			if isKey {
				if len(keyNames) > 0 {
					return nil, at(twoKeys(t.Name), st.pos(d.Location))
				}
				keyNames = []string{d.Colname}
			}
		}
	}
	for _, e := range n.TableElts {
		c := e.GetConstraint()
		if c == nil || c.Contype == pg_query.ConstrType_CONSTR_CHECK {
			continue
		}
		names, err := s.tableConstraint(st, c)
		if err != nil {
			return nil, err
		}
		if len(keyNames) > 0 {
			return nil, at(twoKeys(t.Name), st.pos(c.Location))
		}
		keyNames, keyAt = names, c.Location
	}
	if err := s.addChecks(ctx, st, t, n.TableElts); err != nil {
		return nil, err
	}
	if err := setKey(t, keyNames); err != nil {
		return nil, at(err, st.pos(keyAt))
	}
	t.ID = s.txn.newID()
	s.txn.change(catalog.Change{Table: t})
	return done("CREATE TABLE"), nil
}

func twoKeys(table string) error {
	return failure("42P16", "multiple primary keys for table \"%s\" are not allowed", table)
}

// creatable refuses the forms of CREATE TABLE that are not here.
func (s *Session) creatable(n *pg_query.CreateStmt) error {
	switch {
	case n.Relation.Relpersistence == "t":
		return s.unsupported("CREATE TEMPORARY TABLE", "Use CREATE TABLE, and DROP TABLE when done.")
	case n.Relation.Relpersistence == "u":
		return s.unsupported("CREATE UNLOGGED TABLE", "Use CREATE TABLE.")
	case n.Partspec != nil || n.Partbound != nil:
		return s.unsupported("partitioning", "Use one table: it is kept sorted by its primary key.")
	case len(n.InhRelations) > 0:
		return s.unsupported("INHERITS", "List the columns.")
	case n.OfTypename != nil:
		return s.unsupported("CREATE TABLE OF", "List the columns.")
	}
	for _, o := range n.Options {
		name := o.GetDefElem().Defname
		if name != "fillfactor" && !strings.HasPrefix(name, "autovacuum") { // they mean nothing here and do no harm
			return &tailrace.Error{Code: "22023", Message: fmt.Sprintf("unrecognized parameter \"%s\"", name), Hint: "WITH takes (RETAIN HISTORY FOR '1 day')."}
		}
	}
	return nil
}

// addField adds the column that d defines; isKey tells that it says PRIMARY KEY.
func (s *Session) addField(st *statement, t *catalog.Table, d *pg_query.ColumnDef) (isKey bool, err error) {
	if t.Columns.ByName(d.Colname) >= 0 {
		return false, at(failure("42701", "column \"%s\" specified more than once", d.Colname), 0)
	}
	if len(t.Columns.Fields) >= columnsLimit {
		return false, failure("54011", "tables can have at most %d columns", columnsLimit)
	}
	typ, domain, err := s.declared(d.TypeName)
	if err != nil {
		return false, at(err, st.pos(d.TypeName.Location))
	}
	if d.CollClause != nil {
		return false, at(s.unsupported("COLLATE", "text is ordered by its bytes, as COLLATE \"C\" does."), st.pos(d.CollClause.Location))
	}
	f := tailrace.Field{ID: t.Columns.NextColumn, Name: d.Colname, Type: typ}
	if domain != nil {
		f.Domain = domain.ID
	}
	nullable := false
	for _, n := range d.Constraints {
		c := n.GetConstraint()
		switch c.Contype {
		case pg_query.ConstrType_CONSTR_NOTNULL:
			f.NotNull = true
		case pg_query.ConstrType_CONSTR_NULL:
			nullable = true
		case pg_query.ConstrType_CONSTR_PRIMARY:
			isKey = true
		case pg_query.ConstrType_CONSTR_DEFAULT:
			if f.Default, err = s.defaultText(st, &f, c); err != nil {
				return false, err
			}
		case pg_query.ConstrType_CONSTR_CHECK:
			if t.ID != 0 { // of a new table they are added when all columns are there
				return false, at(s.unsupported("ADD COLUMN with CHECK", "Use a domain with the CHECK as the column's type, or give it in CREATE TABLE."), st.pos(c.Location))
			}
		default:
			return false, at(s.refuseConstraint(c), st.pos(c.Location))
		}
		if nullable && f.NotNull {
			return false, at(failure("42601", "conflicting NULL/NOT NULL declarations for column \"%s\" of table \"%s\"", f.Name, t.Name), st.pos(c.Location))
		}
	}
	t.Columns.Fields = append(t.Columns.Fields, f)
	t.Columns.NextColumn++
	return isKey, nil
}

// refuseConstraint is the error for a constraint that is not kept here: accepting it silently would be worse.
func (s *Session) refuseConstraint(c *pg_query.Constraint) error {
	switch c.Contype {
	case pg_query.ConstrType_CONSTR_FOREIGN:
		return s.unsupported("FOREIGN KEY", "Leave the constraint out.")
	case pg_query.ConstrType_CONSTR_UNIQUE:
		return s.unsupported("UNIQUE", "Use PRIMARY KEY, or leave the constraint out.")
	case pg_query.ConstrType_CONSTR_IDENTITY:
		return s.unsupported("GENERATED AS IDENTITY", "Use uuid DEFAULT gen_random_uuid(), or give the values yourself.")
	case pg_query.ConstrType_CONSTR_GENERATED:
		return s.unsupported("a generated column", "Compute the value where the rows are written.")
	case pg_query.ConstrType_CONSTR_EXCLUSION:
		return s.unsupported("EXCLUDE", "Leave the constraint out.")
	}
	return s.unsupported("this constraint", "Leave it out.")
}

// tableConstraint is the columns of PRIMARY KEY (a, b).
func (s *Session) tableConstraint(st *statement, c *pg_query.Constraint) ([]string, error) {
	if c.Contype != pg_query.ConstrType_CONSTR_PRIMARY || c.Deferrable || c.Including != nil {
		return nil, at(s.refuseConstraint(c), st.pos(c.Location))
	}
	var names []string
	for _, k := range c.Keys {
		names = append(names, k.GetString_().Sval)
	}
	return names, nil
}

// setKey makes the named columns the primary key, in that order.
func setKey(t *catalog.Table, names []string) error {
	for _, name := range names {
		i := t.Columns.ByName(name)
		switch {
		case i < 0:
			return failure("42703", "column \"%s\" named in key does not exist", name)
		case slices.Contains(t.Columns.Key, i):
			return failure("42701", "column \"%s\" appears twice in primary key constraint", name)
		case t.Columns.Fields[i].Type.Kind == tailrace.KindJSON:
			return &tailrace.Error{
				Code: "42704", Message: "data type json has no default operator class for access method \"btree\"",
				Hint: "You must specify an operator class for the index or define a default operator class for the data type.",
			}
		}
		t.Columns.Fields[i].NotNull = true
		t.Columns.Key = append(t.Columns.Key, i)
	}
	return nil
}

// defaultText is the text of a DEFAULT, which must be an expression that needs no query.
func (s *Session) defaultText(st *statement, f *tailrace.Field, c *pg_query.Constraint) (string, error) {
	return s.defaultExpr(st, f, c.RawExpr, int(c.Location)+len("DEFAULT"))
}

// defaultExpr checks n as a default and returns its text, which begins somewhere from byte from on.
func (s *Session) defaultExpr(st *statement, f *tailrace.Field, n *pg_query.Node, from int) (string, error) {
	_, err := expr.BindAs(n, &expr.Scope{Text: st.Text, Settings: s.format, Type: s.namedType}, f.Type, f.Name)
	if errors.Is(err, expr.ErrUnsupported) {
		return "", at(s.unsupported("this DEFAULT", "Use constants, arithmetic, now() or gen_random_uuid()."), st.pos(nodeLocation(n)))
	}
	if err != nil {
		var te *tailrace.Error
		if errors.As(err, &te) && te.Code == "42703" {
			return "", &tailrace.Error{Code: "0A000", Message: "cannot use column reference in DEFAULT expression", Position: te.Position}
		}
		return "", err
	}
	return deparseExpr(n)
}

// grammarVersion is the PostgreSQL whose grammar pg_query has, as its trees say.
const grammarVersion = 170007
