package mysql

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"strings"

	"tailrace"
)

// Load adds rows in one transaction with progress. A key that is there already gets the new row. References within the table are not checked: rows come in the order of their keys,
// and those that they refer to may come later.
func (c *sinkConn) Load(ctx context.Context, t *tailrace.SinkTarget, rows *tailrace.Batch, progress []tailrace.SinkProgress) (err error) {
	if t.RefersToItself() {
		if _, err := c.conn.ExecContext(ctx, "SET SESSION foreign_key_checks = 0"); err != nil {
			return fault(t.Name, err)
		}
		defer func() {
			_, failed := c.conn.ExecContext(ctx, "SET SESSION foreign_key_checks = 1")
			err = errors.Join(err, fault(t.Name, failed))
		}()
	}
	kind := tailrace.SinkInsert
	if len(t.Table.Columns.Key) > 0 {
		kind = tailrace.SinkUpsert
	}
	return c.Apply(ctx, &tailrace.SinkTxn{Steps: []tailrace.SinkStep{{Kind: kind, Target: t, Rows: rows}}, Progress: progress})
}

// Rows reads a keyed table a page at a time, in the order of its primary key, which compares texts by bytes.
func (c *sinkConn) Rows(ctx context.Context, target *tailrace.SinkTarget, last *tailrace.Batch, limit int) (*tailrace.Batch, error) {
	t := target.Handle.(*table) // Table of this package put it there
	if len(t.key) == 0 {
		return nil, t.fault("0A000", "rows of a table without a key cannot be read in order", "Give the table a key.")
	}
	var names, key []string
	for i := range t.columns {
		name := quote(t.columns[i].name)
		if t.columns[i].data == "float" {
			name += " + 0e0" // a FLOAT prints six digits only
		}
		names = append(names, name)
	}
	for _, k := range t.key {
		key = append(key, quote(t.columns[k].name))
	}
	w := writer{sink: c.sink, table: t, schema: target.Table.Columns, rows: last}
	after, err := w.after()
	if err != nil {
		return nil, fault(t.quoted(), err)
	}
	query := fmt.Sprintf("SELECT %s FROM %s%s ORDER BY %s LIMIT %d", strings.Join(names, ", "), t.quoted(), after, strings.Join(key, ", "), limit)
	rows, err := c.conn.QueryContext(ctx, query)
	if err != nil {
		return nil, fault(t.quoted(), err)
	}
	defer rows.Close()
	out := tailrace.NewBatch(target.Table.Columns, limit)
	values, places := make([]sql.RawBytes, len(names)), make([]any, len(names))
	for i := range values {
		places[i] = &values[i]
	}
	for rows.Next() {
		if err := rows.Scan(places...); err != nil {
			return nil, fault(t.quoted(), err)
		}
		for i, value := range values {
			if err := c.sink.read(&out.Cols[i], target.Table.Columns.Fields[i].Type, value); err != nil {
				return nil, fault(t.quoted(), err)
			}
		}
		out.AppendDiff(1)
	}
	return out, fault(t.quoted(), rows.Err())
}

// read appends a value as the server prints it, nil for NULL.
func (s *sink) read(col *tailrace.Column, t tailrace.Type, value []byte) error {
	switch {
	case value == nil:
		col.AppendNull()
	case t.Kind == tailrace.KindBytea:
		col.Append(value)
	default:
		return s.options.Parse(col, t, string(value))
	}
	return nil
}

// after is the condition of rows whose key is after that of the last of w's, which may be nil: (a > 1 OR a = 1 AND (b > 2)).
func (w *writer) after() (string, error) {
	if w.rows == nil {
		return "", nil
	}
	where := ""
	for n := len(w.table.key) - 1; n >= 0; n-- {
		k := w.table.key[n]
		value, err := w.value(nil, k, w.rows.N-1)
		if err != nil {
			return "", err
		}
		name := quote(w.table.columns[k].name)
		if where != "" {
			where = fmt.Sprintf(" OR %s = %s AND %s", name, value, where)
		}
		where = fmt.Sprintf("(%s > %s%s)", name, value, where)
	}
	return " WHERE " + where, nil
}
