package postgres

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"tailrace"
)

// Load adds rows in one transaction with progress. A key that is there already gets the new row. References within the table are not checked, and its triggers do not run: rows come
// in the order of their keys, and those that they refer to may come later. That takes a superuser.
func (c *sinkConn) Load(ctx context.Context, t *tailrace.SinkTarget, rows *tailrace.Batch, progress []tailrace.SinkProgress) (err error) {
	if t.RefersToItself() {
		if err := exec(ctx, c.conn, "SET session_replication_role = replica"); err != nil {
			return tableFault(t.Name, "42501", "rows of the table refer to each other, and this user may not load them unchecked: "+err.Error(),
				"Let a superuser of the target run the sink, or drop the table's foreign key to itself until it is copied.")
		}
		defer func() { err = errors.Join(err, sinkFault(t.Name, exec(ctx, c.conn, "RESET session_replication_role"))) }()
	}
	kind := tailrace.SinkInsert
	if len(t.Table.Columns.Key) > 0 {
		kind = tailrace.SinkUpsert
	}
	return c.Apply(ctx, &tailrace.SinkTxn{Steps: []tailrace.SinkStep{{Kind: kind, Target: t, Rows: rows}}, Progress: progress})
}

// Rows reads a keyed table a page at a time. Texts are ordered by bytes, as keys are here; a table that Table made has an index in that order.
func (c *sinkConn) Rows(ctx context.Context, t *tailrace.SinkTarget, last *tailrace.Batch, limit int) (*tailrace.Batch, error) {
	table := t.Handle.(*sinkTable) // Table of this package put it there
	if len(table.key) == 0 {
		return nil, tableFault(t.Name, "0A000", "rows of a table without a key cannot be read in order", "Give the table a key.")
	}
	var names, key, after []string
	var params [][]byte
	for i := range table.columns {
		names = append(names, quoteIdent(table.columns[i].name))
	}
	for _, k := range table.key {
		col, typ := &table.columns[k], t.Table.Columns.Fields[k].Type
		name, cast := quoteIdent(col.name), col.cast
		if col.isEnum {
			name, cast = name+"::text", "text"
		}
		if to := col.typ().Kind; col.isEnum || to == tailrace.KindText || to == tailrace.KindVarchar || to == tailrace.KindChar {
			name += ` COLLATE "C"`
		}
		key = append(key, name)
		if last != nil {
			params = append(params, c.sink.options.Text([]byte{}, typ, &last.Cols[k], last.N-1)) // not nil, which is NULL
			after = append(after, fmt.Sprintf("$%d::text::%s", len(params), cast))
		}
	}
	where := ""
	if last != nil {
		where = fmt.Sprintf(" WHERE (%s) > (%s)", strings.Join(key, ", "), strings.Join(after, ", "))
	}
	sql := fmt.Sprintf("SELECT %s FROM %s%s ORDER BY %s LIMIT %d", strings.Join(names, ", "), t.Name, where, strings.Join(key, ", "), limit)
	res := c.conn.ExecParams(ctx, sql, params, nil, nil, nil).Read()
	if res.Err != nil {
		return nil, sinkFault(t.Name, res.Err)
	}
	out := tailrace.NewBatch(t.Table.Columns, len(res.Rows))
	for _, row := range res.Rows {
		for i, value := range row {
			if value == nil {
				out.Cols[i].AppendNull()
			} else if err := c.sink.options.Parse(&out.Cols[i], t.Table.Columns.Fields[i].Type, string(value)); err != nil {
				return nil, sinkFault(t.Name, err)
			}
		}
		out.AppendDiff(1)
	}
	return out, nil
}
