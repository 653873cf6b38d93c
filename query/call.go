package query

import (
	"errors"
	"strings"

	pg_query "github.com/pganalyze/pg_query_go/v6"

	"tailrace"
)

// call plans a function call: an aggregate, a window function, or a scalar function.
func (p *planner) call(s *scope, n *pg_query.FuncCall) (expr, error) {
	name, ok := systemName(n.GetFuncname())
	if !ok {
		return expr{}, p.noFunction(strings.Join(namesOf(n.GetFuncname()), "."), nil, n.GetLocation())
	}
	if n.GetFuncVariadic() {
		return expr{}, p.refuse(n.GetLocation(), "VARIADIC")
	}
	if n.GetAggWithinGroup() {
		return expr{}, p.refuse(n.GetLocation(), "WITHIN GROUP")
	}
	switch {
	case n.GetOver() != nil:
		return p.windowCall(s, name, n)
	case aggregates[name] != nil:
		return p.aggregate(s, name, n)
	case windowFunctions[name] != nil:
		return expr{}, p.fail(n.GetLocation(), codeMismatchedWindow, "window function %s requires an OVER clause", name)
	case n.GetAggStar(), n.GetAggDistinct(), n.GetAggFilter() != nil, len(n.GetAggOrder()) > 0:
		if functions[name] != nil {
			return expr{}, p.fail(n.GetLocation(), codeMismatchedWindow, "%s is not an aggregate function", signature(name, nil))
		}
	case name == "generate_series" || name == "unnest":
		return expr{}, p.refuse(n.GetLocation(), "a set-returning function inside an expression")
	}
	args, err := p.arguments(s, n)
	if err != nil {
		return expr{}, err
	}
	if name == "pg_typeof" && len(args) == 1 {
		return expr{sql: quote(typeName(args[0].typ)), typ: textType}, nil
	}
	return p.function(name, args, n.GetLocation())
}

const codeMismatchedWindow = "42809"

// arguments plans the arguments of a call; names (a => 1) are refused.
func (p *planner) arguments(s *scope, n *pg_query.FuncCall) ([]expr, error) {
	for _, a := range n.GetArgs() {
		if a.GetNamedArgExpr() != nil {
			return nil, p.refuse(a.GetNamedArgExpr().GetLocation(), "a named argument")
		}
	}
	return p.exprs(s, n.GetArgs())
}

// function plans the call of a scalar function.
func (p *planner) function(name string, args []expr, loc int32) (expr, error) {
	// A call with a type's name and one argument is a cast: text(1), float8('1').
	if k, ok := typeNames[name]; ok && len(args) == 1 && functions[name] == nil {
		e, err := p.convert(args[0], tailrace.TypeOf(k), true)
		if err != nil {
			return e, p.noFunction(name, args, loc)
		}
		return e, nil
	}
	f, converted, err := p.resolve(functions[name], args)
	if err != nil {
		return expr{}, p.notUnique(err, name, args, loc)
	}
	if f == nil {
		return expr{}, p.noFunction(name, args, loc)
	}
	return p.apply(f, converted), nil
}

// notUnique makes errAmbiguous the error that names the call; others stay.
func (p *planner) notUnique(err error, name string, args []expr, loc int32) error {
	if !errors.Is(err, errAmbiguous) {
		return err
	}
	e := p.fail(loc, codeManyFunctions, "function %s is not unique", signature(name, args))
	e.Hint = "Could not choose a best candidate function. You might need to add explicit type casts."
	return e
}

func (p *planner) noFunction(name string, args []expr, loc int32) error {
	e := p.fail(loc, codeNoFunction, "function %s does not exist", signature(name, args))
	e.Hint = "No function matches the given name and argument types. You might need to add explicit type casts."
	if refusedFunctions[name] {
		e = p.refuse(loc, "function "+signature(name, args))
	}
	return e
}

// refusedFunctions are some of PostgreSQL's that are not written yet, so that the error does not blame the types.
var refusedFunctions = map[string]bool{
	"array_agg": true, "json_agg": true, "jsonb_agg": true, "json_object_agg": true, "jsonb_object_agg": true, "to_json": true, "to_jsonb": true,
	"row_to_json": true, "array_length": true, "array_to_string": true, "string_to_array": true, "cardinality": true, "regexp_matches": true,
	"regexp_match": true, "regexp_split_to_array": true, "to_number": true, "to_date": true, "corr": true, "covar_pop": true, "covar_samp": true,
	"regr_slope": true, "percentile_cont": true, "percentile_disc": true, "mode": true, "grouping": true, "jsonb_build_object": true,
	"json_build_object": true, "jsonb_build_array": true, "jsonb_set": true, "jsonb_path_query": true, "to_tsvector": true,
	"xmlagg": true, "json_each": true, "jsonb_each": true, "array_append": true, "format": true, "age": true, "unnest": true,
}

