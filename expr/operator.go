package expr

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"slices"

	pg_query "github.com/pganalyze/pg_query_go/v6"

	"tailrace"
	"tailrace/format"
)

type pgNode = pg_query.Node

func (s *Scope) operator(a *pg_query.A_Expr) (*Expr, error) {
	name := ""
	if len(a.Name) > 0 {
		name = a.Name[len(a.Name)-1].GetString_().GetSval()
	}
	switch a.Kind {
	case pg_query.A_Expr_Kind_AEXPR_OP:
		if a.Lexpr == nil {
			return s.sign(name, a)
		}
		l, r, err := s.both(a.Lexpr, a.Rexpr)
		if err != nil {
			return nil, err
		}
		return s.binary(name, l, r, a.Location)
	case pg_query.A_Expr_Kind_AEXPR_OP_ANY, pg_query.A_Expr_Kind_AEXPR_OP_ALL:
		return s.quantified(name, a)
	case pg_query.A_Expr_Kind_AEXPR_IN:
		return s.in(name, a)
	case pg_query.A_Expr_Kind_AEXPR_BETWEEN, pg_query.A_Expr_Kind_AEXPR_NOT_BETWEEN:
		return s.between(a)
	case pg_query.A_Expr_Kind_AEXPR_DISTINCT, pg_query.A_Expr_Kind_AEXPR_NOT_DISTINCT:
		return s.distinct(a)
	case pg_query.A_Expr_Kind_AEXPR_NULLIF:
		return s.nullIf(a)
	case pg_query.A_Expr_Kind_AEXPR_LIKE:
		return s.like(name, a)
	}
	return nil, ErrUnsupported
}

func (s *Scope) both(l, r *pgNode) (*Expr, *Expr, error) {
	x, err := Bind(l, s)
	if err != nil {
		return nil, nil, err
	}
	y, err := Bind(r, s)
	return x, y, err
}

// sign binds -x and +x.
func (s *Scope) sign(op string, a *pg_query.A_Expr) (*Expr, error) {
	e, err := Bind(a.Rexpr, s)
	if err != nil {
		return nil, err
	}
	if op != "-" && op != "+" || rank(e.Type.Kind) == 0 {
		return nil, ErrUnsupported
	}
	if op == "+" {
		return e, nil
	}
	if rank(e.Type.Kind) >= 5 { // 0 - x would lose the sign of zero
		k := e.Type.Kind
		return s.compute(e.Type, a.Location, []*Expr{e}, func(_ *Row, v []Value) (Value, error) { return floatOf(-float(k, v[0]), k) })
	}
	zero := constant(tailrace.TypeOf(e.Type.Kind), zeroOf(e.Type.Kind), a.Location)
	return s.arith("-", zero, e, a.Location)
}

func zeroOf(k tailrace.Kind) Value {
	if k == tailrace.KindNumeric {
		return Value{Raw: tailrace.AppendDecimal64(nil, 0, 0)}
	}
	return Value{Raw: make([]byte, k.Width())}
}

// binary binds l op r.
func (s *Scope) binary(op string, l, r *Expr, loc int32) (*Expr, error) {
	switch op {
	case "=", "<>", "!=", "<", "<=", ">", ">=":
		return s.compare(op, l, r, loc)
	case "+", "-", "*", "/", "%":
		if e, err := s.timeArith(op, l, r, loc); e != nil || err != nil {
			return e, err
		}
		return s.arith(op, l, r, loc)
	case "||":
		return s.concat(l, r, loc)
	}
	return nil, ErrUnsupported
}

// common gives both sides the type that PostgreSQL would compare or compute them in.
func (s *Scope) common(op string, l, r *Expr, loc int32) (*Expr, *Expr, error) {
	t, err := s.commonType(op, l, r, loc)
	if err != nil {
		return nil, nil, err
	}
	x, err := s.convert(l, t, Implicit, l.loc)
	if err != nil {
		return nil, nil, err
	}
	y, err := s.convert(r, t, Implicit, r.loc)
	return x, y, err
}

