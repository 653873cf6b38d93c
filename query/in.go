package query

import (
	"strings"

	pg_query "github.com/pganalyze/pg_query_go/v6"

	"tailrace"
)

// in plans x [NOT] IN (list).
func (p *planner) in(s *scope, n *pg_query.A_Expr) (expr, error) {
	not := namesOf(n.GetName())[0] == "<>"
	items := n.GetRexpr().GetList().GetItems()
	if row := n.GetLexpr().GetRowExpr(); row != nil {
		return p.rowIn(s, row, items, not, n.GetLocation())
	}
	x, err := p.expr(s, n.GetLexpr())
	if err != nil {
		return x, err
	}
	es, err := p.exprs(s, items)
	if err != nil {
		return x, err
	}
	return p.oneOf(x, es, not, n.GetLocation())
}

// oneOf is x [NOT] IN (es). PostgreSQL brings all to one type when it can, else compares one by one.
func (p *planner) oneOf(x expr, es []expr, not bool, loc int32) (expr, error) {
	saved := append([]tailrace.Type(nil), p.params...)
	if all, err := p.unify(append([]expr{x}, es...), "IN"); err == nil && len(es) > 1 {
		x, es = all[0], all[1:]
	} else {
		copy(p.params, saved)
	}
	return p.anyEqual(x, es, not, loc)
}

// anyEqual compares x with each of es.
func (p *planner) anyEqual(x expr, es []expr, not bool, loc int32) (expr, error) {
	left := ""
	same := true
	var rights, alone []string
	for _, e := range es {
		l, r, err := p.comparands("=", x, e, loc)
		if err != nil {
			return expr{}, err
		}
		same = same && (left == "" || left == l)
		left = l
		rights = append(rights, r)
		alone = append(alone, l+" = "+r)
	}
	sql := "(" + left + " IN (" + strings.Join(rights, ", ") + "))"
	if !same {
		sql = "(" + strings.Join(alone, " OR ") + ")"
	}
	if not {
		sql = "(NOT " + sql + ")"
	}
	return boolExpr(sql), nil
}

func (p *planner) rowIn(s *scope, row *pg_query.RowExpr, items []*pg_query.Node, not bool, loc int32) (expr, error) {
	var parts []string
	for _, it := range items {
		if it.GetRowExpr() == nil {
			return expr{}, p.refuse(loc, "a row IN values that are not rows")
		}
		e, err := p.rows(s, "=", row, it.GetRowExpr(), loc)
		if err != nil {
			return e, err
		}
		parts = append(parts, e.sql)
	}
	sql := "(" + strings.Join(parts, " OR ") + ")"
	if not {
		sql = "(NOT " + sql + ")"
	}
	return boolExpr(sql), nil
}
