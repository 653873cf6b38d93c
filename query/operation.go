package query

import (
	pg_query "github.com/pganalyze/pg_query_go/v6"
)

// operation plans an operator, by the grammar's kinds of them.
func (p *planner) operation(s *scope, n *pg_query.A_Expr) (expr, error) {
	switch n.GetKind() {
	case pg_query.A_Expr_Kind_AEXPR_OP:
		return p.simpleOperation(s, n)
	case pg_query.A_Expr_Kind_AEXPR_LIKE, pg_query.A_Expr_Kind_AEXPR_ILIKE:
		return p.simpleOperation(s, n)
	case pg_query.A_Expr_Kind_AEXPR_IN:
		return p.in(s, n)
	case pg_query.A_Expr_Kind_AEXPR_OP_ANY, pg_query.A_Expr_Kind_AEXPR_OP_ALL:
		return p.array(s, n)
	case pg_query.A_Expr_Kind_AEXPR_BETWEEN, pg_query.A_Expr_Kind_AEXPR_NOT_BETWEEN,
		pg_query.A_Expr_Kind_AEXPR_BETWEEN_SYM, pg_query.A_Expr_Kind_AEXPR_NOT_BETWEEN_SYM:
		return p.between(s, n)
	case pg_query.A_Expr_Kind_AEXPR_DISTINCT, pg_query.A_Expr_Kind_AEXPR_NOT_DISTINCT, pg_query.A_Expr_Kind_AEXPR_NULLIF:
		return p.distinctFrom(s, n)
	}
	return p.similar(s, n)
}

// similar plans SIMILAR TO: the grammar has made a call of similar_to_escape of the pattern.
func (p *planner) similar(s *scope, n *pg_query.A_Expr) (expr, error) {
	es, err := p.exprs(s, []*pg_query.Node{n.GetLexpr(), n.GetRexpr()})
	if err != nil {
		return expr{}, err
	}
	name, _ := systemName(n.GetName())
	return p.operator(name, es[0], es[1], n.GetLocation())
}

func (p *planner) simpleOperation(s *scope, n *pg_query.A_Expr) (expr, error) {
	name, ok := systemName(n.GetName())
	if !ok {
		return expr{}, p.refuse(n.GetLocation(), "an operator of another schema")
	}
	if l, r := n.GetLexpr().GetRowExpr(), n.GetRexpr().GetRowExpr(); l != nil && r != nil {
		return p.rows(s, name, l, r, n.GetLocation())
	}
	if l, q := n.GetLexpr().GetRowExpr(), n.GetRexpr().GetSubLink(); l != nil && q.GetSubLinkType() == pg_query.SubLinkType_EXPR_SUBLINK {
		return p.rowQuery(s, name, l, q, n.GetLocation())
	}
	var l expr
	var err error
	if n.GetLexpr() != nil {
		if l, err = p.expr(s, n.GetLexpr()); err != nil {
			return l, err
		}
	}
	r, err := p.expr(s, n.GetRexpr())
	if err != nil {
		return r, err
	}
	if n.GetLexpr() == nil {
		return p.prefix(name, r, n.GetLocation())
	}
	return p.operator(name, l, r, n.GetLocation())
}

func (p *planner) between(s *scope, n *pg_query.A_Expr) (expr, error) {
	es, err := p.exprs(s, append([]*pg_query.Node{n.GetLexpr()}, n.GetRexpr().GetList().GetItems()...))
	if err != nil {
		return expr{}, err
	}
	within := func(a, b expr) (string, error) {
		lo, err := p.operator(">=", es[0], a, n.GetLocation())
		if err != nil {
			return "", err
		}
		hi, err := p.operator("<=", es[0], b, n.GetLocation())
		return "(" + lo.sql + " AND " + hi.sql + ")", err
	}
	sql, err := within(es[1], es[2])
	if err != nil {
		return expr{}, err
	}
	k := n.GetKind()
	if k == pg_query.A_Expr_Kind_AEXPR_BETWEEN_SYM || k == pg_query.A_Expr_Kind_AEXPR_NOT_BETWEEN_SYM {
		other, err := within(es[2], es[1])
		if err != nil {
			return expr{}, err
		}
		sql = "(" + sql + " OR " + other + ")"
	}
	if k == pg_query.A_Expr_Kind_AEXPR_NOT_BETWEEN || k == pg_query.A_Expr_Kind_AEXPR_NOT_BETWEEN_SYM {
		sql = "(NOT " + sql + ")"
	}
	return boolExpr(sql), nil
}

// distinctFrom plans IS [NOT] DISTINCT FROM and NULLIF.
func (p *planner) distinctFrom(s *scope, n *pg_query.A_Expr) (expr, error) {
	if l, r := n.GetLexpr().GetRowExpr(), n.GetRexpr().GetRowExpr(); l != nil && r != nil && n.GetKind() != pg_query.A_Expr_Kind_AEXPR_NULLIF {
		return p.rowsDistinct(s, l, r, n)
	}
	es, err := p.exprs(s, []*pg_query.Node{n.GetLexpr(), n.GetRexpr()})
	if err != nil {
		return expr{}, err
	}
	l, r, err := p.comparands("=", es[0], es[1], n.GetLocation())
	if err != nil {
		return expr{}, err
	}
	switch n.GetKind() {
	case pg_query.A_Expr_Kind_AEXPR_DISTINCT:
		return boolExpr("(" + l + " IS DISTINCT FROM " + r + ")"), nil
	case pg_query.A_Expr_Kind_AEXPR_NOT_DISTINCT:
		return boolExpr("(" + l + " IS NOT DISTINCT FROM " + r + ")"), nil
	}
	out := es[0]
	if out.untyped() {
		if out, err = p.typed(out); err != nil {
			return out, err
		}
	}
	out.sql = "CASE WHEN " + l + " = " + r + " THEN NULL ELSE " + out.sql + " END"
	out.table, out.attr, out.fixed = 0, 0, false
	return out, nil
}
