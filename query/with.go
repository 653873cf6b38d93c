package query

import (
	"slices"
	"strings"

	pg_query "github.com/pganalyze/pg_query_go/v6"
)

// with plans WITH: it makes the queries known in s and returns the clause.
func (p *planner) with(s *scope, n *pg_query.WithClause) (string, error) {
	if n == nil {
		return "", nil
	}
	s.ctes = map[string]*relation{}
	var list []string
	for _, node := range n.GetCtes() {
		c := node.GetCommonTableExpr()
		if s.ctes[c.GetCtename()] != nil {
			return "", p.fail(c.GetLocation(), codeDuplicate, "WITH query name \"%s\" specified more than once", c.GetCtename())
		}
		body := c.GetCtequery().GetSelectStmt()
		if body == nil {
			return "", p.refuse(c.GetLocation(), "a data-modifying statement in WITH")
		}
		if c.GetSearchClause() != nil || c.GetCycleClause() != nil {
			return "", p.refuse(c.GetLocation(), "SEARCH and CYCLE")
		}
		name := p.alias("w")
		q, err := p.cte(s, c, body, name, n.GetRecursive())
		if err != nil {
			return "", err
		}
		var outs []string
		for i := range q.columns {
			outs = append(outs, output(i))
		}
		list = append(list, name+"("+strings.Join(outs, ", ")+") AS ("+q.sql+")")
		if given := len(c.GetAliascolnames()); given > len(q.columns) {
			return "", p.fail(c.GetLocation(), codeInvalidRef, "WITH query \"%s\" has %d columns available but %d columns specified", c.GetCtename(), len(q.columns), given)
		}
		if err := p.rename(c.GetCtename(), q.columns, c.GetAliascolnames()); err != nil {
			return "", err
		}
		s.ctes[c.GetCtename()] = &relation{sql: name, columns: q.columns}
	}
	word := "WITH "
	if n.GetRecursive() {
		word = "WITH RECURSIVE "
	}
	return word + strings.Join(list, ", ") + " ", nil
}

// cte plans one query of WITH. One that refers to itself is a UNION of a start and a step.
func (p *planner) cte(s *scope, c *pg_query.CommonTableExpr, body *pg_query.SelectStmt, name string, recursive bool) (relation, error) {
	if !recursive || !refersTo(body, c.GetCtename()) {
		q, err := p.query(body, s)
		return p.settle(q), err
	}
	if body.GetOp() != pg_query.SetOperation_SETOP_UNION {
		return relation{}, p.fail(c.GetLocation(), "42P19", "recursive query \"%s\" does not have the form non-recursive-term UNION [ALL] recursive-term", c.GetCtename())
	}
	if len(body.GetSortClause()) > 0 || body.GetLimitCount() != nil || body.GetLimitOffset() != nil || body.GetWithClause() != nil {
		return relation{}, p.refuse(c.GetLocation(), "ORDER BY, LIMIT or WITH in a recursive query")
	}
	start, err := p.query(body.GetLarg(), s)
	if err != nil {
		return start, err
	}
	start = p.settle(start)
	known := slices.Clone(start.columns)
	if err := p.rename(c.GetCtename(), known, c.GetAliascolnames()); err != nil {
		return start, err
	}
	s.ctes[c.GetCtename()] = &relation{sql: name, columns: known}
	step, err := p.query(body.GetRarg(), s)
	delete(s.ctes, c.GetCtename())
	if err != nil {
		return step, err
	}
	q, err := p.combine(start, p.settle(step), "UNION", body.GetAll(), true)
	if err != nil {
		return q, err
	}
	for i, k := range q.columns {
		if k.typ.Kind != start.columns[i].typ.Kind {
			e := p.fail(start.columns[i].loc, codeMismatch, "recursive query \"%s\" column %d has type %s in non-recursive term but type %s overall",
				c.GetCtename(), i+1, typeName(start.columns[i].typ), typeName(k.typ))
			e.Hint = "Cast the output of the non-recursive term to the correct type."
			return q, e
		}
		if !body.GetAll() && keyed(k.typ.Kind) {
			return q, p.refuse(c.GetLocation(), "a recursive UNION over numeric, interval, character and jsonb columns")
		}
	}
	return q, nil
}

// refersTo reports whether a FROM somewhere in n names table.
func refersTo(n *pg_query.SelectStmt, table string) bool {
	found := false
	walk(&pg_query.Node{Node: &pg_query.Node_SelectStmt{SelectStmt: n}}, func(m *pg_query.Node) bool {
		if r := m.GetRangeVar(); r != nil && r.GetSchemaname() == "" && r.GetRelname() == table {
			found = true
		}
		return !found
	})
	return found
}
