package query

import (
	"strings"

	pg_query "github.com/pganalyze/pg_query_go/v6"

	"tailrace"
)

// sortKey is one term of ORDER BY.
type sortKey struct {
	sql    string
	typ    tailrace.Type
	desc   bool
	first  bool // NULLs first
	target int  // the output column that it is, -1 for none
	loc    int32
}

// key is what the rows are compared by. DuckDB may make a column again from its sort keys, where -0 became 0, so floats get a key too.
func (k sortKey) key() string {
	if k.typ.Kind == kFloat4 || k.typ.Kind == kFloat8 {
		return zeroed(k.sql, k.typ.Kind)
	}
	return key(k.sql, k.typ)
}

func orderSQL(keys []sortKey) string {
	if len(keys) == 0 {
		return ""
	}
	var terms []string
	for _, k := range keys {
		t := k.key()
		if k.desc {
			t += " DESC"
		}
		if k.first {
			t += " NULLS FIRST"
		} else {
			t += " NULLS LAST"
		}
		terms = append(terms, t)
	}
	return " ORDER BY " + strings.Join(terms, ", ")
}

// orderBy plans ORDER BY of a SELECT.
func (p *planner) orderBy(s *scope, list []*pg_query.Node, targets []target, distinct bool) ([]sortKey, error) {
	var out []sortKey
	for _, n := range list {
		b := n.GetSortBy()
		k, err := p.sortExpr(s, b.GetNode(), targets, "ORDER BY")
		if err != nil {
			return nil, err
		}
		if err := p.direction(&k, b); err != nil {
			return nil, err
		}
		if distinct && k.target < 0 {
			for i, t := range targets {
				if t.e.sql == k.sql {
					k.target = i
				}
			}
		}
		out = append(out, k)
	}
	return out, nil
}

func (p *planner) direction(k *sortKey, b *pg_query.SortBy) error {
	switch b.GetSortbyDir() {
	case pg_query.SortByDir_SORTBY_DESC:
		k.desc = true
	case pg_query.SortByDir_SORTBY_USING:
		switch name, _ := systemName(b.GetUseOp()); name {
		case "<":
		case ">":
			k.desc = true
		default:
			return p.refuse(b.GetLocation(), "ORDER BY USING with this operator")
		}
	}
	switch b.GetSortbyNulls() {
	case pg_query.SortByNulls_SORTBY_NULLS_FIRST:
		k.first = true
	case pg_query.SortByNulls_SORTBY_NULLS_LAST:
	default:
		k.first = k.desc
	}
	return nil
}

// sortExpr plans an expression of ORDER BY, GROUP BY or DISTINCT ON that may also be an output column's name or number.
func (p *planner) sortExpr(s *scope, n *pg_query.Node, targets []target, clause string) (sortKey, error) {
	i, err := p.targetNamed(s, n, targets, clause)
	if err != nil {
		return sortKey{}, err
	}
	var e expr
	if i >= 0 {
		e = targets[i].e
	} else if e, err = p.expr(s, n); err != nil {
		return sortKey{}, err
	}
	k := sortKey{sql: e.sql, typ: e.typ, target: i, loc: location(n)}
	if unordered(e.typ) {
		err := p.fail(k.loc, codeNoFunction, "could not identify an ordering operator for type %s", typeName(e.typ))
		err.Hint = "Use an explicit ordering operator or modify the query."
		return k, err
	}
	return k, nil
}

// targetNamed is the number (from 0) of the target that n names, -1 when it names none. GROUP BY looks for an input column first.
func (p *planner) targetNamed(s *scope, n *pg_query.Node, targets []target, clause string) (int, error) {
	if c := n.GetAConst(); c != nil {
		if c.GetIval() == nil {
			return -1, p.fail(c.GetLocation(), codeSyntax, "non-integer constant in %s", clause)
		}
		i := int(c.GetIval().GetIval())
		if i < 1 || i > len(targets) {
			return -1, p.fail(c.GetLocation(), codeInvalidRef, "%s position %d is not in select list", clause, i)
		}
		return i - 1, nil
	}
	c := n.GetColumnRef()
	if c == nil {
		return -1, nil
	}
	parts, star := names(c.GetFields())
	if len(parts) != 1 || star {
		return -1, nil
	}
	if clause == "GROUP BY" && s.item != nil {
		for i := range s.item.cols {
			if s.item.cols[i].name == parts[0] {
				return -1, nil
			}
		}
	}
	found := -1
	for i := range targets {
		if targets[i].name != parts[0] {
			continue
		}
		if found >= 0 && targets[i].e.sql != targets[found].e.sql {
			return -1, p.fail(c.GetLocation(), codeAmbiguous, "%s \"%s\" is ambiguous", clause, parts[0])
		}
		found = i
	}
	return found, nil
}

// columnIn is the first column reference in n, subqueries apart.
func columnIn(n *pg_query.Node) (column *pg_query.Node) {
	walk(n, func(m *pg_query.Node) bool {
		if m.GetColumnRef() != nil && column == nil {
			column = m
		}
		return column == nil && m.GetSelectStmt() == nil
	})
	return column
}
