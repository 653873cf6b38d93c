package query

import (
	"strings"

	pg_query "github.com/pganalyze/pg_query_go/v6"

	"tailrace"
)

// kindNames are PostgreSQL's internal names of the kinds, which Go functions carry in theirs.
var kindNames = map[kind]string{
	kBool: "bool", kInt2: "int2", kInt4: "int4", kInt8: "int8", kFloat4: "float4", kFloat8: "float8", kNumeric: "numeric", kText: "text",
	kVarchar: "varchar", kChar: "bpchar", kBytea: "bytea", kDate: "date", kTime: "time", kStamp: "timestamp", kStampTZ: "timestamptz",
	kInterval: "interval", kUUID: "uuid", kJSON: "json", kJSONB: "jsonb", kForeign: "text",
	kOID: "oid", kName: "name", kLetter: "char", kRegclass: "regclass", kRegtype: "regtype", kRegproc: "regproc", kRegspace: "regnamespace", kRegrole: "regrole",
}

// pair is a cast's source and target.
type pair struct{ from, to kind }

// casts says how a value of one kind becomes another: a piece of DuckDB SQL with {1} for the value and {r} for the run, or, for the names
// that begin with tr_, a Go function (functions_cast.go). Text goes through input and output functions and is not listed.
var casts = map[pair]string{
	{kInt2, kInt4}: "CAST({1} AS INTEGER)", {kInt2, kInt8}: "CAST({1} AS BIGINT)", {kInt4, kInt8}: "CAST({1} AS BIGINT)",
	{kInt4, kInt2}: "CAST({1} AS SMALLINT)", {kInt8, kInt2}: "CAST({1} AS SMALLINT)", {kInt8, kInt4}: "CAST({1} AS INTEGER)",
	{kInt2, kFloat4}: "CAST({1} AS FLOAT)", {kInt4, kFloat4}: "CAST({1} AS FLOAT)", {kInt8, kFloat4}: "CAST({1} AS FLOAT)",
	{kInt2, kFloat8}: "CAST({1} AS DOUBLE)", {kInt4, kFloat8}: "CAST({1} AS DOUBLE)", {kInt8, kFloat8}: "CAST({1} AS DOUBLE)",
	{kFloat4, kInt2}: "CAST({1} AS SMALLINT)", {kFloat4, kInt4}: "CAST({1} AS INTEGER)", {kFloat4, kInt8}: "CAST({1} AS BIGINT)",
	{kFloat8, kInt2}: "CAST({1} AS SMALLINT)", {kFloat8, kInt4}: "CAST({1} AS INTEGER)", {kFloat8, kInt8}: "CAST({1} AS BIGINT)",
	{kFloat4, kFloat8}: "CAST({1} AS DOUBLE)", {kFloat8, kFloat4}: "tr_float8_float4({1})",
	{kInt2, kNumeric}: "tr_int8_numeric(CAST({1} AS BIGINT))", {kInt4, kNumeric}: "tr_int8_numeric(CAST({1} AS BIGINT))",
	{kInt8, kNumeric}: "tr_int8_numeric({1})", {kFloat4, kNumeric}: "tr_float4_numeric({1})", {kFloat8, kNumeric}: "tr_float8_numeric({1})",
	{kNumeric, kInt2}: "tr_numeric_int2({1})", {kNumeric, kInt4}: "tr_numeric_int4({1})", {kNumeric, kInt8}: "tr_numeric_int8({1})",
	{kNumeric, kFloat4}: "tr_numeric_float4({1})", {kNumeric, kFloat8}: "tr_numeric_float8({1})",
	{kBool, kInt4}: "CAST({1} AS INTEGER)", {kInt4, kBool}: "({1} <> 0)",
	{kDate, kStamp}: "tr_date_timestamp({1})", {kDate, kStampTZ}: "tr_date_timestamptz({r}, {1})",
	{kStamp, kDate}: "tr_timestamp_date({1})", {kStamp, kTime}: "tr_timestamp_time({1})", {kStamp, kStampTZ}: "tr_timestamp_timestamptz({r}, {1})",
	{kStampTZ, kDate}: "tr_timestamp_date(tr_timestamptz_timestamp({r}, {1}))", {kStampTZ, kTime}: "tr_timestamp_time(tr_timestamptz_timestamp({r}, {1}))",
	{kStampTZ, kStamp}: "tr_timestamptz_timestamp({r}, {1})",
	{kTime, kInterval}: "tr_time_interval({1})", {kInterval, kTime}: "tr_interval_time({1})",
	{kVarchar, kText}: "{1}", {kText, kVarchar}: "{1}", {kForeign, kText}: "{1}", {kForeign, kVarchar}: "{1}",
	{kText, kChar}: "{1}", {kVarchar, kChar}: "{1}", {kForeign, kChar}: "{1}",
	{kChar, kText}: "rtrim({1}, ' ')", {kChar, kVarchar}: "rtrim({1}, ' ')",
	{kJSONB, kJSON}: "{1}", {kJSON, kJSONB}: "tr_in_jsonb({r}, {1}, -1, 0)",
	{kBool, kText}:  "CAST({1} AS VARCHAR)",
	{kJSONB, kBool}: "tr_jsonb_bool({1})", {kJSONB, kNumeric}: "tr_jsonb_numeric({1}, 'numeric')",
	{kJSONB, kInt2}: "tr_numeric_int2(tr_jsonb_numeric({1}, 'smallint'))", {kJSONB, kInt4}: "tr_numeric_int4(tr_jsonb_numeric({1}, 'integer'))",
	{kJSONB, kInt8}: "tr_numeric_int8(tr_jsonb_numeric({1}, 'bigint'))", {kJSONB, kFloat8}: "tr_numeric_float8(tr_jsonb_numeric({1}, 'double precision'))",
	{kJSONB, kFloat4}: "tr_numeric_float4(tr_jsonb_numeric({1}, 'real'))",
}

