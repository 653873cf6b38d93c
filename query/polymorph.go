package query

import (
	"strings"

	"tailrace"
)

// polymorph is one signature over arrays of any elements. Its arguments are letters: 'a' an array and 'e' an element, which become one type
// together, as PostgreSQL's anycompatible has it; 'x' an array and 'y' an element, which are one type already (anyarray, anyelement). Others are
// those of the tables of functions, '[' before one an array of it.
type polymorph struct {
	args string
	ret  string // a letter, 'a' an array of the elements
	// sql is DuckDB SQL with {1}, {2} for the arguments, {w1} for their stored bytes, and {k} for the kind of the elements.
	sql   string
	equal bool // elements are compared
}

// polymorphs are PostgreSQL's array functions and operators.
var polymorphs = map[string][]polymorph{
	"array_append":    {{args: "ae", ret: "a", sql: "tr_array_append({1}, {w2})"}},
	"array_prepend":   {{args: "ea", ret: "a", sql: "tr_array_prepend({w1}, {2})"}},
	"array_cat":       {{args: "aa", ret: "a", sql: "tr_array_cat({1}, {2})"}},
	"array_remove":    {{args: "ae", ret: "a", sql: "tr_array_remove({k}, {1}, {w2})", equal: true}},
	"array_replace":   {{args: "aee", ret: "a", sql: "tr_array_replace({k}, {1}, {w2}, {w3})", equal: true}},
	"array_positions": {{args: "ae", ret: "[i", sql: "tr_array_positions({k}, {1}, {w2})", equal: true}},
	"array_position": {
		{args: "ae", ret: "i", sql: "tr_array_position({k}, {1}, {w2}, CAST(-2147483648 AS INTEGER))", equal: true},
		{args: "aei", ret: "i", sql: "tr_array_position({k}, {1}, {w2}, {3})", equal: true},
	},
	"array_length": {{args: "xi", ret: "i", sql: "tr_array_length({1}, {2})"}},
	"array_lower":  {{args: "xi", ret: "i", sql: "tr_array_lower({1}, {2})"}},
	"array_upper":  {{args: "xi", ret: "i", sql: "tr_array_upper({1}, {2})"}},
	"array_ndims":  {{args: "x", ret: "i", sql: "tr_array_ndims({1})"}},
	"array_dims":   {{args: "x", ret: "t", sql: "tr_array_dims({1})"}},
	"cardinality":  {{args: "x", ret: "i", sql: "tr_cardinality({1})"}},
	"trim_array":   {{args: "xi", ret: "a", sql: "tr_trim_array({1}, {2})"}},
	"array_fill": {
		{args: "y[i", ret: "a", sql: "tr_array_fill({w1}, {2}, tr_array(CAST([] AS BLOB[])))"},
		{args: "y[i[i", ret: "a", sql: "tr_array_fill({w1}, {2}, {3})"},
	},
	"array_to_string": {
		{args: "xt", ret: "t", sql: "tr_array_to_string({r}, {k}, {1}, {2}, CAST(NULL AS VARCHAR))"},
		{args: "xtt", ret: "t", sql: "tr_array_to_string({r}, {k}, {1}, {2}, {3})"},
	},
	"array_to_json": {{args: "x", ret: "j", sql: "tr_json_of({r}, CAST(21 AS INTEGER), {k}, {1})"}},
	"||": {
		{args: "aa", ret: "a", sql: "tr_array_cat({1}, {2})"},
		{args: "ae", ret: "a", sql: "tr_array_append({1}, {w2})"},
		{args: "ea", ret: "a", sql: "tr_array_prepend({w1}, {2})"},
	},
	"@>": {{args: "xx", ret: "b", sql: "tr_array_contains({k}, {1}, {2})", equal: true}},
	"<@": {{args: "xx", ret: "b", sql: "tr_array_contains({k}, {2}, {1})", equal: true}},
	"&&": {{args: "xx", ret: "b", sql: "tr_array_overlaps({k}, {1}, {2})", equal: true}},
}

// polymorphic plans a call of name over arrays; ok is false when no signature fits.
func (p *planner) polymorphic(name string, args []expr, loc int32) (out expr, ok bool, err error) {
	for _, c := range polymorphs[name] {
		letters := strings.ReplaceAll(c.args, "[", "")
		if len(letters) != len(args) {
			continue
		}
		element, fits := p.elementType(c, letters, args)
		if !fits {
			continue
		}
		if element.Kind == kUnknown {
			return out, false, p.fail(-1, codeMismatch, "could not determine polymorphic type because input has type unknown")
		}
		if c.equal && unordered(element) {
			return out, false, p.fail(-1, codeNoFunction, "could not identify an equality operator for type %s", typeName(element))
		}
		out, err := p.callPolymorph(c, letters, args, element)
		return out, err == nil, err
	}
	return out, false, nil
}

// elementType is the type that the elements of all arguments become; fits is false when the arguments are not what c wants.
func (p *planner) elementType(c polymorph, letters string, args []expr) (element tailrace.Type, fits bool) {
	var given []expr
	wants := c.wants()
	exact := strings.ContainsAny(letters, "xy")
	for i, a := range args {
		switch letter := letters[i]; {
		case strings.IndexByte("aexy", letter) < 0:
			if !becomes(textLike(kindOf(a.typ)), wants[i]) {
				return unknown, false
			}
		case a.untyped():
		case (letter == 'a' || letter == 'x') != (a.typ.Kind == kArray):
			return unknown, false
		case a.typ.Kind == kArray:
			given = append(given, expr{typ: plainType(a.typ.Element())})
		default:
			given = append(given, expr{typ: plainType(a.typ)})
		}
	}
	if len(given) == 0 {
		if exact {
			return unknown, true
		}
		return textType, true
	}
	for _, g := range given[1:] {
		if exact && !sameType(g.typ, given[0].typ) {
			return unknown, false
		}
	}
	t, err := p.commonType(given, "")
	return t, err == nil
}

// wants are the kinds of the arguments, kAny for those that depend on the elements.
func (c polymorph) wants() []kind {
	return kindsOf(strings.NewReplacer("a", "?", "e", "?", "x", "?", "y", "?").Replace(c.args))
}

func (p *planner) callPolymorph(c polymorph, letters string, args []expr, element tailrace.Type) (expr, error) {
	pairs := []string{"{r}", runMark, "{k}", "CAST(" + itoa(int(element.Kind)) + " AS INTEGER)"}
	wants := c.wants()
	for i, a := range args {
		to := typeOfKind(wants[i])
		switch letters[i] {
		case 'a', 'x':
			to = tailrace.ArrayOf(element)
		case 'e', 'y':
			to = element
		}
		var err error
		if a, err = p.convert(a, to, false); err != nil {
			return a, err
		}
		n := itoa(i + 1)
		pairs = append(pairs, "{"+n+"}", a.sql, "{w"+n+"}", rawSQL(a))
	}
	out := expr{sql: strings.NewReplacer(pairs...).Replace(c.sql), typ: tailrace.ArrayOf(element)}
	if c.ret != "a" {
		out.typ = typeOfKind(kindsOf(c.ret)[0])
	}
	return out, nil
}