func (s *Scope) commonType(op string, l, r *Expr, loc int32) (tailrace.Type, error) {
	lk, rk := l.Type.Kind, r.Type.Kind
	var k tailrace.Kind
	switch {
	case lk == tailrace.KindNone && rk == tailrace.KindNone:
		k = tailrace.KindText
	case lk == tailrace.KindNone:
		return r.Type.Plain(), nil
	case rk == tailrace.KindNone, l.Type.Same(r.Type):
		return l.Type.Plain(), nil
	case lk == tailrace.KindArray || rk == tailrace.KindArray, lk == tailrace.KindEnum || rk == tailrace.KindEnum:
		return tailrace.Type{}, s.noOperator(op, l, r, loc)
	case isObject(lk) && rank(rk) >= 1 && rank(rk) <= 3, isObject(rk) && rank(lk) >= 1 && rank(lk) <= 3, isObject(lk) && isObject(rk):
		k = tailrace.KindOID
	case lk == tailrace.KindName && rk == tailrace.KindText, lk == tailrace.KindText && rk == tailrace.KindName:
		k = tailrace.KindText
	case rank(lk) > 0 && rank(rk) > 0:
		k = widest(lk, rk)
	case isText(lk) && isText(rk) && lk != tailrace.KindChar && rk != tailrace.KindChar:
		k = tailrace.KindText
	case lk == tailrace.KindDate && rk == tailrace.KindTimestamp, lk == tailrace.KindTimestamp && rk == tailrace.KindDate:
		k = tailrace.KindTimestamp
	case lk == tailrace.KindTimestamptz && (rk == tailrace.KindDate || rk == tailrace.KindTimestamp),
		rk == tailrace.KindTimestamptz && (lk == tailrace.KindDate || lk == tailrace.KindTimestamp):
		k = tailrace.KindTimestamptz
	case isText(lk) && rank(rk) > 0, rank(lk) > 0 && isText(rk), lk == tailrace.KindBool, rk == tailrace.KindBool:
		return tailrace.Type{}, s.noOperator(op, l, r, loc)
	default:
		return tailrace.Type{}, ErrUnsupported
	}
	return tailrace.TypeOf(k), nil
}

// widest is the kind that numbers of both kinds become: float8 as soon as a float meets another kind.
func widest(a, b tailrace.Kind) tailrace.Kind {
	switch {
	case a == b:
		return a
	case rank(a) >= 5 || rank(b) >= 5:
		return tailrace.KindFloat8
	case rank(a) > rank(b):
		return a
	}
	return b
}

func (s *Scope) noOperator(op string, l, r *Expr, loc int32) error {
	return &tailrace.Error{
		Code: "42883", Message: fmt.Sprintf("operator does not exist: %s %s %s", bare(l.Type), op, bare(r.Type)), Position: s.position(loc),
		Hint: "No operator matches the given name and argument types. You might need to add explicit type casts.",
	}
}

// compute is a function of args that is NULL when one of them is, evaluated at once when all are constants.
func (s *Scope) compute(t tailrace.Type, loc int32, args []*Expr, f func(*Row, []Value) (Value, error)) (*Expr, error) {
	e := &Expr{Type: t, Column: -1, loc: loc, Const: true}
	for _, a := range args {
		e.Const = e.Const && a.Const
	}
	e.eval = func(r *Row) (Value, error) {
		var buf [2]Value
		vals := buf[:0]
		for _, a := range args {
			v, err := a.eval(r)
			if err != nil || v.Null {
				return null, err
			}
			vals = append(vals, v)
		}
		return f(r, vals)
	}
	return e, nil
}

// compare binds a comparison, by the order of keys.
func (s *Scope) compare(op string, l, r *Expr, loc int32) (*Expr, error) {
	l, r, err := s.common(op, l, r, loc)
	if err != nil {
		return nil, err
	}
	holds, err := s.comparison(op, l, r, loc)
	if err != nil {
		return nil, err
	}
	return s.compute(tailrace.TypeOf(tailrace.KindBool), loc, []*Expr{l, r}, func(row *Row, v []Value) (Value, error) {
		return boolean(holds(v[0], v[1], row)), nil
	})
}

