package e2e

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgtype"
)

// Each program of testdata/drivers opens a server with its driver's defaults, asks for tables and columns the way its users do, writes with
// parameters of every usual type and NULLs, reads them back, copies in and out, and leaves a SUBSCRIBE that has not ended, within a second. The tests
// compare what it prints. A driver that is not there is a reason to skip, said aloud; .ci/deps installs those that Debian and npm have.

// runDriver runs a program of testdata/drivers and returns what it printed.
func runDriver(t *testing.T, env []string, name string, args ...string) string {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), 90*time.Second)
	defer cancel()
	cmd := exec.CommandContext(ctx, name, args...)
	cmd.Dir = "testdata/drivers"
	cmd.Env = append(os.Environ(), env...)
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("%s %v: %v\n%s%s", name, args, err, out, stderr.String())
	}
	return string(out)
}

// wantLines compares what a program printed, line by line.
func wantLines(t *testing.T, got string, want ...string) {
	t.Helper()
	lines := strings.Split(strings.TrimSuffix(got, "\n"), "\n")
	for i := range max(len(lines), len(want)) {
		g, w := "(nothing)", "(nothing)"
		if i < len(lines) {
			g = lines[i]
		}
		if i < len(want) {
			w = want[i]
		}
		if g != w {
			t.Errorf("line %d\ngot  %s\nwant %s", i+1, g, w)
		}
	}
}

// needs skips the test when a probe of a driver fails.
func needs(t *testing.T, what string, probe ...string) {
	t.Helper()
	if out, err := exec.Command(probe[0], probe[1:]...).CombinedOutput(); err != nil {
		t.Skipf("SKIPPED: %s is not installed; `make test` installs it where Debian or npm has it (%v)\n%s", what, err, out)
	}
}

func TestPsycopg3(t *testing.T) {
	needs(t, "psycopg 3 (Debian: python3-psycopg)", "/usr/bin/python3", "-c", "import psycopg")
	s := start(t)
	wantLines(
		t, runDriver(t, nil, "/usr/bin/python3", "with_psycopg3.py", s.asTester()),
		"['d']",
		"[('id', 23, None), ('t', 25, None), ('n', 1700, None), ('at', 1184, None), ('u', 2950, None), ('j', 3802, None), ('ints', 1007, None), ('texts', 1009, None)]",
		"int4 23 1007", "jsonb 3802 3807", "_text 1009 0",
		"[1, 'one', Decimal('1.50'), '2026-11-30T12:00:00.123456+00:00', UUID('6ba7b810-9dad-11d1-80b4-00c04fd430c8'), {'a': [1, None]}, [1, None, 3], ['x', 'y z', None, '']]",
		"[2, None, None, None, None, None, None, None]",
		"[1, 'one', Decimal('1.50'), '2026-11-30T12:00:00.123456+00:00', UUID('6ba7b810-9dad-11d1-80b4-00c04fd430c8'), {'a': [1, None]}, [1, None, 3], ['x', 'y z', None, '']]",
		"[2, None, None, None, None, None, None, None]",
		"[('1', 'one'), ('2', None), ('3', 'three'), ('4', None), ('5', 'five')]",
		"8 8 True",
	)
}

func TestPsycopg2(t *testing.T) {
	needs(t, "psycopg 2 (Debian: python3-psycopg2)", "/usr/bin/python3", "-c", "import psycopg2")
	s := start(t)
	wantLines(
		t, runDriver(t, nil, "/usr/bin/python3", "with_psycopg2.py", s.asTester()),
		"[('id', 'integer'), ('t', 'text'), ('n', 'numeric'), ('at', 'timestamp with time zone'), ('u', 'uuid'), ('j', 'jsonb'), ('ints', 'ARRAY'), ('texts', 'ARRAY')]",
		"[1, 'one', Decimal('1.50'), '2026-11-30T12:00:00.123456+00:00', UUID('6ba7b810-9dad-11d1-80b4-00c04fd430c8'), {'a': [1, None]}, [1, None, 3], ['x', 'y z', None, '']]",
		"[2, None, None, None, None, None, None, None]",
		`'1,one\n2,\n3,three\n4,\n'`,
		"[1, 2, 3, 4, 10, 11]",
		"6 6 True",
	)
}

