package sql

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	pg_query "github.com/pganalyze/pg_query_go/v6"

	"tailrace"
	"tailrace/expr"
)

// explain runs EXPLAIN: which way a statement goes, and what it will read; with ANALYZE it is run, and what it did read is shown.
func (s *Session) explain(ctx context.Context, st *statement, n *pg_query.ExplainStmt) (*Result, error) {
	e, err := s.explainOptions(st, n.Options)
	if err != nil {
		return nil, err
	}
	if err := s.txn.open(ctx, false); err != nil {
		return nil, err
	}
	began := time.Now()
	plan, err := s.planNode(ctx, st, n.Query, e)
	if err != nil {
		return nil, err
	}
	planning := time.Since(began)
	if !e.analyze {
		if err := s.estimate(ctx, plan, e); err != nil {
			return nil, err
		}
		return e.result(plan, planning, 0), nil
	}
	if verb := writes(n.Query); verb != "" && s.readOnly {
		return nil, failure("25006", "cannot execute %s in a read-only transaction", verb)
	}
	began = time.Now()
	rows, err := s.analyze(ctx, st, n.Query, plan, e)
	if err != nil {
		return nil, err
	}
	took := time.Since(began)
	plan.add("Actual Rows", rows)
	if e.timing {
		plan.add("Actual Time", took)
	}
	return e.result(plan, planning, took), nil
}

// analyze runs a statement to its end, drops its rows, and notes at the plan's scans what they read.
func (s *Session) analyze(ctx context.Context, st *statement, tree *pg_query.Node, plan *planNode, e *explaining) (int64, error) {
	inner := *st.Statement
	inner.Tree, inner.Retain = tree, nil
	s.reading = &reading{}
	read := s.reading
	defer func() { s.reading = nil }()
	r, err := s.dispatch(ctx, &statement{Statement: &inner, params: st.params, types: append([]tailrace.Type(nil), st.types...)})
	if err != nil {
		return 0, err
	}
	defer r.Close()
	rows := int64(0)
	if r.Rows != nil {
		if err := drain(ctx, r.Rows, func(b *tailrace.Batch) error { rows += int64(b.N); return nil }); err != nil {
			return 0, err
		}
	}
	if r.Rows == nil || tree.GetSelectStmt() == nil {
		tag := r.tag(rows)
		if _, err := fmt.Sscan(tag[strings.LastIndexByte(tag, ' ')+1:], &rows); err != nil {
			rows = 0
		}
	}
	plan.eachScan(func(n *planNode) { n.read(read.of(n.table.ID), e) })
	return rows, nil
}

// planNode is the plan of a statement.
func (s *Session) planNode(ctx context.Context, st *statement, tree *pg_query.Node, e *explaining) (*planNode, error) {
	switch n := tree.GetNode().(type) {
	case *pg_query.Node_SelectStmt:
		if err := s.readable(tree); err != nil {
			return nil, err
		}
		return s.planSelect(ctx, st, tree, e)
	case *pg_query.Node_UpdateStmt:
		c, err := s.resolveUpdate(ctx, st, n.UpdateStmt)
		if err != nil {
			return nil, err
		}
		return s.planChanging(ctx, st, "Update", c)
	case *pg_query.Node_DeleteStmt:
		c, err := s.resolveDelete(ctx, st, n.DeleteStmt)
		if err != nil {
			return nil, err
		}
		return s.planChanging(ctx, st, "Delete", c)
	case *pg_query.Node_InsertStmt:
		return s.planInserting(ctx, st, n.InsertStmt, e)
	case *pg_query.Node_ExecuteStmt:
		return nil, s.unsupported("EXPLAIN EXECUTE", "EXPLAIN the statement itself, with the values in it.")
	}
	return nil, s.unsupported("EXPLAIN of this statement", "EXPLAIN takes SELECT, INSERT, UPDATE, DELETE and SUBSCRIBE.")
}

