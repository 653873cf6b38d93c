package query

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"testing"

	pg_query "github.com/pganalyze/pg_query_go/v6"

	"tailrace"
	shortly "tailrace/expr"
	"tailrace/format"
)

// TestExprAgreesWithQuery evaluates random expressions with the package expr, as INSERT, UPDATE and short SELECTs do, and with the engine: values and
// types are the same wherever expr does not hand the expression on, and what fails here fails there.
func TestExprAgreesWithQuery(t *testing.T) {
	e := engine(t)
	const seed = 5
	rnd := rand.New(rand.NewPCG(seed, seed))
	known := 0
	for range 4000 {
		text := randomExpression(rnd, 3)
		short, ok := evaluateShort(text)
		if !ok {
			continue
		}
		known++
		long := ask(e, tables{}, "SELECT "+text, nil, nil)
		if short.err != "" && long.err != "" {
			continue // of several errors in one expression each finds its own first
		}
		if short.String() != long.String() {
			t.Errorf("seed %d: %s\n  expr:  %v\n  query: %v", seed, text, short, long)
		}
	}
	if known < 1000 {
		t.Errorf("got %d expressions that expr knows, want more", known)
	}
	t.Logf("%d expressions compared", known)
}

// evaluateShort is the answer of the package expr; ok is false when it hands the expression on.
func evaluateShort(text string) (a answer, ok bool) {
	sql := "SELECT " + text
	tree, err := pg_query.Parse(sql)
	if err != nil {
		return answer{}, false
	}
	target := tree.Stmts[0].Stmt.GetSelectStmt().TargetList[0].GetResTarget().Val
	settings := format.Default()
	settings.Location = berlin
	ex, err := shortly.BindOutput(target, &shortly.Scope{Text: sql, Settings: settings})
	if errors.Is(err, shortly.ErrUnsupported) {
		return answer{}, false
	}
	if err != nil {
		return failed(err), true
	}
	c := tailrace.MakeColumn(ex.Type.Kind, 1)
	err = ex.Append(&c, &shortly.Row{Settings: settings})
	if errors.Is(err, shortly.ErrUnsupported) {
		return answer{}, false
	}
	if err != nil {
		return failed(err), true
	}
	cell := "NULL"
	if !c.IsNull(0) {
		cell = string(format.AppendText(nil, ex.Type, &c, 0, settings))
	}
	p := &planner{}
	return answer{names: []string{p.nameOf(target)}, oids: []uint32{ex.Type.OID()}, mods: []int32{ex.Type.Mod}, rows: []string{cell}}, true
}

// randomExpression nests operators, casts and conditions over literals of all kinds.
func randomExpression(rnd *rand.Rand, depth int) string {
	if depth == 0 || rnd.IntN(6) == 0 {
		return randomLiteral(rnd)
	}
	sub := func() string { return randomExpression(rnd, depth-1) }
	one := func(list ...string) string { return list[rnd.IntN(len(list))] }
	switch rnd.IntN(14) {
	case 0, 1, 2:
		return fmt.Sprintf("(%s %s %s)", sub(), one("+", "-", "*", "/", "%"), sub())
	case 3, 4:
		return fmt.Sprintf("(%s %s %s)", sub(), one("=", "<>", "<", "<=", ">", ">="), sub())
	case 5:
		return fmt.Sprintf("(%s || %s)", sub(), sub())
	case 6, 7:
		return fmt.Sprintf("(%s)::%s", sub(), one("int", "smallint", "bigint", "numeric", "numeric(8,2)", "float8", "real", "text", "varchar(3)", "char(4)", "bool", "date", "timestamp", "timestamptz", "interval", "time", "uuid", "bytea"))
	case 8:
		return fmt.Sprintf("CASE WHEN %s THEN %s ELSE %s END", sub(), sub(), sub())
	case 9:
		return fmt.Sprintf("%s(%s, %s)", one("coalesce", "nullif", "greatest", "least"), sub(), sub())
	case 10:
		return fmt.Sprintf("(%s %s %s)", sub(), one("AND", "OR", "IS DISTINCT FROM", "IS NOT DISTINCT FROM"), sub())
	case 11:
		return fmt.Sprintf("(%s IN (%s, %s))", sub(), sub(), sub())
	case 12:
		return fmt.Sprintf("(%s %s)", sub(), one("IS NULL", "IS NOT NULL", "IS TRUE", "IS NOT FALSE"))
	}
	return fmt.Sprintf("%s(%s)", one("-", "NOT ", "abs", "lower", "upper", "length"), sub())
}

func randomLiteral(rnd *rand.Rand) string {
	return []string{
		fmt.Sprint(rnd.IntN(20) - 5), fmt.Sprint(rnd.IntN(1 << 31)), "2147483647", "9223372036854775807", "3000000000", fmt.Sprint(rnd.IntN(7), "::smallint"),
		decimal(rnd, 3, 3), "0.0", "1e10", "'1.5'::float8", "'NaN'::float8", "0.1::real", "'Infinity'::float8", "NULL", "true", "false", "'abc'", "'12'", "''", "'x'::text", "'ab '::char(4)", "'abc'::varchar(5)",
		"date '2024-02-29'", "timestamp '2024-01-31 10:20:30.5'", "timestamptz '2024-03-31 01:30+00'", "interval '1 mon 2 days 03:04:05'", "interval '-1 day'", "time '23:30'", "'t'::bool",
		"'00112233-4455-6677-8899-aabbccddeeff'::uuid", `'\x01ff'::bytea`, "'NaN'::numeric", "1.10::numeric(5,2)", "date 'infinity'", "NULL::int", "NULL::text",
	}[rnd.IntN(36)]
}
