package e2e

import (
	"bytes"
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5/pgconn"

	"tailrace/internal/pgtest"
)

// typeColumns are a column of every type that a table can have, with values as literals of it.
var typeColumns = []struct {
	typ    string
	values [3]string
}{
	{"boolean", [3]string{"t", "f", "true"}},
	{"smallint", [3]string{"1", "-32768", "32767"}},
	{"integer", [3]string{"1", "-2147483648", "7"}},
	{"bigint", [3]string{"1", "-9223372036854775808", "7"}},
	{"real", [3]string{"1.5", "NaN", "-Infinity"}},
	{"double precision", [3]string{"0.1", "Infinity", "-0"}},
	{"numeric", [3]string{"1.50", "NaN", "123456789012345678901234567890.123456789"}},
	{"numeric(6,2)", [3]string{"1.005", "-0.00", "9999.99"}},
	{"text", [3]string{`a "b" \c`, "", "NULL"}},
	{"varchar(5)", [3]string{"abc", "é日x", " "}},
	{"char(4)", [3]string{"ab", "", "x y"}},
	{"bytea", [3]string{`\x00ff`, `\x`, "abc"}},
	{"date", [3]string{"2024-02-29", "infinity", "0044-03-15 BC"}},
	{"time", [3]string{"24:00:00", "01:02:03.45", "00:00"}},
	{"timestamp", [3]string{"2024-02-29 01:02:03", "infinity", "0044-03-15 00:00:00 BC"}},
	{"timestamptz", [3]string{"2024-07-02 03:04:05+05:30", "-infinity", "epoch"}},
	{"interval", [3]string{"1 year 2 mons -3 days 04:05:06.789", "0", "-1 mon"}},
	{"uuid", [3]string{"a0eebc99-9c0b-4ef8-bb6d-6bb9bd380a11", "00000000-0000-0000-0000-000000000000", "ffffffff-ffff-ffff-ffff-ffffffffffff"}},
	{"json", [3]string{`{"a" : [1, "x"]}`, "[]", "null"}},
	{"jsonb", [3]string{`{"b": 1.00, "a": "x,y"}`, "[]", "null"}},
	{"oid", [3]string{"0", "4294967295", "26"}},
	{"name", [3]string{"abc", "", "é"}},
	{"mood", [3]string{"ok", "sad", `it's, "fine"`}},
	{"positive", [3]string{"1", "7", "99"}},
}

// literal is v as SQL.
func literal(v string) string { return "'" + strings.ReplaceAll(v, "'", "''") + "'" }

