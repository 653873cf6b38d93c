package query

import (
	"strings"

	pg_query "github.com/pganalyze/pg_query_go/v6"
)

var setWords = map[pg_query.SetOperation]string{
	pg_query.SetOperation_SETOP_UNION: "UNION", pg_query.SetOperation_SETOP_INTERSECT: "INTERSECT", pg_query.SetOperation_SETOP_EXCEPT: "EXCEPT",
}

// setOperation plans UNION, INTERSECT and EXCEPT with their ORDER BY and LIMIT.
func (p *planner) setOperation(n *pg_query.SelectStmt, s *scope) (relation, error) {
	l, err := p.query(n.GetLarg(), s)
	if err != nil {
		return relation{}, err
	}
	r, err := p.query(n.GetRarg(), s)
	if err != nil {
		return relation{}, err
	}
	word := setWords[n.GetOp()]
	q, err := p.combine(l, r, word, n.GetAll(), false)
	if err != nil {
		return q, err
	}
	order, err := p.setOrder(n.GetSortClause(), q, word)
	if err != nil {
		return q, err
	}
	ties, limit, err := p.limit(n, order)
	if err != nil {
		return q, err
	}
	q.order = orderOf(order)
	if tail := ties + orderSQL(order) + limit; tail != "" {
		q.sql = "SELECT * FROM (" + q.sql + ")" + tail
	}
	return q, nil
}

// combine is l word r with the columns' types made equal. Both halves of a recursive query stand beside each other as they are.
func (p *planner) combine(l, r relation, word string, all, recursive bool) (relation, error) {
	if len(l.columns) != len(r.columns) {
		return relation{}, p.fail(firstLoc(r), codeSyntax, "each %s query must have the same number of columns", word)
	}
	q := relation{}
	var left, right, keys []string
	plain := true
	for i := range l.columns {
		a, b := l.columns[i], r.columns[i]
		es, err := p.unify([]expr{
			{sql: output(i), typ: a.typ, param: a.param, loc: a.loc}, {sql: output(i), typ: b.typ, param: b.param, loc: b.loc},
		}, word)
		if err != nil {
			return relation{}, err
		}
		c := column{name: a.name, typ: es[0].typ}
		if a.table != 0 && a.table == b.table && a.attr == b.attr {
			c.table, c.attr = a.table, a.attr
		}
		if !all {
			if err := p.comparable(es[0], -1); err != nil {
				return relation{}, err
			}
		}
		plain = plain && !keyed(c.typ.Kind)
		keys = append(keys, key(output(i), c.typ))
		left = append(left, es[0].sql+" AS "+output(i))
		right = append(right, es[1].sql+" AS "+output(i))
		q.columns = append(q.columns, c)
	}
	ls := "SELECT " + strings.Join(left, ", ") + " FROM (" + l.sql + ")"
	rs := "SELECT " + strings.Join(right, ", ") + " FROM (" + r.sql + ")"
	switch {
	case plain || recursive || all && word == "UNION":
		if all {
			word += " ALL"
		}
		q.sql = "(" + ls + ") " + word + " (" + rs + ")"
	case word == "UNION":
		q.sql = "SELECT DISTINCT ON (" + strings.Join(keys, ", ") + ") * FROM ((" + ls + ") UNION ALL (" + rs + "))"
	default:
		q.sql = matched(ls, rs, keys, word, all)
	}
	return q, nil
}

// matched is INTERSECT and EXCEPT over columns whose equal values may differ in bytes: rows of l that have, or have not, an equal in r. With
// ALL equal rows are numbered on both sides, and number n matches number n.
func matched(l, r string, keys []string, word string, all bool) string {
	number := "1"
	if all {
		number = "row_number() OVER (PARTITION BY " + strings.Join(keys, ", ") + ")"
	}
	var outs, named, equal []string
	for i, k := range keys {
		outs = append(outs, output(i))
		named = append(named, k+" AS k"+itoa(i))
		equal = append(equal, "x.k"+itoa(i)+" IS NOT DISTINCT FROM y.k"+itoa(i))
	}
	number += " AS n, " + strings.Join(named, ", ")
	not := ""
	if word == "EXCEPT" {
		not = "NOT "
	}
	sql := "SELECT " + strings.Join(outs, ", ") + " FROM (SELECT *, " + number + " FROM (" + l + ")) AS x WHERE " + not +
		"EXISTS (SELECT 1 FROM (SELECT *, " + number + " FROM (" + r + ")) AS y WHERE x.n = y.n AND " + strings.Join(equal, " AND ") + ")"
	if all {
		return sql
	}
	return "SELECT DISTINCT ON (" + strings.Join(keys, ", ") + ") * FROM (" + sql + ")"
}

