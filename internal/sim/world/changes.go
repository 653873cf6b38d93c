package world

import (
	"encoding/binary"
	"strconv"

	"tailrace"
)

// described are the tables as the source describes them.
var described = func() [2]*tailrace.SourceTable {
	column := func(num int, name string, k tailrace.Kind) tailrace.SourceColumn {
		t := tailrace.TypeOf(k)
		return tailrace.SourceColumn{Num: num, Name: name, TypeID: t.OID(), Mod: -1, Type: t}
	}
	id, w := column(1, "id", tailrace.KindInt4), column(3, "w", tailrace.KindText)
	return [2]*tailrace.SourceTable{
		{Rel: 1, Schema: "public", Name: upKeyed, Key: []int{0}, Rows: -1, Columns: []tailrace.SourceColumn{id, column(2, "v", tailrace.KindInt4), w, column(4, "big", tailrace.KindText)}},
		{Rel: 2, Schema: "public", Name: upBag, Rows: -1, Columns: []tailrace.SourceColumn{id, w}},
	}
}()

// rowsOf is an empty batch with the table's columns.
func rowsOf(t *tailrace.SourceTable) *tailrace.Batch {
	b := &tailrace.Batch{Cols: make([]tailrace.Column, len(t.Columns))}
	for i, c := range t.Columns {
		b.Cols[i] = tailrace.MakeColumn(c.Type.Kind, 8)
	}
	return b
}

// appendRow adds a row, with NULL in the columns of omit.
func appendRow(b *tailrace.Batch, t *tailrace.SourceTable, text string, omit []int) {
	for i, v := range columns(text) {
		isOmitted := false
		for _, o := range omit {
			isOmitted = isOmitted || o == i
		}
		switch {
		case isOmitted:
			b.Cols[i].AppendNull()
		case t.Columns[i].Type.Kind == tailrace.KindText:
			b.Cols[i].AppendString(v)
		default:
			n, err := strconv.ParseInt(v, 10, 32)
			if err != nil {
				panic("a row of the upstream is not one: " + text)
			}
			b.Cols[i].Append(binary.LittleEndian.AppendUint32(nil, uint32(n)))
		}
	}
	b.N++
}

// changesOf is a transaction as the source tells it: of an old row of the keyed table only the key, and not a value that an update left as it was.
func changesOf(t upTxn) []*tailrace.SourceChanges {
	var out []*tailrace.SourceChanges
	for i, name := range [2]string{upKeyed, upBag} {
		d := described[i]
		c := &tailrace.SourceChanges{Table: d, New: rowsOf(d), Old: rowsOf(d)}
		for _, change := range t {
			if change.table == name {
				c.List = append(c.List, changeOf(c, change))
			}
		}
		if len(c.List) > 0 {
			out = append(out, c)
		}
	}
	return out
}

func changeOf(c *tailrace.SourceChanges, u upChange) tailrace.SourceChange {
	out := tailrace.SourceChange{New: -1, Old: -1}
	var omit []int
	switch {
	case u.old == "" && u.new == "":
		out.Kind = tailrace.ChangeTruncate
		return out
	case u.old == "":
		out.Kind = tailrace.ChangeInsert
	case u.new == "":
		out.Kind = tailrace.ChangeDelete
	default:
		out.Kind = tailrace.ChangeUpdate
		if columns(u.old)[3] == columns(u.new)[3] {
			omit = []int{3}
			c.Unchanged = append(c.Unchanged, tailrace.SourceCell{Row: int32(c.New.N), Col: 3})
		}
	}
	if u.new != "" {
		out.New = int32(c.New.N)
		appendRow(c.New, c.Table, u.new, omit)
	}
	if u.old != "" && (u.new == "" || keyOf(u.old) != keyOf(u.new)) {
		out.Old = int32(c.Old.N)
		appendRow(c.Old, c.Table, u.old, []int{1, 2, 3})
	}
	return out
}
