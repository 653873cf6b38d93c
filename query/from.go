package query

import (
	"slices"
	"strconv"
	"strings"

	pg_query "github.com/pganalyze/pg_query_go/v6"
)

func itoa(n int) string { return strconv.Itoa(n) }

// from plans the FROM clause into s.item.
func (p *planner) from(s *scope, list []*pg_query.Node) error {
	for _, n := range list {
		right, err := p.fromItem(s, n)
		if err != nil {
			return err
		}
		if s.item == nil {
			s.item = right
			continue
		}
		if s.item, err = p.beside(s.item, right, s.item.sql+", "+right.sql); err != nil {
			return err
		}
	}
	return nil
}

// beside is the item with the members and columns of both.
func (p *planner) beside(l, r *item, sql string) (*item, error) {
	for _, a := range l.rels {
		for _, b := range r.rels {
			if a.alias == b.alias && a.alias != "" && a.schema == b.schema {
				return nil, p.fail(-1, codeDuplicate, "table name \"%s\" specified more than once", a.alias)
			}
		}
	}
	return &item{sql: sql, rels: slices.Concat(l.rels, r.rels), cols: slices.Concat(l.cols, r.cols), from: slices.Concat(l.from, r.from)}, nil
}

func single(r *rel, sql string) *item {
	it := &item{sql: sql, rels: []*rel{r}, cols: r.cols}
	for range r.cols {
		it.from = append(it.from, r)
	}
	return it
}

func (p *planner) fromItem(s *scope, n *pg_query.Node) (*item, error) {
	switch {
	case n.GetRangeVar() != nil:
		return p.rangeVar(s, n.GetRangeVar())
	case n.GetRangeSubselect() != nil:
		return p.subselect(s, n.GetRangeSubselect())
	case n.GetRangeFunction() != nil:
		return p.rangeFunction(s, n.GetRangeFunction())
	case n.GetJoinExpr() != nil:
		return p.join(s, n.GetJoinExpr())
	case n.GetRangeTableSample() != nil:
		return nil, p.refuse(n.GetRangeTableSample().GetLocation(), "TABLESAMPLE")
	}
	return nil, p.refuse(-1, "this FROM item")
}

func (p *planner) rangeVar(s *scope, n *pg_query.RangeVar) (*item, error) {
	alias := p.alias("t")
	r := &rel{alias: n.GetRelname(), schema: n.GetSchemaname(), name: n.GetRelname()}
	var sql string
	if q := s.cte(n.GetRelname()); q != nil && n.GetSchemaname() == "" {
		r.cols = queryColumns(*q, alias)
		sql = q.sql + " AS " + alias
	} else {
		t, err := p.resolver.Resolve(n.GetSchemaname(), n.GetRelname())
		if err != nil {
			return nil, p.at(n.GetLocation(), err)
		}
		if t.View != nil {
			return p.view(n, t, alias)
		}
		r.table = t
		r.cols = tableColumns(t, alias)
		sql = "tr_scan(" + mark(markScan, len(p.scans)) + ") AS " + alias
		p.scans = append(p.scans, scanRef{table: t, numbed: p.rowRef})
		r.scan = len(p.scans)
	}
	if a := n.GetAlias(); a != nil {
		r.alias, r.schema = a.GetAliasname(), ""
		if err := p.rename(r.alias, r.cols, a.GetColnames()); err != nil {
			return nil, err
		}
	}
	return single(r, sql), nil
}

func (p *planner) subselect(s *scope, n *pg_query.RangeSubselect) (*item, error) {
	outer, lateral := s.parent, ""
	if n.GetLateral() {
		outer, lateral = s, "LATERAL "
	}
	if lateral == "" && s.item != nil {
		outer = &scope{parent: outer, hidden: s.item}
	}
	q, err := p.query(n.GetSubquery().GetSelectStmt(), outer)
	if err != nil {
		return nil, err
	}
	q = p.settle(q)
	alias := p.alias("t")
	r := &rel{alias: n.GetAlias().GetAliasname(), cols: queryColumns(q, alias)}
	if r.alias == "" {
		return nil, p.fail(-1, codeSyntax, "subquery in FROM must have an alias")
	}
	if err := p.rename(r.alias, r.cols, n.GetAlias().GetColnames()); err != nil {
		return nil, err
	}
	return single(r, lateral+"("+q.sql+") AS "+alias), nil
}

var joinWords = map[pg_query.JoinType]string{
	pg_query.JoinType_JOIN_INNER: " JOIN ", pg_query.JoinType_JOIN_LEFT: " LEFT JOIN ",
	pg_query.JoinType_JOIN_RIGHT: " RIGHT JOIN ", pg_query.JoinType_JOIN_FULL: " FULL JOIN ",
}

func (p *planner) join(s *scope, n *pg_query.JoinExpr) (*item, error) {
	if err := p.enter(); err != nil {
		return nil, err
	}
	defer p.leave()
	l, err := p.fromItem(s, n.GetLarg())
	if err != nil {
		return nil, err
	}
	// A LATERAL on the right sees the left side and the items before the join.
	seen := &scope{parent: s.parent, item: l}
	if s.item != nil {
		if seen.item, err = p.beside(s.item, l, ""); err != nil {
			return nil, err
		}
	}
	r, err := p.fromItem(seen, n.GetRarg())
	if err != nil {
		return nil, err
	}
	both, err := p.beside(l, r, "")
	if err != nil {
		return nil, err
	}
	var on []string
	switch {
	case n.GetIsNatural():
		on, err = p.using(both, l, r, shared(l, r), n.GetJointype())
	case len(n.GetUsingClause()) > 0:
		on, err = p.using(both, l, r, namesOf(n.GetUsingClause()), n.GetJointype())
	case n.GetQuals() != nil:
		var e expr
		e, err = p.boolean(&scope{parent: s.parent, item: both, clause: "JOIN conditions"}, n.GetQuals(), "JOIN/ON")
		on = []string{e.sql}
	}
	if err != nil {
		return nil, err
	}
	word, cond := joinWords[n.GetJointype()], strings.Join(on, " AND ")
	switch {
	case cond != "":
	case n.GetJointype() == pg_query.JoinType_JOIN_INNER:
		word = " CROSS JOIN "
	default:
		cond = "TRUE" // NATURAL without a shared name
	}
	both.sql = "(" + l.sql + word + r.sql
	if cond != "" {
		both.sql += " ON " + cond
	}
	both.sql += ")"
	if a := n.GetJoinUsingAlias(); a != nil {
		merged := &rel{alias: a.GetAliasname()}
		for i, from := range both.from {
			if from == nil {
				merged.cols = append(merged.cols, both.cols[i])
			}
		}
		both.rels = append(both.rels, merged)
	}
	if a := n.GetAlias(); a != nil {
		whole := &rel{alias: a.GetAliasname(), cols: slices.Clone(both.cols)}
		if err := p.rename(whole.alias, whole.cols, a.GetColnames()); err != nil {
			return nil, err
		}
		return single(whole, both.sql), nil
	}
	return both, nil
}
