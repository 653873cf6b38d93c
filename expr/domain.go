package expr

import (
	"cmp"
	"fmt"
	"slices"

	pg_query "github.com/pganalyze/pg_query_go/v6"

	"tailrace"
)

// Domain is what a domain asks of a value, bound once and evaluated for each.
type Domain struct {
	name    string
	typ     tailrace.Type
	notNull bool
	checks  []domainCheck
}

type domainCheck struct {
	name  string
	holds *Expr // over a row with VALUE as its only column
}

// BindDomain binds the conditions of d, which call the value VALUE.
func BindDomain(d *tailrace.NamedType, s *Scope) (*Domain, error) {
	out := &Domain{name: d.Name, typ: d.Type, notNull: d.NotNull}
	checks := slices.SortedFunc(slices.Values(d.Checks), func(a, b tailrace.NamedCheck) int { return cmp.Compare(a.Name, b.Name) })
	for _, c := range checks {
		text := "SELECT " + c.Expr
		res, err := pg_query.Parse(text)
		if err != nil {
			return nil, fmt.Errorf("bind check %s of domain %s: %w", c.Name, d.Name, err)
		}
		scope := &Scope{Text: text, Settings: s.Settings, Type: s.Type, Column: func(qualifier, name string) (int, tailrace.Type, bool) {
			return 0, d.Type, qualifier == "" && name == "value"
		}}
		holds, err := BindCondition(res.Stmts[0].Stmt.GetSelectStmt().TargetList[0].GetResTarget().Val, scope)
		if err != nil {
			return nil, fmt.Errorf("bind check %s of domain %s: %w", c.Name, d.Name, err)
		}
		out.checks = append(out.checks, domainCheck{c.Name, holds})
	}
	return out, nil
}

// Check refuses a value that the domain does not allow: 23502 for NULL, 23514 for one that a condition is false for. The conditions are evaluated in
// the order of their names, with the clock and settings of r.
func (d *Domain) Check(v Value, r *Row) error {
	if v.Null && d.notNull {
		return failure("23502", fmt.Sprintf("domain %s does not allow null values", d.name))
	}
	if len(d.checks) == 0 {
		return nil
	}
	c := tailrace.MakeColumn(d.typ.Kind, 1)
	if v.Null {
		c.AppendNull()
	} else {
		c.Append(v.Raw)
	}
	row := Row{Batch: &tailrace.Batch{N: 1, Cols: []tailrace.Column{c}}, Params: r.Params, Now: r.Now, Logical: r.Logical, Settings: r.Settings}
	for _, k := range d.checks {
		held, err := k.holds.eval(&row)
		if err != nil {
			return err
		}
		if held.isFalse() {
			return &tailrace.Error{
				Code: "23514", Message: fmt.Sprintf("value for domain %s violates check constraint \"%s\"", d.name, k.name), Constraint: k.name,
			}
		}
	}
	return nil
}

// inDomain is e, which has the type under d, checked against d.
func (s *Scope) inDomain(e *Expr, d *tailrace.NamedType) (*Expr, error) {
	domain, err := BindDomain(d, s)
	if err != nil {
		return nil, err
	}
	return &Expr{Type: e.Type, Column: -1, loc: e.loc, eval: func(r *Row) (Value, error) {
		v, err := e.eval(r)
		if err != nil {
			return null, err
		}
		return v, domain.Check(v, r)
	}}, nil
}