// rowsOf plans a function in FROM: SQL that gives rows of one column c1.
func (p *planner) rowsOf(s *scope, n *pg_query.Node) (string, tailrace.Type, error) {
	f := n.GetFuncCall()
	if name, ok := systemName(f.GetFuncname()); f != nil && ok && name == "generate_series" {
		args, err := p.arguments(s, f)
		if err != nil {
			return "", unknown, err
		}
		e, fixed, err := p.seriesOf(args, f.GetLocation())
		if err != nil {
			return "", unknown, err
		}
		if fixed {
			return "SELECT " + e.of("generate_series") + " AS c1 FROM " + e.list, e.typ, nil
		}
		return "SELECT " + e.of("s") + " AS c1 FROM (SELECT unnest(" + e.list + ") AS s)", e.typ, nil
	}
	e, err := p.expr(s, n)
	if err != nil {
		return "", unknown, err
	}
	if e, err = p.typed(e); err != nil {
		return "", unknown, err
	}
	return "SELECT " + e.sql + " AS c1", e.typ, nil
}

// seriesSQL is a planned generate_series: list is a call of DuckDB's, of gives what each of its values becomes.
type seriesSQL struct {
	list string
	of   func(value string) string
	typ  tailrace.Type
}

// seriesOf plans generate_series. fixed tells that its arguments are the same for all rows, so that it can stream.
func (p *planner) seriesOf(args []expr, loc int32) (seriesSQL, bool, error) {
	f, converted, err := p.resolve(seriesFunctions, args)
	if err != nil {
		return seriesSQL{}, false, p.notUnique(err, "generate_series", args, loc)
	}
	if f == nil {
		return seriesSQL{}, false, p.noFunction("generate_series", args, loc)
	}
	args = converted
	fixed := true
	for _, a := range args {
		fixed = fixed && a.fixed
	}
	list, from, _ := strings.Cut(f.sql, " : ")
	of := func(value string) string { return f.expand(from, args, "{v}", value) }
	return seriesSQL{list: f.expand(list, args), of: of, typ: tailrace.TypeOf(f.ret)}, fixed, nil
}

// series plans generate_series in a select list: a list whose values become rows.
func (p *planner) series(s *scope, n *pg_query.FuncCall) (expr, error) {
	args, err := p.arguments(s, n)
	if err != nil {
		return expr{}, err
	}
	e, _, err := p.seriesOf(args, n.GetLocation())
	if err != nil {
		return expr{}, err
	}
	return expr{sql: "list_transform(" + e.list + ", lambda v: " + e.of("v") + ")", typ: e.typ}, nil
}

// seriesFunctions: a DuckDB list of bigints, and after the colon what each becomes.
var seriesFunctions = []*function{
	{args: []kind{kInt4, kInt4}, ret: kInt4, sql: "generate_series(CAST({1} AS BIGINT), CAST({2} AS BIGINT)) : CAST({v} AS INTEGER)"},
	{args: []kind{kInt4, kInt4, kInt4}, ret: kInt4, sql: "generate_series(CAST({1} AS BIGINT), CAST({2} AS BIGINT), tr_step(CAST({3} AS BIGINT))) : CAST({v} AS INTEGER)"},
	{args: []kind{kInt8, kInt8}, ret: kInt8, sql: "generate_series({1}, {2}) : {v}"},
	{args: []kind{kInt8, kInt8, kInt8}, ret: kInt8, sql: "generate_series({1}, {2}, tr_step({3})) : {v}"},
	{args: []kind{kNumeric, kNumeric}, ret: kNumeric, sql: "generate_series(CAST(0 AS BIGINT), tr_steps_numeric({1}, {2}, tr_int8_numeric(CAST(1 AS BIGINT)))) : tr_step_at_numeric({1}, tr_int8_numeric(CAST(1 AS BIGINT)), {v})"},
	{args: []kind{kNumeric, kNumeric, kNumeric}, ret: kNumeric, sql: "generate_series(CAST(0 AS BIGINT), tr_steps_numeric({1}, {2}, {3})) : tr_step_at_numeric({1}, {3}, {v})"},
	{args: []kind{kStamp, kStamp, kInterval}, ret: kStamp, sql: "generate_series(CAST(0 AS BIGINT), tr_steps({1}, {2}, {3})) : tr_step_at({1}, {3}, {v})"},
	{args: []kind{kStampTZ, kStampTZ, kInterval}, ret: kStampTZ, sql: "generate_series(CAST(0 AS BIGINT), tr_steps_tz({r}, {1}, {2}, {3})) : tr_step_at_tz({r}, {1}, {3}, {v})"},
}
