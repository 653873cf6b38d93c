package mysql

import (
	"fmt"
	"strings"

	"tailrace"
)

// statement is one statement of a step.
type statement struct {
	text     []byte
	from, to int   // the rows of the step that are in it
	want     int64 // rows that it must find, -1 for any number
}

// next is the statement for rows from row from on, as many as fit. An error is that of row from of the result.
func (c *sinkConn) next(step *tailrace.SinkStep, from, to int) (statement, error) {
	t := step.Target.Handle.(*table) // Table of this package put it there
	w := writer{sink: c.sink, table: t, schema: step.Target.Table.Columns, rows: step.Rows}
	limit := c.bytes
	switch {
	case step.Kind == tailrace.SinkReplace:
		return w.replace(from, limit)
	case step.Kind == tailrace.SinkDelete && len(t.key) == 0:
		return w.deleteEqual(from, limit)
	case step.Kind == tailrace.SinkDelete:
		return w.many("DELETE FROM "+t.quoted()+" WHERE ", " OR ", "", from, to, limit, w.same)
	case step.Kind == tailrace.SinkUpsert && len(t.key) > 0:
		return w.many(t.insert(), ", ", t.onDuplicate(), from, to, limit, w.tuple)
	}
	return w.many(t.insert(), ", ", "", from, to, limit, w.tuples)
}

// insert is the start of an INSERT.
func (t *table) insert() string {
	var names []string
	for i := range t.columns {
		names = append(names, quote(t.columns[i].name))
	}
	return fmt.Sprintf("INSERT INTO %s (%s) VALUES ", t.quoted(), strings.Join(names, ", "))
}

// onDuplicate makes the row that is there equal to the new one, if it is the row with the same primary key. If it is one that another unique key found, the first
// assignment puts NULL into a column of the primary key, which no table takes, and the statement fails.
func (t *table) onDuplicate() string {
	var same, sets []string
	inKey := map[int]bool{}
	for _, k := range t.key {
		name := quote(t.columns[k].name)
		inKey[k] = true
		same = append(same, fmt.Sprintf("%s = VALUES(%s)", name, name))
	}
	first := quote(t.columns[t.key[0]].name)
	sets = append(sets, fmt.Sprintf("%s = IF(%s, %s, NULL)", first, strings.Join(same, " AND "), first))
	for i := range t.columns {
		if name := quote(t.columns[i].name); !inKey[i] {
			sets = append(sets, fmt.Sprintf("%s = VALUES(%s)", name, name))
		}
	}
	return " ON DUPLICATE KEY UPDATE " + strings.Join(sets, ", ")
}

// writer writes rows of a step into statements.
type writer struct {
	sink   *sink
	table  *table
	schema *tailrace.Schema
	rows   *tailrace.Batch
}

// many is a statement of many rows: start, what add appends for each row with between in between, end.
func (w *writer) many(start, between, end string, from, to, limit int, add func(dst []byte, i int) ([]byte, error)) (statement, error) {
	room := len(start) + len(end) + w.rows.Size()/w.rows.N*min(to-from, statementRows)*9/8
	st := statement{text: append(make([]byte, 0, min(room, limit)), start...), from: from, to: from, want: -1}
	for st.to < to && st.to-from < statementRows {
		before := len(st.text)
		if st.to > from {
			st.text = append(st.text, between...)
		}
		text, err := add(st.text, st.to)
		if err != nil || len(text)+len(end) > limit {
			if st.text = text[:before]; st.to > from {
				break // the rows before it go on their own
			}
			if err == nil {
				err = tooLarge(len(text), limit)
			}
			return st, err
		}
		st.text = text
		st.to++
	}
	st.text = append(st.text, end...)
	return st, nil
}

func tooLarge(size, limit int) error {
	return &tailrace.Error{
		Code: "54000", Message: fmt.Sprintf("the row takes %d bytes, and a statement of the target may have %d", size, limit),
		Hint: "At the target: SET GLOBAL max_allowed_packet = 1073741824; then resume the table.",
	}
}

// tuple appends (a, b, ...).
func (w *writer) tuple(dst []byte, i int) ([]byte, error) {
	dst = append(dst, '(')
	for n := range w.table.columns {
		if n > 0 {
			dst = append(dst, ',')
		}
		var err error
		if dst, err = w.value(dst, n, i); err != nil {
			return dst, err
		}
	}
	return append(dst, ')'), nil
}

// tuples appends a row as often as its diff says.
func (w *writer) tuples(dst []byte, i int) ([]byte, error) {
	start := len(dst)
	dst, err := w.tuple(dst, i)
	end := len(dst)
	for n := tailrace.Diff(1); n < w.rows.Diff(i) && err == nil; n++ {
		dst = append(append(dst, ", "...), dst[start:end]...)
	}
	return dst, err
}

func (w *writer) value(dst []byte, n, i int) ([]byte, error) {
	return w.sink.literal(dst, &w.table.columns[n], w.schema.Fields[n].Type, &w.rows.Cols[n], i)
}

// same appends (a = 1 AND b = 2) over the key. Both servers find such alternatives by the index; MariaDB does not for (a, b) IN (...).
func (w *writer) same(dst []byte, i int) ([]byte, error) {
	dst = append(dst, '(')
	for n, k := range w.table.key {
		if n > 0 {
			dst = append(dst, " AND "...)
		}
		dst = append(append(dst, quote(w.table.columns[k].name)...), " = "...)
		var err error
		if dst, err = w.value(dst, k, i); err != nil {
			return dst, err
		}
	}
	return append(dst, ')'), nil
}

// deleteEqual deletes as many rows equal to row i as its diff says. Texts are equal when their bytes are, whatever the column's collation says.
func (w *writer) deleteEqual(i, limit int) (statement, error) {
	st := statement{text: []byte("DELETE FROM " + w.table.quoted() + " WHERE "), from: i, to: i + 1, want: -1}
	for n := range w.table.columns {
		if n > 0 {
			st.text = append(st.text, " AND "...)
		}
		c := &w.table.columns[n]
		name := quote(c.name)
		if c.isText() {
			name = "BINARY CONVERT(" + name + " USING utf8mb4)"
		}
		st.text = append(append(st.text, name...), " <=> "...)
		if c.isText() && !w.rows.Cols[n].IsNull(i) {
			st.text = append(st.text, "BINARY "...)
		}
		var err error
		if st.text, err = w.value(st.text, n, i); err != nil {
			return st, err
		}
	}
	st.text = fmt.Appendf(st.text, " LIMIT %d", max(1, w.rows.Diff(i)))
	if len(st.text) > limit {
		return st, tooLarge(len(st.text), limit)
	}
	return st, nil
}

// replace updates the row with the key of row i, which has to be there.
func (w *writer) replace(i, limit int) (statement, error) {
	st := statement{text: []byte("UPDATE " + w.table.quoted() + " SET "), from: i, to: i + 1, want: 1}
	var err error
	for n := range w.table.columns {
		if n > 0 {
			st.text = append(st.text, ", "...)
		}
		st.text = append(append(st.text, quote(w.table.columns[n].name)...), " = "...)
		if st.text, err = w.value(st.text, n, i); err != nil {
			return st, err
		}
	}
	st.text = append(st.text, " WHERE "...)
	if st.text, err = w.same(st.text, i); err != nil {
		return st, err
	}
	if len(st.text) > limit {
		return st, tooLarge(len(st.text), limit)
	}
	return st, nil
}
