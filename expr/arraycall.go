package expr

import (
	"fmt"
	"math"
	"slices"

	pg_query "github.com/pganalyze/pg_query_go/v6"

	"tailrace"
)

// arrayFunctions are the functions of arrays that checks and defaults often use; all others are the query engine's. Their arguments are bound; an
// argument that nothing has given a type takes that of its place.
var arrayFunctions = map[string]func(*Scope, []*Expr, int32) (*Expr, error){
	"array_length": dimension(func(d tailrace.Dim) int64 { return int64(d.Length) }),
	"array_lower":  dimension(func(d tailrace.Dim) int64 { return int64(d.Lower) }),
	"array_upper":  dimension(func(d tailrace.Dim) int64 { return int64(d.Lower) + int64(d.Length) - 1 }),
	"array_ndims":  measured(func(a array) (int, bool) { return len(a.dims), len(a.dims) > 0 }),
	"cardinality":  measured(func(a array) (int, bool) { return len(a.values), true }),
	"array_append": func(s *Scope, args []*Expr, loc int32) (*Expr, error) {
		return s.joined(args, true, false, loc)
	},
	"array_prepend": func(s *Scope, args []*Expr, loc int32) (*Expr, error) {
		return s.joined(args, false, true, loc)
	},
	"array_cat": func(s *Scope, args []*Expr, loc int32) (*Expr, error) {
		return s.joined(args, true, true, loc)
	},
}

func (s *Scope) arrayCall(name string, f *pg_query.FuncCall) (*Expr, error) {
	args, err := s.bindAll(f.Args)
	if err != nil {
		return nil, err
	}
	return arrayFunctions[name](s, args, f.Location)
}

// dimension is a function of an array and the number of one of its dimensions, NULL when it has no such dimension.
func dimension(what func(tailrace.Dim) int64) func(*Scope, []*Expr, int32) (*Expr, error) {
	return func(s *Scope, args []*Expr, loc int32) (*Expr, error) {
		if len(args) != 2 || args[0].Type.Kind != tailrace.KindArray || CastContext(args[1].Type, tailrace.TypeOf(tailrace.KindInt4)) != Implicit {
			return nil, ErrUnsupported
		}
		element := args[0].Type.Elem
		n, err := s.convert(args[1], tailrace.TypeOf(tailrace.KindInt4), Implicit, args[1].loc)
		if err != nil {
			return nil, err
		}
		return s.compute(tailrace.TypeOf(tailrace.KindInt4), loc, []*Expr{args[0], n}, func(_ *Row, v []Value) (Value, error) {
			dims, _, err := tailrace.ReadArray(element, v[0].Raw)
			if i := integer(v[1]); err == nil && i >= 1 && i <= int64(len(dims)) {
				return int32Value(int32(what(dims[i-1]))), nil
			}
			return null, err
		})
	}
}

// measured is a function of an array alone.
func measured(what func(array) (int, bool)) func(*Scope, []*Expr, int32) (*Expr, error) {
	return func(s *Scope, args []*Expr, loc int32) (*Expr, error) {
		if len(args) != 1 || args[0].Type.Kind != tailrace.KindArray {
			return nil, ErrUnsupported
		}
		element := args[0].Type.Elem
		return s.compute(tailrace.TypeOf(tailrace.KindInt4), loc, args, func(_ *Row, v []Value) (Value, error) {
			a, err := arrayOf(v[0], element)
			if err != nil {
				return null, err
			}
			n, ok := what(a)
			return Value{Null: !ok, Raw: int32Value(int32(n)).Raw}, nil
		})
	}
}

// concatArrays binds || of two arrays, or of an array and an element.
func (s *Scope) concatArrays(l, r *Expr, loc int32) (*Expr, error) {
	isArray := func(e *Expr) bool { return e.Type.Kind == tailrace.KindArray || e.Type.Kind == tailrace.KindNone }
	return s.joined([]*Expr{l, r}, isArray(l), isArray(r), loc)
}

