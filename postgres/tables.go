package postgres

import (
	"context"
	"fmt"
	"strconv"
	"strings"

	"github.com/jackc/pgx/v5/pgconn"

	"tailrace"
)

// relation is a table as pg_class and pg_index have it.
type relation struct {
	tailrace.SourceTable
	kind        string   // r ordinary, p partitioned root
	persistence string   // p permanent, u unlogged, t temporary
	identity    string   // d default, n nothing, f full, i index
	leaf        bool     // a partition of another table
	canSelect   bool     // by our role, every column that is copied
	rowSecurity bool     // policies would hide rows from this role
	primary     []string // attnums of the primary key, in key order
	deferrable  bool     // the primary key is, so it is no replica identity
	index       []string // attnums of the replica identity index, in key order
	generated   []string // names of generated columns
	badLeaves   []string // leaves whose replica identity is not enough
}

// full reports whether old rows come whole.
func (r *relation) full() bool { return r.identity == "f" }

const relationsQuery = `
SELECT c.oid, n.nspname, c.relname, c.relkind, c.relpersistence, c.relreplident, c.relispartition,
  has_schema_privilege(n.oid, 'USAGE') AND (has_table_privilege(c.oid, 'SELECT') OR has_any_column_privilege(c.oid, 'SELECT') AND NOT EXISTS (
    SELECT FROM pg_attribute a WHERE a.attrelid = c.oid AND a.attnum > 0 AND NOT a.attisdropped AND a.attgenerated = ''
      AND NOT has_column_privilege(c.oid, a.attnum, 'SELECT'))),
  row_security_active(c.oid),
  (SELECT string_agg(k::text, ' ' ORDER BY o) FROM pg_index i, unnest(i.indkey::int2[]) WITH ORDINALITY u(k, o)
    WHERE i.indrelid = c.oid AND i.indisprimary AND o <= i.indnkeyatts),
  (SELECT string_agg(k::text, ' ' ORDER BY o) FROM pg_index i, unnest(i.indkey::int2[]) WITH ORDINALITY u(k, o)
    WHERE i.indrelid = c.oid AND i.indisreplident AND o <= i.indnkeyatts),
  EXISTS (SELECT FROM pg_index i WHERE i.indrelid = c.oid AND i.indisprimary AND NOT i.indimmediate),
  CASE WHEN c.relkind = 'p' THEN (SELECT coalesce(sum(greatest(l.reltuples, 0)), -1)::bigint
    FROM pg_partition_tree(c.oid) t JOIN pg_class l ON l.oid = t.relid WHERE t.isleaf)
    ELSE c.reltuples::bigint END,
  CASE WHEN c.relkind = 'p' THEN (SELECT string_agg(quote_ident(ln.nspname) || '.' || quote_ident(l.relname), ', ' ORDER BY l.oid)
    FROM pg_partition_tree(c.oid) t JOIN pg_class l ON l.oid = t.relid JOIN pg_namespace ln ON ln.oid = l.relnamespace WHERE t.isleaf AND l.relkind = 'r'
    AND (l.relreplident = 'n' OR l.relreplident = 'd' AND NOT EXISTS (SELECT FROM pg_index i WHERE i.indrelid = l.oid AND i.indisprimary AND i.indimmediate))) END
FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace
WHERE c.relkind IN ('r', 'p') AND n.nspname NOT IN ('pg_catalog', 'information_schema') AND n.nspname NOT LIKE 'pg\_%'
ORDER BY n.nspname, c.relname`

// describe reads the relations that sel selects, with their columns. Names that sel asks for and that are not there are returned as missing.
func (c *Config) describe(ctx context.Context, conn *pgconn.PgConn, sel tailrace.Selection) (rels []*relation, missing []string, err error) {
	rows, err := query(ctx, conn, relationsQuery)
	if err != nil {
		return nil, nil, c.explain("list the tables of "+c.address(), err)
	}
	wanted := wantedNames(sel)
	for _, row := range rows {
		r := relationFrom(row)
		_, named := wanted[r.Schema+"."+r.Name]
		delete(wanted, r.Schema+"."+r.Name)
		if named || !r.leaf && r.persistence != "t" && selectedBySchema(sel, r.Schema) {
			rels = append(rels, r)
		}
	}
	for _, name := range sel.Tables {
		if _, ok := wanted[qualified(name)]; ok {
			missing = append(missing, name)
		}
	}
	for _, r := range rels {
		if err := c.describeColumns(ctx, conn, r); err != nil {
			return nil, nil, err
		}
		r.Err = c.obstacle(r)
	}
	return rels, missing, nil
}

func relationFrom(row []string) *relation {
	r := &relation{
		kind: row[3], persistence: row[4], identity: row[5], leaf: row[6] == "t", canSelect: row[7] == "t", rowSecurity: row[8] == "t",
		primary: strings.Fields(row[9]), index: strings.Fields(row[10]), deferrable: row[11] == "t",
	}
	r.Rel, r.Schema, r.Name = parseUint32(row[0]), row[1], row[2]
	r.Rows = parseInt64(row[12], -1)
	if row[13] != "" {
		r.badLeaves = strings.Split(row[13], ", ")
	}
	return r
}

func qualified(name string) string {
	if !strings.Contains(name, ".") {
		return "public." + name
	}
	return name
}

