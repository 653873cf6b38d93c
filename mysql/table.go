package mysql

import (
	"context"
	"database/sql"
	"fmt"
	"slices"
	"strings"

	"tailrace"
)

// table is what the adapter keeps of a target's table (SinkTarget.Handle).
type table struct {
	database, name string
	columns        []column // those of the feed, in its order
	key            []int
}

func (t *table) quoted() string { return quote(t.database) + "." + quote(t.name) }

// Table finds or makes the target's table.
func (s *sink) Table(ctx context.Context, st *tailrace.SinkTable, create bool) (*tailrace.SinkTarget, error) {
	conn, err := s.connect(ctx)
	if err != nil {
		return nil, whole(fault("", err))
	}
	defer conn.Close()
	t := s.place(st)
	engine, err := t.engine(ctx, conn)
	if err == nil && engine == "" {
		if !create {
			return nil, t.fault("42S02", "the target has no table "+t.quoted(), "Make it there, or let the feed make it.")
		}
		if err = s.make(ctx, conn, t, st); err == nil {
			engine, err = t.engine(ctx, conn)
		}
	}
	if err != nil {
		return nil, fault(t.quoted(), err)
	}
	if !strings.EqualFold(engine, "InnoDB") {
		return nil, t.fault("0A000", fmt.Sprintf("the target's table %s is kept by %s, which has no transactions", t.quoted(), engine),
			fmt.Sprintf("At the target: ALTER TABLE %s ENGINE = InnoDB;", t.quoted()))
	}
	target, err := t.look(ctx, conn, st)
	return target, fault(t.quoted(), err)
}

func (t *table) fault(code, message, hint string) error {
	return &tailrace.SinkError{
		Fault: tailrace.SinkTableFault, Table: t.quoted(), Step: -1, Row: -1, Err: &tailrace.Error{Code: code, Message: message, Hint: hint},
	}
}

// engine is what keeps the table, "" when there is none.
func (t *table) engine(ctx context.Context, conn *sql.Conn) (string, error) {
	rows, err := strs(ctx, conn, "SELECT COALESCE(engine, table_type) FROM information_schema.tables WHERE table_schema = ? AND table_name = ?", t.database, t.name)
	if err != nil || len(rows) == 0 {
		return "", err
	}
	return rows[0][0], nil
}

// strs runs a query whose columns are texts; NULL is "".
func strs(ctx context.Context, conn *sql.Conn, query string, args ...any) ([][]string, error) {
	rows, err := conn.QueryContext(ctx, query, args...)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	names, err := rows.Columns()
	if err != nil {
		return nil, err
	}
	var out [][]string
	for rows.Next() {
		values, places := make([]sql.NullString, len(names)), make([]any, len(names))
		for i := range values {
			places[i] = &values[i]
		}
		if err := rows.Scan(places...); err != nil {
			return nil, err
		}
		row := make([]string, len(names))
		for i := range values {
			row[i] = values[i].String
		}
		out = append(out, row)
	}
	return out, rows.Err()
}

// collation is the one that compares by bytes, without padding.
func (s *sink) collation() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.bin
}

// declareColumn is column i with its type as a table is made with it.
func (s *sink) declareColumn(t *table, st *tailrace.SinkTable, i int) (string, error) {
	f, share := &st.Columns.Fields[i], 0
	if st.Columns.InKey(i) {
		for _, k := range st.Columns.Key {
			if st.Columns.Fields[k].Type.Kind.Width() == 0 {
				share++
			}
		}
		share = max(1, share)
	}
	declared := declare(f.Type, s.collation(), share)
	if declared == "" {
		return "", t.fault("0A000", fmt.Sprintf("column %s of %s cannot be part of a key of the target: %s has no type there that compares alike", quote(f.Name), t.quoted(), f.Type),
			"Give the column a length or a precision here, or make the table at the target yourself.")
	}
	if f.NotNull || share > 0 {
		return quote(f.Name) + " " + declared + " NOT NULL", nil
	}
	return quote(f.Name) + " " + declared + " NULL", nil
}

// make creates the table, and its database.
func (s *sink) make(ctx context.Context, conn *sql.Conn, t *table, st *tailrace.SinkTable) error {
	var defs, key []string
	for i := range st.Columns.Fields {
		def, err := s.declareColumn(t, st, i)
		if err != nil {
			return err
		}
		defs = append(defs, def)
	}
	for _, k := range st.Columns.Key {
		key = append(key, quote(st.Columns.Fields[k].Name))
	}
	if len(key) > 0 {
		defs = append(defs, "PRIMARY KEY ("+strings.Join(key, ", ")+")")
	}
	if t.database != s.database {
		if _, err := conn.ExecContext(ctx, "CREATE DATABASE IF NOT EXISTS "+quote(t.database)); err != nil {
			return err
		}
	}
	_, err := conn.ExecContext(ctx, fmt.Sprintf("CREATE TABLE IF NOT EXISTS %s (%s) ENGINE=InnoDB ROW_FORMAT=DYNAMIC DEFAULT CHARSET=utf8mb4 COLLATE=%s",
		t.quoted(), strings.Join(defs, ", "), s.collation()))
	return err
}