// TestSQLAlchemyReflects has SQLAlchemy read the schema back: what it asks of pg_catalog is what its users' migrations stand on.
func TestSQLAlchemyReflects(t *testing.T) {
	needs(t, "SQLAlchemy (Debian: python3-sqlalchemy, python3-psycopg2)", "/usr/bin/python3", "-c", "import sqlalchemy, psycopg2")
	s := start(t)
	wantLines(
		t, runDriver(t, nil, "/usr/bin/python3", "alchemy.py", s.asTester()),
		"['information_schema', 'mz_internal', 'public']",
		"['parent'] ['names']",
		"id INTEGER False None",
		"name VARCHAR(40) False 'x'",
		"n NUMERIC(10, 2) True None",
		"at TIMESTAMP True now()",
		"tags ARRAY True None",
		"{'constrained_columns': ['id'], 'name': 'parent_pkey'} [] [] [] []",
		"{'text': 'a comment'}",
		"[]",
		"True False",
		"[(1, 'a', None), (2, 'b', ['x'])]",
	)
}

func TestNodePostgres(t *testing.T) {
	modules, err := filepath.Abs("../../bin/node/node_modules")
	if err != nil {
		t.Fatal(err)
	}
	if path := os.Getenv("NODE_PATH"); path != "" {
		modules += ":" + path
	}
	t.Setenv("NODE_PATH", modules)
	needs(t, "node-postgres (npm: pg, pg-cursor, pg-copy-streams)", "node", "-e", "require('pg'); require('pg-cursor'); require('pg-copy-streams')")
	s := start(t)
	wantLines(
		t, runDriver(t, nil, "node", "node.js", s.asTester()),
		`["d"]`,
		`[["id","int4","NO"],["t","text","YES"],["n","numeric","YES"],["at","timestamptz","YES"],["u","uuid","YES"],["j","jsonb","YES"],["ints","_int4","YES"],["texts","_text","YES"]]`,
		`[{"id":1,"t":"one","n":"1.50","at":"2026-11-30T12:00:00.123Z","u":"6ba7b810-9dad-11d1-80b4-00c04fd430c8","j":{"a":[1,null]},"ints":[1,null,3],"texts":["x","y z",null,""]},`+
			`{"id":2,"t":null,"n":null,"at":null,"u":null,"j":null,"ints":null,"texts":null}]`,
		`[23,25,1700,1184,2950,3802,1007,1009]`,
		`"1,one,\"{1,NULL,3}\"\n2,,\n3,three,{}\n4,four,\n"`,
		`[2,4,true]`,
	)
}

func TestJDBC(t *testing.T) {
	const jar = "/usr/share/java/postgresql.jar"
	needs(t, "the PostgreSQL JDBC driver (Debian: libpostgresql-jdbc-java, default-jdk-headless)", "sh", "-c", "test -e "+jar+" && java --version && javac --version")
	s := start(t)
	classes := t.TempDir()
	runDriver(t, nil, "javac", "-cp", jar, "-d", classes, "Driver.java")
	address, _, _ := strings.Cut(strings.TrimPrefix(s.url, "postgres://"), "?")
	wantLines(
		t, runDriver(t, []string{"TZ=UTC"}, "java", "-cp", classes+":"+jar, "Driver", "jdbc:postgresql://"+address, "tester"),
		"tables: d/TABLE",
		"columns: id/int4/10/0/1 t/text/2147483647/1/2 n/numeric/10/1/3 at/timestamptz/35/1/4 u/uuid/2147483647/1/5 j/jsonb/2147483647/1/6 ints/_int4/10/1/7 texts/_text/2147483647/1/8",
		"key: id/1/d_pkey",
		"index: d_pkey/id/f",
		"imported:",
		"schemas: public",
		"catalogs: postgres",
		"functions:",
		"privileges: DELETE INSERT REFERENCES SELECT TRIGGER TRUNCATE UPDATE",
		"version columns: ctid",
		"best row: id",
		"udts: d",
		"types: true",
		"max name: 63",
		`1|one|1.50|2026-11-30T12:00:00.123456Z|6ba7b810-9dad-11d1-80b4-00c04fd430c8|{"a": [1, null]}|[1, null, 3]|[x, y z, null, ]`,
		"2|null|null|null|null|null|null|null",
		"int4/d/10/0/_text",
		`1|one|1.50|2026-11-30T12:00:00.123456Z|6ba7b810-9dad-11d1-80b4-00c04fd430c8|{"a": [1, null]}|[1, null, 3]|[x, y z, null, ]`,
		"2|null|null|null|null|null|null|null",
		"in: 2",
		`1,one,"{1,NULL,3}"`, "2,,", "3,three,{}", "4,four,",
		"subscribed: 4 4 true",
	)
}

