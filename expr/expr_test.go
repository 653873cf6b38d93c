package expr

import (
	"context"
	"errors"
	"os"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	pg_query "github.com/pganalyze/pg_query_go/v6"

	"tailrace"
	"tailrace/format"
	"tailrace/internal/pgtest"
)

// evaluate is text as PostgreSQL would answer SELECT text::text, or an error with its SQLSTATE.
func evaluate(text string) (string, error) {
	sql := "SELECT " + text
	res, err := pg_query.Parse(sql)
	if err != nil {
		return "", err
	}
	n := res.Stmts[0].Stmt.GetSelectStmt().TargetList[0].GetResTarget().Val
	s := format.Default()
	s.Labels = func(tailrace.CollectionID) []string { return []string{"sad", "ok", "happy"} }
	e, err := BindOutput(n, &Scope{Text: sql, Settings: s, Type: namedType})
	if err != nil {
		return "", err
	}
	v, err := e.Eval(&Row{Settings: s})
	if err != nil {
		return "", err
	}
	if v.Null {
		return "NULL", nil
	}
	return string(print(e.Type, v, s)), nil
}

// userTypes are the types that namedType knows.
const userTypes = `DROP TYPE IF EXISTS mood CASCADE; DROP DOMAIN IF EXISTS positive; DROP DOMAIN IF EXISTS required;
	CREATE TYPE mood AS ENUM ('sad', 'ok', 'happy'); CREATE DOMAIN positive AS int CHECK (VALUE > 0) CONSTRAINT at_most CHECK (VALUE <= 100);
	CREATE DOMAIN required AS varchar(4) NOT NULL CHECK (length(VALUE) > 0)`

func namedType(_, name string) *tailrace.NamedType {
	switch name {
	case "mood":
		return &tailrace.NamedType{Type: tailrace.Type{Kind: tailrace.KindEnum, Mod: -1, Name: "mood", ID: 7}}
	case "positive":
		checks := []tailrace.NamedCheck{{Name: "positive_check", Expr: "VALUE > 0"}, {Name: "at_most", Expr: "VALUE <= 100"}}
		return &tailrace.NamedType{Type: tailrace.TypeOf(tailrace.KindInt4), Domain: 8, Name: name, Checks: checks}
	case "required":
		return &tailrace.NamedType{
			Type: tailrace.Type{Kind: tailrace.KindVarchar, Mod: 8}, Domain: 9, Name: name, NotNull: true, Checks: []tailrace.NamedCheck{{Name: "required_check", Expr: "length(VALUE) > 0"}},
		}
	}
	return nil
}

// TestExpressionsAgreeWithPostgres evaluates the expressions of testdata/expressions and testdata/arrays here and in a real PostgreSQL: values, types of errors
// and the places that they point at must be the same.
func TestExpressionsAgreeWithPostgres(t *testing.T) {
	var raw []byte
	for _, name := range []string{"testdata/expressions", "testdata/arrays"} {
		more, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		raw = append(raw, more...)
	}
	ctx := context.Background()
	conn, err := pgx.Connect(ctx, pgtest.Shared(t).URL())
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close(ctx)
	if _, err := conn.Exec(ctx, "SET TimeZone = 'UTC'; "+userTypes); err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(string(raw)) {
		text := strings.TrimSpace(line)
		if text == "" || strings.HasPrefix(text, "#") {
			continue
		}
		want, wantAt := "", int32(0)
		rows, err := conn.PgConn().Exec(ctx, "SELECT "+text).ReadAll()
		var pe *pgconn.PgError
		switch {
		case errors.As(err, &pe):
			want, wantAt = pe.Code+": "+pe.Message, pe.Position
		case err != nil:
			t.Fatalf("%s: %v", text, err)
		case rows[0].Rows[0][0] == nil:
			want = "NULL"
		default:
			want = string(rows[0].Rows[0][0])
		}
		got, err := evaluate(text)
		gotAt := int32(0)
		var te *tailrace.Error
		if errors.As(err, &te) {
			got, gotAt = te.Code+": "+te.Message, int32(te.Position)
		} else if err != nil {
			got = "error: " + err.Error()
		}
		if got != want || gotAt != wantAt {
			t.Errorf("%s: got %s at %d, want %s at %d", text, got, gotAt, want, wantAt)
		}
	}
}

func TestParameterTakesTheTypeOfItsPlace(t *testing.T) {
	for text, want := range map[string]tailrace.Kind{
		"$1 + 1": tailrace.KindInt4, "1.5 * $1": tailrace.KindNumeric, "'x' || $1": tailrace.KindText, "$1::uuid": tailrace.KindUUID,
		"coalesce($1, true)": tailrace.KindBool, "a = $1": tailrace.KindInt8, "$1 IN (a, 2)": tailrace.KindInt8, "now() > $1": tailrace.KindTimestamptz,
	} {
		res, err := pg_query.Parse("SELECT " + text)
		if err != nil {
			t.Fatal(err)
		}
		var params []tailrace.Type
		s := &Scope{Params: &params, Settings: format.Default(), Column: func(_, name string) (int, tailrace.Type, bool) {
			return 0, tailrace.TypeOf(tailrace.KindInt8), name == "a"
		}}
		if _, err := Bind(res.Stmts[0].Stmt.GetSelectStmt().TargetList[0].GetResTarget().Val, s); err != nil {
			t.Errorf("%s: got %v, want no error", text, err)
			continue
		}
		if got := params[0].Kind; got != want {
			t.Errorf("%s: $1 is %v, want %v", text, tailrace.TypeOf(got), tailrace.TypeOf(want))
		}
	}
}
