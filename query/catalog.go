package query

import (
	"regexp"
	"strings"
)

// functions are the scalar functions and, by their signs, the operators ("prefix -" for those with one operand). They are built when the
// program starts and only read.
var (
	functions       = catalogOf(mathEntries, floatEntries, numericEntries, exactEntries, textEntries, timeEntries, jsonEntries, splitEntries, jsonbEntries, jsonMakers, sessionEntries, regEntries)
	aggregates      = catalogOf(aggregateEntries, pairEntries, statisticEntries, extremeEntries(), listAggregates)
	windowFunctions = catalogOf(windowEntries)
	countStar       = &function{ret: kInt8, sql: "count({d}*{o}){f}"}
)

func catalogOf(tables ...[]entry) map[string][]*function {
	m := map[string][]*function{}
	for _, table := range tables {
		for _, e := range table {
			m[e.name] = append(m[e.name], e.function())
		}
	}
	return m
}

// entry is one row of a table of functions. Arguments and result are written as letters, see letters; a '*' behind the last argument means
// any number of it.
type entry struct {
	name, args, ret string
	sql             string // DuckDB SQL, see function.sql; in an aggregate @f(...)@ marks the calls that OVER and FILTER belong to
	impl            implementation
	env             bool // impl asks about the session
	volatile        bool // impl answers differently each time
	nulls           bool // impl sees NULLs; else a NULL argument makes the result NULL
}

var letters = map[byte]kind{
	'b': kBool, 's': kInt2, 'i': kInt4, 'l': kInt8, 'f': kFloat4, 'd': kFloat8, 'n': kNumeric, 't': kText, 'v': kVarchar, 'c': kChar,
	'y': kBytea, 'D': kDate, 'T': kTime, 'S': kStamp, 'Z': kStampTZ, 'I': kInterval, 'u': kUUID, 'j': kJSON, 'J': kJSONB, '?': kAny, 'h': kHuge,
	'L': kList, 'W': kRow,
	'o': kOID, 'N': kName, 'Q': kLetter, 'C': kRegclass, 'Y': kRegtype, 'P': kRegproc, 'A': kRegspace, 'R': kRegrole,
}

func kindsOf(s string) []kind {
	var out []kind
	array := kind(0)
	for i := range len(s) {
		switch s[i] {
		case '*':
		case '[': // an array of what follows
			array = kArrays
		default:
			out = append(out, array+letters[s[i]])
			array = 0
		}
	}
	return out
}

var callMark = regexp.MustCompile(`@(\w+)\(`)

// function is the entry as the planner uses it. A Go implementation is called by a name made of the function's and its arguments'.
func (e entry) function() *function {
	f := &function{args: kindsOf(e.args), rest: strings.HasSuffix(e.args, "*"), ret: kindsOf(e.ret)[0]}
	if e.impl != nil {
		f.sql = e.engineName() + "({*})"
		if e.env {
			f.sql = e.engineName() + "({r}, {*})"
			if e.args == "" {
				f.sql = e.engineName() + "({r})"
			}
		}
		return f
	}
	f.ours = strings.Contains(e.sql, "@tr_")
	f.sql = callMark.ReplaceAllString(e.sql, "$1({d}")
	f.sql = strings.ReplaceAll(f.sql, ")@", "{o}){f}")
	return f
}

// operatorWords spell operators in the names of Go functions.
var operatorWords = strings.NewReplacer("+", "add", "-", "sub", "*", "mul", "/", "div", "%", "mod", "^", "pow", "|", "bar", "&", "and",
	"#", "hash", "~", "tilde", "!", "not", "<", "lt", ">", "gt", "@", "at", "?", "q", " ", "_")

func (e entry) engineName() string {
	name := "tr_f_" + e.name
	if word := operatorWords.Replace(e.name); word != e.name {
		name = "tr_op_" + word
	}
	for _, k := range kindsOf(e.args) {
		if isArray(k) {
			name, k = name+"_array", k-kArrays
		}
		name += "_" + kindNames[k]
	}
	return name
}

