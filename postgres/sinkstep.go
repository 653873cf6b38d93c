package postgres

import (
	"bytes"
	"fmt"
	"strings"

	"tailrace"
)

// sinkStatement is one statement of a transaction with its parameters, all text.
type sinkStatement struct {
	sql    string
	params [][]byte
	want   int64 // rows that it must touch, -1 for any number
	none   error // what it means when it touches fewer
	step   int   // whose it is, -1: the transaction's own
	from   int   // the first row of the step in it, and the one after the last
	to     int
}

// sinkStatements are the statements of rows [from, to) of a step. One statement takes its rows as one array of texts for each column, so that its own text depends
// on nothing but the table:
//
//	INSERT INTO t (a, b) SELECT a::int4, b::text FROM unnest($1::text[], $2::text[]) AS r(a, b) ON CONFLICT (a) DO UPDATE SET b = excluded.b
//
// Texts, since an array of arrays cannot be unnested to arrays; and the casts are those that reading a literal makes.
func (s *sink) sinkStatements(step *tailrace.SinkStep, index, from, to int) []sinkStatement {
	table := step.Target.Handle.(*sinkTable) // Table of this package put it there
	if step.Kind == tailrace.SinkDelete && len(table.key) == 0 {
		var all []sinkStatement
		for i := from; i < to; i++ {
			all = append(all, s.deleteEqual(table, step, index, i))
		}
		return all
	}
	columns := table.allColumns()
	if step.Kind == tailrace.SinkDelete {
		columns = table.key
	}
	var all []sinkStatement
	for from < to {
		params, next := s.arrays(step, columns, from, to)
		st := sinkStatement{sql: table.sql(step.Kind, columns), params: params, want: -1, step: index, from: from, to: next}
		if step.Kind == tailrace.SinkReplace {
			st.want = int64(next - from)
			st.none = &tailrace.Error{
				Code: "P0002", Message: "the target lacks a row that is to be updated", Hint: "Compare and repair the table: ALTER SINK ... RESYNC TABLE ...;",
			}
		}
		all = append(all, st)
		from = next
	}
	return all
}

func (table *sinkTable) allColumns() []int {
	all := make([]int, len(table.columns))
	for i := range all {
		all[i] = i
	}
	return all
}

// sql is the statement of a kind over unnested columns, which are named c0, c1, ... by their place in the table.
func (table *sinkTable) sql(kind tailrace.SinkStepKind, columns []int) string {
	var params, aliases, names, values, sets []string
	for n, i := range columns {
		c := &table.columns[i]
		params = append(params, fmt.Sprintf("$%d::text[]", n+1))
		aliases = append(aliases, fmt.Sprintf("c%d", i))
		names = append(names, quoteIdent(c.name))
		values = append(values, fmt.Sprintf("r.c%d::%s", i, c.cast))
	}
	rows := fmt.Sprintf("unnest(%s) AS r(%s)", strings.Join(params, ", "), strings.Join(aliases, ", "))
	var key, same []string
	inKey := map[int]bool{}
	for _, k := range table.key {
		c := &table.columns[k]
		inKey[k] = true
		key = append(key, quoteIdent(c.name))
		same = append(same, fmt.Sprintf("t.%s = r.c%d::%s", quoteIdent(c.name), k, c.cast))
	}
	if kind == tailrace.SinkDelete {
		return fmt.Sprintf("DELETE FROM %s AS t USING %s WHERE %s", table.name, rows, strings.Join(same, " AND "))
	}
	for n, i := range columns {
		name := names[n]
		switch {
		case inKey[i]:
		case kind == tailrace.SinkReplace:
			sets = append(sets, name+" = "+values[n])
		default:
			sets = append(sets, name+" = excluded."+name)
		}
	}
	if kind == tailrace.SinkReplace {
		if len(sets) == 0 { // a table that is all key: nothing changes, but the row has to be there
			sets = append(sets, key[0]+" = t."+key[0])
		}
		return fmt.Sprintf("UPDATE %s AS t SET %s FROM %s WHERE %s", table.name, strings.Join(sets, ", "), rows, strings.Join(same, " AND "))
	}
	insert := fmt.Sprintf("INSERT INTO %s (%s) OVERRIDING SYSTEM VALUE SELECT %s FROM %s", table.name, strings.Join(names, ", "), strings.Join(values, ", "), rows)
	switch {
	case kind == tailrace.SinkInsert || len(table.key) == 0:
		return insert
	case len(sets) == 0:
		return fmt.Sprintf("%s ON CONFLICT (%s) DO NOTHING", insert, strings.Join(key, ", "))
	}
	return fmt.Sprintf("%s ON CONFLICT (%s) DO UPDATE SET %s", insert, strings.Join(key, ", "), strings.Join(sets, ", "))
}

