package expr

import (
	"errors"

	"tailrace"
	"tailrace/format"
)

// ErrUnsupported is returned (wrapped) by Bind for an expression that this package does not evaluate. It says nothing about whether the expression is right.
var ErrUnsupported = errors.New("expression is for the query engine")

// Value is an SQL value as stored; Raw is a view that must not be written through.
type Value struct {
	Null bool
	Raw  []byte
}

var null = Value{Null: true}

// Row is what an expression is evaluated against.
type Row struct {
	Batch    *tailrace.Batch // its columns are the scope's; nil when the scope has none
	I        int
	Params   *tailrace.Batch  // one row; nil when there are none
	Now      int64            // now(), as a stored timestamptz
	Logical  tailrace.Time    // mz_now()
	Settings *format.Settings // for casts to and from text
}

// Expr is a bound expression. Anyone may evaluate it.
type Expr struct {
	Type tailrace.Type // KindNone: a literal or parameter whose type nothing has asked for yet
	// Const tells that the value depends on no column, parameter or clock.
	Const bool
	// Column is the index of the scope's column that this is, -1 when it is more than that.
	Column int
	loc    int32
	text   *string // the literal of an untyped one
	param  int     // the number of an untyped parameter
	eval   func(*Row) (Value, error)
}

// Eval returns the value for r.
func (e *Expr) Eval(r *Row) (Value, error) { return e.eval(r) }

// Loc is where the expression stands: a byte offset in the statement's text.
func (e *Expr) Loc() int32 { return e.loc }

// Append evaluates e and adds its value to c, a column of its type.
func (e *Expr) Append(c *tailrace.Column, r *Row) error {
	v, err := e.eval(r)
	switch {
	case err != nil:
		return err
	case v.Null:
		c.AppendNull()
	default:
		c.Append(v.Raw)
	}
	return nil
}

// single is a column that holds just v, for functions that read columns.
func single(k tailrace.Kind, v Value) tailrace.Column {
	c := tailrace.Column{Width: k.Width(), N: 1, Data: v.Raw}
	if c.Width == 0 {
		c.Offsets = []int32{0, int32(len(v.Raw))}
	}
	return c
}

// key is v's bytes in the order of its type.
func key(t tailrace.Type, v Value) []byte {
	c := single(t.Kind, v)
	return tailrace.AppendKey(nil, t, &c, 0)
}

// print is v as text.
func print(t tailrace.Type, v Value, s *format.Settings) []byte {
	c := single(t.Kind, v)
	return format.AppendText(nil, t, &c, 0, s)
}

// read is the value of type t that text stands for.
func read(t tailrace.Type, text string, s *format.Settings) (Value, error) {
	c := tailrace.MakeColumn(t.Kind, 1)
	if err := format.ParseText(&c, t, text, s); err != nil {
		return null, err
	}
	if c.IsNull(0) {
		return null, nil
	}
	return Value{Raw: c.Bytes(0)}, nil
}

func boolean(b bool) Value {
	if b {
		return Value{Raw: []byte{1}}
	}
	return Value{Raw: []byte{0}}
}

func (v Value) isTrue() bool  { return !v.Null && v.Raw[0] != 0 }
func (v Value) isFalse() bool { return !v.Null && v.Raw[0] == 0 }

func failure(code, message string) error { return &tailrace.Error{Code: code, Message: message} }
