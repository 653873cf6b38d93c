package query

import (
	"fmt"
	"slices"
	"strings"

	pg_query "github.com/pganalyze/pg_query_go/v6"
)

// grouping is a grouped SELECT under way: the inner select list, which computes keys and aggregates, and what of it the outer one knows.
type grouping struct {
	alias string
	list  []string          // inner outputs, "sql AS name"
	by    []string          // GROUP BY terms of the inner one
	keys  map[string]expr   // SQL of a key inside to how it is called outside
	calls []groupSet        // functions returning sets in the keys
	plain bool              // no GROUPING SETS
	parts []string          // the grouping sets, each a list of terms of by in parentheses
	named map[string]string // SQL of an aggregate, or of a column that depends on the keys, to its name outside
}

// add makes sql an inner output and returns what it is called outside.
func (g *grouping) add(sql string) string {
	if name, ok := g.named[sql]; ok {
		return name
	}
	name := fmt.Sprintf("a%d", len(g.list)+1)
	g.list = append(g.list, sql+" AS "+name)
	g.named[sql] = g.alias + "." + name
	return g.named[sql]
}

// from is the FROM clause of the outer SELECT.
func (g *grouping) from(b *builder) string {
	list := g.list
	if len(list) == 0 {
		list = []string{"count(*) AS none"}
	}
	sql := "SELECT " + strings.Join(list, ", ") + g.laterals(b.from) + b.where + g.groupBy()
	return " FROM (" + sql + ") AS " + g.alias
}

// startGroups makes s grouped when n has GROUP BY, HAVING or an aggregate.
func (p *planner) startGroups(s *scope, n *pg_query.SelectStmt, targets []target) error {
	if s.clause != "" || len(n.GetGroupClause()) == 0 && n.GetHavingClause() == nil && !p.hasAggregate(n, targets) {
		return nil
	}
	g := &grouping{alias: p.alias("g"), keys: map[string]expr{}, named: map[string]string{}, plain: true}
	s.clause = "GROUP BY"
	if err := p.groupTerms(s, g, n, targets); err != nil {
		return err
	}
	s.clause = ""
	s.group = g
	return nil
}

// groupKey plans one key and returns its place in g.by.
func (p *planner) groupKey(s *scope, g *grouping, node *pg_query.Node, targets []target) (int, error) {
	i, err := p.targetNamed(s, node, targets, "GROUP BY")
	if err != nil {
		return 0, err
	}
	var e expr
	switch {
	case i >= 0 && targets[i].column != nil:
		e, err = p.refer(s, targets[i].rel, *targets[i].column, targets[i].loc)
	case i >= 0:
		e, err = p.groupExpr(s, g, targets[i].node)
	default:
		e, err = p.groupExpr(s, g, node)
	}
	if err != nil {
		return 0, err
	}
	if e, err = p.typed(e); err != nil {
		return 0, err
	}
	if err := p.comparable(e, location(node)); err != nil {
		return 0, err
	}
	by := key(e.sql, e.typ)
	if _, ok := g.keys[e.sql]; ok {
		return slices.Index(g.by, by), nil
	}
	g.by = append(g.by, by)
	inner := e.sql
	if keyed(e.typ.Kind) {
		// The set may be without the key: then its value is NULL, as DuckDB makes it for a key that is a column.
		inner = "CASE WHEN grouping(" + by + ") = 0 THEN first(" + e.sql + ") END"
	}
	out := e
	out.sql = g.add(inner)
	g.keys[e.sql] = out
	return len(g.by) - 1, nil
}

// grouped is a reference, outside an aggregate, to a column of FROM in a grouped SELECT: a key, or a column that the keys determine.
func (p *planner) grouped(s *scope, r *rel, c column, e expr) (expr, error) {
	if k, ok := s.group.keys[c.sql]; ok {
		k.loc = e.loc
		return k, nil
	}
	if s.group.plain && r != nil && r.table != nil && len(r.table.Columns.Key) > 0 {
		all := true
		for _, k := range r.table.Columns.Key {
			_, ok := s.group.keys[r.cols[k].sql]
			all = all && ok
		}
		if all {
			e.sql = s.group.add("first(" + c.sql + ")")
			return e, nil
		}
	}
	name := c.name
	if r != nil {
		name = r.alias + "." + c.name
	}
	return e, p.fail(e.loc, codeGrouping, "column \"%s\" must appear in the GROUP BY clause or be used in an aggregate function", name)
}

// asKey is the group key that n is equal to, if any.
func (p *planner) asKey(s *scope, n *pg_query.Node) (expr, bool) {
	if s.group == nil || s.raw > 0 || len(s.group.keys) == 0 || n.GetAConst() != nil || n.GetColumnRef() != nil || n.GetSubLink() != nil {
		return expr{}, false
	}
	saved := *p
	s.raw++
	clause := s.clause
	s.clause = "GROUP BY"
	e, err := p.expr(s, n)
	s.clause = clause
	s.raw--
	if err == nil {
		if k, ok := s.group.keys[e.sql]; ok {
			k.loc = e.loc
			return k, true
		}
	}
	// The attempt leaves nothing behind but types that it gave to parameters, which the real planning gives them too.
	p.scans, p.aliases = saved.scans, saved.aliases
	return expr{}, false
}

// hasAggregate reports whether the select list, HAVING or ORDER BY calls an aggregate of this query.
func (p *planner) hasAggregate(n *pg_query.SelectStmt, targets []target) bool {
	for _, t := range targets {
		if t.node != nil && aggregateIn(t.node) {
			return true
		}
	}
	for _, o := range n.GetSortClause() {
		if aggregateIn(o.GetSortBy().GetNode()) {
			return true
		}
	}
	return false
}

// aggregateIn reports whether an aggregate is called in n, subqueries apart.
func aggregateIn(n *pg_query.Node) bool {
	found := false
	walk(n, func(m *pg_query.Node) bool {
		if f := m.GetFuncCall(); f != nil && f.GetOver() == nil {
			if name, ok := systemName(f.GetFuncname()); ok && (aggregates[name] != nil || f.GetAggWithinGroup()) {
				found = true
			}
		}
		return !found && m.GetSubLink() == nil && m.GetSelectStmt() == nil
	})
	return found
}
