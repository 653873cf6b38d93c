package sql

import (
	"slices"

	pg_query "github.com/pganalyze/pg_query_go/v6"

	"tailrace"
	"tailrace/catalog"
	"tailrace/expr"
)

// arrayOf finds column = ANY (array) among terms, for a key of one column, and returns the other terms too; nil when there is none.
func (s *Session) arrayOf(st *statement, table *catalog.Table, alias string, terms []*pg_query.Node) (array *expr.Expr, rest []*pg_query.Node) {
	if len(table.Columns.Key) != 1 {
		return nil, nil
	}
	f := &table.Columns.Fields[table.Columns.Key[0]]
	for i, n := range terms {
		a := n.GetAExpr()
		if a.GetKind() != pg_query.A_Expr_Kind_AEXPR_OP_ANY || len(a.Name) != 1 || a.Name[0].GetString_().GetSval() != "=" || !isColumn(a.Lexpr, f.Name, table, alias) {
			continue
		}
		e, err := expr.Bind(a.Rexpr, s.scope(st))
		if err == nil && e.Type.Kind == tailrace.KindNone {
			e, err = expr.BindAs(a.Rexpr, s.scope(st), tailrace.ArrayOf(f.Type.Plain()), f.Name)
		}
		if err == nil && e.Type.Kind == tailrace.KindArray && s.keyed(f, e.Type.Element()) {
			return e, slices.Delete(slices.Clone(terms), i, i+1)
		}
	}
	return nil, nil
}

// elements adds the array's elements to keys.
func (p *keyPath) elements(keys *tailrace.Batch, s *Session, row *expr.Row) error {
	v, err := p.array.Eval(row)
	if err != nil || v.Null {
		return err
	}
	element := p.array.Type.Element()
	_, list, err := tailrace.ReadArray(element.Kind, v.Raw)
	if err != nil {
		return err
	}
	f := &p.table.Columns.Fields[p.table.Columns.Key[0]]
	for list.Left > 0 {
		raw, null := list.Next()
		if k := keyValue(expr.Value{Raw: raw, Null: null}, element, f, s); k != nil {
			keys.Cols[0].Append(k)
			keys.N++
		}
	}
	return nil
}