// planSelect is the plan of a SELECT: constants, a lookup by key, or a query over scans.
func (s *Session) planSelect(ctx context.Context, st *statement, tree *pg_query.Node, e *explaining) (*planNode, error) {
	p, err := s.planShort(ctx, st, tree.GetSelectStmt())
	switch {
	case err == nil:
		n := &planNode{what: "Constant"}
		if p.path != nil {
			n = lookupNode(p.path, tree.GetSelectStmt().WhereClause)
		}
		return n.output(p.columns, e), nil
	case !errors.Is(err, expr.ErrUnsupported):
		return nil, err
	}
	plan, err := s.plan(ctx, st, tree)
	if err != nil {
		return nil, err
	}
	n := &planNode{what: "Query"}
	for _, id := range plan.Tables() {
		t := s.txn.catalog.Tables[id]
		if t == nil {
			n.nodes = append(n.nodes, &planNode{what: "Scan", name: "the system's relations"})
			continue
		}
		scan := &planNode{what: "Scan", table: t}
		filters := plan.Filters(id)
		if len(filters) > 1 {
			scan.add("Scans", int64(len(filters)))
		}
		for _, f := range filters {
			scan.narrow(f)
			scan.ranges = append(scan.ranges, s.ranges(st, t.Columns, f))
		}
		n.nodes = append(n.nodes, scan)
	}
	return n.output(plan.Columns(), e), nil
}

// planChanging is the plan of an UPDATE or DELETE.
func (s *Session) planChanging(ctx context.Context, st *statement, verb string, c *changing) (*planNode, error) {
	n := &planNode{what: verb, table: c.table}
	path, err := s.keyPath(st, c.table, c.alias(), c.where)
	if err == nil {
		if _, err = s.bindAssigned(st, c); err == nil {
			n.nodes = []*planNode{lookupNode(path, c.where)}
			return n, nil
		}
	}
	if err = passOn(err); !errors.Is(err, expr.ErrUnsupported) {
		return nil, err
	}
	plan, err := s.planChange(ctx, st, c)
	if err != nil {
		return nil, err
	}
	q := &planNode{what: "Query"}
	for _, id := range plan.Tables() {
		if t := s.txn.catalog.Tables[id]; t != nil {
			scan := &planNode{what: "Scan", table: t}
			if id == c.table.ID && c.where != nil {
				scan.condition("Filter", c.where)
			}
			q.nodes = append(q.nodes, scan)
		}
	}
	n.nodes = []*planNode{q}
	return n, nil
}

// planInserting is the plan of an INSERT: its values, or the query that gives them.
func (s *Session) planInserting(ctx context.Context, st *statement, ins *pg_query.InsertStmt, e *explaining) (*planNode, error) {
	in, err := s.resolveInsert(ctx, st, ins)
	if err != nil {
		return nil, err
	}
	n := &planNode{what: "Insert", table: in.table}
	sel := ins.SelectStmt.GetSelectStmt()
	switch {
	case sel == nil:
		n.nodes = []*planNode{{what: "Defaults"}}
	case len(sel.ValuesLists) > 0:
		values := &planNode{what: "Values"}
		values.add("Rows", int64(len(sel.ValuesLists)))
		n.nodes = []*planNode{values}
	default:
		q, err := s.planSelect(ctx, st, ins.SelectStmt, &explaining{})
		if err != nil {
			return nil, err
		}
		n.nodes = []*planNode{q}
	}
	return n, nil
}

// explainSubscribe runs EXPLAIN SUBSCRIBE: which path serves it.
func (s *Session) explainSubscribe(ctx context.Context, st *statement) (*Result, error) {
	if err := s.txn.open(ctx, false); err != nil {
		return nil, err
	}
	f, err := s.subscribed(st, st.ExplainSubscribe)
	if err != nil {
		return nil, err
	}
	lines, err := s.explainFollowed(f, st.ExplainSubscribe)
	if err != nil {
		return nil, err
	}
	rows := make([][]string, len(lines))
	for i, line := range lines {
		rows[i] = []string{line}
	}
	return textResult("EXPLAIN", []string{"QUERY PLAN"}, rows...), nil
}
