package query

import (
	"regexp"
	"strings"

	pg_query "github.com/pganalyze/pg_query_go/v6"

	"tailrace"
)

// expr plans an expression in scope s.
func (p *planner) expr(s *scope, n *pg_query.Node) (expr, error) {
	if err := p.enter(); err != nil {
		return expr{}, err
	}
	defer p.leave()
	if k, ok := p.asKey(s, n); ok {
		return k, nil
	}
	e, err := p.plain(s, n)
	if err != nil {
		return e, err
	}
	e.loc = location(n)
	return e, nil
}

// plain plans an expression that is no group key as a whole.
func (p *planner) plain(s *scope, n *pg_query.Node) (expr, error) {
	switch n := n.GetNode().(type) {
	case *pg_query.Node_ColumnRef:
		return p.column(s, n.ColumnRef)
	case *pg_query.Node_AConst:
		return p.constant(n.AConst)
	case *pg_query.Node_ParamRef:
		return p.param(n.ParamRef)
	case *pg_query.Node_TypeCast:
		return p.typeCast(s, n.TypeCast)
	case *pg_query.Node_AExpr:
		return p.operation(s, n.AExpr)
	case *pg_query.Node_BoolExpr:
		return p.logic(s, n.BoolExpr)
	case *pg_query.Node_NullTest:
		return p.nullTest(s, n.NullTest)
	case *pg_query.Node_BooleanTest:
		return p.booleanTest(s, n.BooleanTest)
	case *pg_query.Node_CaseExpr:
		return p.caseOf(s, n.CaseExpr)
	case *pg_query.Node_CoalesceExpr:
		return p.coalesce(s, n.CoalesceExpr)
	case *pg_query.Node_MinMaxExpr:
		return p.extreme(s, n.MinMaxExpr)
	case *pg_query.Node_SubLink:
		return p.subLink(s, n.SubLink)
	case *pg_query.Node_FuncCall:
		return p.call(s, n.FuncCall)
	case *pg_query.Node_GroupingFunc:
		return p.groupingOf(s, n.GroupingFunc)
	case *pg_query.Node_SqlvalueFunction:
		return p.sessionValue(n.SqlvalueFunction)
	case *pg_query.Node_CollateClause:
		return p.collate(s, n.CollateClause)
	case *pg_query.Node_AArrayExpr:
		return p.arrayOf(s, n.AArrayExpr, unknown)
	case *pg_query.Node_AIndirection:
		return p.indirection(s, n.AIndirection)
	case *pg_query.Node_RowExpr:
		return p.rowOf(s, n.RowExpr)
	case *pg_query.Node_SetToDefault:
		return expr{}, p.fail(n.SetToDefault.GetLocation(), codeSyntax, "DEFAULT is not allowed in this context")
	}
	return expr{}, p.refuse(location(n), "this form of expression")
}

func (p *planner) exprs(s *scope, list []*pg_query.Node) ([]expr, error) {
	out := make([]expr, 0, len(list))
	for _, n := range list {
		e, err := p.expr(s, n)
		if err != nil {
			return nil, err
		}
		out = append(out, e)
	}
	return out, nil
}

// boolean plans an expression that clause needs to be boolean.
func (p *planner) boolean(s *scope, n *pg_query.Node, clause string) (expr, error) {
	e, err := p.expr(s, n)
	if err != nil {
		return e, err
	}
	return p.implicitly(e, kBool, clause)
}

// implicitly makes e the type that clause needs.
func (p *planner) implicitly(e expr, to kind, clause string) (expr, error) {
	if !becomes(e.typ.Kind, to) {
		return e, p.fail(e.loc, codeMismatch, "argument of %s must be type %s, not type %s", clause, typeName(tailrace.TypeOf(to)), typeName(e.typ))
	}
	return p.convert(e, tailrace.TypeOf(to), false)
}

// typed gives e the type text when it has none.
func (p *planner) typed(e expr) (expr, error) {
	if e.untyped() {
		return p.convert(e, textType, false)
	}
	return e, nil
}

// param plans $n.
func (p *planner) param(n *pg_query.ParamRef) (expr, error) {
	i := int(n.GetNumber())
	if i < 1 || i > 65535 {
		return expr{}, p.fail(n.GetLocation(), codeNoParameter, "there is no parameter $%d", i)
	}
	for len(p.params) < i {
		p.params = append(p.params, unknown)
	}
	e := expr{sql: mark(markParam, i), typ: p.params[i-1], loc: n.GetLocation(), fixed: true}
	if e.untyped() {
		e.typ, e.param = unknown, i
	}
	return e, nil
}

