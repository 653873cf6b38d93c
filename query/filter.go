package query

import (
	pg_query "github.com/pganalyze/pg_query_go/v6"
)

// Filter is a condition of WHERE that a scan may use to leave out rows: column op values. The statement filters all the same, so a scan may make of it
// what it can.
type Filter struct {
	Field int    // of Table.Columns
	Op    string // "=" (any of Values), "<", "<=", ">", ">=", "null", "not null"
	// Values are constants, parameters, and what is made of them and the session's time; no columns. They are positions in another text when
	// the filter is a view's, so they are for reading only.
	Values []*pg_query.Node
}

var flipped = map[string]string{"=": "=", "<": ">", "<=": ">=", ">": "<", ">=": "<="}

// filters finds the conditions that all rows of s must meet and each table can look at by itself, and notes them at the scans.
//
// They hold for tables below an outer join too: a row that a comparison is not true for is not in the result, whether it is there, or NULLs stand for it. IS NULL is
// true for those NULLs, so it counts without outer joins only.
func (p *planner) filters(s *scope, where *pg_query.Node, from []*pg_query.Node) {
	if b := where.GetBoolExpr(); b != nil && b.GetBoolop() == pg_query.BoolExprType_AND_EXPR {
		for _, n := range b.GetArgs() {
			p.filters(s, n, from)
		}
		return
	}
	if t := where.GetNullTest(); t != nil {
		switch {
		case t.GetNulltesttype() == pg_query.NullTestType_IS_NOT_NULL:
			p.filter(s, t.GetArg(), "not null")
		case !outerJoins(from):
			p.filter(s, t.GetArg(), "null")
		}
		return
	}
	a := where.GetAExpr()
	if a == nil || len(a.GetName()) != 1 {
		return
	}
	op := a.GetName()[0].GetString_().GetSval()
	switch a.GetKind() {
	case pg_query.A_Expr_Kind_AEXPR_OP:
		if flipped[op] == "" {
			return
		}
		p.filter(s, a.GetLexpr(), op, a.GetRexpr())
		p.filter(s, a.GetRexpr(), flipped[op], a.GetLexpr())
	case pg_query.A_Expr_Kind_AEXPR_IN:
		if op == "=" {
			p.filter(s, a.GetLexpr(), "=", a.GetRexpr().GetList().GetItems()...)
		}
	case pg_query.A_Expr_Kind_AEXPR_BETWEEN:
		if ends := a.GetRexpr().GetList().GetItems(); len(ends) == 2 {
			p.filter(s, a.GetLexpr(), ">=", ends[0])
			p.filter(s, a.GetLexpr(), "<=", ends[1])
		}
	}
}

// filter notes column op values, if column is one of a table in FROM and values are fixed.
func (p *planner) filter(s *scope, column *pg_query.Node, op string, values ...*pg_query.Node) {
	scan, field := s.tableColumn(column.GetColumnRef().GetFields())
	if scan == 0 {
		return
	}
	for _, v := range values {
		if !fixedNode(v, 0) {
			return
		}
	}
	ref := &p.scans[scan-1]
	ref.filters = append(ref.filters, Filter{Field: field, Op: op, Values: values})
}

// tableColumn finds the scan, from 1, and the field that a column reference means in s itself; 0 when it means anything else.
func (s *scope) tableColumn(fields []*pg_query.Node) (scan, field int) {
	if len(fields) == 0 || s.item == nil {
		return 0, 0
	}
	parts, star := names(fields)
	if star {
		return 0, 0
	}
	name := parts[len(parts)-1]
	var r *rel
	sql := ""
	if len(parts) == 1 {
		for i, c := range s.item.cols {
			if c.name == name {
				r, sql = s.item.from[i], c.sql
			}
		}
	} else if found, at := s.rel("", parts[len(parts)-2]); at == s {
		r = found
	}
	if r == nil || r.scan == 0 {
		return 0, 0
	}
	for i, c := range r.cols {
		if c.name == name && (sql == "" || c.sql == sql) {
			return r.scan, i
		}
	}
	return 0, 0
}

func outerJoins(from []*pg_query.Node) bool {
	for _, n := range from {
		if j := n.GetJoinExpr(); j != nil && (j.GetJointype() != pg_query.JoinType_JOIN_INNER || outerJoins([]*pg_query.Node{j.GetLarg(), j.GetRarg()})) {
			return true
		}
	}
	return false
}

// maxFixed is how deep an expression may be nested and still be looked at.
const maxFixed = 10

// fixedNode tells whether an expression has one value for the whole statement, and cannot fail to have it but for its text.
func fixedNode(n *pg_query.Node, depth int) bool {
	if depth > maxFixed {
		return false
	}
	switch n := n.GetNode().(type) {
	case *pg_query.Node_AConst, *pg_query.Node_ParamRef, *pg_query.Node_SqlvalueFunction:
		return true
	case *pg_query.Node_TypeCast:
		return fixedNode(n.TypeCast.GetArg(), depth+1)
	case *pg_query.Node_AExpr:
		return n.AExpr.GetKind() == pg_query.A_Expr_Kind_AEXPR_OP && (n.AExpr.GetLexpr() == nil || fixedNode(n.AExpr.GetLexpr(), depth+1)) && fixedNode(n.AExpr.GetRexpr(), depth+1)
	case *pg_query.Node_FuncCall:
		name, ok := systemName(n.FuncCall.GetFuncname())
		return ok && (name == "now" || name == "mz_now") && len(n.FuncCall.GetArgs()) == 0
	}
	return false
}
