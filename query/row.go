package query

import (
	"strings"

	pg_query "github.com/pganalyze/pg_query_go/v6"

	"tailrace"
)

// rowField is one field of a row as a value.
type rowField struct {
	name string
	e    expr
}

// Rows are values as far as JSON, count and comparisons need them: an expr of kind kRow holds its fields, and in sql whether there is a row, as
// a boolean that is NULL where there is none: a side of an outer join that found no match.

// rowJSON is the row as a JSON object.
func rowJSON(e expr) string {
	var names, values []string
	for _, f := range e.row {
		names = append(names, "tr_raw_text("+quote(f.name)+")")
		values = append(values, rawJSON(f.e))
	}
	list := func(parts []string) string { return "CAST([" + strings.Join(parts, ", ") + "] AS BLOB[])" }
	object := "tr_json_row(" + list(names) + ", " + list(values) + ")"
	if e.sql == "TRUE" {
		return object
	}
	return "CASE WHEN " + e.sql + " THEN " + object + " END"
}

// wholeRow is a reference to all columns of a member of FROM.
func (p *planner) wholeRow(at *scope, r *rel, loc int32) (expr, error) {
	out := expr{typ: tailrace.TypeOf(kRow), loc: loc}
	if r.table != nil && len(r.cols) > 0 {
		// The row's number in its scan is there when the row is, whatever its columns hold.
		p.scans[r.scan-1].numbed = true
		alias, _, _ := strings.Cut(r.cols[0].sql, ".")
		out.sql = "CASE WHEN " + alias + ".c" + itoa(len(r.table.Columns.Fields)) + " IS NOT NULL THEN TRUE END"
	}
	var present []string
	for _, c := range r.cols {
		e, err := p.refer(at, r, c, loc)
		if err != nil {
			return out, err
		}
		out.row = append(out.row, rowField{c.name, e})
		present = append(present, e.sql+" IS NOT NULL")
	}
	if len(present) == 0 {
		present = []string{"TRUE"}
	}
	if out.sql == "" {
		out.sql = "CASE WHEN " + strings.Join(present, " OR ") + " THEN TRUE END"
	}
	return out, nil
}

// rowOf is ROW(a, b) as a value: its fields are called f1, f2, ...
func (p *planner) rowOf(s *scope, n *pg_query.RowExpr) (expr, error) {
	out := expr{sql: "TRUE", typ: tailrace.TypeOf(kRow), loc: n.GetLocation()}
	es, err := p.exprs(s, n.GetArgs())
	if err != nil {
		return out, err
	}
	for i, e := range es {
		if e, err = p.typed(e); err != nil {
			return out, err
		}
		out.row = append(out.row, rowField{"f" + itoa(i+1), e})
	}
	return out, nil
}

// rowIsNull is row IS [NOT] NULL, which holds when it does for all fields.
func rowIsNull(e expr, word string) expr {
	parts := make([]string, len(e.row))
	for i, f := range e.row {
		parts[i] = "(" + f.e.sql + word
	}
	if len(parts) == 0 {
		return boolExpr("TRUE")
	}
	return boolExpr("(" + strings.Join(parts, " AND ") + ")")
}

// takesRows reports whether a function can do with a row: it wants JSON of it, or only whether it is there.
func (f *function) takesRows() bool {
	for _, form := range []string{"{1}", "{*}", "{1:", "{*:o}", "{rest:", "{w1}"} {
		if strings.Contains(f.sql, form) {
			return false
		}
	}
	return true
}

// rowQuery compares a row with the only row of a query, (a, b) = (SELECT ...); without one the answer is NULL.
func (p *planner) rowQuery(s *scope, name string, l *pg_query.RowExpr, n *pg_query.SubLink, loc int32) (expr, error) {
	q, err := p.query(n.GetSubselect().GetSelectStmt(), s)
	if err != nil {
		return expr{}, err
	}
	q = p.settle(q)
	left, err := p.exprs(s, l.GetArgs())
	if err != nil {
		return expr{}, err
	}
	switch {
	case len(q.columns) > len(left):
		return expr{}, p.fail(loc, codeSyntax, "subquery has too many columns")
	case len(q.columns) < len(left):
		return expr{}, p.fail(loc, codeSyntax, "subquery has too few columns")
	}
	if name == "!=" {
		name = "<>"
	}
	if comparisons[name] == "" {
		return expr{}, p.refuse(loc, "operator "+name+" between rows")
	}
	alias := p.alias("t")
	var right []expr
	for _, c := range queryColumns(q, alias) {
		right = append(right, expr{sql: c.sql, typ: c.typ, loc: -1})
	}
	e, err := p.rowCompare(name, left, right, loc)
	return boolExpr("(SELECT " + e.sql + " FROM (" + q.sql + ") AS " + alias + ")"), err
}

// rowsDistinct is (a, b) IS [NOT] DISTINCT FROM (c, d).
func (p *planner) rowsDistinct(s *scope, l, r *pg_query.RowExpr, n *pg_query.A_Expr) (expr, error) {
	as, err := p.exprs(s, l.GetArgs())
	if err != nil {
		return expr{}, err
	}
	bs, err := p.exprs(s, r.GetArgs())
	if err != nil {
		return expr{}, err
	}
	if len(as) != len(bs) {
		return expr{}, p.fail(n.GetLocation(), codeSyntax, "unequal number of entries in row expressions")
	}
	parts := make([]string, len(as))
	for i := range as {
		a, b, err := p.comparands("=", as[i], bs[i], n.GetLocation())
		if err != nil {
			return expr{}, err
		}
		parts[i] = a + " IS DISTINCT FROM " + b
	}
	sql := "(" + strings.Join(parts, " OR ") + ")"
	if n.GetKind() == pg_query.A_Expr_Kind_AEXPR_NOT_DISTINCT {
		sql = "(NOT " + sql + ")"
	}
	return boolExpr(sql), nil
}