// logic plans AND, OR and NOT.
func (p *planner) logic(s *scope, n *pg_query.BoolExpr) (expr, error) {
	word := map[pg_query.BoolExprType]string{
		pg_query.BoolExprType_AND_EXPR: "AND", pg_query.BoolExprType_OR_EXPR: "OR", pg_query.BoolExprType_NOT_EXPR: "NOT",
	}[n.GetBoolop()]
	var parts []string
	for _, a := range n.GetArgs() {
		e, err := p.boolean(s, a, word)
		if err != nil {
			return e, err
		}
		parts = append(parts, guarded(word, parts, e.sql))
	}
	if word == "NOT" {
		return boolExpr("(NOT " + parts[0] + ")"), nil
	}
	return boolExpr("(" + strings.Join(parts, " "+word+" ") + ")"), nil
}

// raising finds the Go functions that fail for some arguments in DuckDB SQL.
var raising = regexp.MustCompile(`tr_(op_(div|mod)|in|numeric_int|check|mod)_`)

// guarded keeps a term of AND or OR that may fail from being evaluated when the terms before it have decided: DuckDB takes terms in the
// order it finds quickest, PostgreSQL in the order written, and people write x <> 0 AND y / x > 1.
func guarded(word string, before []string, term string) string {
	if len(before) == 0 || word == "NOT" || !raising.MatchString(term) {
		return term
	}
	all := "(" + strings.Join(before, " "+word+" ") + ")"
	if len(all) > maxGuard {
		return term
	}
	if word == "AND" {
		return "CASE WHEN " + all + " IS FALSE THEN FALSE ELSE " + term + " END"
	}
	return "CASE WHEN " + all + " THEN TRUE ELSE " + term + " END"
}

// maxGuard bounds the SQL that guarded repeats, in bytes: the guards of a long chain grow with its square.
const maxGuard = 4096

func boolExpr(sql string) expr { return expr{sql: sql, typ: tailrace.TypeOf(kBool)} }

func (p *planner) nullTest(s *scope, n *pg_query.NullTest) (expr, error) {
	word := " IS NULL)"
	if n.GetNulltesttype() == pg_query.NullTestType_IS_NOT_NULL {
		word = " IS NOT NULL)"
	}
	if row := n.GetArg().GetRowExpr(); row != nil {
		es, err := p.exprs(s, row.GetArgs())
		if err != nil {
			return expr{}, err
		}
		var parts []string
		for _, e := range es {
			if e, err = p.typed(e); err != nil {
				return e, err
			}
			parts = append(parts, "("+e.sql+word)
		}
		return boolExpr("(" + strings.Join(parts, " AND ") + ")"), nil
	}
	e, err := p.expr(s, n.GetArg())
	if err != nil {
		return e, err
	}
	if e, err = p.typed(e); err != nil {
		return e, err
	}
	if e.typ.Kind == kRow {
		return rowIsNull(e, word), nil
	}
	return boolExpr("(" + e.sql + word), nil
}

func (p *planner) booleanTest(s *scope, n *pg_query.BooleanTest) (expr, error) {
	word := map[pg_query.BoolTestType]string{
		pg_query.BoolTestType_IS_TRUE: "IS TRUE", pg_query.BoolTestType_IS_NOT_TRUE: "IS NOT TRUE",
		pg_query.BoolTestType_IS_FALSE: "IS FALSE", pg_query.BoolTestType_IS_NOT_FALSE: "IS NOT FALSE",
		pg_query.BoolTestType_IS_UNKNOWN: "IS UNKNOWN", pg_query.BoolTestType_IS_NOT_UNKNOWN: "IS NOT UNKNOWN",
	}[n.GetBooltesttype()]
	e, err := p.boolean(s, n.GetArg(), word)
	if err != nil {
		return e, err
	}
	switch n.GetBooltesttype() {
	case pg_query.BoolTestType_IS_UNKNOWN:
		word = "IS NULL"
	case pg_query.BoolTestType_IS_NOT_UNKNOWN:
		word = "IS NOT NULL"
	}
	return boolExpr("(" + e.sql + " " + word + ")"), nil
}

// collate plans COLLATE: all text compares by bytes here.
func (p *planner) collate(s *scope, n *pg_query.CollateClause) (expr, error) {
	e, err := p.expr(s, n.GetArg())
	if err != nil {
		return e, err
	}
	name, _ := systemName(n.GetCollname())
	switch name {
	case "C", "POSIX", "default", "ucs_basic":
	default:
		if !strings.HasSuffix(name, "-icu") {
			return e, p.fail(n.GetLocation(), codeNoType, "collation \"%s\" for encoding \"UTF8\" does not exist", name)
		}
		err := p.refuse(n.GetLocation(), "collation \""+name+"\"")
		err.Hint = `Text compares by bytes; use COLLATE "C".`
		return e, err
	}
	if e, err = p.typed(e); err != nil {
		return e, err
	}
	if category(e.typ.Kind) != 'S' {
		return e, p.fail(n.GetLocation(), codeMismatch, "collations are not supported by type %s", typeName(e.typ))
	}
	return e, nil
}