// joined binds the joining of two things, each an array or an element of the other's.
func (s *Scope) joined(args []*Expr, left, right bool, loc int32) (*Expr, error) {
	if len(args) != 2 {
		return nil, ErrUnsupported
	}
	element := func(e *Expr, isArray bool) *Expr {
		if !isArray || e.Type.Kind == tailrace.KindNone {
			return &Expr{Type: e.Type, Column: -1, loc: e.loc}
		}
		return &Expr{Type: e.Type.Element(), Column: -1, loc: e.loc}
	}
	for i, isArray := range [2]bool{left, right} {
		if k := args[i].Type.Kind; isArray && k != tailrace.KindArray && k != tailrace.KindNone || !isArray && k == tailrace.KindArray {
			return nil, ErrUnsupported
		}
	}
	x, y := element(args[0], left), element(args[1], right)
	if x.Type.Kind == tailrace.KindNone && y.Type.Kind == tailrace.KindNone {
		return nil, ErrUnsupported
	}
	if !x.Type.Same(y.Type) && x.Type.Kind != tailrace.KindNone && y.Type.Kind != tailrace.KindNone && CastContext(x.Type, y.Type) != Implicit && CastContext(y.Type, x.Type) != Implicit {
		return nil, s.noOperator("||", args[0], args[1], loc)
	}
	t, err := s.commonType("||", x, y, loc)
	if err != nil {
		return nil, err
	}
	sides := make([]*Expr, 2)
	for i, isArray := range [2]bool{left, right} {
		to := t
		if isArray {
			to = tailrace.ArrayOf(t)
		}
		if sides[i], err = s.convert(args[i], to, Implicit, args[i].loc); err != nil {
			return nil, err
		}
	}
	return &Expr{Type: tailrace.ArrayOf(t), Column: -1, loc: loc, Const: sides[0].Const && sides[1].Const, eval: func(row *Row) (Value, error) {
		x, err := sides[0].eval(row)
		if err != nil {
			return null, err
		}
		y, err := sides[1].eval(row)
		if err != nil {
			return null, err
		}
		switch {
		case left && right:
			return catArrays(x, y, t.Kind)
		case left:
			return pushElement(x, y, t.Kind, false)
		}
		return pushElement(y, x, t.Kind, true)
	}}, nil
}

// pushElement adds v at the end of a, or at its front, whose lower bound stays.
func pushElement(a, v Value, element tailrace.Kind, front bool) (Value, error) {
	x, err := arrayOf(a, element)
	switch {
	case err != nil:
		return null, err
	case len(x.dims) == 0:
		return listArray([]Value{v}), nil
	case len(x.dims) > 1:
		return null, failure("22000", "argument must be empty or one-dimensional array")
	}
	d := &x.dims[0]
	d.Length++
	switch end := int64(d.Lower) + int64(d.Length); {
	case front && d.Lower == math.MinInt32: // the new element's subscript before the bound is set back
		return null, failure("22003", "integer out of range")
	case !front && end > math.MaxInt32:
		return null, failure("54000", fmt.Sprintf("array lower bound is too large: %d", d.Lower))
	}
	if front {
		x.values = slices.Insert(x.values, 0, v)
	} else {
		x.values = append(x.values, v)
	}
	return x.value(), nil
}

// catArrays joins two arrays of equally many dimensions along the first, or one with an element of it.
func catArrays(a, b Value, element tailrace.Kind) (Value, error) {
	if a.Null || b.Null {
		if a.Null {
			return b, nil
		}
		return a, nil
	}
	x, err := arrayOf(a, element)
	if err != nil {
		return null, err
	}
	y, err := arrayOf(b, element)
	if err != nil {
		return null, err
	}
	m, n := len(x.dims), len(y.dims)
	var dims []tailrace.Dim
	switch {
	case m == 0:
		return b, nil
	case n == 0:
		return a, nil
	case m == n && slices.Equal(x.dims[1:], y.dims[1:]):
		dims = slices.Clone(x.dims)
		dims[0].Length += y.dims[0].Length
	case m == n+1 && slices.Equal(x.dims[1:], y.dims):
		dims = slices.Clone(x.dims)
		dims[0].Length++
	case n == m+1 && slices.Equal(y.dims[1:], x.dims):
		dims = slices.Clone(y.dims)
		dims[0].Length++
	default:
		return null, &tailrace.Error{Code: "2202E", Message: "cannot concatenate incompatible arrays", Detail: "Arrays of these dimensions do not fit together."}
	}
	return array{dims, append(x.values, y.values...)}.value(), nil
}
