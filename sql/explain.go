package sql

import (
	"context"
	"errors"
	"fmt"
	"strings"

	pg_query "github.com/pganalyze/pg_query_go/v6"

	"tailrace/expr"
)

// explain runs EXPLAIN: which way a statement goes, without running it.
func (s *Session) explain(ctx context.Context, st *statement, n *pg_query.ExplainStmt) (*Result, error) {
	for _, o := range n.Options {
		if o.GetDefElem().Defname == "analyze" {
			return nil, s.unsupported("EXPLAIN ANALYZE", "Use EXPLAIN, and run the statement by itself.")
		}
	}
	if err := s.txn.open(ctx, false); err != nil {
		return nil, err
	}
	lines, err := s.explainLines(ctx, st, n.Query)
	if err != nil {
		return nil, err
	}
	var rows [][]string
	for _, l := range lines {
		rows = append(rows, []string{l})
	}
	return textResult("EXPLAIN", []string{"QUERY PLAN"}, rows...), nil
}

func (s *Session) explainLines(ctx context.Context, st *statement, tree *pg_query.Node) ([]string, error) {
	switch n := tree.GetNode().(type) {
	case *pg_query.Node_SelectStmt:
		return s.explainSelect(ctx, st, tree)
	case *pg_query.Node_UpdateStmt:
		c, err := s.resolveUpdate(st, n.UpdateStmt)
		if err != nil {
			return nil, err
		}
		return s.explainChange(st, "Update", c)
	case *pg_query.Node_DeleteStmt:
		c, err := s.resolveDelete(st, n.DeleteStmt)
		if err != nil {
			return nil, err
		}
		return s.explainChange(st, "Delete", c)
	case *pg_query.Node_InsertStmt:
		in, err := s.resolveInsert(st, n.InsertStmt)
		if err != nil {
			return nil, err
		}
		return []string{"Insert on " + in.table.Name}, nil
	}
	return nil, s.unsupported("EXPLAIN of this statement", "")
}

func (s *Session) explainSelect(ctx context.Context, st *statement, tree *pg_query.Node) ([]string, error) {
	p, err := s.planShort(ctx, st, tree.GetSelectStmt())
	switch {
	case err == nil && p.path == nil:
		return []string{"Result"}, nil
	case err == nil:
		return []string{"Lookup by primary key on " + p.path.table.Name}, nil
	case !errors.Is(err, expr.ErrUnsupported):
		return nil, err
	}
	plan, err := s.plan(ctx, st, tree)
	if err != nil {
		return nil, err
	}
	lines := []string{"Query"}
	for _, id := range plan.Tables() {
		if t := s.txn.catalog.Tables[id]; t != nil {
			lines = append(lines, fmt.Sprintf("  ->  Scan on %s", t.Name))
		}
	}
	return lines, nil
}

func (s *Session) explainChange(st *statement, verb string, c *changing) ([]string, error) {
	way := "Lookup by primary key on "
	if _, err := s.keyPath(st, c.table, c.alias(), c.where); err != nil {
		if err = passOn(err); !errors.Is(err, expr.ErrUnsupported) {
			return nil, err
		}
		way = "Scan on "
	}
	return []string{verb + " on " + c.table.Name, strings.Repeat(" ", 2) + "->  " + way + c.table.Name}, nil
}
