package expr

import (
	"bytes"

	pg_query "github.com/pganalyze/pg_query_go/v6"

	"tailrace"
)

var boolType = tailrace.TypeOf(tailrace.KindBool)

func (s *Scope) logic(b *pg_query.BoolExpr) (*Expr, error) {
	clause := map[pg_query.BoolExprType]string{
		pg_query.BoolExprType_AND_EXPR: "AND", pg_query.BoolExprType_OR_EXPR: "OR", pg_query.BoolExprType_NOT_EXPR: "NOT",
	}[b.Boolop]
	var args []*Expr
	for _, n := range b.Args {
		e, err := Bind(n, s)
		if err != nil {
			return nil, err
		}
		if e, err = s.condition(e, clause); err != nil {
			return nil, err
		}
		args = append(args, e)
	}
	if clause == "NOT" {
		return s.compute(boolType, b.Location, args, func(_ *Row, v []Value) (Value, error) { return boolean(v[0].Raw[0] == 0), nil })
	}
	return junction(args, clause == "OR", b.Location), nil
}

// junction is AND, or OR: decided by the first argument that is false, or true; else NULL if any is.
func junction(args []*Expr, or bool, loc int32) *Expr {
	return &Expr{Type: boolType, Column: -1, loc: loc, eval: func(r *Row) (Value, error) {
		unknown := false
		for _, a := range args {
			v, err := a.eval(r)
			switch {
			case err != nil:
				return null, err
			case v.Null:
				unknown = true
			case v.isTrue() == or:
				return boolean(or), nil
			}
		}
		if unknown {
			return null, nil
		}
		return boolean(!or), nil
	}}
}

func (s *Scope) nullTest(n *pg_query.NullTest) (*Expr, error) {
	e, err := Bind(n.Arg, s)
	if err != nil {
		return nil, err
	}
	if e, err = s.asText(e); err != nil {
		return nil, err
	}
	want := n.Nulltesttype == pg_query.NullTestType_IS_NULL
	return &Expr{Type: boolType, Column: -1, loc: n.Location, Const: e.Const, eval: func(r *Row) (Value, error) {
		v, err := e.eval(r)
		return boolean(v.Null == want), err
	}}, nil
}

func (s *Scope) booleanTest(n *pg_query.BooleanTest) (*Expr, error) {
	e, err := Bind(n.Arg, s)
	if err != nil {
		return nil, err
	}
	if e, err = s.condition(e, "IS TRUE"); err != nil {
		return nil, err
	}
	test := map[pg_query.BoolTestType]func(Value) bool{
		pg_query.BoolTestType_IS_TRUE:        Value.isTrue,
		pg_query.BoolTestType_IS_NOT_TRUE:    func(v Value) bool { return !v.isTrue() },
		pg_query.BoolTestType_IS_FALSE:       Value.isFalse,
		pg_query.BoolTestType_IS_NOT_FALSE:   func(v Value) bool { return !v.isFalse() },
		pg_query.BoolTestType_IS_UNKNOWN:     func(v Value) bool { return v.Null },
		pg_query.BoolTestType_IS_NOT_UNKNOWN: func(v Value) bool { return !v.Null },
	}[n.Booltesttype]
	return &Expr{Type: boolType, Column: -1, loc: n.Location, Const: e.Const, eval: func(r *Row) (Value, error) {
		v, err := e.eval(r)
		return boolean(test(v)), err
	}}, nil
}

// in binds x IN (a, b, ...) as x = a OR x = b ..., and NOT IN as x <> a AND x <> b ....
func (s *Scope) in(op string, a *pg_query.A_Expr) (*Expr, error) {
	list := a.Rexpr.GetList()
	if list == nil {
		return nil, ErrUnsupported
	}
	var args []*Expr
	for _, item := range list.Items {
		l, r, err := s.both(a.Lexpr, item)
		if err != nil {
			return nil, err
		}
		e, err := s.compare(op, l, r, a.Location)
		if err != nil {
			return nil, err
		}
		args = append(args, e)
	}
	return junction(args, op == "=", a.Location), nil
}

func (s *Scope) between(a *pg_query.A_Expr) (*Expr, error) {
	bounds := a.Rexpr.GetList().GetItems()
	if len(bounds) != 2 {
		return nil, ErrUnsupported
	}
	ops, or := [2]string{">=", "<="}, false
	if a.Kind == pg_query.A_Expr_Kind_AEXPR_NOT_BETWEEN {
		ops, or = [2]string{"<", ">"}, true
	}
	var args []*Expr
	for i, b := range bounds {
		l, r, err := s.both(a.Lexpr, b)
		if err != nil {
			return nil, err
		}
		e, err := s.compare(ops[i], l, r, a.Location)
		if err != nil {
			return nil, err
		}
		args = append(args, e)
	}
	return junction(args, or, a.Location), nil
}

// distinct binds IS [NOT] DISTINCT FROM.
func (s *Scope) distinct(a *pg_query.A_Expr) (*Expr, error) {
	l, r, err := s.both(a.Lexpr, a.Rexpr)
	if err != nil {
		return nil, err
	}
	if l, r, err = s.common("=", l, r, a.Location); err != nil {
		return nil, err
	}
	t, want := l.Type, a.Kind == pg_query.A_Expr_Kind_AEXPR_DISTINCT
	return &Expr{Type: boolType, Column: -1, loc: a.Location, eval: func(row *Row) (Value, error) {
		x, err := l.eval(row)
		if err != nil {
			return null, err
		}
		y, err := r.eval(row)
		if err != nil {
			return null, err
		}
		differ := x.Null != y.Null
		if !x.Null && !y.Null {
			differ = !bytes.Equal(key(t, x), key(t, y))
		}
		return boolean(differ == want), nil
	}}, nil
}

func (s *Scope) nullIf(a *pg_query.A_Expr) (*Expr, error) {
	l, r, err := s.both(a.Lexpr, a.Rexpr)
	if err != nil {
		return nil, err
	}
	equal, err := s.compare("=", l, r, a.Location)
	if err != nil {
		return nil, err
	}
	if l, err = s.asText(l); err != nil {
		return nil, err
	}
	return &Expr{Type: l.Type, Column: -1, loc: a.Location, eval: func(row *Row) (Value, error) {
		v, err := equal.eval(row)
		if err != nil || v.isTrue() {
			return null, err
		}
		return l.eval(row)
	}}, nil
}