// convert makes e the type t, by a cast written out (explicit) or by itself.
func (p *planner) convert(e expr, t tailrace.Type, explicit bool) (expr, error) {
	if e.typ == t {
		return e, nil
	}
	out := expr{typ: t, loc: e.loc, fixed: e.fixed}
	switch {
	case e.lit != nil:
		return p.literal(e, t)
	case e.null:
		out.sql = null(t.Kind)
		return out, nil
	case e.untyped() && e.param > 0:
		p.params[e.param-1] = plainType(t)
		out.sql = e.sql
	case e.untyped(): // a column of a UNION's arm, or of VALUES
		out.sql = inSQL(e.sql, t, p.position(e.loc))
		return out, nil
	case e.typ.Kind == kRow:
		return out, p.refuse(e.loc, "a row as a value")
	case compound(e.typ) || compound(t):
		return p.convertCompound(e, t, explicit)
	case e.typ.Kind == t.Kind:
		out.sql = e.sql
		if t.Mod < 0 {
			out.typ = e.typ
			if explicit {
				out.typ = t
			}
			out.table, out.attr = e.table, e.attr
			return out, nil
		}
	default:
		sql, err := p.castSQL(e, t.Kind)
		if err != nil {
			return out, err
		}
		out.sql = sql
	}
	if t.Mod >= 0 {
		out.sql = "tr_mod_" + kindNames[t.Kind] + "(" + out.sql + ", " + itoa(int(t.Mod)) + ", " + boolWord(explicit) + ")"
	}
	return out, nil
}

func boolWord(b bool) string {
	if b {
		return "TRUE"
	}
	return "FALSE"
}

func (p *planner) castSQL(e expr, to kind) (string, error) {
	from := e.typ.Kind
	if t, ok := casts[pair{from, to}]; ok {
		return strings.NewReplacer("{1}", e.sql, "{r}", runMark).Replace(t), nil
	}
	if t, ok := systemCast(e.sql, from, to); ok {
		return t, nil
	}
	switch {
	case category(from) == 'S':
		source := e.sql
		if from == kChar {
			source = "rtrim(" + source + ", ' ')"
		}
		return "tr_in_" + kindNames[to] + "(" + runMark + ", " + source + ", -1, 0)", nil
	case category(to) == 'S' && from == kBool:
		return "CAST(" + e.sql + " AS VARCHAR)", nil
	case category(to) == 'S':
		return "tr_out_" + kindNames[from] + "(" + runMark + ", " + e.sql + ")", nil
	}
	return "", p.fail(e.loc, codeCannotCast, "cannot cast type %s to %s", typeName(e.typ), typeName(tailrace.TypeOf(to)))
}

// typeCast plans CAST and ::.
func (p *planner) typeCast(s *scope, n *pg_query.TypeCast) (expr, error) {
	t, domain, err := p.namedType(n.GetTypeName())
	if err != nil {
		return expr{}, err
	}
	var e expr
	if a := n.GetArg().GetAArrayExpr(); a != nil && t.Kind == kArray { // the cast gives the elements their type
		e, err = p.arrayOf(s, a, plainType(t.Element()))
	} else {
		e, err = p.expr(s, n.GetArg())
	}
	if err != nil {
		return e, err
	}
	out, err := p.convert(e, t, true)
	if tailrace.Code(err) == codeCannotCast {
		return out, p.fail(n.GetLocation(), codeCannotCast, "cannot cast type %s to %s", typeName(e.typ), typeName(t))
	}
	if err == nil && domain != nil {
		return p.domain(out, domain)
	}
	return out, p.at(n.GetLocation(), err)
}
