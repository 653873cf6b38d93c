package sql

import (
	"context"
	"fmt"
	"strings"

	"tailrace"
	"tailrace/catalog"
	"tailrace/format"
	"tailrace/shard"
)

// insertRows adds rows with all columns of table to the transaction, after checking NOT NULL and the primary key.
func (s *Session) insertRows(ctx context.Context, table *catalog.Table, b *tailrace.Batch) error {
	if b.N == 0 {
		return nil
	}
	if err := s.checkRows(ctx, table, b); err != nil {
		return err
	}
	w := s.txn.write(table)
	if len(table.Columns.Key) > 0 {
		if err := s.unique(ctx, w, b); err != nil {
			return err
		}
	}
	return w.append(ctx, b)
}

// checkNotNull is 23502 for the first NULL in a column that forbids it.
func (s *Session) checkNotNull(table *catalog.Table, b *tailrace.Batch) error {
	for c, f := range table.Columns.Fields {
		if !f.NotNull || !b.Cols[c].HasNulls() {
			continue
		}
		for i := range b.N {
			if b.Cols[c].IsNull(i) {
				return &tailrace.Error{
					Code: "23502", Message: fmt.Sprintf("null value in column \"%s\" of relation \"%s\" violates not-null constraint", f.Name, table.Name),
					Detail: "Failing row contains " + s.rowText(table, b, i) + ".", Table: table.Name, Column: f.Name,
				}
			}
		}
	}
	return nil
}

// rowValueLength is how much of a value a failing row's detail shows, in bytes, as in PostgreSQL.
const rowValueLength = 64

// rowText is row i as a detail shows it: (1, null, abc).
func (s *Session) rowText(table *catalog.Table, b *tailrace.Batch, i int) string {
	var parts []string
	for c, f := range table.Columns.Fields {
		v := "null"
		if !b.Cols[c].IsNull(i) {
			v = string(format.AppendText(nil, f.Type, &b.Cols[c], i, s.format))
			if len(v) > rowValueLength {
				v = strings.ToValidUTF8(v[:rowValueLength], "") + "..."
			}
		}
		parts = append(parts, v)
	}
	return "(" + strings.Join(parts, ", ") + ")"
}

// keysOf is the key columns of rows, and the hash of each row's key.
func keysOf(schema *tailrace.Schema, b *tailrace.Batch) (keys *tailrace.Batch, hashes []uint64) {
	keys = &tailrace.Batch{N: b.N}
	for _, k := range schema.Key {
		keys.IDs, keys.Cols = append(keys.IDs, schema.Fields[k].ID), append(keys.Cols, b.Cols[k])
	}
	return keys, hashesOf(schema, keys.Cols, b.N)
}

// hashesOf is the hash of each of n keys, whose columns are in key order.
func hashesOf(schema *tailrace.Schema, cols []tailrace.Column, n int) []uint64 {
	hashes := make([]uint64, n)
	buf := make([]byte, 0, 64) // on the stack
	for i := range n {
		buf = buf[:0]
		for c, k := range schema.Key {
			buf = tailrace.AppendKey(buf, schema.Fields[k].Type, &cols[c], i)
		}
		hashes[i] = shard.KeyHash(buf)
	}
	return hashes
}

// lookup finds the rows with the given keys, and knows that a table which the transaction created is nowhere else.
func (s *Session) lookup(ctx context.Context, table *catalog.Table, keys, overlay *tailrace.Batch) (*tailrace.Batch, []int32, error) {
	t := s.txn
	sh := t.engine.Shards.Shard(table.ID)
	if t.isNew(table.ID) || sh == nil {
		return lookupNew(table.Columns, keys, overlay)
	}
	if t.rekeyed(table) {
		return s.lookupRekeyed(ctx, table, keys)
	}
	if err := t.hold(table.ID); err != nil {
		return nil, nil, err
	}
	if base := t.base.Tables[table.ID]; base == nil || !sameShape(base.Columns, table.Columns) { // the shard does not know the new columns
		rows, _, err := sh.Lookup(ctx, keys, t.time, nil)
		if err != nil {
			return nil, nil, err
		}
		return lookupNew(table.Columns, keys, joined(rows.Project(table.Columns), overlay))
	}
	rows, at, err := sh.Lookup(ctx, keys, t.time, overlay)
	if err != nil || rows == nil {
		return rows, at, err
	}
	return rows.Project(table.Columns), at, nil
}

