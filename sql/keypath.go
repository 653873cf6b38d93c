package sql

import (
	"bytes"
	"context"
	"slices"

	pg_query "github.com/pganalyze/pg_query_go/v6"

	"tailrace"
	"tailrace/catalog"
	"tailrace/expr"
)

// keyPath reads rows of a table by their whole key: WHERE id = $1, WHERE a = 1 AND b = 'x' AND more, WHERE id IN (1, 2), WHERE id = ANY ($1).
type keyPath struct {
	table *catalog.Table
	tuple [][]*expr.Expr // one slice of key column values for each key looked for
	array *expr.Expr     // instead, of the key's only column: its elements are the keys
	where *expr.Expr     // all of WHERE that the rows found must meet; nil for nothing
}

// tableScope is what names stand for where only table can be read. alias replaces its name.
func (s *Session) tableScope(st *statement, table *catalog.Table, alias string) *expr.Scope {
	sc := s.scope(st)
	if alias == "" {
		alias = table.Name
	}
	sc.Column = func(qualifier, name string) (int, tailrace.Type, bool) {
		i := table.Columns.ByName(name)
		if i < 0 || qualifier != "" && qualifier != alias {
			return 0, tailrace.Type{}, false
		}
		return i, table.Columns.Fields[i].Type, true
	}
	return sc
}

// keyPath is how to read the rows of where by key; expr.ErrUnsupported when where does not give every key column a value, or is more than expr can do.
func (s *Session) keyPath(st *statement, table *catalog.Table, alias string, where *pg_query.Node) (*keyPath, error) {
	schema := table.Columns
	if len(schema.Key) == 0 || where == nil {
		return nil, expr.ErrUnsupported
	}
	p := &keyPath{table: table}
	var err error
	if p.where, err = expr.BindCondition(where, s.tableScope(st, table, alias)); err != nil {
		return nil, err
	}
	terms := conjuncts(where)
	var rest []*pg_query.Node
	if p.array, rest = s.arrayOf(st, table, alias, terms); p.array != nil {
		if !p.array.Type.Element().Same(schema.Fields[schema.Key[0]].Type.Plain()) {
			return p, nil
		}
		p.where = nil // not to look for each row in the array again
		if len(rest) > 0 {
			all := &pg_query.Node{Node: &pg_query.Node_BoolExpr{BoolExpr: &pg_query.BoolExpr{Boolop: pg_query.BoolExprType_AND_EXPR, Args: rest}}}
			p.where, err = expr.BindCondition(all, s.tableScope(st, table, alias))
		}
		return p, err
	}
	p.tuple = [][]*expr.Expr{{}}
	for _, k := range schema.Key {
		values, err := s.valuesOf(st, &schema.Fields[k], table, alias, terms)
		if err != nil {
			return nil, err
		}
		if len(values) > 1 && len(schema.Key) > 1 {
			return nil, expr.ErrUnsupported
		}
		if len(values) == 1 {
			p.tuple[0] = append(p.tuple[0], values[0])
			continue
		}
		p.tuple = nil
		for _, v := range values {
			p.tuple = append(p.tuple, []*expr.Expr{v})
		}
	}
	return p, nil
}

// conjuncts are the terms that AND joins in n.
func conjuncts(n *pg_query.Node) []*pg_query.Node {
	b := n.GetBoolExpr()
	if b == nil || b.Boolop != pg_query.BoolExprType_AND_EXPR {
		return []*pg_query.Node{n}
	}
	var out []*pg_query.Node
	for _, a := range b.Args {
		out = append(out, conjuncts(a)...)
	}
	return out
}

// keyed tells that a key column can be looked up by a value of type t. A float does not say exactly which numeric or integer it is equal to, so a key of those is not.
func (s *Session) keyed(f *tailrace.Field, t tailrace.Type) bool {
	return (!isFloat(t.Kind) || isFloat(f.Type.Kind)) && assigns(t, f.Type)
}

// valuesOf finds column = value, or column IN (values), among terms.
func (s *Session) valuesOf(st *statement, f *tailrace.Field, table *catalog.Table, alias string, terms []*pg_query.Node) ([]*expr.Expr, error) {
	for _, n := range terms {
		a := n.GetAExpr()
		if a == nil || len(a.Name) != 1 || a.Name[0].GetString_().GetSval() != "=" {
			continue
		}
		var items []*pg_query.Node
		switch {
		case a.Kind == pg_query.A_Expr_Kind_AEXPR_OP && isColumn(a.Lexpr, f.Name, table, alias):
			items = []*pg_query.Node{a.Rexpr}
		case a.Kind == pg_query.A_Expr_Kind_AEXPR_OP && isColumn(a.Rexpr, f.Name, table, alias):
			items = []*pg_query.Node{a.Lexpr}
		case a.Kind == pg_query.A_Expr_Kind_AEXPR_IN && isColumn(a.Lexpr, f.Name, table, alias):
			items = a.Rexpr.GetList().GetItems()
		}
		if values, ok := s.constants(st, f, items); ok {
			return values, nil
		}
	}
	return nil, expr.ErrUnsupported
}

func isColumn(n *pg_query.Node, name string, table *catalog.Table, alias string) bool {
	fields := n.GetColumnRef().GetFields()
	if len(fields) == 2 {
		q := fields[0].GetString_().GetSval()
		if q != alias && (alias != "" || q != table.Name) {
			return false
		}
		fields = fields[1:]
	}
	return len(fields) == 1 && fields[0].GetString_().GetSval() == name
}