// arrayLiterals are two arrays of the values v: of one dimension, with a NULL, and of two dimensions that do not begin at 1.
func arrayLiterals(v [3]string) [2]string {
	quoted := make([]any, 3)
	for i, s := range v {
		quoted[i] = `"` + strings.NewReplacer(`\`, `\\`, `"`, `\"`).Replace(s) + `"`
	}
	return [2]string{fmt.Sprintf("{%s,NULL,%s}", quoted[0], quoted[1]), fmt.Sprintf("[0:1][5:6]={{%s,%s},{%s,NULL}}", quoted[0], quoted[1], quoted[2])}
}

const typeSetup = `CREATE TYPE mood AS ENUM ('sad', 'ok', 'it''s, "fine"'); CREATE DOMAIN positive AS int CHECK (VALUE > 0); SET TimeZone = 'America/New_York'; SET DateStyle = 'SQL, DMY'`

// typeStatements create a table of all types and fill it.
func typeStatements() []string {
	var columns []string
	rows := make([][]string, 4)
	for i := range rows {
		rows[i] = []string{fmt.Sprint(i)}
	}
	for i, c := range typeColumns {
		columns = append(columns, fmt.Sprintf("c%d %s", i, c.typ))
		for k, v := range c.values {
			rows[k] = append(rows[k], literal(v))
		}
		rows[3] = append(rows[3], "NULL")
		if c.typ == "positive" {
			continue
		}
		columns = append(columns, fmt.Sprintf("a%d %s[]", i, c.typ))
		arrays := arrayLiterals(c.values)
		rows[0], rows[1], rows[2], rows[3] = append(rows[0], literal(arrays[0])), append(rows[1], literal(arrays[1])), append(rows[2], "'{}'"), append(rows[3], "NULL")
	}
	out := []string{"CREATE TABLE every (id int PRIMARY KEY, " + strings.Join(columns, ", ") + ")"}
	for _, r := range rows {
		out = append(out, "SET DateStyle = 'ISO, MDY'; INSERT INTO every VALUES ("+strings.Join(r, ", ")+"); SET DateStyle = 'SQL, DMY'")
	}
	return append(out, "INSERT INTO every SELECT * FROM every WHERE false", "CREATE TABLE copied (id int PRIMARY KEY, "+strings.Join(columns, ", ")+")")
}

func connectTo(t *testing.T, url string) *pgconn.PgConn {
	t.Helper()
	c, err := pgconn.Connect(t.Context(), url)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { c.Close(context.Background()) })
	return c
}

// said is what a server answers to sql: the rows of its last statement, or the error.
func said(c *pgconn.PgConn, sql string) string {
	results, err := c.Exec(context.Background(), sql).ReadAll()
	if pe := (*pgconn.PgError)(nil); err != nil {
		if e, ok := err.(*pgconn.PgError); ok {
			pe = e
			return pe.Code + ": " + pe.Message + " (" + pe.Detail + ")"
		}
		return err.Error()
	}
	var out []string
	for _, row := range results[len(results)-1].Rows {
		var cells []string
		for _, v := range row {
			if v == nil {
				cells = append(cells, "∅")
			} else {
				cells = append(cells, string(v))
			}
		}
		out = append(out, strings.Join(cells, " | "))
	}
	return strings.Join(out, "\n")
}

// TestTypesAreAsInPostgreSQL fills a table with a column of every type and an array of each, an enum and a domain, here and in a PostgreSQL, and compares what comes
// back: by SELECT, by COPY in every format both ways, and by SUBSCRIBE.
func TestTypesAreAsInPostgreSQL(t *testing.T) {
	peer := pgtest.Shared(t)
	peer.Exec(t, "DROP DATABASE IF EXISTS types")
	peer.Exec(t, "CREATE DATABASE types")
	theirs, ours := connectTo(t, peer.URLOf("types")), connectTo(t, start(t).url+"?user=tester&sslmode=disable")
	same := func(sql string) {
		t.Helper()
		if got, want := said(ours, sql), said(theirs, sql); got != want {
			t.Errorf("%.300s\n got %.2000s\nwant %.2000s", sql, got, want)
		}
	}
	same(typeSetup)
	for _, sql := range typeStatements() {
		same(sql)
	}
	same("SELECT * FROM every ORDER BY id")
	for _, format := range []string{"text", "csv", "binary"} {
		for _, sql := range []string{"COPY every TO STDOUT", "COPY (SELECT * FROM every ORDER BY id) TO STDOUT"} {
			sql += " (FORMAT " + format + ")"
			var got, want bytes.Buffer
			if _, err := ours.CopyTo(t.Context(), &got, sql); err != nil {
				t.Errorf("%s: %v", sql, err)
				continue
			}
			if _, err := theirs.CopyTo(t.Context(), &want, sql); err != nil {
				t.Fatal(err)
			}
			if format != "binary" && got.String() != want.String() { // in binary arrays of enums have the OID of the enum, which differs
				t.Errorf("%s\n got %q\nwant %q", sql, got.String(), want.String())
			}
			if _, err := ours.CopyFrom(t.Context(), &want, "COPY copied FROM STDIN (FORMAT "+format+")"); err != nil {
				t.Errorf("COPY from PostgreSQL's %s: %v", format, err)
			}
			if got, want := said(ours, "SELECT * FROM copied ORDER BY id; "), said(ours, "SELECT * FROM every ORDER BY id"); got != want {
				t.Errorf("after COPY from PostgreSQL's %s\n got %s\nwant %s", format, got, want)
			}
			said(ours, "DELETE FROM copied")
		}
	}
	sameBinary(t, ours, theirs)
	for _, sql := range typeQueries {
		same(sql)
	}
	long := strings.Repeat("9", 131072) + "." + strings.Repeat("9", 16383)
	same("CREATE TABLE wide (v numeric PRIMARY KEY, b numeric[]); INSERT INTO wide VALUES (" + long + ", '{" + long + ",NULL}'), ('-1e-16383', '{1e-16383,1e131071}')")
	same("SELECT * FROM wide ORDER BY v")
	same("SELECT b FROM wide WHERE v = " + long)
	same("UPDATE wide SET b = b || v WHERE v < 0; SELECT b FROM wide WHERE v < 0")
	sameSubscribed(t, ours, theirs, "every")
	sameSubscribed(t, ours, theirs, "wide")
	said(ours, "CREATE TABLE moods (m mood); INSERT INTO moods VALUES ('ok'), ('sad'), ('it''s, \"fine\"'), (NULL)")
	got := said(ours, "SUBSCRIBE moods WITHIN TIMESTAMP ORDER BY m DESC AS OF now() UP TO now() + interval '1 second'")
	var moods []string
	for _, row := range strings.Split(got, "\n") {
		moods = append(moods, row[strings.LastIndex(row, "| ")+2:])
	}
	if want := []string{"∅", `it's, "fine"`, "ok", "sad"}; !slices.Equal(moods, want) {
		t.Errorf("SUBSCRIBE in the order of an enum: got %q, want %q (%s)", moods, want, got)
	}
}

// sameSubscribed compares the rows that a SUBSCRIBE begins with to those of PostgreSQL's table.
func sameSubscribed(t *testing.T, ours, theirs *pgconn.PgConn, table string) {
	t.Helper()
	rows := strings.Split(said(theirs, "SELECT * FROM "+table), "\n")
	got := strings.Split(said(ours, "SUBSCRIBE "+table+" AS OF now() UP TO now() + interval '1 second'"), "\n")
	if len(got) != len(rows) {
		t.Fatalf("SUBSCRIBE %s: %d rows, want %d: %.1000s", table, len(got), len(rows), got)
	}
	for _, row := range rows {
		if !slices.ContainsFunc(got, func(g string) bool { return strings.HasSuffix(g, " | "+row) }) {
			t.Errorf("SUBSCRIBE %s does not have %.1000s", table, row)
		}
	}
}

// sameBinary compares the binary form of every value, and sends PostgreSQL's to us as a parameter.
func sameBinary(t *testing.T, ours, theirs *pgconn.PgConn) {
	t.Helper()
	said(ours, "DELETE FROM copied; INSERT INTO copied (id) SELECT id FROM every")
	for i, c := range typeColumns {
		for _, column := range []string{fmt.Sprintf("c%d", i), fmt.Sprintf("a%d", i)} {
			if column[0] == 'a' && c.typ == "positive" {
				continue
			}
			sql := "SELECT " + column + " FROM every ORDER BY id"
			got := ours.ExecParams(t.Context(), sql, nil, nil, nil, []int16{1}).Read()
			want := theirs.ExecParams(t.Context(), sql, nil, nil, nil, []int16{1}).Read()
			if got.Err != nil || want.Err != nil || len(got.Rows) != len(want.Rows) {
				t.Errorf("%s: %d rows, %v; want %d, %v", sql, len(got.Rows), got.Err, len(want.Rows), want.Err)
				continue
			}
			for row := range want.Rows {
				x, y := got.Rows[row][0], want.Rows[row][0]
				if (x == nil) != (y == nil) || !bytes.Equal(withoutOID(x, column, c.typ), withoutOID(y, column, c.typ)) {
					t.Errorf("%s (%s), row %d: got %x, want %x", column, c.typ, row, x, y)
				}
				r := ours.ExecParams(t.Context(), "UPDATE copied SET "+column+" = $1 WHERE id = $2", [][]byte{y, []byte(fmt.Sprint(row))}, nil, []int16{1, 0}, nil).Read()
				if r.Err != nil {
					t.Errorf("%s (%s), row %d as a parameter: %v", column, c.typ, row, r.Err)
				}
			}
		}
	}
	if got, want := said(ours, "SELECT * FROM copied ORDER BY id"), said(ours, "SELECT * FROM every ORDER BY id"); got != want {
		t.Errorf("what binary parameters stored\n got %s\nwant %s", got, want)
	}
}

// withoutOID is the binary form of a value without the OID of the enum that an array of one begins with: it differs between servers.
func withoutOID(raw []byte, column, typ string) []byte {
	if column[0] != 'a' || typ != "mood" || len(raw) < 12 {
		return raw
	}
	return append(append([]byte{}, raw[:8]...), raw[12:]...)
}

// typeQueries use the table every.
var typeQueries = []string{
	"UPDATE every SET a2 = a2 || 5, c22 = 'sad' WHERE id = 0; SELECT a2, c22 FROM every WHERE id = 0",
	"UPDATE every SET a2 = ARRAY[id, c2] WHERE id = 2; SELECT a2 FROM every WHERE id = 2",
	"SELECT id, c22 FROM every ORDER BY c22, id", "SELECT id FROM every WHERE c22 < 'ok' ORDER BY id", "SELECT id FROM every WHERE c22 = 'ok'", "SELECT id FROM every WHERE a22 = '{ok,NULL,sad}'",
	"SELECT id FROM every WHERE c2 = ANY('{1,7}') ORDER BY id", "SELECT id, a2[1], a8[0][5] FROM every ORDER BY id", "SELECT id FROM every ORDER BY a2, id", "SELECT id FROM every WHERE c22 = 'angry'",
	"INSERT INTO every (id, c23) VALUES (10, 0)", "INSERT INTO every (id, c22) VALUES (10, 'angry')", "INSERT INTO every (id, a22) VALUES (10, '{ok,angry}')", "INSERT INTO every (id, a2) VALUES (10, '{1')",
	"INSERT INTO every (id, a2) VALUES (10, ARRAY['x'])", "INSERT INTO every (id, a2) VALUES (10, 5)", "INSERT INTO every (id, a9) VALUES (10, '{abcdef}')", "UPDATE every SET c23 = -c23 WHERE id = 0",
	"INSERT INTO every (id, a2, c22) SELECT 11, array_agg(id ORDER BY id), 'ok' FROM every; SELECT a2, c22 FROM every WHERE id = 11", "INSERT INTO every (id, a3) VALUES (12, ARRAY[1,2]); SELECT a3 FROM every WHERE id = 12",
	"CREATE TABLE by_array (k int[], m mood, v text, PRIMARY KEY (m, k)); INSERT INTO by_array VALUES ('{1,2}', 'ok', 'a'), ('[0:1]={1,2}', 'ok', 'b'), ('{1,2}', 'sad', 'c'), ('{NULL}', 'ok', 'd'); SELECT v FROM by_array WHERE k = '{1,2}' AND m = 'ok'",
	"INSERT INTO by_array VALUES ('{1,2}', 'ok', 'again')", "UPDATE by_array SET v = 'e' WHERE k = ARRAY[NULL]::int[] AND m = 'ok'; SELECT * FROM by_array ORDER BY m, k", "DELETE FROM by_array WHERE m = 'ok' AND k = '{1,2}'; SELECT v FROM by_array ORDER BY v",
	"SELECT min(c22), max(c22), max(a2), min(a8), count(DISTINCT a2), count(DISTINCT c22), count(DISTINCT a6) FROM every", "SELECT array_agg(DISTINCT c22), array_agg(DISTINCT a2[1]) FROM every",
	"SELECT c22, count(*) FROM every GROUP BY c22 ORDER BY c22 DESC", "SELECT a2, count(*) FROM every GROUP BY a2 ORDER BY a2", "SELECT x.id, y.id FROM every x JOIN every y ON x.a2 = y.a2 AND x.c22 = y.c22 ORDER BY 1, 2",
	"SELECT c21 = 'abc', c20 = 26, c20 + 0 = 26 FROM every WHERE id = 0", "SELECT 'x'::mood", "SELECT '-1'::positive", "SELECT array_length(a2, 1), cardinality(a2), a2 || a2 FROM every WHERE id = 0",
}