// TestPgx does with pgx what the programs do with their drivers.
func TestPgx(t *testing.T) {
	s := start(t)
	ctx, cancel := context.WithTimeout(context.Background(), 60*time.Second)
	defer cancel()
	conn, err := pgx.Connect(ctx, s.asTester())
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close(context.Background())
	run := func(sql string, args ...any) {
		t.Helper()
		if _, err := conn.Exec(ctx, sql, args...); err != nil {
			t.Fatalf("%s: %v", sql, err)
		}
	}
	run("CREATE TYPE color AS ENUM ('red', 'green')")
	run("CREATE TABLE d (id int PRIMARY KEY, t text, n numeric, at timestamptz, u uuid, j jsonb, ints int[], texts text[], c color, cs color[])")
	types, err := conn.LoadTypes(ctx, []string{"color", "_color"})
	if err != nil {
		t.Fatalf("load types: %v", err)
	}
	conn.TypeMap().RegisterTypes(types)
	columns, err := pgx.CollectRows(must(conn.Query(ctx, "SELECT column_name FROM information_schema.columns WHERE table_name = $1 ORDER BY ordinal_position", "d")), pgx.RowTo[string])
	if want := []string{"id", "t", "n", "at", "u", "j", "ints", "texts", "c", "cs"}; err != nil || !slices.Equal(columns, want) {
		t.Errorf("columns: got %v, %v, want %v", columns, err, want)
	}

	at := time.Date(2026, 11, 30, 12, 0, 0, 123456000, time.UTC)
	one, three := int32(1), int32(3)
	run("INSERT INTO d VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10)", 1, "one", "1.50", at, "6ba7b810-9dad-11d1-80b4-00c04fd430c8", map[string]any{"a": []any{1, nil}},
		[]*int32{&one, nil, &three}, []string{"x", "y z", ""}, "red", []string{"green", "red"})
	run("INSERT INTO d VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10)", 2, nil, nil, nil, nil, nil, nil, nil, nil, nil)
	var n pgtype.Numeric
	var back time.Time
	var u pgtype.UUID
	var j map[string]any
	var ints []*int32
	var texts, colors []string
	var c string
	if err := conn.QueryRow(ctx, "SELECT n, at, u, j, ints, texts, c, cs FROM d WHERE id = $1", 1).Scan(&n, &back, &u, &j, &ints, &texts, &c, &colors); err != nil {
		t.Fatal(err)
	}
	text, _ := n.MarshalJSON()
	got := fmt.Sprint(string(text), back.UTC().Equal(at), u.String(), j, *ints[0], ints[1], *ints[2], texts, c, colors)
	if want := "1.50true6ba7b810-9dad-11d1-80b4-00c04fd430c8map[a:[1 <nil>]] 1 <nil> 3 [x y z ]red[green red]"; strings.ReplaceAll(got, " true ", "true") != want && got != want {
		t.Errorf("read back\ngot  %s\nwant %s", got, want)
	}

	if rows, err := conn.CopyFrom(ctx, pgx.Identifier{"d"}, []string{"id", "t", "ints"}, pgx.CopyFromRows([][]any{{int32(3), "three", []int32{7}}, {int32(4), nil, nil}})); err != nil || rows != 2 {
		t.Errorf("CopyFrom: got %d rows, %v, want 2", rows, err)
	}
	var out bytes.Buffer
	if _, err := conn.PgConn().CopyTo(ctx, &out, "COPY (SELECT id, t, ints FROM d ORDER BY id) TO STDOUT (FORMAT csv)"); err != nil || out.String() != "1,one,\"{1,NULL,3}\"\n2,,\n3,three,{7}\n4,,\n" {
		t.Errorf("CopyTo: got %q, %v", out.String(), err)
	}

	stream, stop := context.WithCancel(ctx)
	rows, err := conn.Query(stream, "SUBSCRIBE d")
	if err != nil {
		t.Fatal(err)
	}
	for range 4 {
		if !rows.Next() {
			t.Fatalf("SUBSCRIBE: %v", rows.Err())
		}
	}
	began := time.Now()
	stop()
	rows.Close()
	if took := time.Since(began); took > time.Second || !errors.Is(rows.Err(), context.Canceled) {
		t.Errorf("leaving SUBSCRIBE: took %v, %v, want at most a second", took, rows.Err())
	}
}

func must(rows pgx.Rows, err error) pgx.Rows {
	if err != nil {
		panic(err)
	}
	return rows
}
