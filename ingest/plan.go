package ingest

import (
	"fmt"

	"tailrace"
	"tailrace/catalog"
)

// plan is the tables that a source's snapshot will fill.
type plan struct {
	upstream []*tailrace.SourceTable
	tables   []*catalog.Table // of each of upstream, in state snapshot
	left     []TableStatus    // tables that cannot be followed
}

// selectionOf is which tables s asks for.
func selectionOf(s *catalog.Source) tailrace.Selection {
	return tailrace.Selection{All: s.All, Schemas: s.Schemas, Tables: s.Tables}
}

// planTables decides what found becomes here: a table each, with new IDs from next on. A name that another table of cat has is an error.
func planTables(cat *catalog.Catalog, s *catalog.Source, found []*tailrace.SourceTable) (*plan, error) {
	p := &plan{}
	next := cat.NextID
	for _, t := range found {
		if t.Err != nil {
			p.left = append(p.left, TableStatus{
				Schema: t.Schema, Name: t.Name, State: catalog.StateError, Reason: t.Err.Message, Hint: t.Err.Hint, Estimate: t.Rows,
			})
			continue
		}
		if old := cat.Table(t.Schema, t.Name); old != nil && (old.Upstream == nil || old.Upstream.Source != s.ID) {
			return nil, &tailrace.Error{
				Code: "42P07", Message: fmt.Sprintf("relation %q already exists", t.Schema+"."+t.Name),
				Hint: fmt.Sprintf("Drop it, or leave it out: CREATE SOURCE %s ... FOR TABLES (...).", s.Name),
			}
		}
		p.upstream = append(p.upstream, t)
		p.tables = append(p.tables, newTable(next, s, t))
		next++
	}
	if len(p.tables) == 0 {
		e := &tailrace.Error{
			Code: "55000", Message: fmt.Sprintf("source %q has no table that can be followed", s.Name),
			Hint: "Name tables that exist: CREATE SOURCE ... FOR TABLES (...).",
		}
		if len(p.left) > 0 {
			e.Detail, e.Hint = p.left[0].Reason, p.left[0].Hint
		}
		return nil, e
	}
	return p, nil
}

// newTable is the table that t is copied to.
func newTable(id catalog.ID, s *catalog.Source, t *tailrace.SourceTable) *catalog.Table {
	retain := s.Retain
	if retain == 0 {
		retain = catalog.DefaultRetain
	}
	schema := &tailrace.Schema{Version: 1, Key: t.Key, NextColumn: 1}
	for i, c := range t.Columns {
		schema.Fields = append(schema.Fields, tailrace.Field{ID: schema.NextColumn, Name: c.Name, Type: c.Type})
		schema.NextColumn++
		schema.Fields[i].NotNull = schema.InKey(i)
	}
	return &catalog.Table{
		ID: id, Schema: t.Schema, Name: t.Name, Columns: schema, Retain: retain,
		Upstream: &catalog.Upstream{Source: s.ID, Schema: t.Schema, Name: t.Name, Rel: t.Rel, State: catalog.StateSnapshot, Columns: upstreamColumns(t, schema)},
	}
}

// upstreamColumns ties t's columns to the fields of schema, which are the same in number and order.
func upstreamColumns(t *tailrace.SourceTable, schema *tailrace.Schema) []catalog.UpstreamColumn {
	out := make([]catalog.UpstreamColumn, len(t.Columns))
	for i, c := range t.Columns {
		out[i] = catalog.UpstreamColumn{Num: c.Num, Name: c.Name, Type: c.TypeID, Mod: c.Mod, ID: schema.Fields[i].ID}
	}
	return out
}

// knownTable is t as the source described it when its last change was committed: where reading goes on from.
func knownTable(t *catalog.Table) *tailrace.SourceTable {
	out := &tailrace.SourceTable{Rel: t.Upstream.Rel, Schema: t.Upstream.Schema, Name: t.Upstream.Name, Rows: -1}
	at := map[tailrace.ColumnID]int{}
	for i, c := range t.Upstream.Columns {
		f := t.Columns.Fields[t.Columns.Index(c.ID)]
		out.Columns = append(out.Columns, tailrace.SourceColumn{Num: c.Num, Name: c.Name, TypeID: c.Type, Mod: c.Mod, Type: f.Type, Missing: f.Missing})
		at[c.ID] = i
	}
	for _, k := range t.Columns.Key {
		out.Key = append(out.Key, at[t.Columns.Fields[k].ID])
	}
	return out
}

// inError is t in state error, because of why.
func inError(t *catalog.Table, why *tailrace.Error) *catalog.Table {
	failed, up := *t, *t.Upstream
	up.State, up.Reason, up.Hint = catalog.StateError, why.Message, why.Hint
	failed.Upstream = &up
	return &failed
}
