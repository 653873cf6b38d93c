package ingest

import (
	"fmt"

	"tailrace"
	"tailrace/catalog"
)

// sameShape reports whether t is what known says: the same names and columns. Only such a table's rows go into the schema as it is.
func sameShape(known *catalog.Upstream, t *tailrace.SourceTable) bool {
	if known.Schema != t.Schema || known.Name != t.Name || len(known.Columns) != len(t.Columns) {
		return false
	}
	for i, c := range t.Columns {
		if k := known.Columns[i]; k.Num != c.Num || k.Name != c.Name || k.Type != c.TypeID || k.Mod != c.Mod {
			return false
		}
	}
	return true
}

// altered returns table as it becomes when its source's table has become t: columns added, dropped or renamed; columns are known by Num. A column that
// changed its type, or a key that lost one, is an error, and the table cannot be followed.
func altered(table *catalog.Table, t *tailrace.SourceTable) (*catalog.Table, *tailrace.Error) {
	old := table.Columns
	next := &tailrace.Schema{Version: old.Version + 1, NextColumn: old.NextColumn}
	now := make(map[int]*tailrace.SourceColumn, len(t.Columns))
	for i := range t.Columns {
		now[t.Columns[i].Num] = &t.Columns[i]
	}
	kept := map[int]tailrace.ColumnID{}
	for _, k := range table.Upstream.Columns {
		c := now[k.Num]
		if c == nil {
			continue
		}
		if c.TypeID != k.Type || c.Mod != k.Mod {
			return nil, cannotFollow(table, fmt.Sprintf("its column %q has another type than before", c.Name))
		}
		kept[k.Num] = k.ID
	}
	names := map[tailrace.ColumnID]string{}
	for num, id := range kept {
		names[id] = now[num].Name
	}
	for _, f := range old.Fields { // in our order, which readers know
		if name, ok := names[f.ID]; ok {
			f.Name = name
			next.Fields = append(next.Fields, f)
		}
	}
	for _, c := range t.Columns {
		if _, ok := kept[c.Num]; !ok {
			kept[c.Num] = next.NextColumn
			next.Fields = append(next.Fields, tailrace.Field{ID: next.NextColumn, Name: c.Name, Type: c.Type, Missing: c.Missing})
			next.NextColumn++
		}
	}
	for _, k := range old.Key {
		at := next.Index(old.Fields[k].ID)
		if at < 0 {
			return nil, cannotFollow(table, fmt.Sprintf("it lost the column %q of its key", old.Fields[k].Name))
		}
		next.Key = append(next.Key, at)
	}
	out, up := *table, *table.Upstream
	up.Schema, up.Name, up.Columns = t.Schema, t.Name, nil
	for _, c := range t.Columns {
		up.Columns = append(up.Columns, catalog.UpstreamColumn{Num: c.Num, Name: c.Name, Type: c.TypeID, Mod: c.Mod, ID: kept[c.Num]})
	}
	out.Columns, out.Upstream = next, &up
	return &out, nil
}

// cannotFollow says why a table is left behind.
func cannotFollow(t *catalog.Table, why string) *tailrace.Error {
	return &tailrace.Error{
		Code: "55000", Message: fmt.Sprintf("table %s.%s is not followed any more: %s", t.Schema, t.Name, why), Table: t.Name,
		Hint: "Copy it again: drop the source and create it again.",
	}
}
