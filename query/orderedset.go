package query

import (
	"slices"

	pg_query "github.com/pganalyze/pg_query_go/v6"

	"tailrace"
)

// orderedSets are the aggregates that are called WITHIN GROUP.
var orderedSets = []string{"percentile_cont", "percentile_disc", "mode"}

// hypothetical are those that ask where a row would stand; they are refused.
var hypothetical = []string{"rank", "dense_rank", "percent_rank", "cume_dist"}

// orderedSet plans a call with WITHIN GROUP: the inner SELECT collects the values in order, the outer one picks.
func (p *planner) orderedSet(s *scope, name string, n *pg_query.FuncCall) (expr, error) {
	if !slices.Contains(orderedSets, name) {
		return expr{}, p.noOrderedSet(s, name, n)
	}
	switch {
	case n.GetOver() != nil:
		return expr{}, p.fail(n.GetLocation(), codeUnsupported, "OVER is not supported for ordered-set aggregate %s", name)
	case s.inAgg:
		return expr{}, p.fail(n.GetLocation(), codeGrouping, "aggregate function calls cannot be nested")
	case s.clause != "":
		return expr{}, p.fail(n.GetLocation(), codeGrouping, "aggregate functions are not allowed in %s", s.clause)
	case s.group == nil:
		return expr{}, p.refuse(n.GetLocation(), "an aggregate here")
	}
	args, err := p.arguments(s, n)
	if err != nil {
		return expr{}, err
	}
	s.raw++
	s.inAgg = true
	key, filter, err := p.orderedValues(s, n)
	s.inAgg = false
	s.raw--
	if err != nil {
		return expr{}, err
	}
	if len(n.GetAggOrder()) != 1 || len(args) != map[bool]int{true: 0, false: 1}[name == "mode"] {
		return expr{}, p.noFunction(name, append(args, expr{sql: key.sql, typ: key.typ}), n.GetLocation())
	}
	value := expr{sql: key.sql, typ: key.typ, loc: key.loc}
	if name == "mode" {
		return p.mode(s, value, key, filter, n.GetLocation())
	}
	fraction := args[0]
	if !becomes(fraction.typ.Kind, kFloat8) {
		return expr{}, p.refuse(n.GetLocation(), "function "+signature(name, append(args, value)))
	}
	if fraction, err = p.convert(fraction, tailrace.TypeOf(kFloat8), false); err != nil {
		return expr{}, err
	}
	at := "tr_check_fraction(" + fraction.sql + ")"
	if name == "percentile_cont" && key.typ.Kind != kInterval {
		if !becomes(key.typ.Kind, kFloat8) {
			return expr{}, p.noFunction(name, []expr{fraction, value}, n.GetLocation())
		}
		if value, err = p.convert(value, tailrace.TypeOf(kFloat8), false); err != nil {
			return expr{}, err
		}
	}
	ordered := s.group.add("list(" + value.sql + orderSQL([]sortKey{key}) + ") FILTER (WHERE " + filter + ")")
	if name == "percentile_disc" {
		value.sql = "list_extract(" + ordered + ", CAST(greatest(1, ceil(" + at + " * len(" + ordered + "))) AS BIGINT))"
		return value, nil
	}
	return expr{sql: interpolated(ordered, at, value.typ.Kind), typ: value.typ}, nil
}

// interpolated interpolates between the two values of a list that a fraction falls between.
func interpolated(list, fraction string, k kind) string {
	place := "(" + fraction + " * (len(" + list + ") - 1))"
	low := "list_extract(" + list + ", CAST(floor(" + place + ") AS BIGINT) + 1)"
	high := "list_extract(" + list + ", CAST(ceil(" + place + ") AS BIGINT) + 1)"
	share := "(" + place + " - floor(" + place + "))"
	between := low + " + (" + share + " * (" + high + " - " + low + "))"
	if k == kInterval {
		between = "tr_op_add_interval_interval(" + low + ", tr_op_mul_interval_float8(tr_op_sub_interval_interval(" + high + ", " + low + "), " + share + "))"
	}
	return "CASE WHEN floor(" + place + ") = ceil(" + place + ") THEN " + low + " ELSE " + between + " END"
}

// orderedValues plans WITHIN GROUP (ORDER BY value) and the condition for a row to count.
func (p *planner) orderedValues(s *scope, n *pg_query.FuncCall) (sortKey, string, error) {
	keys, err := p.sortKeys(s, n.GetAggOrder())
	if err != nil {
		return sortKey{}, "", err
	}
	filter := keys[0].sql + " IS NOT NULL"
	if n.GetAggFilter() != nil {
		e, err := p.boolean(s, n.GetAggFilter(), "FILTER")
		if err != nil {
			return sortKey{}, "", err
		}
		filter += " AND " + e.sql
	}
	return keys[0], filter, nil
}

// mode is the most frequent value, of those the first in order.
func (p *planner) mode(s *scope, value expr, key sortKey, filter string, loc int32) (expr, error) {
	word := "tr_mode_"
	if key.desc {
		word = "tr_mode_desc_"
	}
	if !slices.Contains(modeKinds, value.typ.Kind) {
		return expr{}, p.refuse(loc, "function "+signature("mode", []expr{value}))
	}
	value.sql = s.group.add(word + kindNames[value.typ.Kind] + "(" + value.sql + ") FILTER (WHERE " + filter + ")")
	return value, nil
}

// notWithin is the error for a call that lacks WITHIN GROUP.
func (p *planner) notWithin(s *scope, name string, n *pg_query.FuncCall) error {
	args, err := p.arguments(s, n)
	if err != nil {
		return err
	}
	if name == "mode" && len(args) == 1 || name != "mode" && len(args) == 2 {
		return p.fail(n.GetLocation(), codeMismatchedWindow, "WITHIN GROUP is required for ordered-set aggregate %s", name)
	}
	return p.noFunction(name, args, n.GetLocation())
}

// noOrderedSet is the error for WITHIN GROUP behind another function.
func (p *planner) noOrderedSet(s *scope, name string, n *pg_query.FuncCall) error {
	if slices.Contains(hypothetical, name) {
		return p.refuse(n.GetLocation(), "the hypothetical-set aggregate "+name)
	}
	s.raw++
	defer func() { s.raw-- }()
	args, err := p.arguments(s, n)
	if err != nil {
		return err
	}
	for _, o := range n.GetAggOrder() {
		e, err := p.expr(s, o.GetSortBy().GetNode())
		if err != nil {
			return err
		}
		args = append(args, e)
	}
	return p.noFunction(name, args, n.GetLocation())
}
