package query

import (
	"strings"

	pg_query "github.com/pganalyze/pg_query_go/v6"
)

// subLink plans a subquery in an expression.
func (p *planner) subLink(s *scope, n *pg_query.SubLink) (expr, error) {
	p.exposes = n.GetSubLinkType() == pg_query.SubLinkType_ARRAY_SUBLINK
	q, err := p.query(n.GetSubselect().GetSelectStmt(), s)
	if err != nil {
		return expr{}, err
	}
	q = p.settle(q)
	switch n.GetSubLinkType() {
	case pg_query.SubLinkType_EXISTS_SUBLINK:
		return boolExpr("EXISTS (" + q.sql + ")"), nil
	case pg_query.SubLinkType_EXPR_SUBLINK:
		if len(q.columns) != 1 {
			return expr{}, p.fail(n.GetLocation(), codeSyntax, "subquery must return only one column")
		}
		return expr{sql: "(" + q.sql + ")", typ: q.columns[0].typ}, nil
	case pg_query.SubLinkType_ARRAY_SUBLINK:
		return p.arrayQuery(q, n.GetLocation())
	case pg_query.SubLinkType_ANY_SUBLINK, pg_query.SubLinkType_ALL_SUBLINK:
		return p.quantified(s, n, q)
	}
	return expr{}, p.refuse(n.GetLocation(), "this form of subquery")
}

// quantified plans x IN (query), x op ANY (query) and x op ALL (query), for a value or a row x.
func (p *planner) quantified(s *scope, n *pg_query.SubLink, q relation) (expr, error) {
	name := "="
	if len(n.GetOperName()) > 0 {
		name, _ = systemName(n.GetOperName())
	}
	if name == "!=" {
		name = "<>"
	}
	left := []*pg_query.Node{n.GetTestexpr()}
	if row := n.GetTestexpr().GetRowExpr(); row != nil {
		left = row.GetArgs()
	}
	ls, err := p.exprs(s, left)
	if err != nil {
		return expr{}, err
	}
	switch {
	case len(q.columns) > len(ls):
		return expr{}, p.fail(n.GetLocation(), codeSyntax, "subquery has too many columns")
	case len(q.columns) < len(ls):
		return expr{}, p.fail(n.GetLocation(), codeSyntax, "subquery has too few columns")
	}
	alias := p.alias("t")
	var rs []expr
	for _, c := range queryColumns(q, alias) {
		rs = append(rs, expr{sql: c.sql, typ: c.typ, loc: -1})
	}
	all := n.GetSubLinkType() == pg_query.SubLinkType_ALL_SUBLINK
	if len(ls) > 1 || comparisons[name] == "" {
		var test expr
		if len(ls) > 1 {
			test, err = p.rowCompare(name, ls, rs, n.GetLocation())
		} else {
			test, err = p.operator(name, ls[0], rs[0], n.GetLocation())
		}
		if err != nil {
			return test, err
		}
		return boolExpr(threeValued(test.sql, "FROM ("+q.sql+") AS "+alias, all)), nil
	}
	l, r, err := p.comparands(name, ls[0], rs[0], n.GetLocation())
	if err != nil {
		return expr{}, err
	}
	word := " ANY "
	if all {
		word = " ALL "
	}
	return boolExpr("(" + l + comparisons[name] + word + "(SELECT " + r + " FROM (" + q.sql + ") AS " + alias + "))"), nil
}

// threeValued is "test is true for any (all) rows" with SQL's unknown, as an aggregate.
func threeValued(test, from string, all bool) string {
	if all {
		return "(SELECT CASE WHEN count(*) FILTER (NOT " + test + ") > 0 THEN FALSE WHEN count(*) FILTER (" + test + " IS NULL) > 0 THEN NULL ELSE TRUE END " + from + ")"
	}
	return "(SELECT CASE WHEN count(*) FILTER (" + test + ") > 0 THEN TRUE WHEN count(*) FILTER (" + test + " IS NULL) > 0 THEN NULL ELSE FALSE END " + from + ")"
}

// elements are the elements of a one-dimensional array written out; ok is false for any other array.
func (p *planner) elements(s *scope, n *pg_query.Node) (es []expr, ok bool, err error) {
	if a := n.GetAArrayExpr(); a != nil && len(a.GetElements()) > 0 {
		for _, e := range a.GetElements() {
			if e.GetAArrayExpr() != nil {
				return nil, false, nil
			}
		}
		es, err := p.exprs(s, a.GetElements())
		if err != nil {
			return es, false, err
		}
		for _, e := range es {
			if e.typ.Kind == kArray {
				return nil, false, nil
			}
		}
		es, err = p.unify(es, "ARRAY")
		return es, true, err
	}
	if c := n.GetTypeCast(); c != nil && len(c.GetTypeName().GetArrayBounds()) == 1 {
		t, err := p.typeOf(c.GetTypeName())
		if err != nil {
			return nil, false, err
		}
		es, ok, err := p.elements(s, c.GetArg())
		if err != nil || !ok {
			return nil, false, err
		}
		for i := range es {
			if es[i], err = p.convert(es[i], t.Element(), true); err != nil {
				return nil, false, err
			}
		}
		return es, true, nil
	}
	if c := n.GetAConst(); c.GetSval() != nil && simpleArray(c.GetSval().GetSval()) {
		es, err := p.arrayText(c.GetSval().GetSval(), c.GetLocation())
		return es, err == nil, err
	}
	return nil, false, nil
}

// simpleArray reports whether an array literal has one dimension and no bounds written out.
func simpleArray(text string) bool {
	text = strings.TrimSpace(text)
	return strings.HasPrefix(text, "{") && !strings.Contains(text[1:], "{")
}

// arrayText reads a one-dimensional array literal: {1,2,NULL,"a b"}.
func (p *planner) arrayText(text string, loc int32) ([]expr, error) {
	bad := p.fail(loc, codeBadText, "malformed array literal: \"%s\"", text)
	body := strings.TrimSpace(text)
	if len(body) < 2 || body[0] != '{' || body[len(body)-1] != '}' {
		return nil, bad
	}
	body = body[1 : len(body)-1]
	var out []expr
	for body = strings.TrimLeft(body, " "); body != ""; {
		value, quoted, rest, ok := arrayElement(body)
		if !ok {
			return nil, bad
		}
		e := expr{sql: quote(value), typ: unknown, lit: &value, loc: loc, fixed: true}
		if !quoted && strings.EqualFold(value, "null") {
			e = nullExpr()
		}
		out = append(out, e)
		body = rest
	}
	return out, nil
}

// arrayElement cuts the first element off body.
func arrayElement(body string) (value string, quoted bool, rest string, ok bool) {
	var b strings.Builder
	i := 0
	if body[0] == '"' {
		quoted = true
		for i = 1; i < len(body) && body[i] != '"'; i++ {
			if body[i] == '\\' && i+1 < len(body) {
				i++
			}
			b.WriteByte(body[i])
		}
		if i++; i > len(body) {
			return "", false, "", false
		}
		value = b.String()
	} else {
		for ; i < len(body) && body[i] != ','; i++ {
			if strings.IndexByte(`{}"\`, body[i]) >= 0 {
				return "", false, "", false
			}
		}
		value = strings.TrimSpace(body[:i])
		if value == "" {
			return "", false, "", false
		}
	}
	rest = strings.TrimLeft(body[i:], " ")
	if rest == "" {
		return value, quoted, "", true
	}
	if rest[0] != ',' || strings.TrimSpace(rest[1:]) == "" {
		return "", false, "", false
	}
	return value, quoted, strings.TrimLeft(rest[1:], " "), true
}
