package expr

import (
	"errors"
	"fmt"
	"math"
	"strconv"
	"strings"
	"unicode/utf8"

	pg_query "github.com/pganalyze/pg_query_go/v6"

	"tailrace"
	"tailrace/format"
)

// Scope is what names in an expression stand for.
type Scope struct {
	// Text is the statement's text, to count an error's Position in.
	Text string
	// Column finds a column by its qualifier ("" when none is written) and name. ok false means 42703. A nil Column knows none, and a
	// reference to one is 42703 too.
	Column func(qualifier, name string) (i int, t tailrace.Type, ok bool)
	// Params are the types of $1, $2, ...; KindNone is not known yet. Bind sets what it finds out, and adds parameters that are not in it.
	Params   *[]tailrace.Type
	Settings *format.Settings // literals are read with it at once
	// Type finds an enum or a domain by name (schema is empty when none is written), nil when there is none; a nil func knows none.
	Type func(schema, name string) *tailrace.NamedType
}

// maxParams is the largest parameter number, as the protocol's int16 count has it.
const maxParams = 65535

// Bind gives n its types. The error is a *tailrace.Error with Position in Scope.Text, or ErrUnsupported.
func Bind(n *pg_query.Node, s *Scope) (*Expr, error) {
	switch n := n.GetNode().(type) {
	case *pg_query.Node_AConst:
		return s.literal(n.AConst)
	case *pg_query.Node_ColumnRef:
		return s.column(n.ColumnRef)
	case *pg_query.Node_ParamRef:
		return s.param(n.ParamRef)
	case *pg_query.Node_TypeCast:
		return s.cast(n.TypeCast)
	case *pg_query.Node_AExpr:
		return s.operator(n.AExpr)
	case *pg_query.Node_BoolExpr:
		return s.logic(n.BoolExpr)
	case *pg_query.Node_NullTest:
		return s.nullTest(n.NullTest)
	case *pg_query.Node_BooleanTest:
		return s.booleanTest(n.BooleanTest)
	case *pg_query.Node_CoalesceExpr:
		return s.coalesce(n.CoalesceExpr)
	case *pg_query.Node_MinMaxExpr:
		return s.minMax(n.MinMaxExpr)
	case *pg_query.Node_CaseExpr:
		return s.caseWhen(n.CaseExpr)
	case *pg_query.Node_SqlvalueFunction:
		return s.valueFunction(n.SqlvalueFunction)
	case *pg_query.Node_FuncCall:
		return s.call(n.FuncCall)
	case *pg_query.Node_AArrayExpr:
		return s.array(n.AArrayExpr, tailrace.Type{})
	case *pg_query.Node_AIndirection:
		return s.subscript(n.AIndirection)
	}
	return nil, ErrUnsupported
}

// BindAs binds n as a value to be stored in a column of type t, by the rules of assignment. column names it in the error, 42804.
func BindAs(n *pg_query.Node, s *Scope, t tailrace.Type, column string) (*Expr, error) {
	e, err := Bind(n, s)
	if err != nil {
		return nil, err
	}
	return s.assign(e, t, column)
}

// BindCondition binds n as a WHERE clause.
func BindCondition(n *pg_query.Node, s *Scope) (*Expr, error) {
	e, err := Bind(n, s)
	if err != nil {
		return nil, err
	}
	return s.condition(e, "WHERE")
}

// position is where byte offset loc is in the statement, as errors give it.
func (s *Scope) position(loc int32) int {
	if loc < 0 || int(loc) > len(s.Text) {
		return 0
	}
	return utf8.RuneCountInString(s.Text[:loc]) + 1
}

func (s *Scope) fail(loc int32, code, message string) error {
	return &tailrace.Error{Code: code, Message: message, Position: s.position(loc)}
}

// at gives err the position loc unless it has one.
func (s *Scope) at(loc int32, err error) error {
	var e *tailrace.Error
	if !errors.As(err, &e) || e.Position != 0 {
		return err
	}
	placed := *e
	placed.Position = s.position(loc)
	return &placed
}

func constant(t tailrace.Type, v Value, loc int32) *Expr {
	return &Expr{Type: t, Const: true, Column: -1, loc: loc, eval: func(*Row) (Value, error) { return v, nil }}
}

