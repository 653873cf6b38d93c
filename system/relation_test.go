package system

import (
	"testing"
	"time"

	"tailrace"
	"tailrace/catalog"
	"tailrace/format"
)

// sample is a world with one of each object.
func sample() *World {
	c := catalog.NewFold().Current()
	key := &tailrace.Schema{Version: 1, Key: []int{1, 0}, NextColumn: 4, Fields: []tailrace.Field{
		{ID: 1, Name: "a", Type: tailrace.TypeOf(tailrace.KindInt4), NotNull: true},
		{ID: 2, Name: "Select", Type: tailrace.TypeOf(tailrace.KindText)},
		{ID: 3, Name: "l", Type: tailrace.ArrayOf(tailrace.TypeOf(tailrace.KindInt4)), Default: "'{}'"},
	}}
	base := tailrace.TypeOf(tailrace.KindInt4)
	for _, ch := range []catalog.Change{
		{Namespace: &catalog.Namespace{ID: 1, Name: "s", Comment: "a schema"}},
		{Type: &catalog.UserType{ID: 2, Schema: "public", Name: "color", Labels: []string{"red", "green"}}},
		{Type: &catalog.UserType{ID: 3, Schema: "s", Name: "positive", Base: &base, NotNull: true, Default: "1", Checks: []catalog.Check{{Name: "positive_check", Expr: "value > 0 AND 'value' <> ''"}}}},
		{Table: &catalog.Table{ID: 4, Schema: "public", Name: "t", Columns: key, Comment: "a table", Comments: map[tailrace.ColumnID]string{1: "a column"}}},
		{Table: &catalog.Table{ID: 5, Schema: "s", Name: "t", Columns: &tailrace.Schema{Fields: []tailrace.Field{{ID: 1, Name: "p", Type: base, Domain: 3}}}}},
		{View: &catalog.View{ID: 6, Schema: "public", Name: "v", Query: "SELECT a FROM public.t", Columns: []catalog.ViewColumn{{Name: "a", Type: base}}, Uses: []catalog.ID{4}}},
		{Source: &catalog.Source{ID: 7, Name: "src", Kind: "postgres"}},
		{User: &catalog.User{ID: 8, Name: "ann"}},
	} {
		c = c.With(ch)
	}
	at := time.Date(2026, 11, 30, 12, 0, 0, 0, time.UTC)
	return &World{
		Catalog: c, User: "ann", Database: "postgres", SearchPath: []string{"ann", "public"}, Now: at,
		Settings: func() []Setting { return []Setting{{Name: "TimeZone", Value: "UTC", Reset: "UTC"}} },
		Activity: func() []Activity {
			return []Activity{{PID: 7, User: "ann", Client: "127.0.0.1:5", Began: at, State: "idle"}}
		},
		History: func() []Statement {
			return []Statement{{ID: 1, SQL: "SELECT 1", Began: at, Status: "running"}, {ID: 2, Began: at, Ended: at, Code: "42P01"}}
		},
		Subscriptions: func() []Subscription {
			return []Subscription{{ID: "s1", Session: "00000000-0000-4000-8000-000000000001", Created: at, Tables: []catalog.ID{4}, Path: "storage", Position: 5}}
		},
		Prepared: func() []Prepared { return []Prepared{{Name: "p", Types: []tailrace.Type{base}}} },
		Cursors:  func() []Cursor { return []Cursor{{Name: "c", At: at}} },
		Bytes:    func(catalog.ID) int64 { return 8192 * 3 }, Rows: func(catalog.ID) int64 { return 10 },
	}
}

// TestEveryRelationReads reads all relations: each column has a value for each row, of its type, so that it prints.
func TestEveryRelationReads(t *testing.T) {
	for name, w := range map[string]*World{"one of each": sample(), "empty": {Catalog: catalog.NewFold().Current()}} {
		settings := format.Default()
		settings.Names = w
		rows := 0
		for _, r := range relationList {
			b := r.Read(w)
			rows += b.N
			for i, f := range r.Fields.Fields {
				if b.Cols[i].N != b.N {
					t.Errorf("%s: %s.%s.%s: got %d values, want %d", name, r.Schema, r.Name, f.Name, b.Cols[i].N, b.N)
					continue
				}
				for k := range b.N {
					if !b.Cols[i].IsNull(k) {
						_ = format.AppendText(nil, f.Type, &b.Cols[i], k, settings)
					}
				}
			}
		}
		if rows < 1000 {
			t.Errorf("%s: got %d rows, want 1000 at least", name, rows)
		}
	}
}

