package sql

import (
	"context"
	"errors"
	"fmt"

	"tailrace"
	"tailrace/expr"
	"tailrace/format"
	"tailrace/log"
	"tailrace/parse"
)

// statementsLimit is how many statements a session may PREPARE.
const statementsLimit = 10_000

// Prepared is a parsed and described statement of one session. What others see of it is immutable.
type Prepared struct {
	Params    []tailrace.Type
	ParamOIDs []uint32
	Columns   []tailrace.ResultColumn // nil: returns no rows
	Empty     bool
	st        *parse.Statement
	kept      kept
}

// Param is one parameter's value as the client sent it.
type Param struct {
	Value  []byte // nil is NULL
	Binary bool
}

// Bound is a prepared statement with parameters: what a portal runs.
type Bound struct {
	Prepared *Prepared
	params   *tailrace.Batch
}

const (
	oidUnknown = 705
	oidOID     = 26
	oidName    = 19
)

// Prepare is the extended protocol's Parse with its Describe. paramOIDs may be shorter than the parameters; 0 leaves a type to the context.
func (s *Session) Prepare(ctx context.Context, text string, paramOIDs []uint32) (*Prepared, error) {
	sts, err := s.Parse(text)
	if err != nil {
		return nil, err
	}
	if len(sts) > 1 {
		return nil, failure("42601", "cannot insert multiple commands into a prepared statement")
	}
	if len(sts) == 0 {
		return &Prepared{Empty: true}, nil
	}
	types := make([]tailrace.Type, len(paramOIDs))
	for i, oid := range paramOIDs {
		switch oid {
		case 0, oidUnknown:
			continue
		case oidName:
			types[i] = tailrace.TypeOf(tailrace.KindText)
		case oidOID:
			types[i] = tailrace.TypeOf(tailrace.KindInt8)
		default:
			t, ok := tailrace.BuiltinOf(oid)
			if !ok {
				return nil, s.unsupported(fmt.Sprintf("a parameter of the type with OID %d", oid), "Send it as text, or with a type that tables here can have.")
			}
			types[i] = t
		}
	}
	p, err := s.prepare(ctx, &statement{Statement: sts[0], types: types})
	return p, sts[0].Outer(userError(ctx, err))
}

// prepare describes st in a transaction that it leaves as it was, without fixing the time of one that is not begun.
func (s *Session) prepare(ctx context.Context, st *statement) (*Prepared, error) {
	if s.state == failed {
		if endsBlock(st.Tree) {
			return &Prepared{st: st.Statement}, nil
		}
		return nil, failure("25P02", "current transaction is aborted, commands ignored until end of transaction block")
	}
	if s.txn == nil || s.txn.catalog == nil {
		was, state, start, prior := s.txn, s.state, s.start, s.prior
		s.txn, s.start = s.engine.begin(s.strict()), s.engine.now()
		defer func() {
			s.txn.abort(ctx)
			s.txn, s.state, s.start, s.prior = was, state, start, prior
		}()
	}
	if err := s.txn.open(ctx, true); err != nil {
		return nil, err
	}
	columns, err := s.describe(ctx, st)
	if err == nil && st.AsOf != nil {
		_, err = expr.BindOutput(st.AsOf, s.scope(st)) // it may have parameters
	}
	if err != nil {
		return nil, err
	}
	p := &Prepared{Params: st.types, Columns: columns, st: st.Statement}
	for i, t := range st.types {
		if t.Kind == tailrace.KindNone {
			return nil, failure("42P18", "could not determine data type of parameter $%d", i+1)
		}
		p.ParamOIDs = append(p.ParamOIDs, t.OID())
	}
	return p, nil
}

