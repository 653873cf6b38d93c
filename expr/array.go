package expr

import (
	"fmt"
	"slices"

	pg_query "github.com/pganalyze/pg_query_go/v6"

	"tailrace"
)

// array binds ARRAY[...]. as is the array type that a cast asks its elements for; of no kind when there is none.
func (s *Scope) array(a *pg_query.A_ArrayExpr, as tailrace.Type) (*Expr, error) {
	var args []*Expr
	nested := false
	for _, n := range a.Elements {
		var e *Expr
		var err error
		if inner := n.GetAArrayExpr(); inner != nil {
			e, err = s.array(inner, as)
		} else {
			e, err = Bind(n, s)
		}
		if err != nil {
			return nil, err
		}
		nested = nested || e.Type.Kind == tailrace.KindArray
		args = append(args, e)
	}
	if len(args) == 0 && as.Kind == tailrace.KindNone {
		return nil, &tailrace.Error{
			Code: "42P18", Message: "cannot determine type of empty array", Hint: "Explicitly cast to the desired type, for example ARRAY[]::integer[].", Position: s.position(a.Location),
		}
	}
	t, err := as, error(nil)
	if as.Kind == tailrace.KindNone {
		args, t, err = s.unify(args, "ARRAY")
		if err == nil && !nested {
			t = tailrace.ArrayOf(t)
		}
	} else {
		of := as
		if !nested {
			of = as.Element()
		}
		for i, e := range args {
			if args[i], err = s.convert(e, of, Explicit, e.loc); err != nil {
				return nil, err
			}
		}
	}
	if err != nil {
		return nil, err
	}
	return gathered(args, t, nested, a.Location), nil
}

// gathered evaluates args into an array of type t: of their values, or, when they are arrays themselves, of one dimension more.
func gathered(args []*Expr, t tailrace.Type, nested bool, loc int32) *Expr {
	e := &Expr{Type: t, Column: -1, loc: loc, Const: true}
	for _, a := range args {
		e.Const = e.Const && a.Const
	}
	e.eval = func(r *Row) (Value, error) {
		values := make([]Value, len(args))
		for i, a := range args {
			var err error
			if values[i], err = a.eval(r); err != nil {
				return null, err
			}
		}
		if nested {
			return nestArrays(values, t.Elem)
		}
		return listArray(values), nil
	}
	return e
}

// listArray is an array of one dimension.
func listArray(values []Value) Value {
	if len(values) == 0 {
		return Value{Raw: tailrace.AppendArray(nil, nil)}
	}
	out := tailrace.AppendArray(nil, []tailrace.Dim{{Length: len(values), Lower: 1}})
	for _, v := range values {
		out = appendElement(out, v)
	}
	return Value{Raw: out}
}

// nestArrays is the array whose elements are arrays, all of one shape; NULL counts as an empty one.
func nestArrays(values []Value, element tailrace.Kind) (Value, error) {
	var shape []tailrace.Dim
	var all []Value
	for i, v := range values {
		a, err := arrayOf(v, element)
		if err != nil {
			return null, err
		}
		if i == 0 {
			shape = a.dims
		} else if !slices.Equal(shape, a.dims) {
			return null, failure("2202E", "multidimensional arrays must have array expressions with matching dimensions")
		}
		all = append(all, a.values...)
	}
	if len(shape) == 0 {
		return array{}.value(), nil
	}
	if len(shape) == tailrace.MaxDims {
		return null, tooManyDims(tailrace.MaxDims + 1)
	}
	return array{append([]tailrace.Dim{{Length: len(values), Lower: 1}}, shape...), all}.value(), nil
}

func tooManyDims(n int) error {
	return failure("54000", fmt.Sprintf("number of array dimensions (%d) exceeds the maximum allowed (%d)", n, tailrace.MaxDims))
}

// array is a stored array taken apart; its values are views.
type array struct {
	dims   []tailrace.Dim
	values []Value
}

// arrayOf takes v apart; NULL is the empty array.
func arrayOf(v Value, element tailrace.Kind) (array, error) {
	if v.Null {
		return array{}, nil
	}
	dims, elements, err := tailrace.ReadArray(element, v.Raw)
	if err != nil {
		return array{}, err
	}
	a := array{dims: dims, values: make([]Value, 0, elements.Left)}
	for elements.Left > 0 {
		raw, isNull := elements.Next()
		a.values = append(a.values, Value{Null: isNull, Raw: raw})
	}
	return a, nil
}

func (a array) value() Value {
	out := tailrace.AppendArray(nil, a.dims)
	for _, v := range a.values {
		out = appendElement(out, v)
	}
	return Value{Raw: out}
}

