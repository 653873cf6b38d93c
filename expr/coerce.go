package expr

import (
	"fmt"

	"tailrace"
)

// Context says who asks for a conversion; each may do what the ones before it may.
type Context uint8

// The contexts.
const (
	Implicit   Context = iota + 1 // an operator or function
	Assignment                    // a column that the value is stored in
	Explicit                      // a cast
)

func isText(k tailrace.Kind) bool {
	return k == tailrace.KindText || k == tailrace.KindVarchar || k == tailrace.KindChar || k == tailrace.KindForeign
}

// rank orders the numbers by how PostgreSQL widens them, 0 for other kinds.
func rank(k tailrace.Kind) int {
	switch k {
	case tailrace.KindInt2:
		return 1
	case tailrace.KindInt4:
		return 2
	case tailrace.KindInt8:
		return 3
	case tailrace.KindNumeric:
		return 4
	case tailrace.KindFloat4:
		return 5
	case tailrace.KindFloat8:
		return 6
	}
	return 0
}

// CastContext is the least context in which PostgreSQL turns a from into a to; 0 when it never does.
func CastContext(from, to tailrace.Type) Context {
	switch {
	case from.Same(to):
		return Implicit
	case from.Kind == tailrace.KindArray && to.Kind == tailrace.KindArray:
		return CastContext(from.Element(), to.Element())
	case from.Kind == tailrace.KindEnum && to.Kind == tailrace.KindEnum:
		return 0
	}
	return kindContext(from.Kind, to.Kind)
}

func kindContext(from, to tailrace.Kind) Context {
	type pair struct{ from, to tailrace.Kind }
	switch {
	case rank(from) > 0 && rank(to) > 0:
		if rank(from) < rank(to) {
			return Implicit
		}
		return Assignment
	case isText(from) && isText(to):
		return Implicit
	case isObject(from) || isObject(to):
		return objectContext(from, to)
	case from == tailrace.KindName && to == tailrace.KindText, from == tailrace.KindLetter && to == tailrace.KindText, isText(from) && to == tailrace.KindName,
		isText(from) && to == tailrace.KindLetter:
		if to == tailrace.KindLetter {
			return Assignment
		}
		return Implicit
	case isText(to):
		return Assignment // by the type's output function
	case isText(from):
		return Explicit // by the type's input function
	}
	switch (pair{from, to}) {
	case pair{tailrace.KindDate, tailrace.KindTimestamp}, pair{tailrace.KindDate, tailrace.KindTimestamptz},
		pair{tailrace.KindTimestamp, tailrace.KindTimestamptz}, pair{tailrace.KindTime, tailrace.KindInterval}:
		return Implicit
	case pair{tailrace.KindTimestamp, tailrace.KindDate}, pair{tailrace.KindTimestamptz, tailrace.KindDate},
		pair{tailrace.KindTimestamptz, tailrace.KindTimestamp}, pair{tailrace.KindTimestamp, tailrace.KindTime},
		pair{tailrace.KindTimestamptz, tailrace.KindTime}, pair{tailrace.KindInterval, tailrace.KindTime},
		pair{tailrace.KindJSON, tailrace.KindJSONB}, pair{tailrace.KindJSONB, tailrace.KindJSON}:
		return Assignment
	case pair{tailrace.KindInt4, tailrace.KindBool}, pair{tailrace.KindBool, tailrace.KindInt4}:
		return Explicit
	}
	return 0
}

// isObject tells the kinds whose values are OIDs.
func isObject(k tailrace.Kind) bool {
	return k == tailrace.KindOID || k == tailrace.KindRegclass || k == tailrace.KindRegtype || k == tailrace.KindRegproc ||
		k == tailrace.KindRegnspace || k == tailrace.KindRegrole
}

// objectContext is kindContext when one of the kinds is an OID's.
func objectContext(from, to tailrace.Kind) Context {
	switch {
	case from == tailrace.KindOID && isObject(to), to == tailrace.KindOID && isObject(from), rank(from) >= 1 && rank(from) <= 3 && isObject(to),
		isText(from) && to == tailrace.KindRegclass:
		return Implicit
	case isObject(from) && (to == tailrace.KindInt4 || to == tailrace.KindInt8), isText(to):
		return Assignment
	case isText(from):
		return Explicit
	}
	return 0
}

// assign is e as a value for a column of type t.
func (s *Scope) assign(e *Expr, t tailrace.Type, column string) (*Expr, error) {
	if e.Type.Kind != tailrace.KindNone {
		if c := CastContext(e.Type, t); c == 0 || c > Assignment {
			return nil, &tailrace.Error{
				Code:    "42804",
				Message: fmt.Sprintf("column \"%s\" is of type %s but expression is of type %s", column, bare(t), bare(e.Type)),
				Hint:    "You will need to rewrite or cast the expression.", Position: s.position(e.loc), Column: column,
			}
		}
	}
	return s.convert(e, t, Assignment, e.loc)
}