func wantedNames(sel tailrace.Selection) map[string]struct{} {
	wanted := make(map[string]struct{}, len(sel.Tables))
	for _, name := range sel.Tables {
		wanted[qualified(name)] = struct{}{}
	}
	return wanted
}

func selectedBySchema(sel tailrace.Selection, schema string) bool {
	for _, s := range sel.Schemas {
		if s == schema {
			return true
		}
	}
	return sel.All
}

const columnsQuery = `
WITH RECURSIVE base AS (
  SELECT a.attnum, t.oid, t.typtype, t.typbasetype, CASE WHEN t.typtype = 'd' THEN t.typtypmod ELSE a.atttypmod END AS mod
  FROM pg_attribute a JOIN pg_type t ON t.oid = a.atttypid WHERE a.attrelid = $1::oid AND a.attnum > 0 AND NOT a.attisdropped
  UNION ALL
  SELECT b.attnum, t.oid, t.typtype, t.typbasetype, CASE WHEN t.typtype = 'd' AND b.mod < 0 THEN t.typtypmod ELSE b.mod END
  FROM base b JOIN pg_type t ON t.oid = b.typbasetype WHERE b.typtype = 'd')
SELECT a.attnum, a.attname, a.atttypid, a.atttypmod, b.oid, b.mod, format_type(a.atttypid, a.atttypmod), a.attgenerated <> '',
  a.atthasmissing, a.attmissingval::text, (a.atthasdef OR a.attidentity <> '') AND NOT a.atthasmissing, a.xmin::text
FROM pg_attribute a JOIN base b ON b.attnum = a.attnum AND b.typtype <> 'd'
WHERE a.attrelid = $1::oid ORDER BY a.attnum`

// describeColumns fills in the columns and the key of r.
func (c *Config) describeColumns(ctx context.Context, conn *pgconn.PgConn, r *relation) error {
	cols, generated, err := c.columns(ctx, conn, r.Rel)
	if err != nil {
		return c.explain("describe the table "+plainTable(r.Schema, r.Name), err)
	}
	r.generated = generated
	r.Columns = make([]tailrace.SourceColumn, len(cols))
	for i, col := range cols {
		r.Columns[i] = col.SourceColumn
	}
	for _, num := range r.keyNums() {
		for i := range r.Columns {
			if strconv.Itoa(r.Columns[i].Num) == num {
				r.Key = append(r.Key, i)
			}
		}
	}
	return nil
}

// keyNums lists the attnums of the columns that name a row here: those that old rows are sure to carry.
func (r *relation) keyNums() []string {
	if r.identity == "i" {
		return r.index
	}
	return r.primary
}

// attribute is a column with what tells when it came to be.
type attribute struct {
	tailrace.SourceColumn
	xmin uint32 // transaction that last changed the column's description
}

// columns reads the live columns of a relation that are copied, and the names of the generated ones, which are not: PostgreSQL leaves them
// out of its stream.
func (c *Config) columns(ctx context.Context, conn *pgconn.PgConn, rel uint32) ([]attribute, []string, error) {
	rows, err := query(ctx, conn, columnsQuery, strconv.FormatUint(uint64(rel), 10))
	if err != nil {
		return nil, nil, err
	}
	var out []attribute
	var generated []string
	for _, row := range rows {
		if row[7] == "t" {
			generated = append(generated, row[1])
			continue
		}
		a := attribute{xmin: parseUint32(row[11])}
		a.Num, a.Name, a.TypeID, a.Mod = int(parseInt64(row[0], 0)), row[1], parseUint32(row[2]), int32(parseInt64(row[3], -1))
		a.Type = typeFor(parseUint32(row[4]), int32(parseInt64(row[5], -1)), row[6])
		a.MissingUnknown = row[10] == "t"
		if row[8] == "t" {
			a.Missing, err = c.missingValue(a.Type, row[9])
			if err != nil {
				return nil, nil, fmt.Errorf("default of column %s: %w", a.Name, err)
			}
		}
		out = append(out, a)
	}
	return out, generated, nil
}

// missingValue is the stored form of attmissingval, which prints as an array of one element.
func (c *Config) missingValue(t tailrace.Type, array string) ([]byte, error) {
	text, opened := strings.CutPrefix(array, "{")
	text, closed := strings.CutSuffix(text, "}")
	if !opened || !closed {
		return nil, fmt.Errorf("attmissingval %q: %w", array, tailrace.ErrCorrupt)
	}
	if strings.HasPrefix(text, `"`) && strings.HasSuffix(text, `"`) && len(text) >= 2 {
		quoted := text[1 : len(text)-1]
		var b strings.Builder
		for i := 0; i < len(quoted); i++ {
			if quoted[i] == '\\' && i+1 < len(quoted) {
				i++
			}
			b.WriteByte(quoted[i])
		}
		text = b.String()
	}
	col := tailrace.MakeColumn(t.Kind, 1)
	if err := c.Parse(&col, t, text); err != nil {
		return nil, err
	}
	return append([]byte{}, col.Bytes(0)...), nil
}

func parseUint32(s string) uint32 {
	v, err := strconv.ParseUint(s, 10, 32)
	if err != nil {
		return 0 // PostgreSQL's own oid: cannot be anything else
	}
	return uint32(v)
}

func parseInt64(s string, otherwise int64) int64 {
	v, err := strconv.ParseInt(s, 10, 64)
	if err != nil {
		return otherwise
	}
	return v
}
