package query

import (
	"strings"

	pg_query "github.com/pganalyze/pg_query_go/v6"

	"tailrace"
)

// unify makes expressions one type, as CASE, COALESCE, VALUES and UNION (context) need, by PostgreSQL's rules.
func (p *planner) unify(es []expr, context string) ([]expr, error) {
	t, err := p.commonType(es, context)
	if err != nil {
		return nil, err
	}
	out := make([]expr, len(es))
	for i, e := range es {
		if !becomesType(e.typ, t) {
			if context == "CASE" {
				context = "CASE/WHEN"
				if i == 0 {
					context = "CASE/ELSE"
				}
			}
			return nil, p.fail(e.loc, codeCannotCast, "%s could not convert type %s to %s", context, typeName(e.typ), typeName(t))
		}
		c, err := p.convert(e, plainType(t), false)
		if err != nil {
			return nil, err
		}
		c.typ = t
		out[i] = c
	}
	return out, nil
}

// commonType is the type that expressions become together.
func (p *planner) commonType(es []expr, context string) (tailrace.Type, error) {
	t := unknown
	for _, e := range es {
		switch {
		case e.untyped():
		case t.Kind == kUnknown:
			t = e.typ
		case sameType(t, e.typ):
			if t.Mod != e.typ.Mod || t.Name != e.typ.Name {
				t.Mod = -1
			}
		case category(kindOf(t)) != category(kindOf(e.typ)):
			return unknown, p.fail(e.loc, codeMismatch, "%s types %s and %s cannot be matched", context, typeName(t), typeName(e.typ))
		case !preferred(t.Kind) && becomesType(t, e.typ) && !becomesType(e.typ, t):
			t = plainType(e.typ)
		default:
			t.Mod = -1
		}
	}
	switch t.Kind {
	case kUnknown, kForeign:
		t = textType
	}
	return t, nil
}

// caseOf plans both forms of CASE.
func (p *planner) caseOf(s *scope, n *pg_query.CaseExpr) (expr, error) {
	defer s.barSets("CASE")()
	var subject expr
	var err error
	if n.GetArg() != nil {
		if subject, err = p.expr(s, n.GetArg()); err != nil {
			return subject, err
		}
		if subject, err = p.typed(subject); err != nil {
			return subject, err
		}
	}
	var conditions []string
	var results []expr
	results = append(results, nullExpr()) // for ELSE: PostgreSQL lets it speak first when the result's type is chosen
	for _, w := range n.GetArgs() {
		when := w.GetCaseWhen()
		var c expr
		if n.GetArg() != nil {
			v, err := p.expr(s, when.GetExpr())
			if err != nil {
				return v, err
			}
			c, err = p.operator("=", subject, v, when.GetLocation())
			if err != nil {
				return c, err
			}
		} else if c, err = p.boolean(s, when.GetExpr(), "CASE/WHEN"); err != nil {
			return c, err
		}
		r, err := p.expr(s, when.GetResult())
		if err != nil {
			return r, err
		}
		conditions = append(conditions, c.sql)
		results = append(results, r)
	}
	if n.GetDefresult() != nil {
		if results[0], err = p.expr(s, n.GetDefresult()); err != nil {
			return expr{}, err
		}
	}
	if results, err = p.unify(results, "CASE"); err != nil {
		return expr{}, err
	}
	var b strings.Builder
	b.WriteString("CASE")
	for i, c := range conditions {
		b.WriteString(" WHEN " + c + " THEN " + results[i+1].sql)
	}
	b.WriteString(" ELSE " + results[0].sql + " END")
	return expr{sql: b.String(), typ: results[0].typ}, nil
}

func nullExpr() expr {
	return expr{sql: "CAST(NULL AS VARCHAR)", typ: unknown, null: true, loc: -1, fixed: true}
}

func (p *planner) coalesce(s *scope, n *pg_query.CoalesceExpr) (expr, error) {
	defer s.barSets("COALESCE")()
	es, err := p.exprs(s, n.GetArgs())
	if err != nil {
		return expr{}, err
	}
	if es, err = p.unify(es, "COALESCE"); err != nil {
		return expr{}, err
	}
	return expr{sql: "coalesce(" + joinSQL(es) + ")", typ: es[0].typ}, nil
}

func joinSQL(es []expr) string {
	var parts []string
	for _, e := range es {
		parts = append(parts, e.sql)
	}
	return strings.Join(parts, ", ")
}

// extreme plans GREATEST and LEAST, which leave NULLs out.
func (p *planner) extreme(s *scope, n *pg_query.MinMaxExpr) (expr, error) {
	name := "greatest"
	if n.GetOp() == pg_query.MinMaxOp_IS_LEAST {
		name = "least"
	}
	es, err := p.exprs(s, n.GetArgs())
	if err != nil {
		return expr{}, err
	}
	if es, err = p.unify(es, strings.ToUpper(name)); err != nil {
		return expr{}, err
	}
	k := es[0].typ.Kind
	if unordered(es[0].typ) {
		return expr{}, p.fail(n.GetLocation(), codeNoFunction, "could not identify a comparison function for type %s", typeName(es[0].typ))
	}
	out := expr{sql: es[0].sql, typ: es[0].typ}
	if !keyed(k) && k != kFloat4 && k != kFloat8 {
		out.sql = name + "(" + joinSQL(es) + ")"
		return out, nil
	}
	op := " < "
	if name == "least" {
		op = " > "
	}
	for _, e := range es[1:] { // the earlier of equal ones stays
		out.sql = "CASE WHEN " + out.sql + " IS NULL OR " + key(out.sql, e.typ) + op + key(e.sql, e.typ) + " THEN " + e.sql + " ELSE " + out.sql + " END"
	}
	return out, nil
}
