package query

import (
	"errors"
	"slices"
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
		return p.orderedSet(s, name, n)
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
	case setFunctions[name]:
		return p.setCall(s, name, n)
	case name == "make_interval":
		return p.intervalCall(s, n)
	case slices.Contains(orderedSets, name):
		return expr{}, p.notWithin(s, name, n)
	}
	args, err := p.arguments(s, n)
	if err != nil {
		return expr{}, err
	}
	if name == "pg_typeof" && len(args) == 1 {
		return typeOf(args[0]), nil
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
	switch {
	case enumFunctions[name]:
		return p.enumFunction(name, args, loc)
	case (name == "to_json" || name == "to_jsonb") && len(args) == 1 && args[0].untyped():
		return expr{}, p.fail(-1, codeMismatch, "could not determine polymorphic type because input has type unknown")
	case polymorphs[name] != nil:
		if e, ok, err := p.polymorphic(name, args, loc); ok || err != nil {
			return e, err
		}
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
	"txid_current": true, "txid_current_if_assigned": true, "txid_current_snapshot": true, "pg_current_xact_id": true, "pg_current_snapshot": true,
	"pg_export_snapshot": true, "pg_current_wal_lsn": true, "pg_reload_conf": true, "pg_sequence_last_value": true,
	"jsonb_path_query": true, "jsonb_path_exists": true, "jsonb_path_match": true, "jsonb_path_query_array": true, "jsonb_path_query_first": true,
	"json_populate_record": true, "jsonb_populate_record": true, "json_populate_recordset": true, "jsonb_populate_recordset": true,
	"json_to_record": true, "jsonb_to_record": true, "json_to_recordset": true, "jsonb_to_recordset": true, "to_tsvector": true, "xmlagg": true, "normalize": true, "parse_ident": true,
	"int4range": true, "int8range": true, "numrange": true, "tsrange": true, "tstzrange": true, "daterange": true, "atan2d": true,
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