// look reads the table's definition and checks it.
func (t *table) look(ctx context.Context, conn *sql.Conn, st *tailrace.SinkTable) (*tailrace.SinkTarget, error) {
	if err := t.readColumns(ctx, conn, st); err != nil {
		return nil, err
	}
	for i := range t.columns {
		if err := t.check(st, i); err != nil {
			return nil, err
		}
	}
	target := &tailrace.SinkTarget{Table: st, Name: t.quoted(), Handle: t}
	if err := t.readUnique(ctx, conn, target); err != nil {
		return nil, err
	}
	if err := t.readForeign(ctx, conn, target); err != nil {
		return nil, err
	}
	some, err := strs(ctx, conn, "SELECT 1 FROM "+t.quoted()+" LIMIT 1")
	target.Loaded = len(some) > 0
	return target, err
}

// check compares column i with what the feed sends.
func (t *table) check(st *tailrace.SinkTable, i int) error {
	f, c := &st.Columns.Fields[i], &t.columns[i]
	share := 0
	if st.Columns.InKey(i) {
		share = len(st.Columns.Key)
	}
	declared := declare(f.Type, "utf8mb4_nopad_bin", share)
	alter := fmt.Sprintf("At the target: ALTER TABLE %s MODIFY COLUMN %s %s;", t.quoted(), quote(f.Name), declared)
	switch {
	case c.name == "":
		return t.fault("42S22", fmt.Sprintf("the target's table %s has no column %s", t.quoted(), quote(f.Name)),
			fmt.Sprintf("At the target: ALTER TABLE %s ADD COLUMN %s %s;", t.quoted(), quote(f.Name), declared))
	case c.generated:
		return t.fault("HY000", fmt.Sprintf("column %s of the target's table %s is generated there", quote(f.Name), t.quoted()), "Make it an ordinary column.")
	case !c.holds(f.Type, st.Labels[f.Type.ID], st.Columns.InKey(i)):
		typ := c.full
		if c.collation != "" {
			typ += " collate " + c.collation
		}
		return t.fault("42000", fmt.Sprintf("column %s of the target's table %s is %s, which cannot hold every %s", quote(f.Name), t.quoted(), typ, f.Type), alter)
	case !c.nullable && !f.NotNull && !st.Columns.InKey(i):
		return t.fault("42000", fmt.Sprintf("column %s of the target's table %s refuses NULL, which the feed may send", quote(f.Name), t.quoted()), alter)
	}
	return nil
}

// readUnique finds the unique keys and demands that the feed's key is the primary one.
func (t *table) readUnique(ctx context.Context, conn *sql.Conn, target *tailrace.SinkTarget) error {
	rows, err := strs(ctx, conn, "SELECT index_name, column_name, COALESCE(sub_part, '') FROM information_schema.statistics "+
		"WHERE table_schema = ? AND table_name = ? AND non_unique = 0 ORDER BY index_name, seq_in_index", t.database, t.name)
	if err != nil {
		return err
	}
	key := slices.Sorted(slices.Values(t.key))
	keyed := len(key) == 0
	for len(rows) > 0 {
		name := rows[0][0]
		var columns []int
		ours, part := true, false
		for ; len(rows) > 0 && rows[0][0] == name; rows = rows[1:] {
			i := target.Table.Columns.ByName(rows[0][1])
			ours, part = ours && i >= 0, part || rows[0][2] != ""
			columns = append(columns, i)
		}
		switch {
		case name == "PRIMARY" && ours && !part && slices.Equal(slices.Sorted(slices.Values(columns)), key):
			keyed = true
		case ours:
			target.Unique = append(target.Unique, columns)
		}
	}
	if keyed {
		return nil
	}
	var names []string
	for _, k := range t.key {
		names = append(names, quote(target.Table.Columns.Fields[k].Name))
	}
	return t.fault("42000", fmt.Sprintf("the primary key of the target's table %s is not %s", t.quoted(), strings.Join(names, ", ")),
		fmt.Sprintf("At the target: ALTER TABLE %s ADD PRIMARY KEY (%s);", t.quoted(), strings.Join(names, ", ")))
}

// readForeign finds the foreign keys.
func (t *table) readForeign(ctx context.Context, conn *sql.Conn, target *tailrace.SinkTarget) error {
	rows, err := strs(ctx, conn, "SELECT constraint_name, column_name, referenced_table_schema, referenced_table_name, referenced_column_name "+
		"FROM information_schema.key_column_usage WHERE table_schema = ? AND table_name = ? AND referenced_table_name IS NOT NULL "+
		"ORDER BY constraint_name, ordinal_position", t.database, t.name)
	if err != nil {
		return err
	}
	for len(rows) > 0 {
		f := tailrace.SinkForeign{Parent: quote(rows[0][2]) + "." + quote(rows[0][3])}
		ours := true
		for name := rows[0][0]; len(rows) > 0 && rows[0][0] == name; rows = rows[1:] {
			i := target.Table.Columns.ByName(rows[0][1])
			ours = ours && i >= 0
			f.Columns, f.To = append(f.Columns, i), append(f.To, rows[0][4])
		}
		if ours {
			target.Foreign = append(target.Foreign, f)
		}
	}
	return nil
}
