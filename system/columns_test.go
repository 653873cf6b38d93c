package system

import (
	"fmt"
	"strings"
	"testing"

	"tailrace/internal/pgtest"
)

// TestColumnsAreThoseOfPostgres compares columns.txt with a real PostgreSQL: names, types, order, and which columns may be NULL.
func TestColumnsAreThoseOfPostgres(t *testing.T) {
	theirs := map[string]string{}
	for _, r := range pgtest.Shared(t).Query(t, `
		SELECT n.nspname || '.' || c.relname, string_agg(a.attname || ' ' || CASE t.typname
			WHEN 'sql_identifier' THEN 'name' WHEN 'character_data' THEN 'varchar' WHEN 'yes_or_no' THEN 'varchar' WHEN 'cardinal_number' THEN 'int4'
			WHEN 'time_stamp' THEN 'timestamptz' ELSE t.typname END || CASE WHEN a.attnotnull THEN '' ELSE '?' END, ', ' ORDER BY attnum)
		FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace JOIN pg_attribute a ON a.attrelid = c.oid JOIN pg_type t ON t.oid = a.atttypid
		WHERE n.nspname IN ('pg_catalog', 'information_schema') AND c.relkind IN ('r', 'v') AND attnum > 0 GROUP BY 1`) {
		theirs[r[0]] = r[1]
	}
	compared := 0
	for line := range strings.Lines(columns) {
		name, got, ok := strings.Cut(strings.TrimSpace(line), ": ")
		if !ok || strings.HasPrefix(name, "mz_internal") || strings.HasPrefix(name, "#") {
			continue
		}
		compared++
		if want := theirs[name]; got != want {
			t.Errorf("%s\ngot  %s\nwant %s", name, got, want)
		}
	}
	if compared < 90 {
		t.Errorf("compared %d relations, want 90 at least", compared)
	}
}

// TestRelationOIDsAreThoseOfPostgres compares the OIDs of the relations that are tables there.
func TestRelationOIDsAreThoseOfPostgres(t *testing.T) {
	for _, r := range pgtest.Shared(t).Query(t, `SELECT relname, oid, relkind FROM pg_class WHERE relnamespace = 11 AND relkind IN ('r', 'v')`) {
		rel := relations["pg_catalog."+r[0]]
		if rel == nil {
			continue
		}
		if rel.View != (r[2] == "v") {
			t.Errorf("%s is a view: got %v, want %s", r[0], rel.View, r[2])
		}
		if got := fmt.Sprint(rel.OID); !rel.View && got != r[1] {
			t.Errorf("OID of %s: got %s, want %s", r[0], got, r[1])
		}
	}
}

// TestTypesAreThoseOfPostgres compares every row that pg_type has for a built-in type, and what format_type says of it.
func TestTypesAreThoseOfPostgres(t *testing.T) {
	theirs := map[string]string{}
	for _, r := range pgtest.Shared(t).Query(t, `
		SELECT oid, concat_ws(' ', typname, typlen, typbyval, typtype, typcategory, typispreferred, typelem, typarray, typalign, typstorage, typcollation,
			typinput, typoutput, typreceive, typsend, typsubscript, typmodin, typmodout, typdelim, format_type(oid, NULL)) FROM pg_type`) {
		theirs[r[0]] = r[1]
	}
	flag := map[bool]string{true: "t", false: "f"}
	name := func(oid uint32) string {
		if p := procByOID[oid]; p != nil {
			return p.name
		}
		return "-"
	}
	for _, b := range builtinList {
		got := fmt.Sprint(
			b.name, " ", b.length, " ", flag[b.byVal], " ", b.kind, " ", b.category, " ", flag[b.preferred], " ", b.element, " ", b.array, " ", b.align, " ", b.storage, " ",
			b.collation, " ", name(b.input), " ", name(b.output), " ", name(b.receive), " ", name(b.send), " ", name(b.subscript), " ", name(b.modIn), " ",
			name(b.modOut), " ", b.delimiter, " ", b.shown,
		)
		if want := theirs[fmt.Sprint(b.oid)]; got != want {
			t.Errorf("type %d\ngot  %s\nwant %s", b.oid, got, want)
		}
	}
	if len(builtinList) < 180 {
		t.Errorf("got %d types, want 180 at least", len(builtinList))
	}
}

// TestNamesAreQuotedAsPostgresQuotes asks quote_ident about keywords and odd names.
func TestNamesAreQuotedAsPostgresQuotes(t *testing.T) {
	for _, r := range pgtest.Shared(t).Query(t, `SELECT n, quote_ident(n) FROM (SELECT word AS n FROM pg_get_keywords() UNION ALL VALUES ('a'), ('A'), ('a b'), ('a"b'), ('1a'), ('_1'), ('é'), ('a$')) w`) {
		if got := Quote(r[0]); got != r[1] {
			t.Errorf("Quote(%q): got %s, want %s", r[0], got, r[1])
		}
	}
}