// constants binds items as values of a key column, which must not read columns.
func (s *Session) constants(st *statement, f *tailrace.Field, items []*pg_query.Node) ([]*expr.Expr, bool) {
	var out []*expr.Expr
	for _, n := range items {
		e, err := expr.Bind(n, s.scope(st))
		if err != nil {
			return nil, false
		}
		if e.Type.Kind == tailrace.KindNone {
			if e, err = expr.BindAs(n, s.scope(st), f.Type.Plain(), f.Name); err != nil {
				return nil, false
			}
		} else if !s.keyed(f, e.Type) {
			return nil, false
		}
		out = append(out, e)
	}
	return out, len(out) > 0
}

func isFloat(k tailrace.Kind) bool { return k == tailrace.KindFloat4 || k == tailrace.KindFloat8 }

// find returns the rows that the path leads to, with all columns of the table.
func (p *keyPath) find(ctx context.Context, s *Session, st *statement) (*tailrace.Batch, error) {
	s.way = "key lookup"
	schema := p.table.Columns
	keys, err := p.keys(s, s.row(st.params))
	if err != nil {
		return nil, err
	}
	rows, at, err := s.findKeys(ctx, p.table, keys)
	if err != nil {
		return nil, err
	}
	row := s.row(st.params)
	row.Batch = rows
	var keep []int32
	for _, i := range at {
		if i < 0 {
			continue
		}
		if p.where == nil {
			keep = append(keep, i)
			continue
		}
		row.I = int(i)
		v, err := p.where.Eval(row)
		if err != nil {
			return nil, err
		}
		if !v.Null && v.Raw[0] != 0 {
			keep = append(keep, i)
		}
	}
	if rows == nil {
		return tailrace.NewBatch(schema, 0), nil
	}
	out := *rows
	if len(keep) < rows.N || !slices.IsSorted(keep) {
		out = *rows.Gather(keep)
	}
	out.Times, out.Diffs = nil, nil
	return &out, nil
}

// findKeys finds the rows with the given keys at the time that the statement reads at.
func (s *Session) findKeys(ctx context.Context, table *catalog.Table, keys *tailrace.Batch) (*tailrace.Batch, []int32, error) {
	if s.at != nil {
		return s.lookupAt(ctx, table, keys, *s.at)
	}
	hashes := hashesOf(table.Columns, keys.Cols, keys.N)
	for _, h := range hashes {
		s.txn.readKey(table.ID, h)
	}
	overlay, err := s.txn.overlayOf(ctx, table.ID, hashes)
	if err != nil {
		return nil, nil, err
	}
	return s.lookup(ctx, table, keys, overlay)
}

// keys evaluates the keys, each once, in key order. A value that the key column cannot hold, or NULL, is the key of no row.
func (p *keyPath) keys(s *Session, row *expr.Row) (*tailrace.Batch, error) {
	schema := p.table.Columns
	keys := &tailrace.Batch{}
	for _, k := range schema.Key {
		keys.IDs = append(keys.IDs, schema.Fields[k].ID)
		keys.Cols = append(keys.Cols, tailrace.MakeColumn(schema.Fields[k].Type.Kind, len(p.tuple)))
	}
	vals := make([][]byte, len(schema.Key))
	if p.array != nil {
		if err := p.elements(keys, s, row); err != nil {
			return nil, err
		}
	}
	for _, tuple := range p.tuple {
		ok, err := p.values(vals, tuple, s, row)
		if err != nil {
			return nil, err
		}
		if !ok {
			continue
		}
		for i, v := range vals {
			keys.Cols[i].Append(v)
		}
		keys.N++
	}
	if keys.N < 2 {
		return keys, nil
	}
	return distinct(schema, keys), nil
}

// values evaluates a tuple into vals as the key's columns store it; false when it can be no row's key.
func (p *keyPath) values(vals [][]byte, tuple []*expr.Expr, s *Session, row *expr.Row) (bool, error) {
	schema := p.table.Columns
	for i, e := range tuple {
		v, err := e.Eval(row)
		if err != nil {
			return false, err
		}
		if vals[i] = keyValue(v, e.Type, &schema.Fields[schema.Key[i]], s); vals[i] == nil {
			return false, nil
		}
	}
	return true, nil
}

// keyValue is v as key column f stores it, nil when it can be no row's.
func keyValue(v expr.Value, t tailrace.Type, f *tailrace.Field, s *Session) []byte {
	if plain := f.Type.Plain(); !v.Null && !t.Same(plain) {
		var err error
		if v, err = expr.Convert(v, t, plain, false, s.format); err != nil {
			return nil
		}
	}
	if v.Null {
		return nil
	}
	if v.Raw == nil {
		return []byte{}
	}
	return v.Raw
}

// distinct is the different ones of keys in key order, so that rows come in the order that the table has them.
func distinct(schema *tailrace.Schema, keys *tailrace.Batch) *tailrace.Batch {
	ids, order := make([][]byte, keys.N), make([]int32, keys.N)
	for i := range keys.N {
		order[i] = int32(i)
		for c, k := range schema.Key {
			ids[i] = tailrace.AppendKey(ids[i], schema.Fields[k].Type, &keys.Cols[c], i)
		}
	}
	slices.SortStableFunc(order, func(a, b int32) int { return bytes.Compare(ids[a], ids[b]) })
	return keys.Gather(slices.CompactFunc(order, func(a, b int32) bool { return bytes.Equal(ids[a], ids[b]) }))
}
