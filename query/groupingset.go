package query

import (
	"slices"
	"strings"

	pg_query "github.com/pganalyze/pg_query_go/v6"
)

// Bounds of PostgreSQL.
const (
	maxGroupingSets = 4096
	maxCube         = 12
	maxGrouping     = 31 // arguments of GROUPING
)

// groupTerms reads the GROUP BY clause: the keys into g, and, if it has GROUPING SETS, ROLLUP or CUBE, which keys each set has. Terms beside
// each other multiply: GROUP BY a, ROLLUP (b) has the sets (a, b) and (a).
func (p *planner) groupTerms(s *scope, g *grouping, n *pg_query.SelectStmt, targets []target) error {
	sets := [][]int{nil}
	for _, node := range n.GetGroupClause() {
		term, err := p.setsOfTerm(s, g, node, targets)
		if err != nil {
			return err
		}
		g.plain = g.plain && node.GetGroupingSet() == nil
		var product [][]int
		for _, a := range sets {
			for _, b := range term {
				product = append(product, slices.Concat(a, b))
			}
		}
		if sets = product; len(sets) > maxGroupingSets {
			return p.fail(location(node), "54001", "too many grouping sets present (maximum %d)", maxGroupingSets)
		}
	}
	if g.plain {
		return nil
	}
	seen := map[string]bool{}
	for _, set := range sets {
		slices.Sort(set)
		set = slices.Compact(set)
		var terms []string
		for _, k := range set {
			terms = append(terms, g.by[k])
		}
		text := "(" + strings.Join(terms, ", ") + ")"
		if n.GetGroupDistinct() && seen[text] {
			continue
		}
		seen[text] = true
		g.parts = append(g.parts, text)
	}
	return nil
}

// setsOfTerm are the sets of keys that one term of GROUP BY stands for.
func (p *planner) setsOfTerm(s *scope, g *grouping, node *pg_query.Node, targets []target) ([][]int, error) {
	set := node.GetGroupingSet()
	if set == nil {
		keys, err := p.keysOf(s, g, node, targets)
		return [][]int{keys}, err
	}
	if err := p.enter(); err != nil {
		return nil, err
	}
	defer p.leave()
	var parts [][][]int // of each part its sets
	for _, c := range set.GetContent() {
		one, err := p.setsOfTerm(s, g, c, targets)
		if err != nil {
			return nil, err
		}
		parts = append(parts, one)
	}
	switch set.GetKind() {
	case pg_query.GroupingSetKind_GROUPING_SET_EMPTY:
		return [][]int{nil}, nil
	case pg_query.GroupingSetKind_GROUPING_SET_ROLLUP:
		return rollup(parts), nil
	case pg_query.GroupingSetKind_GROUPING_SET_CUBE:
		if len(parts) > maxCube {
			return nil, p.fail(set.GetLocation(), "54011", "CUBE is limited to %d elements", maxCube)
		}
		return cube(parts), nil
	}
	return slices.Concat(parts...), nil
}

// rollup is all parts, then one less at a time, down to none.
func rollup(parts [][][]int) [][]int {
	var out [][]int
	for n := len(parts); n >= 0; n-- {
		var set []int
		for _, part := range parts[:n] {
			set = append(set, part[0]...)
		}
		out = append(out, set)
	}
	return out
}

// cube is every choice of the parts.
func cube(parts [][][]int) [][]int {
	var out [][]int
	for choice := range 1 << len(parts) {
		var set []int
		for i, part := range parts {
			if choice>>i&1 == 0 {
				set = append(set, part[0]...)
			}
		}
		out = append(out, set)
	}
	return out
}

// keysOf are the keys of a term: one, or all of a list in parentheses.
func (p *planner) keysOf(s *scope, g *grouping, node *pg_query.Node, targets []target) ([]int, error) {
	list := []*pg_query.Node{node}
	if row := node.GetRowExpr(); row != nil && row.GetRowFormat() == pg_query.CoercionForm_COERCE_IMPLICIT_CAST {
		list = row.GetArgs()
	}
	var out []int
	for _, n := range list {
		k, err := p.groupKey(s, g, n, targets)
		if err != nil {
			return nil, err
		}
		out = append(out, k)
	}
	return out, nil
}

// groupBy is the GROUP BY clause of the inner SELECT.
func (g *grouping) groupBy() string {
	switch {
	case !g.plain:
		return " GROUP BY GROUPING SETS (" + strings.Join(g.parts, ", ") + ")"
	case len(g.by) > 0:
		return " GROUP BY " + strings.Join(g.by, ", ")
	}
	return ""
}

// groupingOf plans GROUPING(...): a bit for each argument, set in rows whose grouping set is without it.
func (p *planner) groupingOf(s *scope, n *pg_query.GroupingFunc) (expr, error) {
	if len(n.GetArgs()) > maxGrouping {
		return expr{}, p.fail(n.GetLocation(), "54023", "GROUPING must have fewer than 32 arguments")
	}
	g := s.group
	var terms []string
	for _, a := range n.GetArgs() {
		found := -1
		if g != nil {
			s.raw++
			e, err := p.expr(s, a)
			s.raw--
			if err != nil {
				return e, err
			}
			found = slices.Index(g.by, key(e.sql, e.typ))
		}
		if found < 0 {
			return expr{}, p.fail(location(a), codeGrouping, "arguments to GROUPING must be grouping expressions of the associated query level")
		}
		terms = append(terms, g.by[found])
	}
	e := expr{typ: typeOfKind(kInt4), sql: "CAST(0 AS INTEGER)"}
	if !g.plain {
		e.sql = g.add("CAST(grouping(" + strings.Join(terms, ", ") + ") AS INTEGER)")
	}
	return e, nil
}
