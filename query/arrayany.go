package query

import (
	"bytes"

	pg_query "github.com/pganalyze/pg_query_go/v6"

	"tailrace"
)

// array plans x op ANY (array) and x op ALL (array).
func (p *planner) array(s *scope, n *pg_query.A_Expr) (expr, error) {
	x, err := p.expr(s, n.GetLexpr())
	if err != nil {
		return x, err
	}
	name, _ := systemName(n.GetName())
	if name == "!=" {
		name = "<>"
	}
	all := n.GetKind() == pg_query.A_Expr_Kind_AEXPR_OP_ALL
	es, ok, err := p.elements(s, n.GetRexpr())
	if err != nil {
		return x, err
	}
	if ok {
		return p.writtenOut(name, x, es, all, n.GetLocation())
	}
	list, err := p.expr(s, n.GetRexpr())
	if err != nil {
		return list, err
	}
	if list.untyped() { // of what the left side is compared with
		element := textType
		if !x.untyped() && x.typ.Kind != kArray && functions[name] == nil {
			element = plainType(x.typ)
			element.Kind = textLike(element.Kind)
		}
		if list, err = p.convert(list, tailrace.ArrayOf(element), false); err != nil {
			return list, err
		}
	}
	if list.typ.Kind != kArray {
		return list, p.fail(n.GetLocation(), codeMismatchedWindow, "op ANY/ALL (array) requires array on right side")
	}
	return p.quantify(name, x, list, all, n.GetLocation())
}

// writtenOut compares x with elements that stand in the statement: a list that DuckDB can look into.
func (p *planner) writtenOut(name string, x expr, es []expr, all bool, loc int32) (expr, error) {
	word, empty := " OR ", "FALSE"
	if all {
		word, empty = " AND ", "TRUE"
	}
	switch {
	case len(es) == 0:
		return boolExpr(empty), nil
	case name == "=" && !all:
		return p.anyEqual(x, es, false, loc)
	}
	sql := "("
	for i, e := range es {
		one, err := p.operator(name, x, e, loc)
		if err != nil {
			return one, err
		}
		if one.typ.Kind != kBool {
			return one, p.fail(loc, codeMismatchedWindow, "op ANY/ALL (array) requires operator to yield boolean")
		}
		if i > 0 {
			sql += word
		}
		sql += one.sql
	}
	return boolExpr(sql + ")"), nil
}

// quantify compares x with all elements of an array: by a Go function, or, for operators that are no comparison, each by the operator.
func (p *planner) quantify(name string, x, list expr, all bool, loc int32) (expr, error) {
	element := list.typ.Element()
	v := p.alias("v")
	one := expr{sql: valueSQL(v, element), typ: element, loc: list.loc}
	test, err := p.operator(name, x, one, loc)
	if err != nil {
		return test, err
	}
	if test.typ.Kind != kBool {
		return test, p.fail(loc, codeMismatchedWindow, "op ANY/ALL (array) requires operator to yield boolean")
	}
	if comparisons[name] != "" {
		return p.compareAll(name, x, list, all)
	}
	word := "tr_array_any"
	if all {
		word = "tr_array_all"
	}
	return boolExpr(word + "(list_transform(tr_array_list(" + list.sql + "), lambda " + v + ": tr_raw_bool(" + test.sql + ")))"), nil
}

// compareAll compares x with the elements, both made the type that the comparison is of. A lambda of DuckDB's would do too, but it may not refer
// to columns of a query around its own.
func (p *planner) compareAll(name string, x, list expr, all bool) (expr, error) {
	element := list.typ.Element()
	as, _ := comparedTypes(x.typ, element)
	if textLike(as.Kind) == textLike(element.Kind) {
		as = plainType(element)
	}
	x, err := p.convert(x, as, false)
	if err != nil {
		return x, err
	}
	if !sameType(element, as) {
		if list, err = p.convert(list, tailrace.ArrayOf(as), false); err != nil {
			return list, err
		}
	}
	kind := "CAST(" + itoa(int(as.Kind)) + " AS INTEGER), "
	switch {
	case name == "=" && !all:
		return boolExpr("tr_array_member(" + kind + rawSQL(x) + ", " + list.sql + ")"), nil
	case name == "<>" && all:
		return boolExpr("(NOT tr_array_member(" + kind + rawSQL(x) + ", " + list.sql + "))"), nil
	}
	return boolExpr("tr_array_compared(" + kind + labelsOf(as) + ", " + quote(name) + ", " + boolWord(all) + ", " + rawSQL(x) + ", " + list.sql + ")"), nil
}

