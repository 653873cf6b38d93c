package query

import (
	"strings"

	pg_query "github.com/pganalyze/pg_query_go/v6"
)

// groupSet is a call of a function that returns a set in a group key, SELECT unnest(tags), count(*) ... GROUP BY 1: its rows come before the groups,
// so it stands in FROM, beside what is there.
type groupSet struct {
	list string // of the call, by which the same call elsewhere is known
	e    expr   // a column of the lateral
}

// groupExpr plans a group key.
func (p *planner) groupExpr(s *scope, g *grouping, n *pg_query.Node) (expr, error) {
	s.grouping = g
	defer func() { s.grouping = nil }()
	return p.expr(s, n)
}

// groupedSet is a call that stands in a group key; ok is false for any other.
func (p *planner) groupedSet(s *scope, name string, n *pg_query.FuncCall) (e expr, ok bool, err error) {
	g := s.group
	if s.grouping != nil {
		g = s.grouping
	}
	if g == nil || s.grouping == nil && len(g.calls) == 0 {
		return expr{}, false, nil
	}
	s.raw++
	sets, err := p.setsOf(s, name, n)
	s.raw--
	if err != nil {
		return expr{}, false, err
	}
	if len(sets) > 1 || len(sets[0].columns) > 1 {
		return expr{}, false, p.refuse(n.GetLocation(), "a row as a value")
	}
	for _, known := range g.calls {
		if known.list != sets[0].list {
			continue
		}
		if k, ok := g.keys[known.e.sql]; ok && s.raw == 0 && s.grouping == nil {
			return k, true, nil
		}
		return known.e, true, nil
	}
	if s.grouping == nil {
		return expr{}, false, nil
	}
	c := sets[0].columns[0]
	e = expr{sql: c.of(g.alias + "s.s" + itoa(len(g.calls)+1)), typ: c.typ, loc: n.GetLocation()}
	g.calls = append(g.calls, groupSet{sets[0].list, e})
	return e, true, nil
}

// laterals is a FROM clause with the sets of group keys beside it.
func (g *grouping) laterals(from string) string {
	if len(g.calls) == 0 {
		return from
	}
	var lists []string
	for i, s := range g.calls {
		lists = append(lists, "unnest("+s.list+") AS s"+itoa(i+1))
	}
	if from == "" {
		from = " FROM (SELECT 1)"
	}
	return from + ", LATERAL (SELECT " + strings.Join(lists, ", ") + ") AS " + g.alias + "s"
}
