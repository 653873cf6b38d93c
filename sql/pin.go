package sql

import (
	"fmt"
	"slices"

	pg_query "github.com/pganalyze/pg_query_go/v6"

	"tailrace"
	"tailrace/catalog"
)

// outline is the columns of a relation: what a view that reads it depends on.
type outline struct {
	id           catalog.ID
	schema, name string
	columns      []outlineColumn
}

type outlineColumn struct {
	id   tailrace.ColumnID // of a view: the number of the column
	name string
	typ  tailrace.Type
}

func tableOutline(t *catalog.Table) outline {
	o := outline{id: t.ID, schema: t.Schema, name: t.Name}
	for _, f := range t.Columns.Fields {
		o.columns = append(o.columns, outlineColumn{f.ID, f.Name, f.Type})
	}
	return o
}

func viewOutline(v *catalog.View) outline {
	o := outline{id: v.ID, schema: v.Schema, name: v.Name}
	for i, c := range v.Columns {
		o.columns = append(o.columns, outlineColumn{tailrace.ColumnID(i + 1), c.Name, c.Type})
	}
	return o
}

// cascades tells whether an ALTER TABLE says CASCADE.
func cascades(cmds []*pg_query.Node) bool {
	return slices.ContainsFunc(cmds, func(c *pg_query.Node) bool {
		return c.GetAlterTableCmd().GetBehavior() == pg_query.DropBehavior_DROP_CASCADE
	})
}

// keepViews makes the views that read a relation go on to mean what they do when its columns change from was to becomes, before the change itself. A view that
// needs a column which goes is dropped when cascade says so; else the error is 2BP01. A column that a view reads keeps its type: 0A000.
func (s *Session) keepViews(was, becomes outline, cascade bool) error {
	for _, v := range viewsOf(s.txn.catalog, was.id) {
		if s.txn.catalog.Views[v.ID] == nil {
			continue // dropped with another one
		}
		q, err := s.openQuery(v)
		if err != nil {
			return err
		}
		dropped := false
		for _, c := range was.columns {
			i := slices.IndexFunc(becomes.columns, func(b outlineColumn) bool { return b.id == c.id })
			if i < 0 { // a column that got another type may be another column
				i = slices.IndexFunc(becomes.columns, func(b outlineColumn) bool { return b.name == c.name })
			}
			uses := (i < 0 || becomes.columns[i].typ != c.typ) && q.mentions(was, c.name)
			switch {
			case !uses:
			case i >= 0:
				return &tailrace.Error{
					Code: "0A000", Message: "cannot alter type of a column used by a view or rule", Detail: fmt.Sprintf("rule _RETURN on %s depends on column \"%s\"", s.described(object{view: v}), c.name),
					Hint: "DROP VIEW first, and create it again afterwards.",
				}
			case !cascade:
				column := fmt.Sprintf("column %s of %s", quoteName(c.name), s.described(object{table: s.txn.catalog.Tables[was.id], view: s.txn.catalog.Views[was.id]}))
				d := &dropping{s: s}
				d.add(object{view: v}, column)
				d.follow()
				return stillUsed(column, d.notes)
			default:
				dropped = true
			}
		}
		if dropped {
			if err := s.dropAll([]object{{view: v}}, true, ""); err != nil {
				return err
			}
			continue
		}
		if !q.pin(was, becomes) {
			continue
		}
		changed := *v
		if changed.Query, err = q.text(); err != nil {
			return err
		}
		s.txn.change(catalog.Change{View: &changed})
	}
	return nil
}

// mentions tells whether the query may read a column of a relation: by its name, or by a * or NATURAL that could mean it.
func (q *viewQuery) mentions(o outline, column string) bool {
	found := false
	names := []string{column} // what the rest of the query calls it
	pins := map[*pg_query.SelectStmt]bool{}
	q.eachPin(o, func(_ *pg_query.Node, sel *pg_query.SelectStmt) {
		pins[sel] = true
		names = nil
		for _, t := range sel.TargetList {
			if pinned(t) == column {
				names = append(names, t.GetResTarget().Name, column)
			}
		}
	})
	if len(names) == 0 {
		return false // the pins leave it out
	}
	inPin := map[*pg_query.ColumnRef]bool{}
	for sel := range pins {
		for _, t := range sel.TargetList {
			inPin[t.GetResTarget().Val.GetColumnRef()] = true
		}
	}
	q.relations(func(_ *pg_query.Node, rel *pg_query.RangeVar) {
		found = found || rel.Schemaname == o.schema && rel.Relname == o.name && rel.Inh && len(rel.Alias.GetColnames()) > 0 // named by its place
	})
	q.walk(func(n *pg_query.Node, _ []string) {
		switch {
		case n.GetJoinExpr() != nil:
			j := n.GetJoinExpr()
			found = found || j.IsNatural
			for _, u := range j.UsingClause {
				found = found || slices.Contains(names, u.GetString_().GetSval())
			}
		case n.GetColumnRef() != nil && !inPin[n.GetColumnRef()]:
			fields := n.GetColumnRef().Fields
			last := fields[len(fields)-1]
			found = found || last.GetAStar() != nil || slices.Contains(names, last.GetString_().GetSval())
		}
	})
	return found
}