func (s *Scope) literal(c *pg_query.A_Const) (*Expr, error) {
	if c.Isnull {
		return untyped(nil, c.Location), nil
	}
	switch v := c.Val.(type) {
	case *pg_query.A_Const_Ival:
		return constant(tailrace.TypeOf(tailrace.KindInt4), int32Value(v.Ival.Ival), c.Location), nil
	case *pg_query.A_Const_Fval:
		return s.number(v.Fval.Fval, c.Location)
	case *pg_query.A_Const_Boolval:
		return constant(tailrace.TypeOf(tailrace.KindBool), boolean(v.Boolval.Boolval), c.Location), nil
	case *pg_query.A_Const_Sval:
		return untyped(&v.Sval.Sval, c.Location), nil
	}
	return nil, ErrUnsupported
}

// number is a constant too large for int4, or with a point or exponent: bigint if it fits, else numeric.
func (s *Scope) number(text string, loc int32) (*Expr, error) {
	if v, err := strconv.ParseInt(text, 10, 64); err == nil {
		if v == math.MinInt32 { // its digits alone are too big for an integer; with the sign it is one
			return constant(tailrace.TypeOf(tailrace.KindInt4), int32Value(math.MinInt32), loc), nil
		}
		return constant(tailrace.TypeOf(tailrace.KindInt8), int64Value(v), loc), nil
	}
	if strings.ContainsAny(text, "xXoObB_") { // 0x10 and 1_000 are newer than the PostgreSQL we speak
		return nil, ErrUnsupported
	}
	t := tailrace.TypeOf(tailrace.KindNumeric)
	v, err := read(t, text, s.Settings)
	if err != nil {
		return nil, s.at(loc, err)
	}
	return constant(t, v, loc), nil
}

// untyped is a literal whose type its place decides; a nil text is NULL.
func untyped(text *string, loc int32) *Expr {
	e := constant(tailrace.Type{}, null, loc)
	if text != nil {
		e.text = text
		e.eval = func(*Row) (Value, error) { return Value{Raw: []byte(*text)}, nil }
	}
	return e
}

func (s *Scope) column(c *pg_query.ColumnRef) (*Expr, error) {
	var parts []string
	for _, f := range c.Fields {
		if f.GetString_() == nil {
			return nil, ErrUnsupported
		}
		parts = append(parts, f.GetString_().Sval)
	}
	qualifier, name := "", parts[len(parts)-1]
	switch len(parts) {
	case 1:
	case 2:
		qualifier = parts[0]
	default:
		return nil, ErrUnsupported
	}
	if s.Column != nil {
		if i, t, ok := s.Column(qualifier, name); ok {
			return columnAt(i, t, c.Location), nil
		}
		if qualifier != "" {
			return nil, ErrUnsupported // a missing FROM entry, or a column of a composite: the query engine knows more
		}
	}
	if qualifier != "" {
		return nil, s.fail(c.Location, "42P01", fmt.Sprintf("missing FROM-clause entry for table \"%s\"", qualifier))
	}
	return nil, s.fail(c.Location, "42703", fmt.Sprintf("column \"%s\" does not exist", name))
}

func columnAt(i int, t tailrace.Type, loc int32) *Expr {
	return &Expr{Type: t, Column: i, loc: loc, eval: func(r *Row) (Value, error) {
		c := &r.Batch.Cols[i]
		if c.IsNull(r.I) {
			return null, nil
		}
		return Value{Raw: c.Bytes(r.I)}, nil
	}}
}

func (s *Scope) param(p *pg_query.ParamRef) (*Expr, error) {
	n := int(p.Number)
	if s.Params == nil || n < 1 || n > maxParams {
		return nil, s.fail(p.Location, "42P02", fmt.Sprintf("there is no parameter $%d", n))
	}
	for len(*s.Params) < n {
		*s.Params = append(*s.Params, tailrace.Type{})
	}
	e := &Expr{Type: (*s.Params)[n-1], Column: -1, loc: p.Location, eval: func(r *Row) (Value, error) {
		c := &r.Params.Cols[n-1]
		if c.IsNull(0) {
			return null, nil
		}
		return Value{Raw: c.Bytes(0)}, nil
	}}
	if e.Type.Kind == tailrace.KindNone {
		e.param = n
	}
	return e, nil
}

func (s *Scope) cast(c *pg_query.TypeCast) (*Expr, error) {
	t, domain, err := s.typeOf(c.TypeName)
	if err != nil {
		return nil, err
	}
	var e *Expr
	if a := c.Arg.GetAArrayExpr(); a != nil && t.Kind == tailrace.KindArray {
		e, err = s.array(a, t)
	} else {
		e, err = Bind(c.Arg, s)
	}
	if err != nil {
		return nil, err
	}
	if e, err = s.convert(e, t, Explicit, c.Location); err != nil || domain == nil {
		return e, err
	}
	return s.inDomain(e, domain)
}