func firstLoc(q relation) int32 {
	if len(q.columns) == 0 {
		return -1
	}
	return q.columns[0].loc
}

// setOrder plans ORDER BY of a set operation, which knows output columns only.
func (p *planner) setOrder(list []*pg_query.Node, q relation, word string) ([]sortKey, error) {
	var targets []target
	for i, c := range q.columns {
		targets = append(targets, target{name: c.name, e: expr{sql: output(i), typ: c.typ}})
	}
	var out []sortKey
	for _, n := range list {
		b := n.GetSortBy()
		i, err := p.targetNamed(&scope{}, b.GetNode(), targets, "ORDER BY")
		if err != nil {
			return nil, err
		}
		if i < 0 {
			if c := b.GetNode().GetColumnRef(); c != nil {
				parts, _ := names(c.GetFields())
				return nil, p.fail(c.GetLocation(), codeNoColumn, "column \"%s\" does not exist", strings.Join(parts, "."))
			}
			e := p.fail(location(b.GetNode()), codeUnsupported, "invalid UNION/INTERSECT/EXCEPT ORDER BY clause")
			e.Detail = "Only result column names can be used, not expressions or functions."
			e.Hint = "Add the expression/function to every SELECT, or move the UNION into a FROM clause."
			return nil, e
		}
		k := sortKey{sql: output(i), typ: q.columns[i].typ, target: i, loc: location(b.GetNode())}
		if err := p.direction(&k, b); err != nil {
			return nil, err
		}
		out = append(out, k)
	}
	return out, nil
}

// values plans VALUES (...), (...).
func (p *planner) values(n *pg_query.SelectStmt, s *scope) (relation, error) {
	var rows [][]expr
	at := &scope{parent: s, clause: "VALUES"}
	for _, l := range n.GetValuesLists() {
		var row []expr
		for _, item := range l.GetList().GetItems() {
			if item.GetSetToDefault() != nil {
				return relation{}, p.fail(item.GetSetToDefault().GetLocation(), codeSyntax, "DEFAULT is not allowed in this context")
			}
			e, err := p.expr(at, item)
			if err != nil {
				return relation{}, err
			}
			row = append(row, e)
		}
		if len(rows) > 0 && len(row) != len(rows[0]) {
			return relation{}, p.fail(location(l.GetList().GetItems()[0]), codeSyntax, "VALUES lists must all be the same length")
		}
		rows = append(rows, row)
	}
	q := relation{}
	var outs []string
	for i := range rows[0] {
		var col []expr
		for _, r := range rows {
			col = append(col, r[i])
		}
		if len(col) > 1 || !col[0].untyped() {
			same, err := p.unify(col, "VALUES")
			if err != nil {
				return q, err
			}
			col = same
		}
		for k, e := range col {
			rows[k][i] = e
		}
		q.columns = append(q.columns, column{name: "column" + itoa(i+1), typ: col[0].typ, param: col[0].param})
		outs = append(outs, output(i))
	}
	var lists []string
	for _, r := range rows {
		var cells []string
		for _, e := range r {
			cells = append(cells, e.sql)
		}
		lists = append(lists, "("+strings.Join(cells, ", ")+")")
	}
	list := strings.Join(outs, ", ")
	v := p.alias("v")
	q.sql = "SELECT " + list + " FROM (VALUES " + strings.Join(lists, ", ") + ") AS " + v + "(" + list + ")"
	order, err := p.setOrder(n.GetSortClause(), q, "VALUES")
	if err != nil {
		return q, err
	}
	ties, limit, err := p.limit(n, order)
	q.sql += ties + orderSQL(order) + limit
	q.order = orderOf(order)
	return q, err
}