// comparison is how two values of the type that l and r both have are compared.
func (s *Scope) comparison(op string, l, r *Expr, loc int32) (func(x, y Value, row *Row) bool, error) {
	t := l.Type
	switch {
	case t.Kind == tailrace.KindJSON:
		return nil, s.noOperator(op, l, r, loc)
	case t.Kind == tailrace.KindArray && t.Elem == tailrace.KindJSON && (op == "=" || op == "<>" || op == "!="):
		return nil, failure("42883", "could not identify an equality operator for type json")
	case t.Kind == tailrace.KindArray && t.Elem == tailrace.KindJSON:
		return nil, failure("42883", "could not identify a comparison function for type json")
	case op == "=" || op == "<>" || op == "!=":
		return func(x, y Value, _ *Row) bool { return bytes.Equal(key(t, x), key(t, y)) == (op == "=") }, nil
	case !s.ordered(t):
		return nil, ErrUnsupported
	}
	return func(x, y Value, row *Row) bool {
		return holds(op, bytes.Compare(orderKey(t, x, row.Settings), orderKey(t, y, row.Settings)))
	}, nil
}

// ordered reports whether orderKey is known for t.
func (s *Scope) ordered(t tailrace.Type) bool {
	k := t.Kind
	if k == tailrace.KindArray {
		if k = t.Elem; k == tailrace.KindEnum {
			return false
		}
	}
	if k == tailrace.KindEnum {
		return s.Settings != nil && s.Settings.Labels != nil && s.Settings.Labels(t.ID) != nil
	}
	return k != tailrace.KindJSON && k != tailrace.KindJSONB
}

// orderKey is v's bytes in the order of its type; labels have the order of their enum.
func orderKey(t tailrace.Type, v Value, s *format.Settings) []byte {
	if t.Kind == tailrace.KindEnum && s != nil && s.Labels != nil {
		at := slices.Index(s.Labels(t.ID), string(v.Raw))
		return binary.BigEndian.AppendUint32(nil, uint32(at))
	}
	return key(t, v)
}

func holds(op string, order int) bool {
	switch op {
	case "=":
		return order == 0
	case "<":
		return order < 0
	case "<=":
		return order <= 0
	case ">":
		return order > 0
	case ">=":
		return order >= 0
	}
	return order != 0
}

// arith binds + - * / % on numbers.
func (s *Scope) arith(op string, l, r *Expr, loc int32) (*Expr, error) {
	if l.Type.Kind == tailrace.KindNone && r.Type.Kind == tailrace.KindNone {
		return nil, ErrUnsupported
	}
	for _, e := range []*Expr{l, r} {
		if k := e.Type.Kind; k != tailrace.KindNone && rank(k) == 0 {
			if k == tailrace.KindBool || isText(k) || k == tailrace.KindUUID {
				return nil, s.noOperator(op, l, r, loc)
			}
			return nil, ErrUnsupported
		}
	}
	if op == "%" && (rank(l.Type.Kind) >= 5 || rank(r.Type.Kind) >= 5) {
		return nil, s.noOperator(op, l, r, loc)
	}
	l, r, err := s.common(op, l, r, loc)
	if err != nil {
		return nil, err
	}
	k := l.Type.Kind
	return s.compute(tailrace.TypeOf(k), loc, []*Expr{l, r}, func(_ *Row, v []Value) (Value, error) {
		switch {
		case rank(k) <= 3:
			return integerArith(op, k, integer(v[0]), integer(v[1]))
		case k == tailrace.KindNumeric:
			return numericArith(op, v[0], v[1])
		}
		return floatArith(op, k, float(k, v[0]), float(k, v[1]))
	})
}

// concat binds ||, which makes text of any one side when the other is text.
func (s *Scope) concat(l, r *Expr, loc int32) (*Expr, error) {
	if l.Type.Kind == tailrace.KindArray || r.Type.Kind == tailrace.KindArray {
		return s.concatArrays(l, r, loc)
	}
	known := func(e *Expr) bool { return isText(e.Type.Kind) || e.Type.Kind == tailrace.KindNone }
	if !known(l) && !known(r) {
		return nil, ErrUnsupported
	}
	if l.Type.Kind == tailrace.KindBytea || r.Type.Kind == tailrace.KindBytea || l.Type.Kind == tailrace.KindJSONB || r.Type.Kind == tailrace.KindJSONB {
		return nil, ErrUnsupported
	}
	text := tailrace.TypeOf(tailrace.KindText)
	x, err := s.convert(l, text, Assignment, l.loc)
	if err != nil {
		return nil, err
	}
	y, err := s.convert(r, text, Assignment, r.loc)
	if err != nil {
		return nil, err
	}
	return s.compute(text, loc, []*Expr{x, y}, func(_ *Row, v []Value) (Value, error) {
		return Value{Raw: append(append([]byte{}, v[0].Raw...), v[1].Raw...)}, nil
	})
}