// aggregateEntries: {k1} is a key that orders as the value does.
var aggregateEntries = []entry{
	{name: "count", args: "?", ret: "l", sql: "@count({k1})@"},
	{name: "sum", args: "s", ret: "l", sql: "CAST(@sum({1})@ AS BIGINT)"},
	{name: "sum", args: "i", ret: "l", sql: "CAST(@sum({1})@ AS BIGINT)"},
	{name: "sum", args: "l", ret: "n", sql: "tr_huge_numeric(@sum({1})@)"},
	{name: "sum", args: "n", ret: "n", sql: "@tr_sum_numeric({1})@"},
	{name: "sum", args: "f", ret: "f", sql: "@tr_sum_float4({1})@"},
	{name: "sum", args: "d", ret: "d", sql: "@tr_sum_float8({1})@"},
	{name: "sum", args: "I", ret: "I", sql: "@tr_sum_interval({1})@"},
	{name: "avg", args: "s", ret: "n", sql: "tr_huge_avg(@sum({1})@, @count({1})@)"},
	{name: "avg", args: "i", ret: "n", sql: "tr_huge_avg(@sum({1})@, @count({1})@)"},
	{name: "avg", args: "l", ret: "n", sql: "tr_huge_avg(@sum({1})@, @count({1})@)"},
	{name: "avg", args: "n", ret: "n", sql: "@tr_avg_numeric({1})@"},
	{name: "avg", args: "f", ret: "d", sql: "@tr_avg_float8(CAST({1} AS DOUBLE))@"},
	{name: "avg", args: "d", ret: "d", sql: "@tr_avg_float8({1})@"},
	{name: "avg", args: "I", ret: "I", sql: "@tr_avg_interval({1})@"},
	{name: "bool_and", args: "b", ret: "b", sql: "@bool_and({1})@"},
	{name: "every", args: "b", ret: "b", sql: "@bool_and({1})@"},
	{name: "bool_or", args: "b", ret: "b", sql: "@bool_or({1})@"},
	{name: "string_agg", args: "tt", ret: "t", sql: "@string_agg({1}, coalesce({2}, ''))@"},
	{name: "bit_and", args: "s", ret: "s", sql: "@bit_and({1})@"},
	{name: "bit_and", args: "i", ret: "i", sql: "@bit_and({1})@"},
	{name: "bit_and", args: "l", ret: "l", sql: "@bit_and({1})@"},
	{name: "bit_or", args: "s", ret: "s", sql: "@bit_or({1})@"},
	{name: "bit_or", args: "i", ret: "i", sql: "@bit_or({1})@"},
	{name: "bit_or", args: "l", ret: "l", sql: "@bit_or({1})@"},
}

// statisticEntries are the variances and deviations, of which PostgreSQL has six names each.
var statisticEntries = statistics()

func statistics() []entry {
	var out []entry
	for name, does := range map[string]string{
		"variance": "var_samp", "var_samp": "var_samp", "var_pop": "var_pop", "stddev": "stddev_samp", "stddev_samp": "stddev_samp", "stddev_pop": "stddev_pop",
	} {
		out = append(
			out,
			entry{name: name, args: "s", ret: "n", sql: "@tr_" + does + "_numeric(tr_int8_numeric(CAST({1} AS BIGINT)))@"},
			entry{name: name, args: "i", ret: "n", sql: "@tr_" + does + "_numeric(tr_int8_numeric(CAST({1} AS BIGINT)))@"},
			entry{name: name, args: "l", ret: "n", sql: "@tr_" + does + "_numeric(tr_int8_numeric({1}))@"},
			entry{name: name, args: "n", ret: "n", sql: "@tr_" + does + "_numeric({1})@"},
			entry{name: name, args: "f", ret: "d", sql: "@tr_" + does + "_float8(CAST({1} AS DOUBLE))@"},
			entry{name: name, args: "d", ret: "d", sql: "@tr_" + does + "_float8({1})@"},
		)
	}
	return out
}

// extremeEntries are min and max of the kinds that have them in PostgreSQL 15.
func extremeEntries() []entry {
	var out []entry
	for _, name := range []string{"min", "max"} {
		for _, letter := range "siltDTSZ" {
			out = append(out, entry{name: name, args: string(letter), ret: string(letter), sql: "@" + name + "({1})@"})
		}
		for _, letter := range "ncIfd" { // of equal values that print differently PostgreSQL takes a certain one
			out = append(out, entry{name: name, args: string(letter), ret: string(letter), sql: "@tr_" + name + "_" + kindNames[letters[byte(letter)]] + "({1})@"})
		}
	}
	return out
}

var windowEntries = []entry{
	{name: "row_number", ret: "l", sql: "@row_number()@"},
	{name: "rank", ret: "l", sql: "@rank()@"},
	{name: "dense_rank", ret: "l", sql: "@dense_rank()@"},
	{name: "percent_rank", ret: "d", sql: "@percent_rank()@"},
	{name: "cume_dist", ret: "d", sql: "@cume_dist()@"},
	{name: "ntile", args: "i", ret: "i", sql: "CAST(@ntile(tr_ntile({1}))@ AS INTEGER)"},
	{name: "lag", args: "?", ret: "?", sql: "@lag({1})@"},
	{name: "lag", args: "?i", ret: "?", sql: "@lag({1}, {2})@"},
	{name: "lag", args: "?i?", ret: "?", sql: "@lag({1}, {2}, {3})@"},
	{name: "lead", args: "?", ret: "?", sql: "@lead({1})@"},
	{name: "lead", args: "?i", ret: "?", sql: "@lead({1}, {2})@"},
	{name: "lead", args: "?i?", ret: "?", sql: "@lead({1}, {2}, {3})@"},
	{name: "first_value", args: "?", ret: "?", sql: "@first_value({1})@"},
	{name: "last_value", args: "?", ret: "?", sql: "@last_value({1})@"},
	{name: "nth_value", args: "?i", ret: "?", sql: "@nth_value({1}, tr_nth_value({2}))@"},
}