// arrays are the parameters for rows from row from on, as many as one statement takes; next is the row after them. A row of an insert is there as often as its diff says.
func (s *sink) arrays(step *tailrace.SinkStep, columns []int, from, to int) (params [][]byte, next int) {
	params = make([][]byte, len(columns))
	for n, i := range columns {
		params[n] = append(make([]byte, 0, arraySize(&step.Rows.Cols[i], from, to)), '{')
	}
	var text []byte
	size, count := 0, 0
	for next = from; next < to && (next == from || size < sinkStatementBytes && count < sinkStatementRows); next++ {
		times := 1
		if step.Kind == tailrace.SinkInsert {
			times = int(step.Rows.Diff(next))
		}
		for n, i := range columns {
			col, array := &step.Rows.Cols[i], params[n]
			start := len(array)
			if col.IsNull(next) {
				array = append(array, "NULL,"...)
			} else {
				text = s.options.Text(text[:0], step.Target.Table.Columns.Fields[i].Type, col, next)
				array = append(appendQuoted(array, text), ',')
			}
			end := len(array)
			for range times - 1 {
				array = append(array, array[start:end]...)
			}
			params[n] = array
			size += len(array) - start
		}
		count += times
	}
	for n := range params {
		params[n][len(params[n])-1] = '}' // for the last comma: there is a row
	}
	return params, next
}

// arraySize is about how long the array of a column's rows [from, to) is, or of as many as one statement takes, in bytes.
func arraySize(col *tailrace.Column, from, to int) int {
	to = min(to, from+sinkStatementRows)
	if col.Width > 0 {
		return (to - from) * (2*col.Width + 4)
	}
	return min(int(col.Offsets[to]-col.Offsets[from]), sinkStatementBytes) + 4*(to-from)
}

// appendQuoted adds text as an element of an array literal.
func appendQuoted(dst, text []byte) []byte {
	dst = append(dst, '"')
	if bytes.IndexByte(text, '"') < 0 && bytes.IndexByte(text, '\\') < 0 {
		dst = append(dst, text...)
		return append(dst, '"')
	}
	for _, b := range text {
		if b == '"' || b == '\\' {
			dst = append(dst, '\\')
		}
		dst = append(dst, b)
	}
	return append(dst, '"')
}

// deleteEqual deletes as many rows that are the same as row i, byte for byte, as its diff says. Where equal values may differ, 1.0 and 1.00, their texts are compared
// too; where there is no equality, json, only they are.
func (s *sink) deleteEqual(table *sinkTable, step *tailrace.SinkStep, index, i int) sinkStatement {
	st := sinkStatement{want: -1, step: index, from: i, to: i + 1}
	var where []string
	for n := range table.columns {
		c, col := &table.columns[n], &step.Rows.Cols[n]
		name := quoteIdent(c.name)
		if col.IsNull(i) {
			where = append(where, name+" IS NULL")
			continue
		}
		t := step.Target.Table.Columns.Fields[n].Type
		st.params = append(st.params, s.options.Text([]byte{}, t, col, i)) // not nil, which is NULL
		value := fmt.Sprintf("$%d::text::%s", len(st.params), c.cast)
		to := c.typ().Kind
		if to != tailrace.KindJSON && to != tailrace.KindForeign || c.isEnum {
			where = append(where, name+" = "+value)
		}
		if !oneText(to) || to == tailrace.KindJSON || to == tailrace.KindForeign && !c.isEnum {
			where = append(where, fmt.Sprintf(`%s::text COLLATE "C" = (%s)::text`, name, value))
		}
	}
	st.params = append(st.params, fmt.Append(nil, max(1, step.Rows.Diff(i))))
	st.sql = fmt.Sprintf("DELETE FROM %[1]s WHERE ctid = ANY (ARRAY(SELECT ctid FROM %[1]s WHERE %[2]s LIMIT $%[3]d::bigint FOR UPDATE))",
		table.name, strings.Join(where, " AND "), len(st.params))
	return st
}
