package sql

import (
	"context"
	"errors"
	"fmt"
	"slices"

	pg_query "github.com/pganalyze/pg_query_go/v6"

	"tailrace"
	"tailrace/catalog"
)

// createDomain runs CREATE DOMAIN.
func (s *Session) createDomain(ctx context.Context, st *statement, n *pg_query.CreateDomainStmt) (*Result, error) {
	schema, name, err := s.newType(ctx, n.Domainname)
	if err != nil {
		return nil, err
	}
	base, over, err := s.declared(n.TypeName)
	switch {
	case err != nil:
		return nil, err
	case over != nil:
		return nil, at(s.unsupported("a domain over the domain "+over.Name, "Use "+base.String()+", and give all CHECKs."), st.pos(n.TypeName.Location))
	case n.CollClause != nil:
		return nil, at(s.unsupported("COLLATE", "text is ordered by its bytes, as COLLATE \"C\" does."), st.pos(n.CollClause.Location))
	}
	d := &catalog.UserType{ID: s.txn.newID(), Schema: schema, Name: name, Base: &base}
	nullable := false
	for _, c := range n.Constraints {
		c := c.GetConstraint()
		switch c.Contype {
		case pg_query.ConstrType_CONSTR_NOTNULL:
			d.NotNull = true
		case pg_query.ConstrType_CONSTR_NULL:
			nullable = true
		case pg_query.ConstrType_CONSTR_DEFAULT:
			if d.Default != "" {
				return nil, failure("42601", "multiple default expressions")
			}
			d.Default, err = s.defaultExpr(st, &tailrace.Field{Name: name, Type: base}, c.RawExpr, 0)
		case pg_query.ConstrType_CONSTR_CHECK:
			err = s.addDomainCheck(ctx, st, d, c)
		default:
			err = at(s.refuseConstraint(c), st.pos(c.Location))
		}
		if err != nil {
			return nil, err
		}
		if nullable && d.NotNull {
			return nil, failure("42601", "conflicting NULL/NOT NULL constraints")
		}
	}
	s.txn.change(catalog.Change{Type: d})
	return done("CREATE DOMAIN"), nil
}

func (s *Session) addDomainCheck(ctx context.Context, st *statement, d *catalog.UserType, c *pg_query.Constraint) error {
	named := func(name string) bool {
		return slices.ContainsFunc(d.Checks, func(k catalog.Check) bool { return k.Name == name })
	}
	name := c.Conname
	if name != "" && named(name) {
		return failure("42710", "constraint \"%s\" for domain \"%s\" already exists", name, d.Name)
	}
	for i := 0; name == "" || c.Conname == "" && named(name); i++ {
		name = d.Name + "_check"
		if i > 0 {
			name = fmt.Sprintf("%s%d", name, i)
		}
	}
	sc := s.scope(st)
	sc.Column = valueColumn(0, *d.Base)
	if err := s.checkable(ctx, st, c, sc, &tailrace.Schema{Fields: []tailrace.Field{{Name: "value", Type: *d.Base}}}); err != nil {
		return unplaced(err)
	}
	text, err := deparseExpr(c.RawExpr)
	d.Checks = append(d.Checks, catalog.Check{Name: name, Expr: text})
	return err
}

// unplaced is err without a position: PostgreSQL gives none for the conditions of a domain.
func unplaced(err error) error {
	var e *tailrace.Error
	if !errors.As(err, &e) {
		return err
	}
	plain := *e
	plain.Position = 0
	return &plain
}

// valueColumn makes VALUE column i of a row.
func valueColumn(i int, t tailrace.Type) func(qualifier, name string) (int, tailrace.Type, bool) {
	return func(qualifier, name string) (int, tailrace.Type, bool) {
		return i, t, qualifier == "" && name == "value"
	}
}