// Bare is the type's name without its modifier, as PostgreSQL's messages give it.
func Bare(t tailrace.Type) string { return bare(t) }

func bare(t tailrace.Type) string {
	if t.Kind == tailrace.KindNone {
		return "unknown"
	}
	switch {
	case t.Kind == tailrace.KindChar:
		return "character"
	case t.Kind == tailrace.KindArray && t.Elem == tailrace.KindChar:
		return "character[]"
	}
	return t.Plain().String()
}

// convert is e as type t, in a context that allows it.
func (s *Scope) convert(e *Expr, t tailrace.Type, ctx Context, loc int32) (*Expr, error) {
	switch {
	case e.Type.Kind == tailrace.KindNone && e.param > 0:
		return s.decide(e, t, ctx)
	case e.Type.Kind == tailrace.KindNone && e.text == nil:
		return constant(t, null, e.loc), nil
	case e.Type.Kind == tailrace.KindNone:
		return s.readLiteral(e, t, ctx)
	case e.Type.Same(t) && (t.Mod < 0 || t.Mod == e.Type.Mod):
		out := *e
		out.Type = t
		return &out, nil
	}
	from := e.Type
	if c := CastContext(from, t); c == 0 || c > ctx {
		return nil, s.fail(loc, "42846", fmt.Sprintf("cannot cast type %s to %s", bare(from), bare(t)))
	}
	explicit := ctx == Explicit
	eval := e.eval
	out := &Expr{Type: t, Column: -1, loc: e.loc, eval: func(r *Row) (Value, error) {
		v, err := eval(r)
		if err != nil || v.Null {
			return v, err
		}
		return Convert(v, from, t, explicit, r.Settings)
	}}
	if e.Const && !dependsOnSession(from) && !dependsOnSession(t) {
		return s.fold(out)
	}
	return out, nil
}

// dependsOnSession tells a type to and from which another time zone or another catalog converts differently; that is not done before the row is there.
func dependsOnSession(t tailrace.Type) bool {
	k := t.Kind
	if k == tailrace.KindArray {
		k = t.Elem
	}
	return k == tailrace.KindTimestamptz || isObject(k) && k != tailrace.KindOID
}

// fold evaluates a constant expression at once.
func (s *Scope) fold(e *Expr) (*Expr, error) {
	v, err := e.eval(&Row{Settings: s.Settings})
	if err != nil {
		return nil, err
	}
	return constant(e.Type, v, e.loc), nil
}

// decide gives an untyped parameter the type t: of its kind without the modifier, which then applies to the value.
func (s *Scope) decide(e *Expr, t tailrace.Type, ctx Context) (*Expr, error) {
	kind := t.Plain()
	(*s.Params)[e.param-1] = kind
	typed := *e
	typed.Type, typed.param = kind, 0
	return s.convert(&typed, t, ctx, e.loc)
}

// readLiteral reads an untyped literal as type t: of its kind first, which an error points at, then with the modifier, which it does not. A cast may
// cut a string to varchar(n), an assignment may not. Only an interval's modifier says how to read it.
func (s *Scope) readLiteral(e *Expr, t tailrace.Type, ctx Context) (*Expr, error) {
	first := t.Plain()
	if t.Kind == tailrace.KindInterval {
		first = t
	}
	v, err := read(first, *e.text, s.Settings)
	if err != nil {
		return nil, s.at(e.loc, err)
	}
	if first != t && !v.Null {
		if v, err = Convert(v, first, t, ctx == Explicit, s.Settings); err != nil {
			return nil, err
		}
	}
	return constant(t, v, e.loc), nil
}

// asText gives an expression that nothing asked a type of the type text, as the output of a SELECT or the argument of || does.
func (s *Scope) asText(e *Expr) (*Expr, error) {
	if e.Type.Kind != tailrace.KindNone {
		return e, nil
	}
	return s.convert(e, tailrace.TypeOf(tailrace.KindText), Implicit, e.loc)
}

// BindOutput binds n as an output column of a SELECT: what is still untyped is text.
func BindOutput(n *pgNode, s *Scope) (*Expr, error) {
	e, err := Bind(n, s)
	if err != nil {
		return nil, err
	}
	return s.asText(e)
}

// condition is e as a boolean.
func (s *Scope) condition(e *Expr, clause string) (*Expr, error) {
	if k := e.Type.Kind; k != tailrace.KindNone && k != tailrace.KindBool {
		return nil, s.fail(e.loc, "42804", fmt.Sprintf("argument of %s must be type boolean, not type %s", clause, bare(e.Type)))
	}
	return s.convert(e, tailrace.TypeOf(tailrace.KindBool), Implicit, e.loc)
}
