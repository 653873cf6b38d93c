package postgres

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/jackc/pgx/v5/pgconn"

	"tailrace"
)

// sinkTable is what the adapter keeps of a target's table (SinkTarget.Handle).
type sinkTable struct {
	name    string       // as SQL
	columns []sinkColumn // those of the feed, in its order
	key     []int
}

// Table finds or makes the target's table.
func (s *sink) Table(ctx context.Context, t *tailrace.SinkTable, create bool) (*tailrace.SinkTarget, error) {
	conn, err := s.config.connect(ctx)
	if err != nil {
		return nil, sinkFault("", err)
	}
	defer closeConn(conn)
	schema, name := sinkName(t)
	found, err := query(ctx, conn, `SELECT to_regclass($1)::oid, (to_regclass($1)::oid) IS NULL`, name)
	if err == nil && found[0][1] == "t" {
		if !create {
			return nil, tableFault(name, "42P01", "the target has no table "+name, "Make it there, or let the feed make it.")
		}
		if err = s.make(ctx, conn, schema, name, t); err == nil {
			found, err = query(ctx, conn, `SELECT $1::regclass::oid`, name)
		}
	}
	if err != nil {
		return nil, sinkFault(name, err)
	}
	target, err := s.look(ctx, conn, found[0][0], name, t)
	return target, sinkFault(name, err)
}

func tableFault(table, code, message, hint string) error {
	return &tailrace.SinkError{Fault: tailrace.SinkTableFault, Table: table, Step: -1, Row: -1, Err: &tailrace.Error{Code: code, Message: message, Hint: hint}}
}

// make creates the table. Keys of text get the collation "C", which orders them as they are ordered here.
func (s *sink) make(ctx context.Context, conn *pgconn.PgConn, schema, name string, t *tailrace.SinkTable) error {
	var defs []string
	for i, f := range t.Columns.Fields {
		declared, err := declareAt(ctx, conn, f.Type)
		if err != nil {
			return err
		}
		def := quoteIdent(f.Name) + " " + declared
		if t.Columns.InKey(i) && (declared == "text" || f.Type.Kind == tailrace.KindVarchar || f.Type.Kind == tailrace.KindChar) {
			def += ` COLLATE "C"`
		}
		if f.NotNull || t.Columns.InKey(i) {
			def += " NOT NULL"
		}
		defs = append(defs, def)
	}
	if len(t.Columns.Key) > 0 {
		var key []string
		for _, k := range t.Columns.Key {
			key = append(key, quoteIdent(t.Columns.Fields[k].Name))
		}
		defs = append(defs, "PRIMARY KEY ("+strings.Join(key, ", ")+")")
	}
	return exec(ctx, conn, fmt.Sprintf("CREATE SCHEMA IF NOT EXISTS %s; CREATE TABLE IF NOT EXISTS %s (%s)", quoteIdent(schema), name, strings.Join(defs, ", ")))
}

// sinkColumnsOf lists a table's columns with the types under their domains.
const sinkColumnsOf = `WITH RECURSIVE b(num, typ, mod) AS (
  SELECT attnum, atttypid, atttypmod FROM pg_attribute WHERE attrelid = $1::oid AND attnum > 0 AND NOT attisdropped
  UNION ALL SELECT b.num, t.typbasetype, t.typtypmod FROM b JOIN pg_type t ON t.oid = b.typ WHERE t.typtype = 'd')
SELECT a.attname, a.attnotnull, a.attgenerated <> '', a.atthasdef OR a.attidentity <> '', t.oid, b.mod, format_type(t.oid, -1), t.typtype,
  (SELECT string_agg(enumlabel, E'\x01' ORDER BY enumsortorder) FROM pg_enum WHERE enumtypid = t.oid), a.attnum
FROM b JOIN pg_type t ON t.oid = b.typ AND t.typtype <> 'd' JOIN pg_attribute a ON a.attrelid = $1::oid AND a.attnum = b.num ORDER BY a.attnum`

// look reads the table's definition and checks it.
func (s *sink) look(ctx context.Context, conn *pgconn.PgConn, oid, name string, t *tailrace.SinkTable) (*tailrace.SinkTarget, error) {
	rows, err := query(ctx, conn, sinkColumnsOf, oid)
	if err != nil {
		return nil, err
	}
	table := &sinkTable{name: name, columns: make([]sinkColumn, len(t.Columns.Fields)), key: t.Columns.Key}
	place := map[string]int{} // attnum to the feed's column
	for _, r := range rows {
		base, _ := strconv.ParseUint(r[4], 10, 32) // OIDs and modifiers, as the catalog has them
		mod, _ := strconv.ParseInt(r[5], 10, 32)
		c := sinkColumn{
			name: r[0], notNull: r[1] == "t", generated: r[2] == "t", filled: r[3] == "t", base: uint32(base), mod: int32(mod), cast: r[6], isEnum: r[7] == "e",
		}
		if c.isEnum {
			c.labels = strings.Split(r[8], "\x01")
		}
		i := t.Columns.ByName(c.name)
		switch {
		case i >= 0:
			table.columns[i], place[r[9]] = c, i
		case c.notNull && !c.filled && !c.generated:
			return nil, tableFault(name, "42804", fmt.Sprintf("column %s of the target's table %s must be given and is not one of the feed", quoteIdent(c.name), name),
				fmt.Sprintf("At the target: ALTER TABLE %s ALTER COLUMN %s DROP NOT NULL;", name, quoteIdent(c.name)))
		}
	}
	for i := range table.columns {
		if err := table.check(t, i); err != nil {
			return nil, err
		}
	}
	target := &tailrace.SinkTarget{Table: t, Name: name, Handle: table}
	if err := readUnique(ctx, conn, oid, target, place); err != nil {
		return nil, err
	}
	if err := readForeign(ctx, conn, oid, target, place); err != nil {
		return nil, err
	}
	may, err := query(ctx, conn, `SELECT p FROM unnest('{SELECT,INSERT,UPDATE,DELETE}'::text[]) p WHERE NOT has_table_privilege($1::oid, p)`, oid)
	if err != nil {
		return nil, err
	}
	if len(may) > 0 {
		return nil, tableFault(name, "42501", fmt.Sprintf("%s may not %s %s", s.config.User, may[0][0], name),
			fmt.Sprintf("At the target: GRANT SELECT, INSERT, UPDATE, DELETE ON %s TO %s;", name, plainIdent(s.config.User)))
	}
	some, err := query(ctx, conn, "SELECT 1 FROM "+name+" LIMIT 1")
	target.Loaded = len(some) > 0
	return target, err
}

