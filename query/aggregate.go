package query

import (
	pg_query "github.com/pganalyze/pg_query_go/v6"
)

// aggregate plans a call of an aggregate without OVER: an output of the inner SELECT.
func (p *planner) aggregate(s *scope, name string, n *pg_query.FuncCall) (expr, error) {
	switch {
	case s.inAgg:
		return expr{}, p.fail(n.GetLocation(), codeGrouping, "aggregate function calls cannot be nested")
	case s.clause != "":
		return expr{}, p.fail(n.GetLocation(), codeGrouping, "aggregate functions are not allowed in %s", s.clause)
	case s.group == nil:
		return expr{}, p.refuse(n.GetLocation(), "an aggregate here")
	}
	s.raw++
	s.inAgg = true
	sql, e, err := p.aggregateCall(s, name, n, window{})
	s.inAgg = false
	s.raw--
	if err != nil {
		return e, err
	}
	e.sql = s.group.add(sql)
	return e, nil
}

// aggregateCall plans an aggregate's call; over is its OVER clause, if it has one.
func (p *planner) aggregateCall(s *scope, name string, n *pg_query.FuncCall, over window) (string, expr, error) {
	args, err := p.arguments(s, n)
	if err != nil {
		return "", expr{}, err
	}
	var f *function
	if n.GetAggStar() {
		if name != "count" {
			return "", expr{}, p.noFunction(name, nil, n.GetLocation())
		}
		f = countStar
	} else {
		given := args
		if name == "array_agg" && len(args) == 1 && args[0].untyped() {
			return "", expr{}, p.notUnique(errAmbiguous, name, args, n.GetLocation())
		}
		if f, args, err = p.resolve(ofCompound(name, args), given); err != nil {
			return "", expr{}, p.notUnique(err, name, given, n.GetLocation())
		}
		if f == nil {
			return "", expr{}, p.noFunction(name, given, n.GetLocation())
		}
	}
	distinct, order := "", ""
	var keys []sortKey
	if n.GetAggDistinct() {
		distinct = "DISTINCT "
		if listed(name) {
			distinct = ""
		} else if args[0].typ.Kind == kRow {
			return "", expr{}, p.refuse(n.GetLocation(), "DISTINCT in "+signature(name, args))
		} else if keyed(args[0].typ.Kind) && name != "count" && name != "min" && name != "max" {
			sql, ok := distinctly(f.sql, args[0].typ.Kind)
			if !ok {
				return "", expr{}, p.refuse(n.GetLocation(), "DISTINCT in "+signature(name, args))
			}
			once := *f
			once.sql, f, distinct = sql, &once, ""
		}
		if err := p.comparable(args[0], n.GetLocation()); err != nil {
			return "", expr{}, err
		}
	}
	if len(n.GetAggOrder()) > 0 {
		if keys, err = p.sortKeys(s, n.GetAggOrder()); err != nil {
			return "", expr{}, err
		}
		order = orderSQL(keys)
		if f.ours { // DuckDB 1.5.6 sorts by handing an aggregate that is not its own one state where its C API reads one for each row
			order = "" // sums come out the same in any order
		}
	}
	filter := ""
	if n.GetAggFilter() != nil {
		e, err := p.boolean(s, n.GetAggFilter(), "FILTER")
		if err != nil {
			return "", e, err
		}
		filter = " FILTER (WHERE " + e.sql + ")"
	}
	if listed(name) && n.GetAggDistinct() {
		return p.distinctList(name, args, keys, filter+over.of(f))
	}
	e := p.apply(f, args, "{d}", distinct, "{o}", order, "{f}", filter+over.of(f), "{lines}", lines(args))
	return e.sql, aggregateType(name, e), nil
}

// sortKeys plans an ORDER BY inside an aggregate or a window, where names and numbers of output columns mean nothing.
func (p *planner) sortKeys(s *scope, list []*pg_query.Node) ([]sortKey, error) {
	var out []sortKey
	for _, n := range list {
		b := n.GetSortBy()
		e, err := p.expr(s, b.GetNode())
		if err != nil {
			return nil, err
		}
		if e, err = p.typed(e); err != nil {
			return nil, err
		}
		if unordered(e.typ) {
			return nil, p.fail(e.loc, codeNoFunction, "could not identify an ordering operator for type %s", typeName(e.typ))
		}
		k := sortKey{sql: e.sql, typ: e.typ, target: -1, loc: e.loc}
		if err := p.direction(&k, b); err != nil {
			return nil, err
		}
		out = append(out, k)
	}
	return out, nil
}
