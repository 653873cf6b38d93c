package expr

import (
	"bytes"
	"fmt"

	pg_query "github.com/pganalyze/pg_query_go/v6"

	"tailrace"
)

// unify gives all of args one type: of those that have one, the widest number, or text of different kinds of it.
func (s *Scope) unify(args []*Expr, clause string) ([]*Expr, tailrace.Type, error) {
	t := tailrace.Type{}
	for _, e := range args {
		switch n, k := e.Type.Kind, t.Kind; {
		case n == tailrace.KindNone || e.Type.Same(t):
		case k == tailrace.KindNone:
			t = e.Type.Plain()
		case rank(n) > 0 && rank(k) > 0:
			if rank(n) > rank(k) {
				t = e.Type.Plain()
			}
		case isText(n) && isText(k):
			t = tailrace.TypeOf(tailrace.KindText)
		case n == tailrace.KindArray && k == tailrace.KindArray: // arrays of different elements do not become one another
			return nil, t, s.unmatched(clause, t, e)
		case n == tailrace.KindInterval || k == tailrace.KindInterval: // in a category of its own, although a time becomes one
			return nil, t, s.unmatched(clause, t, e)
		case CastContext(t, e.Type) == Implicit:
			t = e.Type.Plain()
		case CastContext(e.Type, t) == Implicit:
		default:
			return nil, t, s.unmatched(clause, t, e)
		}
	}
	if t.Kind == tailrace.KindNone {
		t = tailrace.TypeOf(tailrace.KindText)
	}
	if len(args) > 0 && sameType(args) {
		t = args[0].Type
	}
	out := make([]*Expr, len(args))
	for i, e := range args {
		var err error
		if out[i], err = s.convert(e, t, Implicit, e.loc); err != nil {
			return nil, t, err
		}
	}
	return out, t, nil
}

func (s *Scope) unmatched(clause string, t tailrace.Type, e *Expr) error {
	return s.fail(e.loc, "42804", fmt.Sprintf("%s types %s and %s cannot be matched", clause, bare(t), bare(e.Type)))
}

func sameType(args []*Expr) bool {
	for _, e := range args {
		if e.Type != args[0].Type || e.Type.Kind == tailrace.KindNone {
			return false
		}
	}
	return true
}

func (s *Scope) bindAll(nodes []*pgNode) ([]*Expr, error) {
	var out []*Expr
	for _, n := range nodes {
		e, err := Bind(n, s)
		if err != nil {
			return nil, err
		}
		out = append(out, e)
	}
	return out, nil
}

func (s *Scope) coalesce(c *pg_query.CoalesceExpr) (*Expr, error) {
	args, err := s.bindAll(c.Args)
	if err != nil {
		return nil, err
	}
	args, t, err := s.unify(args, "COALESCE")
	if err != nil {
		return nil, err
	}
	return &Expr{Type: t, Column: -1, loc: c.Location, eval: func(r *Row) (Value, error) {
		for _, a := range args {
			if v, err := a.eval(r); err != nil || !v.Null {
				return v, err
			}
		}
		return null, nil
	}}, nil
}

// minMax binds greatest and least, which skip NULLs.
func (s *Scope) minMax(m *pg_query.MinMaxExpr) (*Expr, error) {
	want, clause := 1, "GREATEST"
	if m.Op == pg_query.MinMaxOp_IS_LEAST {
		want, clause = -1, "LEAST"
	}
	args, err := s.bindAll(m.Args)
	if err != nil {
		return nil, err
	}
	args, t, err := s.unify(args, clause)
	if err != nil {
		return nil, err
	}
	if !s.ordered(t) {
		return nil, ErrUnsupported
	}
	return &Expr{Type: t, Column: -1, loc: m.Location, eval: func(r *Row) (Value, error) {
		best := null
		for _, a := range args {
			v, err := a.eval(r)
			if err != nil {
				return null, err
			}
			if !v.Null && (best.Null || bytes.Compare(orderKey(t, v, r.Settings), orderKey(t, best, r.Settings)) == want) {
				best = v
			}
		}
		return best, nil
	}}, nil
}

func (s *Scope) caseWhen(c *pg_query.CaseExpr) (*Expr, error) {
	var whens, results []*Expr
	for _, n := range c.Args {
		w := n.GetCaseWhen()
		cond, err := s.when(c, w)
		if err != nil {
			return nil, err
		}
		res, err := Bind(w.Result, s)
		if err != nil {
			return nil, err
		}
		whens, results = append(whens, cond), append(results, res)
	}
	last := untyped(nil, c.Location)
	if c.Defresult != nil {
		var err error
		if last, err = Bind(c.Defresult, s); err != nil {
			return nil, err
		}
	}
	results, t, err := s.unify(append(results, last), "CASE")
	if err != nil {
		return nil, err
	}
	return &Expr{Type: t, Column: -1, loc: c.Location, eval: func(r *Row) (Value, error) {
		for i, w := range whens {
			v, err := w.eval(r)
			if err != nil {
				return null, err
			}
			if v.isTrue() {
				return results[i].eval(r)
			}
		}
		return results[len(whens)].eval(r)
	}}, nil
}

// when is the condition of one WHEN: of CASE x WHEN y it is x = y.
func (s *Scope) when(c *pg_query.CaseExpr, w *pg_query.CaseWhen) (*Expr, error) {
	if c.Arg == nil {
		e, err := Bind(w.Expr, s)
		if err != nil {
			return nil, err
		}
		return s.condition(e, "CASE/WHEN")
	}
	l, r, err := s.both(c.Arg, w.Expr)
	if err != nil {
		return nil, err
	}
	return s.compare("=", l, r, w.Location)
}
