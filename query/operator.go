package query

import (
	"errors"
	"strings"

	pg_query "github.com/pganalyze/pg_query_go/v6"
)

var comparisons = map[string]string{"=": " = ", "<>": " <> ", "<": " < ", "<=": " <= ", ">": " > ", ">=": " >= "}

// operator plans l name r.
func (p *planner) operator(name string, l, r expr, loc int32) (expr, error) {
	if name == "!=" {
		name = "<>"
	}
	if op, ok := comparisons[name]; ok {
		a, b, err := p.comparands(name, l, r, loc)
		if err != nil {
			return expr{}, err
		}
		return boolExpr("(" + a + op + b + ")"), nil
	}
	if l.typ.Kind == kArray || r.typ.Kind == kArray {
		if e, ok, err := p.polymorphic(name, []expr{l, r}, loc); ok || err != nil {
			return e, p.at(loc, err)
		}
	}
	signature := typeName(l.typ) + " " + name + " " + typeName(r.typ)
	candidates := functions[name]
	if same := sameTyped(candidates, l, r); same != nil {
		candidates = []*function{same}
	}
	f, args, err := p.resolve(candidates, []expr{l, r})
	if errors.Is(err, errAmbiguous) {
		e := p.fail(loc, codeManyFunctions, "operator is not unique: %s", signature)
		e.Hint = "Could not choose a best candidate operator. You might need to add explicit type casts."
		return expr{}, e
	}
	if err != nil {
		return expr{}, p.at(loc, err)
	}
	if f == nil {
		return expr{}, p.noOperator(signature, loc)
	}
	return p.apply(f, args), nil
}

// sameTyped is the operator between two values of one type when the other side's type is not known: PostgreSQL tries that first.
func sameTyped(candidates []*function, l, r expr) *function {
	k := textLike(l.typ.Kind)
	if l.untyped() {
		k = textLike(r.typ.Kind)
	}
	if l.untyped() == r.untyped() {
		return nil
	}
	for _, f := range candidates {
		if f.wants(0) == k && f.wants(1) == k {
			return f
		}
	}
	return nil
}

func (p *planner) noOperator(signature string, loc int32) error {
	e := p.fail(loc, codeNoFunction, "operator does not exist: %s", signature)
	e.Hint = "No operator matches the given name and argument types. You might need to add explicit type casts."
	return e
}

// prefix plans name r.
func (p *planner) prefix(name string, r expr, loc int32) (expr, error) {
	f, args, err := p.resolve(functions["prefix "+name], []expr{r})
	if errors.Is(err, errAmbiguous) {
		return expr{}, p.fail(loc, codeManyFunctions, "operator is not unique: %s %s", name, typeName(r.typ))
	}
	if err != nil {
		return expr{}, p.at(loc, err)
	}
	if f == nil {
		return expr{}, p.noOperator(name+" "+typeName(r.typ), loc)
	}
	e := p.apply(f, args)
	e.fixed = r.fixed
	return e, nil
}

// comparands makes l and r one type and returns SQL of both that compares as PostgreSQL compares the values.
func (p *planner) comparands(name string, l, r expr, loc int32) (string, string, error) {
	if l.typ.Kind == kRow || r.typ.Kind == kRow {
		return "", "", p.refuse(loc, "a comparison of rows that are not written out")
	}
	t, ok := comparedTypes(l.typ, r.typ)
	if ok && t.Kind == kArray && unordered(t) {
		return "", "", p.fail(-1, codeNoFunction, "could not identify %s for type %s", comparisonOf(name), typeName(t.Element()))
	}
	if !ok || unordered(t) {
		return "", "", p.noOperator(typeName(l.typ)+" "+name+" "+typeName(r.typ), loc)
	}
	a, err := p.convert(l, t, false)
	if err != nil {
		return "", "", err
	}
	b, err := p.convert(r, t, false)
	if err != nil {
		return "", "", err
	}
	if t.Kind == kEnum && (name == "=" || name == "<>") {
		return a.sql, b.sql, nil // equal values are equal labels
	}
	if k := t.Kind; (k == kFloat4 || k == kFloat8) && name == "=" && !a.fixed && !b.fixed {
		// A join may give one side's value for the other's: equal is not enough then.
		return zeroed(a.sql, k), zeroed(b.sql, k), nil
	}
	return key(a.sql, t), key(b.sql, t), nil
}

// comparedAs is the kind that values of kinds a and b are compared as; kUnknown when there is no such operator.
func comparedAs(a, b kind) kind {
	switch {
	case a == kUnknown && b == kUnknown:
		return kText
	case a == kUnknown || a == b:
		return textLike(b)
	case b == kUnknown:
		return textLike(a)
	case identifies(a) || identifies(b):
		if becomes(a, kOID) && becomes(b, kOID) {
			return kOID
		}
		return kUnknown
	case category(a) == 'N' && category(b) == 'N':
		switch {
		case becomes(a, b) && b != kFloat4:
			return b
		case becomes(b, a) && a != kFloat4:
			return a
		}
		return kFloat8
	case category(a) == 'S' && category(b) == 'S':
		if a != kText && b != kText && (a == kChar || b == kChar) {
			return kChar
		}
		return kText
	case category(a) == category(b) || category(a) == 'T' || category(b) == 'T':
		if becomes(a, b) {
			return b
		}
		if becomes(b, a) {
			return a
		}
	}
	return kUnknown
}

func textLike(k kind) kind {
	if k == kVarchar || k == kForeign || k == kName || k == kLetter {
		return kText
	}
	return k
}

// rows plans the comparison of two rows written out.
func (p *planner) rows(s *scope, name string, l, r *pg_query.RowExpr, loc int32) (expr, error) {
	a, err := p.exprs(s, l.GetArgs())
	if err != nil {
		return expr{}, err
	}
	b, err := p.exprs(s, r.GetArgs())
	if err != nil {
		return expr{}, err
	}
	if len(a) != len(b) {
		return expr{}, p.fail(loc, codeSyntax, "unequal number of entries in row expressions")
	}
	if name == "!=" {
		name = "<>"
	}
	if comparisons[name] == "" {
		return expr{}, p.refuse(loc, "operator "+name+" between rows")
	}
	return p.rowCompare(name, a, b, loc)
}

// rowCompare compares rows as SQL does: = and <> are AND and OR of the columns; the others are decided by the first pair that differs.
func (p *planner) rowCompare(name string, a, b []expr, loc int32) (expr, error) {
	var parts []string
	for i := range a {
		one, err := p.operator(name, a[i], b[i], loc)
		if err != nil {
			return one, err
		}
		parts = append(parts, one.sql)
	}
	switch name {
	case "=":
		return boolExpr("(" + strings.Join(parts, " AND ") + ")"), nil
	case "<>":
		return boolExpr("(" + strings.Join(parts, " OR ") + ")"), nil
	}
	last := len(a) - 1
	final, err := p.operator(name, a[last], b[last], loc)
	if err != nil {
		return final, err
	}
	sql := final.sql
	for i := last - 1; i >= 0; i-- {
		differ, err := p.operator("<>", a[i], b[i], loc)
		if err != nil {
			return differ, err
		}
		strict, err := p.operator(name[:1], a[i], b[i], loc)
		if err != nil {
			return strict, err
		}
		sql = "CASE WHEN " + differ.sql + " IS NULL THEN NULL WHEN " + differ.sql + " THEN " + strict.sql + " ELSE " + sql + " END"
	}
	return boolExpr("(" + sql + ")"), nil
}