// subscript binds a[1][2]. Slices, fields and the subscripts of jsonb are the query engine's.
func (s *Scope) subscript(n *pg_query.A_Indirection) (*Expr, error) {
	base, err := Bind(n.Arg, s)
	if err != nil {
		return nil, err
	}
	if base.Type.Kind != tailrace.KindArray {
		return nil, ErrUnsupported
	}
	args := []*Expr{base}
	for _, i := range n.Indirection {
		ix := i.GetAIndices()
		if ix == nil || ix.IsSlice {
			return nil, ErrUnsupported
		}
		e, err := Bind(ix.Uidx, s)
		if err != nil {
			return nil, err
		}
		if c := CastContext(e.Type, tailrace.TypeOf(tailrace.KindInt4)); e.Type.Kind != tailrace.KindNone && (c == 0 || c > Assignment) {
			return nil, s.fail(e.loc, "42804", "array subscript must have type integer")
		}
		if e, err = s.convert(e, tailrace.TypeOf(tailrace.KindInt4), Assignment, e.loc); err != nil {
			return nil, err
		}
		args = append(args, e)
	}
	if len(args)-1 > tailrace.MaxDims {
		return nil, tooManyDims(len(args) - 1)
	}
	element := base.Type.Element()
	return s.compute(element, base.loc, args, func(_ *Row, v []Value) (Value, error) {
		a, err := arrayOf(v[0], element.Kind)
		if err != nil || len(a.dims) != len(v)-1 {
			return null, err
		}
		at := 0
		for i, d := range a.dims {
			place := integer(v[i+1]) - int64(d.Lower)
			if place < 0 || place >= int64(d.Length) {
				return null, nil
			}
			at = at*d.Length + int(place)
		}
		return a.values[at], nil
	})
}

// quantified binds x op ANY (array) and x op ALL (array).
func (s *Scope) quantified(op string, a *pg_query.A_Expr) (*Expr, error) {
	switch op {
	case "=", "<>", "!=", "<", "<=", ">", ">=":
	default:
		return nil, ErrUnsupported
	}
	l, list, err := s.both(a.Lexpr, a.Rexpr)
	if err != nil {
		return nil, err
	}
	element := tailrace.Type{}
	switch list.Type.Kind {
	case tailrace.KindArray:
		element = list.Type.Element()
	case tailrace.KindNone:
		if l.Type.Kind == tailrace.KindNone || list.text == nil && list.param == 0 {
			return nil, ErrUnsupported
		}
		element = l.Type.Plain()
	default:
		return nil, s.fail(a.Location, "42809", "op ANY/ALL (array) requires array on right side")
	}
	if l.Type.Kind == tailrace.KindArray || l.Type.Kind != tailrace.KindNone && element.Kind == tailrace.KindArray {
		return nil, ErrUnsupported
	}
	t, err := s.commonType(op, l, &Expr{Type: element, Column: -1, loc: list.loc}, a.Location)
	if err != nil {
		return nil, err
	}
	if l, err = s.convert(l, t, Implicit, l.loc); err != nil {
		return nil, err
	}
	if list, err = s.convert(list, tailrace.ArrayOf(t), Implicit, list.loc); err != nil {
		return nil, err
	}
	holds, err := s.comparison(op, l, l, a.Location)
	if err != nil {
		return nil, err
	}
	return anyOf(l, list, holds, a.Kind == pg_query.A_Expr_Kind_AEXPR_OP_ANY, a.Location), nil
}

// anyOf is decided by the first element for which the comparison holds, or for ALL does not; else NULL if one is NULL.
func anyOf(l, list *Expr, holds func(x, y Value, row *Row) bool, some bool, loc int32) *Expr {
	element := list.Type.Elem
	return &Expr{Type: boolType, Column: -1, loc: loc, Const: l.Const && list.Const, eval: func(r *Row) (Value, error) {
		x, err := l.eval(r)
		if err != nil {
			return null, err
		}
		v, err := list.eval(r)
		if err != nil || v.Null {
			return null, err
		}
		_, elements, err := tailrace.ReadArray(element, v.Raw)
		if err != nil {
			return null, err
		}
		unknown := false
		for elements.Left > 0 {
			raw, isNull := elements.Next()
			if isNull || x.Null {
				unknown = true
			} else if holds(x, Value{Raw: raw}, r) == some {
				return boolean(some), nil
			}
		}
		if unknown {
			return null, nil
		}
		return boolean(!some), nil
	}}
}
