package query

import (
	pg_query "github.com/pganalyze/pg_query_go/v6"

	"tailrace"
)

// arrayOf plans ARRAY[...]. element is the type that a cast around it gives the elements, kUnknown when they choose it themselves.
func (p *planner) arrayOf(s *scope, n *pg_query.A_ArrayExpr, element tailrace.Type) (expr, error) {
	if err := p.enter(); err != nil {
		return expr{}, err
	}
	defer p.leave()
	var es []expr
	nested := false
	for _, item := range n.GetElements() {
		var e expr
		var err error
		if a := item.GetAArrayExpr(); a != nil {
			e, err = p.arrayOf(s, a, element)
		} else {
			e, err = p.expr(s, item)
		}
		if err != nil {
			return e, err
		}
		nested = nested || e.typ.Kind == kArray
		es = append(es, e)
	}
	if element.Kind == kUnknown && len(es) == 0 {
		e := p.fail(n.GetLocation(), codeIndeterminate, "cannot determine type of empty array")
		e.Hint = "Explicitly cast to the desired type, for example ARRAY[]::integer[]."
		return expr{}, e
	}
	if element.Kind == kUnknown {
		var err error
		if es, err = p.unify(es, "ARRAY"); err != nil {
			return expr{}, err
		}
		element = es[0].typ
		if nested {
			element = element.Element()
		}
	} else {
		to := element
		if nested {
			to = tailrace.ArrayOf(element)
		}
		for i, e := range es {
			var err error
			if es[i], err = p.convert(e, to, true); err != nil {
				return e, err
			}
		}
	}
	if element.Kind == kRow {
		return expr{}, p.refuse(n.GetLocation(), "an array of rows")
	}
	out := expr{typ: tailrace.ArrayOf(element), loc: n.GetLocation(), fixed: true}
	for _, e := range es {
		out.fixed = out.fixed && e.fixed
	}
	out.sql = "tr_array(" + listSQL(es) + ")"
	if nested {
		out.sql = "tr_array_nest(" + listSQL(es) + ")"
	}
	return out, nil
}

// arrayQuery plans ARRAY(query): the rows in the query's order.
func (p *planner) arrayQuery(q relation, loc int32) (expr, error) {
	if len(q.columns) != 1 {
		return expr{}, p.fail(loc, codeSyntax, "subquery must return only one column")
	}
	t := q.columns[0].typ
	alias := p.alias("t")
	list := "list(" + rawSQL(expr{sql: alias + ".c1", typ: t}) + inOrder(q.order, alias) + ")"
	make, of := "tr_array", tailrace.ArrayOf(t)
	if t.Kind == kArray {
		make, of = "tr_array_stack", t
	}
	// The array is made inside of the query: outside, DuckDB would make it again for each row that it stands in.
	return expr{sql: "(SELECT " + make + "(coalesce(" + list + ", CAST([] AS BLOB[]))) FROM (" + q.sql + ") AS " + alias + ")", typ: of}, nil
}
