package query

import (
	"slices"

	pg_query "github.com/pganalyze/pg_query_go/v6"
)

// shared lists the column names that both sides of a NATURAL JOIN have.
func shared(l, r *item) []string {
	var out []string
	for _, a := range l.cols {
		for _, b := range r.cols {
			if a.name == b.name && !slices.Contains(out, a.name) {
				out = append(out, a.name)
			}
		}
	}
	return out
}

// using plans the conditions of USING (names) and merges its columns in both.
func (p *planner) using(both, l, r *item, list []string, how pg_query.JoinType) ([]string, error) {
	var merged []column
	var on []string
	for _, name := range list {
		a, err := p.side(l, name, "left")
		if err != nil {
			return nil, err
		}
		b, err := p.side(r, name, "right")
		if err != nil {
			return nil, err
		}
		ea, eb := expr{sql: a.sql, typ: a.typ, loc: -1}, expr{sql: b.sql, typ: b.typ, loc: -1}
		eq, err := p.operator("=", ea, eb, -1)
		if err != nil {
			return nil, err
		}
		on = append(on, eq.sql)
		m := a
		if how == pg_query.JoinType_JOIN_RIGHT {
			m = b
		}
		if a.typ != b.typ || how == pg_query.JoinType_JOIN_FULL {
			es, err := p.unify([]expr{ea, eb}, "JOIN/USING")
			if err != nil {
				return nil, err
			}
			m = column{name: name, typ: es[0].typ, sql: es[0].sql}
			switch how {
			case pg_query.JoinType_JOIN_RIGHT:
				m.sql = es[1].sql
			case pg_query.JoinType_JOIN_FULL:
				m.sql = "coalesce(" + es[0].sql + ", " + es[1].sql + ")"
			}
		}
		merged = append(merged, m)
	}
	cols, from := merged, make([]*rel, len(merged))
	for i, c := range both.cols {
		if !slices.Contains(list, c.name) {
			cols, from = append(cols, c), append(from, both.from[i])
		}
	}
	both.cols, both.from = cols, from
	return on, nil
}

func (p *planner) side(it *item, name, where string) (column, error) {
	found := -1
	for i := range it.cols {
		if it.cols[i].name != name {
			continue
		}
		if found >= 0 {
			return column{}, p.fail(-1, codeAmbiguous, "common column name \"%s\" appears more than once in %s table", name, where)
		}
		found = i
	}
	if found < 0 {
		return column{}, p.fail(-1, codeNoColumn, "column \"%s\" specified in USING clause does not exist in %s table", name, where)
	}
	return it.cols[found], nil
}
