package sql

import (
	"context"
	"errors"

	pg_query "github.com/pganalyze/pg_query_go/v6"

	"tailrace"
	"tailrace/expr"
)

// describe finds the types of st's parameters, into st.types, and its result columns, nil when it returns no rows.
func (s *Session) describe(ctx context.Context, st *statement) ([]tailrace.ResultColumn, error) {
	switch {
	case st.Subscribe != nil:
		return s.describeSubscribe(ctx, st)
	case st.ExplainSubscribe != nil:
		return textResult("EXPLAIN", []string{"QUERY PLAN"}).Columns, nil
	case st.Backup != nil:
		return backupColumns(), nil
	case st.Fetch != nil:
		if c := s.cursors[st.Fetch.Cursor]; c != nil && !st.Fetch.Move {
			if c.subscribe != nil && c.columns == nil {
				return s.describeSubscribe(ctx, &statement{Statement: c.st.Statement, params: c.st.params, types: c.st.types})
			}
			return c.columns, nil
		}
		return nil, nil
	case st.Tree == nil:
		return nil, nil
	}
	switch n := st.Tree.Node.(type) {
	case *pg_query.Node_SelectStmt:
		if n.SelectStmt.IntoClause != nil {
			_, err := s.describeSelect(ctx, st, withoutInto(n.SelectStmt))
			return nil, err
		}
		return s.describeSelect(ctx, st, st.Tree)
	case *pg_query.Node_CreateTableAsStmt:
		if n.CreateTableAsStmt.Query.GetSelectStmt() == nil {
			return nil, nil
		}
		_, err := s.describeSelect(ctx, st, n.CreateTableAsStmt.Query)
		return nil, err
	case *pg_query.Node_DeclareCursorStmt:
		_, err := s.describeSelect(ctx, st, n.DeclareCursorStmt.Query)
		return nil, err
	case *pg_query.Node_InsertStmt:
		return s.describeInsert(ctx, st, n.InsertStmt)
	case *pg_query.Node_UpdateStmt:
		c, err := s.resolveUpdate(ctx, st, n.UpdateStmt)
		if err != nil {
			return nil, err
		}
		return c.returning.described(), s.describeChange(ctx, st, c)
	case *pg_query.Node_DeleteStmt:
		c, err := s.resolveDelete(ctx, st, n.DeleteStmt)
		if err != nil {
			return nil, err
		}
		return c.returning.described(), s.describeChange(ctx, st, c)
	case *pg_query.Node_VariableShowStmt:
		r, err := s.show(n.VariableShowStmt)
		if err != nil {
			return nil, err
		}
		return r.Columns, nil
	case *pg_query.Node_ExplainStmt:
		return textResult("EXPLAIN", []string{"QUERY PLAN"}).Columns, nil
	case *pg_query.Node_ExecuteStmt:
		if p := s.statements[n.ExecuteStmt.Name]; p != nil {
			return p.Columns, nil
		}
	}
	return nil, nil
}

func (s *Session) describeSelect(ctx context.Context, st *statement, tree *pg_query.Node) ([]tailrace.ResultColumn, error) {
	types := append([]tailrace.Type(nil), st.types...)
	short, err := s.planShort(ctx, st, tree.GetSelectStmt())
	if err == nil {
		return short.columns, nil
	}
	st.types = types // what a half-bound statement found out is not to be trusted
	if !errors.Is(err, expr.ErrUnsupported) {
		return nil, err
	}
	r := &resolver{s: s}
	if s.engine.Query == nil {
		return nil, s.unsupported("a query like this", "Start the server with its query engine.")
	}
	plan, err := s.engine.Query.Plan(ctx, tree, st.Text, r, st.types)
	if err != nil {
		return nil, err
	}
	st.types = plan.Params()
	return plan.Columns(), nil
}

func (s *Session) describeInsert(ctx context.Context, st *statement, n *pg_query.InsertStmt) ([]tailrace.ResultColumn, error) {
	in, err := s.resolveInsert(ctx, st, n)
	if err != nil || n.SelectStmt == nil {
		return in.described(), err
	}
	types := append([]tailrace.Type(nil), st.types...)
	if rows := n.SelectStmt.GetSelectStmt().GetValuesLists(); len(rows) > 0 {
		_, err := s.bindValues(st, in, rows)
		if !errors.Is(err, expr.ErrUnsupported) {
			return in.described(), err
		}
	}
	st.types = types
	plan, err := s.planInsert(ctx, st, in, n)
	if err != nil {
		return nil, err
	}
	st.types = plan.Params()
	return in.described(), nil
}

// described is the result's columns, nil when the statement returns no rows.
func (r *returning) described() []tailrace.ResultColumn {
	if r == nil {
		return nil
	}
	return r.columns
}

func (in *inserting) described() []tailrace.ResultColumn {
	if in == nil {
		return nil
	}
	return in.returning.described()
}

func (s *Session) describeChange(ctx context.Context, st *statement, c *changing) error {
	types := append([]tailrace.Type(nil), st.types...)
	_, err := s.keyPath(st, c.table, c.alias(), c.where)
	if err == nil {
		if _, err = s.bindAssigned(st, c); err == nil {
			return nil
		}
	}
	st.types = types
	if err = passOn(err); !errors.Is(err, expr.ErrUnsupported) {
		return err
	}
	plan, err := s.planChange(ctx, st, c)
	if err != nil {
		return err
	}
	st.types = plan.Params()
	return nil
}

// describeSubscribe begins the subscription and ends it, to learn its columns.
func (s *Session) describeSubscribe(ctx context.Context, st *statement) ([]tailrace.ResultColumn, error) {
	p := st.Subscribe
	if p == nil {
		p = st.DeclareSubscribe.Subscribe
	}
	shape := *p
	shape.AsOf, shape.UpTo, shape.Snapshot = nil, nil, false
	sub, err := s.follow(ctx, st, &shape)
	if err != nil {
		return nil, err
	}
	return sub.Columns(), sub.Close()
}

// CursorColumns describes the rows of an open cursor: a driver may ask for it as for a portal. It is 34000 when there is none.
func (s *Session) CursorColumns(ctx context.Context, name string) ([]tailrace.ResultColumn, error) {
	c, err := s.cursor(name)
	if err != nil {
		return nil, err
	}
	if c.columns == nil && c.subscribe != nil { // FETCH has not begun it
		return s.describeSubscribe(ctx, c.st)
	}
	return c.columns, nil
}
