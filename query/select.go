package query

import (
	"fmt"
	"strings"

	pg_query "github.com/pganalyze/pg_query_go/v6"

	"tailrace"
)

// query plans a SELECT, VALUES or set operation. outer is the scope that it may refer to, nil at the top. Columns may still have no type.
func (p *planner) query(n *pg_query.SelectStmt, outer *scope) (relation, error) {
	if err := p.enter(); err != nil {
		return relation{}, err
	}
	defer p.leave()
	exposes := p.exposes
	p.exposes = false
	s := &scope{parent: outer}
	if n.GetIntoClause() != nil {
		return relation{}, p.refuse(-1, "SELECT INTO")
	}
	if n.GetOp() != pg_query.SetOperation_SETOP_NONE {
		if err := p.locks(n, nil); err != nil {
			return relation{}, err
		}
	}
	with, err := p.with(s, n.GetWithClause())
	if err != nil {
		return relation{}, err
	}
	var q relation
	switch {
	case n.GetOp() != pg_query.SetOperation_SETOP_NONE:
		q, err = p.setOperation(n, s)
	case len(n.GetValuesLists()) > 0:
		q, err = p.values(n, s)
	default:
		q, err = p.selectFrom(n, &scope{parent: s, exposes: exposes})
	}
	q.sql = with + q.sql
	return q, err
}

// target is one output column of a SELECT: an expression, or a column that * stands for.
type target struct {
	name   string
	given  bool // the name was given with AS
	node   *pg_query.Node
	column *column
	rel    *rel
	loc    int32
	e      expr
}

// selectFrom plans a plain SELECT into s, a scope of its own.
func (p *planner) selectFrom(n *pg_query.SelectStmt, s *scope) (relation, error) {
	if err := p.from(s, n.GetFromClause()); err != nil {
		return relation{}, err
	}
	b := &builder{}
	if s.item != nil {
		b.from = " FROM " + s.item.sql
	}
	if w := n.GetWhereClause(); w != nil {
		s.clause = "WHERE"
		e, err := p.boolean(s, w, "WHERE")
		if err != nil {
			return relation{}, err
		}
		b.where = " WHERE " + e.sql
		p.filters(s, w, n.GetFromClause())
		s.clause = ""
	}
	if err := p.windows(s, n.GetWindowClause()); err != nil {
		return relation{}, err
	}
	if p.returning && s.parent.parent == nil {
		s.clause = "RETURNING"
	}
	targets, err := p.targets(s, n.GetTargetList())
	if err != nil {
		return relation{}, err
	}
	if err := p.startGroups(s, n, targets); err != nil {
		return relation{}, err
	}
	if err := p.outputs(s, targets); err != nil {
		return relation{}, err
	}
	if err := p.locks(n, s); err != nil {
		return relation{}, err
	}
	having := ""
	if h := n.GetHavingClause(); h != nil {
		e, err := p.boolean(s, h, "HAVING")
		if err != nil {
			return relation{}, err
		}
		having = " WHERE " + e.sql
	}
	return p.finish(n, s, b, targets, having)
}

// builder collects the clauses of one DuckDB SELECT.
type builder struct{ from, where string }

func (p *planner) targets(s *scope, list []*pg_query.Node) ([]target, error) {
	var out []target
	for _, n := range list {
		t := n.GetResTarget()
		if c := t.GetVal().GetColumnRef(); c != nil {
			if _, star := names(c.GetFields()); star {
				more, err := p.star(s, c)
				if err != nil {
					return nil, err
				}
				out = append(out, more...)
				continue
			}
		}
		name := t.GetName()
		if name == "" {
			name = p.nameOf(t.GetVal())
		}
		out = append(out, target{name: name, given: t.GetName() != "", node: t.GetVal(), loc: t.GetLocation()})
	}
	return out, nil
}

// outputs plans the targets' expressions.
func (p *planner) outputs(s *scope, targets []target) (err error) {
	for i := range targets {
		t := &targets[i]
		if t.column != nil {
			t.e, err = p.refer(s, t.rel, *t.column, t.loc)
		} else {
			t.e, err = p.output(s, t.node)
		}
		if err != nil {
			return err
		}
		if t.e.typ.Kind == kRow {
			return p.refuse(t.e.loc, "a row as a value")
		}
	}
	return nil
}

// output plans an expression of the select list, where functions that return sets may stand.
func (p *planner) output(s *scope, n *pg_query.Node) (expr, error) {
	s.setsAllowed = true
	defer func() { s.setsAllowed = false }()
	return p.expr(s, n)
}