// labelsOf is the labels of an enum as a stored array, an empty one for other types.
func labelsOf(t tailrace.Type) string {
	if t.Kind == kEnum {
		return mark(markLabels, int(t.ID))
	}
	return blob(flat(nil).put(nil))
}

// quantifiers are the Go functions of ANY and ALL.
var quantifiers = []entry{
	{name: "tr_array_member", args: "iyy", ret: "b", nulls: true, impl: memberOf},
	{name: "tr_array_compared", args: "iytbyy", ret: "b", nulls: true, impl: compared},
	{name: "tr_array_any", args: "L", ret: "b", impl: decided(true)},
	{name: "tr_array_all", args: "L", ret: "b", impl: decided(false)},
}

// members are the elements of an array, for many questions about it.
type members struct {
	of   []byte // the array, as the row had it that made the set
	has  map[string]bool
	null bool
	any  bool
	key  []byte // of the value looked for; its memory stays
}

// same reports whether the set is of the array raw: a parameter is the same bytes in all rows of a call.
func (m *members) same(raw []byte) bool {
	return len(m.of) == len(raw) && (len(raw) > 0 && &m.of[0] == &raw[0] || bytes.Equal(m.of, raw))
}

// memberOf is a[1] = ANY (a[2]). The set of the elements stays for the next row, whose array is mostly the same.
func memberOf(f *frame, dst []byte, a [][]byte) ([]byte, error) {
	if a[2] == nil {
		return nil, errNull
	}
	keys := elementKeys{f: f, k: kind(i32(a[0]))}
	set, ok := f.cache.value.(*members)
	if !ok || !set.same(a[2]) {
		v, err := readArray(a[2])
		if err != nil {
			return nil, err
		}
		set = &members{of: a[2], has: make(map[string]bool, len(v.rows)), any: len(v.rows) > 0}
		for _, r := range v.rows {
			if r == nil {
				set.null = true
			} else {
				set.has[string(keys.of(nil, r))] = true
			}
		}
		f.cache.value = set
	}
	if set.any && a[1] != nil {
		set.key = keys.of(set.key[:0], a[1])
	}
	switch {
	case !set.any:
		return putBool(dst, false), nil
	case a[1] == nil:
		return nil, errNull
	case set.has[string(set.key)]:
		return putBool(dst, true), nil
	case set.null:
		return nil, errNull
	}
	return putBool(dst, false), nil
}

// compared is a[4] op ANY (a[5]), or ALL where a[3] says so.
func compared(f *frame, dst []byte, a [][]byte) ([]byte, error) {
	if a[5] == nil {
		return nil, errNull
	}
	v, err := readArray(a[5])
	if err != nil {
		return nil, err
	}
	labels, err := readArray(a[1])
	if err != nil {
		return nil, err
	}
	keys := elementKeys{f: f, k: kind(i32(a[0])), labels: labels.rows}
	var x, y []byte
	if a[4] != nil {
		x = keys.of(nil, a[4])
	}
	decisive, unknown := a[3][0] == 0, false
	for _, r := range v.rows {
		if r == nil || a[4] == nil {
			unknown = true
			continue
		}
		y = keys.of(y[:0], r)
		if holdsFor(string(a[2]), bytes.Compare(x, y)) == decisive {
			return putBool(dst, decisive), nil
		}
	}
	if unknown {
		return nil, errNull
	}
	return putBool(dst, !decisive), nil
}

// holdsFor reports whether l op r, for the sign of their comparison.
func holdsFor(op string, c int) bool {
	switch op {
	case "=":
		return c == 0
	case "<>":
		return c != 0
	case "<":
		return c < 0
	case "<=":
		return c <= 0
	case ">":
		return c > 0
	}
	return c >= 0
}

// decided is what a list of answers makes: the decisive one when it is there, else unknown when one is, else the other.
func decided(decisive bool) implementation {
	return func(_ *frame, dst []byte, a [][]byte) ([]byte, error) {
		v, err := readArray(a[0])
		if err != nil {
			return nil, err
		}
		unknown := false
		for _, r := range v.rows {
			if r == nil {
				unknown = true
			} else if (r[0] != 0) == decisive {
				return putBool(dst, decisive), nil
			}
		}
		if unknown {
			return nil, errNull
		}
		return putBool(dst, !decisive), nil
	}
}