// TestOIDsAreUnique looks for two objects of one catalog relation with the same OID.
func TestOIDsAreUnique(t *testing.T) {
	w := sample()
	for _, r := range relationList {
		k := r.Fields.ByName("oid")
		if k < 0 || r.Schema != pgCatalog {
			continue
		}
		seen := map[string]bool{}
		b := r.Read(w)
		for i := range b.N {
			oid := string(b.Cols[k].Bytes(i))
			if seen[oid] {
				t.Errorf("%s: two rows have OID %x", r.Name, oid)
			}
			seen[oid] = true
		}
	}
}

func TestNamesFindWhatTheyPrint(t *testing.T) {
	w := sample()
	for _, c := range []struct {
		kind        tailrace.Kind
		text, shown string
	}{
		{tailrace.KindRegclass, "t", "t"},
		{tailrace.KindRegclass, "public.T", "t"},
		{tailrace.KindRegclass, `"s"."t"`, "s.t"},
		{tailrace.KindRegclass, "v", "v"},
		{tailrace.KindRegclass, "t_pkey", "t_pkey"},
		{tailrace.KindRegclass, "pg_class", "pg_class"},
		{tailrace.KindRegclass, "information_schema.tables", "information_schema.tables"},
		{tailrace.KindRegclass, "mz_sources", "mz_internal.mz_sources"},
		{tailrace.KindRegtype, "int", "integer"},
		{tailrace.KindRegtype, "varchar(10)", "character varying"},
		{tailrace.KindRegtype, "timestamp(3) with time zone", "timestamp with time zone"},
		{tailrace.KindRegtype, "int4[]", "integer[]"},
		{tailrace.KindRegtype, "color", "color"},
		{tailrace.KindRegtype, "_color", "color[]"},
		{tailrace.KindRegtype, "s.positive[]", "s.positive[]"},
		{tailrace.KindRegtype, `"char"`, `"char"`},
		{tailrace.KindRegtype, "char", "character"},
		{tailrace.KindRegtype, "t", "t"},
		{tailrace.KindRegproc, "array_in", "array_in"},
	} {
		oid, err := w.OID(c.kind, c.text)
		if err != nil {
			t.Errorf("%s: %v", c.text, err)
			continue
		}
		if got := w.Name(c.kind, oid); got != c.shown {
			t.Errorf("%s: got %s, want %s", c.text, got, c.shown)
		}
	}
	for _, c := range []struct {
		kind       tailrace.Kind
		text, code string
	}{
		{tailrace.KindRegclass, "nope", "42P01"},
		{tailrace.KindRegclass, "nope.t", "3F000"},
		{tailrace.KindRegclass, "a.b.c.d", "42601"},
		{tailrace.KindRegtype, "nope", "42704"},
		{tailrace.KindRegproc, "nope", "42883"},
		{tailrace.KindRegclass, `"t`, "42602"},
		{tailrace.KindRegtype, "positive", "42704"},
	} {
		if _, err := w.OID(c.kind, c.text); tailrace.Code(err) != c.code {
			t.Errorf("%s: got %v, want %s", c.text, err, c.code)
		}
	}
}

func TestDefinitionsAreSQL(t *testing.T) {
	w := sample()
	for _, c := range []struct {
		of   string
		oid  uint32
		num  int
		want string
	}{
		{"pg_index", firstIndexOID + 4, 0, `CREATE UNIQUE INDEX t_pkey ON public.t USING btree ("Select", a)`},
		{"pg_index", firstIndexOID + 4, 2, "a"},
		{"pg_constraint", firstKeyOID + 4, 0, `PRIMARY KEY ("Select", a)`},
		{"pg_constraint", checkOID(w.Catalog.Types[3], 0), 0, "CHECK ((VALUE > 0 AND 'value' <> ''))"},
		{"pg_rewrite", objectOID(6), 0, " SELECT a FROM public.t;"},
	} {
		if got, ok := w.Definition(c.of, c.oid, c.num, false); !ok || got != c.want {
			t.Errorf("%s %d: got %q, want %q", c.of, c.oid, got, c.want)
		}
	}
	if got := w.Comment(objectOID(4), "pg_class", 1); got != "a column" {
		t.Errorf("comment of a column: got %q", got)
	}
}