// check compares column i with what the feed sends.
func (table *sinkTable) check(t *tailrace.SinkTable, i int) error {
	f, c := &t.Columns.Fields[i], &table.columns[i]
	column := quoteIdent(f.Name)
	switch {
	case c.name == "":
		return tableFault(table.name, "42703", fmt.Sprintf("the target's table %s has no column %s", table.name, column),
			fmt.Sprintf("At the target: ALTER TABLE %s ADD COLUMN %s %s;", table.name, column, f.Type))
	case c.generated:
		return tableFault(table.name, "428C9", fmt.Sprintf("column %s of the target's table %s is generated there", column, table.name), "Make it an ordinary column.")
	case !c.holds(f.Type, t.Labels[f.Type.ID], t.Columns.InKey(i)):
		typ := c.typ()
		return tableFault(table.name, "42804", fmt.Sprintf("column %s of the target's table %s is %s, which cannot hold every %s", column, table.name, typ.String(), f.Type),
			fmt.Sprintf("At the target: ALTER TABLE %s ALTER COLUMN %s TYPE %s;", table.name, column, f.Type))
	case c.notNull && !f.NotNull && !t.Columns.InKey(i):
		return tableFault(table.name, "42804", fmt.Sprintf("column %s of the target's table %s refuses NULL, which the feed may send", column, table.name),
			fmt.Sprintf("At the target: ALTER TABLE %s ALTER COLUMN %s DROP NOT NULL;", table.name, column))
	}
	return nil
}

// readUnique finds the unique keys and demands one over the feed's key.
func readUnique(ctx context.Context, conn *pgconn.PgConn, oid string, target *tailrace.SinkTarget, place map[string]int) error {
	rows, err := query(ctx, conn, `SELECT array_to_string(indkey::int2[], ' '), indpred IS NULL AND indimmediate AND indisvalid FROM pg_index `+
		`WHERE indrelid = $1::oid AND indisunique ORDER BY indisprimary DESC, indexrelid`, oid)
	if err != nil {
		return err
	}
	key := slices.Sorted(slices.Values(target.Table.Columns.Key))
	keyed := len(key) == 0
	for _, r := range rows {
		columns, all := places(strings.Fields(r[0]), place)
		if !keyed && all && r[1] == "t" && slices.Equal(slices.Sorted(slices.Values(columns)), key) {
			keyed = true
			continue
		}
		if all {
			target.Unique = append(target.Unique, columns)
		}
	}
	if !keyed {
		var names []string
		for _, k := range target.Table.Columns.Key {
			names = append(names, quoteIdent(target.Table.Columns.Fields[k].Name))
		}
		return tableFault(target.Name, "42P10", "the target's table "+target.Name+" has no primary or unique key over "+strings.Join(names, ", "),
			fmt.Sprintf("At the target: ALTER TABLE %s ADD PRIMARY KEY (%s);", target.Name, strings.Join(names, ", ")))
	}
	return nil
}

// readForeign finds the foreign keys.
func readForeign(ctx context.Context, conn *pgconn.PgConn, oid string, target *tailrace.SinkTarget, place map[string]int) error {
	rows, err := query(ctx, conn, `SELECT array_to_string(conkey, ' '), n.nspname, c.relname, (SELECT string_agg(a.attname, E'\x01' ORDER BY k.n) `+
		`FROM unnest(confkey) WITH ORDINALITY k(num, n) JOIN pg_attribute a ON a.attrelid = confrelid AND a.attnum = k.num) `+
		`FROM pg_constraint f JOIN pg_class c ON c.oid = confrelid JOIN pg_namespace n ON n.oid = c.relnamespace WHERE conrelid = $1::oid AND contype = 'f' ORDER BY f.oid`, oid)
	if err != nil {
		return err
	}
	for _, r := range rows {
		if columns, all := places(strings.Fields(r[0]), place); all {
			target.Foreign = append(target.Foreign, tailrace.SinkForeign{Columns: columns, Parent: quoteTable(r[1], r[2]), To: strings.Split(r[3], "\x01")})
		}
	}
	return nil
}

// places maps attnums to the feed's columns; all tells that each is one of them.
func places(attnums []string, place map[string]int) (columns []int, all bool) {
	for _, n := range attnums {
		i, ok := place[n]
		if !ok {
			return nil, false
		}
		columns = append(columns, i)
	}
	return columns, true
}
