package sql

import (
	"context"
	"errors"
	"fmt"

	pg_query "github.com/pganalyze/pg_query_go/v6"

	"tailrace"
	"tailrace/expr"
)

// prepareStatement runs PREPARE name AS ....
func (s *Session) prepareStatement(ctx context.Context, st *statement, n *pg_query.PrepareStmt) (*Result, error) {
	if s.statements[n.Name] != nil {
		return nil, failure("42P05", "prepared statement \"%s\" already exists", n.Name)
	}
	if len(s.statements) >= statementsLimit {
		return nil, &tailrace.Error{Code: "53200", Message: "too many prepared statements", Hint: "DEALLOCATE those that are no longer needed."}
	}
	inner := *st.Statement
	inner.Tree = n.Query
	var types []tailrace.Type
	for _, a := range n.Argtypes {
		t, err := expr.TypeName(a.GetTypeName())
		if err != nil {
			return nil, at(err, st.pos(a.GetTypeName().GetLocation()))
		}
		types = append(types, t)
	}
	p, err := s.prepare(ctx, &statement{Statement: &inner, types: types})
	if err != nil {
		return nil, err
	}
	s.statements[n.Name] = p
	return done("PREPARE"), nil
}

// executeStatement runs EXECUTE name(args).
func (s *Session) executeStatement(ctx context.Context, st *statement, n *pg_query.ExecuteStmt) (*Result, error) {
	p := s.statements[n.Name]
	if p == nil {
		return nil, failure("26000", "prepared statement \"%s\" does not exist", n.Name)
	}
	if len(n.Params) != len(p.Params) {
		return nil, &tailrace.Error{
			Code: "42601", Message: fmt.Sprintf("wrong number of parameters for prepared statement \"%s\"", n.Name),
			Detail: fmt.Sprintf("Expected %d parameters but got %d.", len(p.Params), len(n.Params)),
		}
	}
	params := &tailrace.Batch{N: 1}
	for i, a := range n.Params {
		e, err := expr.BindAs(a, s.scope(st), p.Params[i], fmt.Sprintf("$%d", i+1))
		if errors.Is(err, expr.ErrUnsupported) {
			return nil, s.unsupported("this expression as an argument of EXECUTE", "Use a constant.")
		}
		if err != nil {
			return nil, err
		}
		c := tailrace.MakeColumn(p.Params[i].Kind, 1)
		if err := e.Append(&c, s.row(st.params)); err != nil {
			return nil, err
		}
		params.Cols = append(params.Cols, c)
	}
	return s.dispatch(ctx, &statement{Statement: p.st, params: params, types: append([]tailrace.Type(nil), p.Params...), keep: &p.kept})
}

// deallocate runs DEALLOCATE, which forgets statements of the protocol too.
func (s *Session) deallocate(n *pg_query.DeallocateStmt) (*Result, error) {
	if n.Name == "" {
		s.forgetStatements()
		return done("DEALLOCATE ALL"), nil
	}
	if s.statements[n.Name] != nil {
		delete(s.statements, n.Name)
		return done("DEALLOCATE"), nil
	}
	if s.options.Deallocate != nil && s.options.Deallocate(n.Name) {
		return done("DEALLOCATE"), nil
	}
	return nil, failure("26000", "prepared statement \"%s\" does not exist", n.Name)
}

func (s *Session) forgetStatements() {
	clear(s.statements)
	if s.options.Deallocate != nil {
		s.options.Deallocate("")
	}
}