// eachPin calls f with each pin of a relation: the node that holds it, and its SELECT.
func (q *viewQuery) eachPin(o outline, f func(n *pg_query.Node, sel *pg_query.SelectStmt)) {
	q.walk(func(n *pg_query.Node, _ []string) {
		sel := n.GetRangeSubselect().GetSubquery().GetSelectStmt()
		if sel == nil || len(sel.FromClause) != 1 {
			return
		}
		if rel := sel.FromClause[0].GetRangeVar(); rel != nil && !rel.Inh && rel.Schemaname == o.schema && rel.Relname == o.name {
			f(n, sel)
		}
	})
}

// pinned is the column of the relation that a target of a pin reads.
func pinned(t *pg_query.Node) string {
	return t.GetResTarget().GetVal().GetColumnRef().GetFields()[0].GetString_().GetSval()
}

// pin makes every reference to a relation read the columns that it had, by the names that they had. false when nothing has to change.
func (q *viewQuery) pin(was, becomes outline) bool {
	now := map[string]string{}
	renamed := false
	for _, c := range was.columns {
		for _, b := range becomes.columns {
			if b.id == c.id {
				now[c.name] = b.name
				renamed = renamed || b.name != c.name
			}
		}
	}
	changed := false
	q.eachPin(was, func(_ *pg_query.Node, sel *pg_query.SelectStmt) {
		changed = true
		var kept []*pg_query.Node
		for _, t := range sel.TargetList {
			if name, ok := now[pinned(t)]; ok {
				t.GetResTarget().Val.GetColumnRef().Fields[0] = stringNode(name)
				kept = append(kept, t)
			}
		}
		sel.TargetList = kept
	})
	count, whole := 0, false
	q.relations(func(*pg_query.Node, *pg_query.RangeVar) { count++ })
	q.walk(func(n *pg_query.Node, _ []string) {
		for _, f := range n.GetColumnRef().GetFields() {
			whole = whole || f.GetAStar() != nil
		}
	})
	if !renamed && !whole && count == 1 {
		return changed // a new column cannot be meant, and one that goes is not
	}
	q.relations(func(n *pg_query.Node, rel *pg_query.RangeVar) {
		if !rel.Inh || rel.Schemaname != was.schema || rel.Relname != was.name {
			return
		}
		changed = true
		sel := &pg_query.SelectStmt{LimitOption: pg_query.LimitOption_LIMIT_OPTION_DEFAULT, Op: pg_query.SetOperation_SETOP_NONE}
		for _, c := range was.columns {
			if name, ok := now[c.name]; ok {
				sel.TargetList = append(sel.TargetList, &pg_query.Node{Node: &pg_query.Node_ResTarget{ResTarget: &pg_query.ResTarget{
					Name: c.name, Val: &pg_query.Node{Node: &pg_query.Node_ColumnRef{ColumnRef: &pg_query.ColumnRef{Fields: []*pg_query.Node{stringNode(name)}}}},
				}}})
			}
		}
		alias := rel.Alias
		if alias == nil {
			alias = &pg_query.Alias{Aliasname: rel.Relname}
		}
		sel.FromClause = []*pg_query.Node{{Node: &pg_query.Node_RangeVar{RangeVar: &pg_query.RangeVar{Schemaname: rel.Schemaname, Relname: rel.Relname, Relpersistence: "p"}}}}
		n.Node = &pg_query.Node_RangeSubselect{RangeSubselect: &pg_query.RangeSubselect{
			Subquery: &pg_query.Node{Node: &pg_query.Node_SelectStmt{SelectStmt: sel}}, Alias: alias,
		}}
	})
	return changed
}
