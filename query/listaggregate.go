package query

import (
	"tailrace"
)

// listAggregates are aggregates of which DuckDB only collects the values: what its list holds a Go function puts together. {w1} is the stored
// bytes of an argument, {j1} its JSON.
var listAggregates = []entry{
	{name: "array_agg", args: "?", ret: "?", sql: "tr_array(@list({w1})@)"},
	{name: "json_agg", args: "?", ret: "j", sql: "tr_json_agg(@list({j1})@, {lines})"},
	{name: "jsonb_agg", args: "?", ret: "J", sql: "tr_jsonb_agg(@list({j1})@)"},
	{name: "json_object_agg", args: "??", ret: "j", sql: "tr_json_object_agg(@list({j1})@, @list({j2})@)"},
	{name: "jsonb_object_agg", args: "??", ret: "J", sql: "tr_jsonb_object_agg(@list({j1})@, @list({j2})@)"},
}

// stackAggregate is array_agg of arrays.
var stackAggregate = []*function{entry{name: "array_agg", args: "?", ret: "?", sql: "tr_array_stack(@list({1})@)"}.function()}

// extremes are min and max of arrays and enums: the value whose key is the least or the greatest.
var extremes = map[string][]*function{
	"min": {entry{args: "?", ret: "?", sql: "@arg_min({1}, {k1})@"}.function()},
	"max": {entry{args: "?", ret: "?", sql: "@arg_max({1}, {k1})@"}.function()},
}

// ofCompound is the aggregate for arguments that are arrays or enums, where it is another one than for the rest.
func ofCompound(name string, args []expr) []*function {
	if len(args) != 1 || !compound(args[0].typ) {
		return aggregates[name]
	}
	if name == "array_agg" && args[0].typ.Kind == kArray {
		return stackAggregate
	}
	if fs := extremes[name]; fs != nil {
		return fs
	}
	return aggregates[name]
}

// listed reports whether an aggregate is one of listAggregates.
func listed(name string) bool {
	for _, a := range listAggregates {
		if a.name == name {
			return true
		}
	}
	return false
}

// aggregateType gives array_agg the type of its result.
func aggregateType(name string, e expr) expr {
	if name == "array_agg" && e.typ.Kind != kArray {
		e.typ = tailrace.ArrayOf(plainType(e.typ))
	}
	return e
}

// lines says whether json_agg begins a line for each value.
func lines(args []expr) string {
	return boolWord(len(args) > 0 && (args[0].typ.Kind == kArray || args[0].typ.Kind == kRow))
}

// distinctList is a list aggregate with DISTINCT: its values sorted, each once.
func (p *planner) distinctList(name string, args []expr, keys []sortKey, tail string) (string, expr, error) {
	if len(args) != 1 || args[0].typ.Kind == kRow {
		return "", expr{}, p.refuse(args[0].loc, "DISTINCT in "+signature(name, args))
	}
	arg := args[0]
	desc, first := false, false
	for i, k := range keys {
		if k.sql != arg.sql {
			return "", expr{}, p.fail(k.loc, codeInvalidRef, "in an aggregate with DISTINCT, ORDER BY expressions must appear in argument list")
		}
		if i == 0 {
			desc, first = k.desc, k.first
		}
	}
	kind, elem := arg.typ.Kind, arg.typ.Elem
	list := "tr_array_distinct(CAST(" + itoa(int(kind)) + " AS INTEGER), CAST(" + itoa(int(elem)) + " AS INTEGER), " + labelsOf(arg.typ) + ", " +
		boolWord(desc) + ", " + boolWord(first) + ", list(" + rawSQL(arg) + ")" + tail + ")"
	v := p.alias("v")
	json := "list_transform(" + list + ", lambda " + v + ": " + rawJSON(expr{sql: valueSQL(v, arg.typ), typ: arg.typ}) + ")"
	out := expr{typ: arg.typ}
	switch {
	case name == "json_agg":
		out.sql, out.typ = "tr_json_agg("+json+", "+lines(args)+")", tailrace.TypeOf(kJSON)
	case name == "jsonb_agg":
		out.sql, out.typ = "tr_jsonb_agg("+json+")", tailrace.TypeOf(kJSONB)
	case kind == kArray:
		out.sql = "tr_array_stack(" + list + ")"
	default:
		out.sql, out.typ = "tr_array("+list+")", tailrace.ArrayOf(plainType(arg.typ))
	}
	return out.sql, out, nil
}