// lookupNew finds keys in updates: all those of the keys, as of a table that a transaction created or altered.
func lookupNew(schema *tailrace.Schema, keys, overlay *tailrace.Batch) (*tailrace.Batch, []int32, error) {
	at := make([]int32, keys.N)
	for i := range at {
		at[i] = -1
	}
	if overlay == nil {
		return tailrace.NewBatch(schema, 0), at, nil
	}
	rows := consolidate(schema, overlay)
	_, have := keysOf(schema, rows)
	where := make(map[uint64]int32, len(have))
	for i, h := range have {
		if rows.Diff(i) > 0 {
			where[h] = int32(i)
		}
	}
	for i, h := range hashesOf(schema, keys.Cols, keys.N) {
		if r, ok := where[h]; ok {
			at[i] = r
		}
	}
	return rows, at, nil
}

// consolidate is the rows that updates add up to, each once with its multiplicity, in the order they first come.
func consolidate(schema *tailrace.Schema, b *tailrace.Batch) *tailrace.Batch {
	sums := map[string]int{}
	var first []int32
	var diffs []tailrace.Diff
	var buf []byte
	for i := range b.N {
		buf = buf[:0]
		for c := range b.Cols {
			buf = tailrace.AppendKey(buf, schema.Fields[c].Type, &b.Cols[c], i)
			if !b.Cols[c].IsNull(i) { // rows are equal by their stored bytes
				buf = append(append(buf, byte(len(b.Cols[c].Bytes(i)))), b.Cols[c].Bytes(i)...)
			}
		}
		at, ok := sums[string(buf)]
		if !ok {
			at = len(first)
			sums[string(buf)] = at
			first, diffs = append(first, int32(i)), append(diffs, 0)
		}
		diffs[at] += b.Diff(i)
	}
	var keep []int32
	var kept []tailrace.Diff
	for i, d := range diffs {
		if d != 0 {
			keep, kept = append(keep, first[i]), append(kept, d)
		}
	}
	src := *b
	src.Diffs, src.Times = nil, nil
	out := src.Gather(keep)
	out.Diffs = kept
	return out
}

// duplicateKey is PostgreSQL's error for row i of b.
func duplicateKey(table *catalog.Table, b *tailrace.Batch, i int, f *format.Settings) error {
	var names, vals []string
	for _, k := range table.Columns.Key {
		field := table.Columns.Fields[k]
		names = append(names, field.Name)
		vals = append(vals, string(format.AppendText(nil, field.Type, &b.Cols[k], i, f)))
	}
	name := table.Name + "_pkey"
	return &tailrace.Error{
		Code: "23505", Message: fmt.Sprintf("duplicate key value violates unique constraint \"%s\"", name), Table: table.Name, Constraint: name,
		Detail: fmt.Sprintf("Key (%s)=(%s) already exists.", strings.Join(names, ", "), strings.Join(vals, ", ")),
	}
}

// changeRows are the rows whose updates are put together at once.
const changeRows = 8192

// change writes that rows old become rows fresh, row by row; fresh is nil for a DELETE. Multiplicities are old's. assigned lists the columns that
// may differ. Keys that change are checked.
func (s *Session) change(ctx context.Context, table *catalog.Table, old, fresh *tailrace.Batch, assigned []int) error {
	if old.N == 0 {
		return nil
	}
	w := s.txn.write(table)
	if fresh != nil {
		if err := s.checkRows(ctx, table, fresh); err != nil {
			return err
		}
		if touchesKey(table.Columns, assigned) {
			w.remove()
			if err := s.checkMoved(ctx, w, old, fresh); err != nil {
				return err
			}
		}
	}
	return s.replaceRows(ctx, w, old, fresh)
}

// replaceRows is change of rows that are checked.
func (s *Session) replaceRows(ctx context.Context, w *written, old, fresh *tailrace.Batch) error {
	w.remove()
	for from := 0; from < old.N; from += changeRows {
		to := min(old.N, from+changeRows)
		updates := tailrace.NewBatch(w.table.Columns, 2*(to-from))
		for i := from; i < to; i++ {
			updates.AppendUpdate(old, i, -old.Diff(i))
			if fresh != nil {
				updates.AppendUpdate(fresh, i, old.Diff(i))
			}
		}
		if err := w.append(ctx, updates); err != nil {
			return err
		}
	}
	return nil
}

func touchesKey(schema *tailrace.Schema, assigned []int) bool {
	for _, c := range assigned {
		if schema.InKey(c) {
			return true
		}
	}
	return false
}
