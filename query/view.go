package query

import (
	"errors"

	pg_query "github.com/pganalyze/pg_query_go/v6"

	"tailrace"
)

// view plans the query of a view in the place of its name. Its columns are called and typed as the view says, whatever has become of its tables.
func (p *planner) view(n *pg_query.RangeVar, t *Table, alias string) (*item, error) {
	q, err := p.viewQuery(t.View)
	if err != nil {
		return nil, inView(n.GetRelname(), p.at(n.GetLocation(), err))
	}
	r := &rel{alias: n.GetRelname(), schema: n.GetSchemaname(), name: n.GetRelname()}
	given := queryColumns(q, alias)
	if len(given) < len(t.Columns.Fields) {
		return nil, p.fail(n.GetLocation(), codeInternal, "view \"%s\" has %d columns, its query has %d", n.GetRelname(), len(t.Columns.Fields), len(given))
	}
	for i, f := range t.Columns.Fields {
		c := given[i]
		if c.typ != f.Type && f.Type.Valid() {
			e, err := p.convert(expr{sql: c.sql, typ: c.typ, loc: -1}, f.Type, false)
			if err != nil {
				return nil, p.at(n.GetLocation(), err)
			}
			c.sql, c.typ = e.sql, f.Type
		}
		c.name, c.table, c.attr = f.Name, t.ID, int16(f.ID)
		r.cols = append(r.cols, c)
	}
	if a := n.GetAlias(); a != nil {
		r.alias, r.schema = a.GetAliasname(), ""
		if err := p.rename(r.alias, r.cols, a.GetColnames()); err != nil {
			return nil, err
		}
	}
	return single(r, "("+q.sql+") AS "+alias), nil
}

// viewQuery plans a view's query, which sees nothing of the statement around it. Its errors have no positions: those in its own text would be
// taken for the statement's.
func (p *planner) viewQuery(v *View) (relation, error) {
	text, rowRef, returning := p.text, p.rowRef, p.returning
	p.text, p.rowRef, p.returning = "", false, false
	defer func() { p.text, p.rowRef, p.returning = text, rowRef, returning }()
	q, err := p.query(v.Tree.GetSelectStmt(), nil)
	return p.settle(q), err
}

// inView says which view an error comes from.
func inView(view string, err error) error {
	var e *tailrace.Error
	if !errors.As(err, &e) || e.Detail != "" {
		return err
	}
	c := *e
	c.Detail = "In the query of view \"" + view + "\"."
	return &c
}
