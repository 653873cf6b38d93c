package e2e

import (
	"context"
	"os"
	"strconv"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"
)

// TestIntrospectionAgreesWithPostgres asks what libraries ask of pg_catalog and information_schema, here and in PostgreSQL on the same objects: rows, column
// names, types, and the SQLSTATEs of errors are the same.
func TestIntrospectionAgreesWithPostgres(t *testing.T) {
	ours, theirs := psqlSetup(t)
	raw, err := os.ReadFile("testdata/introspection.sql")
	if err != nil {
		t.Fatal(err)
	}
	here, there := dial(t, ours.asTester()), dial(t, theirs)
	n := 0
	for sql := range strings.SplitSeq(string(raw), "\n\n") {
		if sql = strings.TrimSpace(sql); sql == "" {
			continue
		}
		n++
		if got, want := answered(t, here, sql), answered(t, there, sql); got != want {
			t.Errorf("%s\ngot\n%s\nwant\n%s", sql, got, want)
		}
	}
	t.Logf("%d questions", n)
}

func dial(t testing.TB, url string) *pgx.Conn {
	t.Helper()
	conn, err := pgx.Connect(context.Background(), url)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { conn.Close(context.Background()) })
	return conn
}

// answered is what a server says, as text. The database's name is the only thing that may differ.
func answered(t testing.TB, conn *pgx.Conn, sql string) string {
	t.Helper()
	results, err := conn.PgConn().Exec(t.Context(), sql).ReadAll()
	if err != nil {
		code, _, _ := strings.Cut(describe(err), " (")
		return code
	}
	var b strings.Builder
	r := results[0]
	for _, f := range r.FieldDescriptions {
		b.WriteString(f.Name + " ")
		if f.DataTypeOID < 16384 { // those of types made here differ
			b.WriteString(typeOfText(f.DataTypeOID) + " ")
		}
	}
	for _, row := range r.Rows {
		b.WriteString("\n")
		for _, v := range row {
			switch {
			case v == nil:
				b.WriteString("NULL|")
			case string(v) == conn.Config().Database:
				b.WriteString("(database)|")
			default:
				b.WriteString(string(v) + "|")
			}
		}
	}
	return b.String()
}

// typeOfText is an OID, with those that are text here where PostgreSQL has a type that we do not.
func typeOfText(oid uint32) string {
	switch oid {
	case 194, 2277, 869: // pg_node_tree, anyarray, inet
		oid = 25
	case 1034: // aclitem[]
		oid = 1009
	}
	return strconv.FormatUint(uint64(oid), 10)
}