// Bind gives a prepared statement its parameters.
func (s *Session) Bind(_ context.Context, p *Prepared, params []Param) (*Bound, error) {
	if len(params) != len(p.Params) {
		return nil, failure("08P01", "bind message supplies %d parameters, but prepared statement requires %d", len(params), len(p.Params))
	}
	b := &Bound{Prepared: p}
	if len(params) == 0 {
		return b, nil
	}
	b.params = &tailrace.Batch{N: 1}
	for i, v := range params {
		c := tailrace.MakeColumn(p.Params[i].Kind, 1)
		err := error(nil)
		switch {
		case v.Value == nil:
			c.AppendNull()
		case v.Binary:
			err = format.ParseBinary(&c, p.Params[i], v.Value, s.inputFormat(p.Params[i]))
		default:
			err = format.ParseText(&c, p.Params[i], string(v.Value), s.inputFormat(p.Params[i]))
		}
		if err != nil {
			return nil, err
		}
		b.params.Cols = append(b.params.Cols, c)
	}
	return b, nil
}

// inputFormat is how a parameter of type t is read: 'now' is when it is bound.
func (s *Session) inputFormat(t tailrace.Type) *format.Settings {
	k := t.Kind
	if k == tailrace.KindArray {
		k = t.Elem
	}
	switch k {
	case tailrace.KindDate, tailrace.KindTime, tailrace.KindTimestamp, tailrace.KindTimestamptz:
		f := *s.format
		f.Now = s.engine.now()
		return &f
	}
	return s.format
}

// rerun is the only statement of an extended-protocol cycle, to be run again when others were faster.
type rerun struct {
	st  *statement
	tag string // that the client was told: another outcome may not follow it
}

// Execute runs a bound statement. What it writes is committed by Sync.
func (s *Session) Execute(ctx context.Context, b *Bound) (*Result, error) {
	return s.execute(ctx, b, false)
}

// ExecuteLast is Execute of a statement that Sync follows at once. If it is the only one of its transaction, what it writes is committed before it returns, so that
// it can run again, rows of RETURNING and all, when others were faster.
func (s *Session) ExecuteLast(ctx context.Context, b *Bound) (*Result, error) {
	return s.execute(ctx, b, true)
}

func (s *Session) execute(ctx context.Context, b *Bound, last bool) (*Result, error) {
	if b.Prepared.Empty {
		return nil, failure("XX000", "an empty statement cannot be executed")
	}
	st := &statement{Statement: b.Prepared.st, params: b.params, types: append([]tailrace.Type(nil), b.Prepared.Params...), keep: &b.Prepared.kept, last: last, columns: b.Prepared.Columns}
	first := s.state == idle || s.state == implicit && !s.prior
	r, err := s.run(ctx, st, false)
	s.again = nil
	if err != nil {
		return nil, st.Outer(err)
	}
	if r.Rows != nil && !sameColumns(r.Columns, b.Prepared.Columns) {
		r.Close()
		return nil, failure("0A000", "cached plan must not change result type")
	}
	if first && s.state == implicit && r.Rows == nil && r.CopyIn == nil {
		s.again = &rerun{st, r.tag(0)}
	}
	return r, nil
}

func sameColumns(a, b []tailrace.ResultColumn) bool {
	if len(a) != len(b) {
		return false
	}
	for i := range a {
		if a[i].Type != b[i].Type {
			return false
		}
	}
	return true
}

// commitAgain commits, and while others are faster runs the transaction's only statement again, as long as it does the same.
func (s *Session) commitAgain(ctx context.Context) error {
	again, t := s.again, s.txn
	err := s.commit(ctx)
	mine := turn{turns: &s.engine.turns}
	defer mine.end()
	for try := 1; again != nil && errors.Is(err, log.ErrConflict) && try < conflictTries; try++ {
		s.rollback(ctx)
		if err := mine.lost(ctx, t, try); err != nil {
			return err
		}
		s.enter()
		t = s.txn
		t.turn = mine.taken
		r, failed := s.dispatch(ctx, again.st)
		if failed != nil {
			return failed
		}
		if r.tag(0) != again.tag {
			return err
		}
		err = s.commit(ctx)
	}
	return err
}
