package query

import (
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5/pgconn"
	pg_query "github.com/pganalyze/pg_query_go/v6"

	"tailrace"
)

// TestTypesAgreeWithPostgres runs the statements of testdata/types here and on PostgreSQL 15: arrays, enums, domains, views, jsonb and rows.
func TestTypesAgreeWithPostgres(t *testing.T) {
	e := engine(t)
	c := connect(t)
	setup, err := os.ReadFile("testdata/types-setup.sql")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := c.Exec(t.Context(), string(setup)).ReadAll(); err != nil {
		t.Fatal(err)
	}
	w := newWorld(t, c)
	for _, name := range []string{"person", "arr", "doc"} {
		w.load(t, c, name, 0)
	}
	for _, name := range []string{"cheerful", "counted"} {
		w.view(t, c, name)
	}
	files, err := filepath.Glob("testdata/types/*.sql")
	if err != nil || len(files) == 0 {
		t.Fatal("no statements:", err)
	}
	for _, file := range files {
		t.Run(strings.TrimSuffix(filepath.Base(file), ".sql"), func(t *testing.T) { w.agree(t, e, c, file) })
	}
}

// agree compares the answers to the statements of a file, one a line.
func (w *world) agree(t *testing.T, e *Engine, c *pgconn.PgConn, file string) {
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	agree, all := 0, 0
	for _, sql := range strings.Split(string(text), "\n") {
		if sql == "" || strings.HasPrefix(sql, "--") {
			continue
		}
		all++
		want := askPostgres(t, c, sql)
		for i, o := range want.oids {
			if t, ok := w.oids[o]; ok {
				want.oids[i] = t.OID()
			}
		}
		if d := compare(sql, want, ask(e, w, sql, nil, nil)); d != "" {
			t.Error(d)
		} else {
			agree++
		}
	}
	t.Logf("%d of %d statements agree", agree, all)
}

// world is a Resolver that also knows the enums and domains of the server.
type world struct {
	tables
	types  map[string]*tailrace.NamedType
	labels map[tailrace.CollectionID][]string
	oids   map[uint32]tailrace.Type // the server's OIDs of enums and of arrays of them
}

func (w *world) Type(schema, name string) *tailrace.NamedType {
	if schema == "" || schema == "public" {
		return w.types[name]
	}
	return nil
}

func (w *world) Labels(enum tailrace.CollectionID) []string { return w.labels[enum] }

// OID is format.Names: there are no names to find here.
func (w *world) OID(_ tailrace.Kind, text string) (uint32, error) {
	return 0, &tailrace.Error{Code: "42704", Message: "type \"" + text + "\" does not exist"}
}

// Name is format.Names, for types.
func (w *world) Name(_ tailrace.Kind, oid uint32) string {
	typ, ok := tailrace.BuiltinOf(oid)
	for _, t := range w.oids {
		if t.OID() == oid {
			typ, ok = t, true
		}
	}
	if !ok {
		return ""
	}
	return typ.String()
}

// newWorld asks the server for its enums and domains.
func newWorld(t *testing.T, c *pgconn.PgConn) *world {
	w := &world{tables: tables{}, types: map[string]*tailrace.NamedType{}, labels: map[tailrace.CollectionID][]string{}, oids: map[uint32]tailrace.Type{}}
	for _, row := range askPostgres(t, c, "SELECT typname, t.oid, typarray, string_agg(enumlabel, ',' ORDER BY enumsortorder) FROM pg_type t JOIN pg_enum ON enumtypid = t.oid GROUP BY 1, 2, 3 ORDER BY 1").rows {
		f := strings.Split(row, "|")
		id := tailrace.CollectionID(1000 + len(w.labels))
		typ := tailrace.Type{Kind: kEnum, Mod: -1, Name: f[0], ID: id}
		w.labels[id] = strings.Split(f[3], ",")
		w.types[f[0]] = &tailrace.NamedType{Type: typ, Labels: w.labels[id], Name: f[0]}
		w.oids[number(t, f[1])], w.oids[number(t, f[2])] = typ, tailrace.ArrayOf(typ)
	}
	w.types["positive"] = &tailrace.NamedType{
		Type: tailrace.TypeOf(kInt4), Domain: 2000, Name: "positive", Checks: []tailrace.NamedCheck{{Name: "positive_check", Expr: "VALUE > 0"}},
	}
	w.types["code"] = &tailrace.NamedType{
		Type: tailrace.Type{Kind: kVarchar, Mod: 7}, Domain: 2001, Name: "code", NotNull: true,
		Checks: []tailrace.NamedCheck{{Name: "upper_only", Expr: "VALUE ~ '^[A-Z]+$'"}, {Name: "not_xxx", Expr: "VALUE <> 'XXX'"}},
	}
	return w
}

func number(t *testing.T, text string) uint32 {
	n, err := strconv.ParseUint(text, 10, 32)
	if err != nil {
		t.Fatal(err)
	}
	return uint32(n)
}

// load copies a table of the server; enums get their types back, which tables.load does not know.
func (w *world) load(t *testing.T, c *pgconn.PgConn, name string, key ...int) {
	t.Helper()
	w.loadTyped(t, c, name, func(oid uint32) tailrace.Type {
		if typ, ok := w.oids[oid]; ok {
			return typ
		}
		typ, _ := tailrace.BuiltinOf(oid)
		return typ
	}, key...)
}

// view makes a view of the server known by its definition.
func (w *world) view(t *testing.T, c *pgconn.PgConn, name string) {
	t.Helper()
	text := strings.TrimSuffix(askPostgres(t, c, "SELECT pg_get_viewdef('"+name+"'::regclass)").rows[0], ";")
	tree, err := pg_query.Parse(text)
	if err != nil {
		t.Fatal(err)
	}
	s := &tailrace.Schema{}
	for i, column := range askPostgres(t, c, "SELECT * FROM "+name+" LIMIT 0").names {
		s.Fields = append(s.Fields, tailrace.Field{ID: tailrace.ColumnID(i + 1), Name: column})
	}
	w.tables[name] = &memory{table: Table{
		ID: tailrace.CollectionID(3000 + len(w.tables)), Columns: s, View: &View{Tree: tree.Stmts[0].Stmt, Text: text},
	}}
}