// finish puts the clauses together: DISTINCT, ORDER BY, LIMIT.
func (p *planner) finish(n *pg_query.SelectStmt, s *scope, b *builder, targets []target, having string) (relation, error) {
	order, err := p.orderBy(s, n.GetSortClause(), targets, len(n.GetDistinctClause()) > 0)
	if err != nil {
		return relation{}, err
	}
	from := b.from + b.where
	if s.group != nil {
		from = s.group.from(b) + having
	}
	if s.sets {
		from = p.spread(targets, order, from)
	}
	distinct, wrap, err := p.distinct(s, n, targets, order)
	if err != nil {
		return relation{}, err
	}
	ties, limit, err := p.limit(n, order)
	if err != nil {
		return relation{}, err
	}
	q := relation{}
	var list []string
	if p.rowRef && s.parent.parent == nil {
		c, err := p.rowNumber(s)
		if err != nil {
			return q, err
		}
		q.columns = append(q.columns, c)
		list = append(list, c.sql+" AS c1")
	}
	for _, t := range targets {
		list = append(list, t.e.sql+" AS "+output(len(q.columns)))
		q.columns = append(q.columns, column{name: t.name, typ: t.e.typ, table: t.e.table, attr: t.e.attr, param: t.e.param, loc: t.loc})
	}
	if len(list) == 0 {
		list = []string{"1 AS none"}
	}
	if s.group != nil && !s.sets { // DISTINCT ON may have added to the groups
		from = s.group.from(b) + having
	}
	if s.exposes && !wrap {
		var outs []string
		outs, q.order = exposed(order)
		list = append(list, outs...)
	}
	q.sql = "SELECT " + distinct + strings.Join(list, ", ") + from
	if wrap {
		d := p.alias("d")
		for i := range order {
			order[i].sql = d + "." + output(order[i].target)
		}
		list = []string{"*"}
		if s.exposes {
			var outs []string
			outs, q.order = exposed(order)
			list = append(list, outs...)
		}
		q.sql = "SELECT " + strings.Join(list, ", ") + " FROM (" + q.sql + ") AS " + d
	}
	q.sql += ties + orderSQL(order) + limit
	return q, nil
}

// rowNumber is the column that RowRef asks for.
func (p *planner) rowNumber(s *scope) (column, error) {
	if len(p.scans) == 0 || s.item == nil || s.item.from[0] == nil || s.item.from[0].table == nil || s.group != nil {
		return column{}, p.refuse(-1, "a row reference without a table")
	}
	r := s.item.from[0]
	alias, _, _ := strings.Cut(r.cols[0].sql, ".")
	return column{name: "tr_row", typ: tailrace.TypeOf(kInt8), sql: fmt.Sprintf("%s.c%d", alias, len(r.table.Columns.Fields))}, nil
}

// distinct plans DISTINCT and DISTINCT ON. wrap tells that ORDER BY must stand outside, on the output columns.
func (p *planner) distinct(s *scope, n *pg_query.SelectStmt, targets []target, order []sortKey) (word string, wrap bool, err error) {
	clause := n.GetDistinctClause()
	if len(clause) == 0 {
		return "", false, nil
	}
	var keys []string
	if clause[0].GetNode() == nil { // plain DISTINCT
		plain := true
		for _, t := range targets {
			if err := p.comparable(t.e, t.loc); err != nil {
				return "", false, err
			}
			plain = plain && !keyed(t.e.typ.Kind)
			keys = append(keys, key(t.e.sql, t.e.typ))
		}
		for _, o := range order {
			if o.target < 0 {
				return "", false, p.fail(o.loc, codeInvalidRef, "for SELECT DISTINCT, ORDER BY expressions must appear in select list")
			}
		}
		if plain {
			return "DISTINCT ", true, nil
		}
		return "DISTINCT ON (" + strings.Join(keys, ", ") + ") ", true, nil
	}
	for _, c := range clause {
		e, err := p.sortExpr(s, c, targets, "DISTINCT ON")
		if err != nil {
			return "", false, err
		}
		keys = append(keys, e.key())
	}
	for i, o := range order {
		if i < len(keys) && !contains(keys, o.key()) {
			return "", false, p.fail(location(clause[min(i, len(clause)-1)]), codeInvalidRef, "SELECT DISTINCT ON expressions must match initial ORDER BY expressions")
		}
	}
	return "DISTINCT ON (" + strings.Join(keys, ", ") + ") ", false, nil
}

func contains(list []string, s string) bool {
	for _, l := range list {
		if l == s {
			return true
		}
	}
	return false
}
