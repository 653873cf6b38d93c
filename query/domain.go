package query

import (
	"slices"
	"strings"

	pg_query "github.com/pganalyze/pg_query_go/v6"

	"tailrace"
)

const (
	codeNotNull = "23502"
	codeCheck   = "23514"
)

// domain checks a value, which has the type under a domain already, against the domain: NOT NULL first, then the conditions by their names.
func (p *planner) domain(e expr, d *tailrace.NamedType) (expr, error) {
	sql := e.sql
	checks := slices.Clone(d.Checks)
	slices.SortFunc(checks, func(a, b tailrace.NamedCheck) int { return strings.Compare(b.Name, a.Name) })
	for _, c := range checks {
		holds, err := p.condition(c.Expr, e)
		if err != nil {
			return e, err
		}
		sql = asserted(holds.sql+" IS NOT FALSE", codeCheck, "value for domain "+d.Name+" violates check constraint \""+c.Name+"\"", sql)
	}
	if d.NotNull {
		sql = asserted(e.sql+" IS NOT NULL", codeNotNull, "domain "+d.Name+" does not allow null values", sql)
	}
	e.sql, e.table, e.attr = sql, 0, 0
	return e, nil
}

// asserted is value, or an error where condition is not true.
func asserted(condition, code, message, value string) string {
	return "CASE WHEN tr_assert(" + condition + ", " + quote(code) + ", " + quote(message) + ") THEN " + value + " END"
}

// condition plans a CHECK of a domain, in which VALUE is the value e.
func (p *planner) condition(text string, e expr) (expr, error) {
	tree, err := pg_query.Parse("SELECT " + text)
	if err != nil {
		return e, raise(codeInternal, "the condition of a domain cannot be read: %s", text)
	}
	value := column{name: "value", sql: e.sql, typ: e.typ}
	r := &rel{cols: []column{value}}
	s := &scope{item: &item{rels: []*rel{r}, cols: r.cols, from: []*rel{nil}}, clause: "check constraints"}
	around := p.text
	p.text = "" // positions in the condition mean nothing in the statement
	defer func() { p.text = around }()
	return p.boolean(s, tree.GetStmts()[0].GetStmt().GetSelectStmt().GetTargetList()[0].GetResTarget().GetVal(), "CHECK")
}

// domainEntries raise the error of a value that is not in its domain.
var domainEntries = []entry{
	{name: "tr_assert", args: "btt", ret: "b", nulls: true, impl: func(_ *frame, dst []byte, a [][]byte) ([]byte, error) {
		if a[0] != nil && a[0][0] != 0 {
			return putBool(dst, true), nil
		}
		return nil, raise(string(a[1]), "%s", a[2])
	}},
}
