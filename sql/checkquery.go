package sql

import (
	"context"
	"errors"

	pg_query "github.com/pganalyze/pg_query_go/v6"

	"tailrace"
	"tailrace/expr"
	"tailrace/query"
)

// checkedRows is rows that a CHECK is about, as a relation for the query engine: for conditions that expr cannot do, such as LIKE and regular expressions.
type checkedRows struct {
	schema *tailrace.Schema
	b      *tailrace.Batch
}

// rowsName is what the relation is called; a CHECK does not name it.
const rowsName = "checked"

// resolver finds the rows, and no other relation.
func (r *checkedRows) resolver(s *Session) query.Resolver {
	return &checkResolver{resolver{s: s}, &query.Table{Columns: r.schema, Scan: func(_ context.Context, cols []int) (tailrace.Rows, error) {
		return &literal{pick(r.b, cols)}, nil
	}}}
}

type checkResolver struct {
	resolver
	rows *query.Table
}

// Resolve is query.Resolver.
func (r *checkResolver) Resolve(schema, name string) (*query.Table, error) {
	if name != rowsName {
		return nil, noRelation(schema, name)
	}
	return r.rows, nil
}

// plan plans SELECT row number FROM rows WHERE (check) IS FALSE.
func (r *checkedRows) plan(ctx context.Context, s *Session, check *pg_query.Node, text string) (*query.Plan, error) {
	if s.engine.Query == nil {
		return nil, s.unsupported("this CHECK", "Start the server with its query engine.")
	}
	sel := &pg_query.SelectStmt{
		FromClause: []*pg_query.Node{{Node: &pg_query.Node_RangeVar{RangeVar: &pg_query.RangeVar{Relname: rowsName, Inh: true}}}},
		WhereClause: &pg_query.Node{Node: &pg_query.Node_BooleanTest{BooleanTest: &pg_query.BooleanTest{
			Arg: check, Booltesttype: pg_query.BoolTestType_IS_FALSE, Location: -1,
		}}},
		LimitOption: pg_query.LimitOption_LIMIT_OPTION_DEFAULT, Op: pg_query.SetOperation_SETOP_NONE,
	}
	return s.engine.Query.Plan(ctx, &pg_query.Node{Node: &pg_query.Node_SelectStmt{SelectStmt: sel}}, text, r.resolver(s), nil, query.RowRef)
}

// violation is the first row that a check is false for, -1 when there is none.
func (r *checkedRows) violation(ctx context.Context, s *Session, check *pg_query.Node) (int, error) {
	if r.b.Diffs != nil || r.b.IDs != nil { // the rows themselves, each once
		r = &checkedRows{r.schema, &tailrace.Batch{N: r.b.N, Cols: r.b.Cols}}
	}
	plan, err := r.plan(ctx, s, check, "")
	if err != nil {
		return -1, err
	}
	rows, err := s.runPlan(ctx, plan, &statement{})
	if err != nil {
		return -1, err
	}
	first := -1
	err = drain(ctx, rows, func(b *tailrace.Batch) error {
		for _, n := range b.Cols[0].Int64s()[:b.N] {
			if first < 0 || int(n) < first {
				first = int(n)
			}
		}
		return nil
	})
	return first, err
}

// checkable tells what is wrong with the condition of a CHECK over rows of schema; sc has its columns.
func (s *Session) checkable(ctx context.Context, st *statement, c *pg_query.Constraint, sc *expr.Scope, schema *tailrace.Schema) error {
	nested := int32(-1)
	walkNode(c.RawExpr, nil, func(n *pg_query.Node, _ []string) {
		if l := n.GetSubLink(); l != nil {
			nested = max(l.Location, 0)
		}
	})
	if nested >= 0 {
		return at(failure("0A000", "cannot use subquery in check constraint"), st.pos(nested))
	}
	_, err := expr.BindCondition(c.RawExpr, sc)
	if err = passOn(err); !errors.Is(err, expr.ErrUnsupported) {
		return err
	}
	_, err = (&checkedRows{schema: schema}).plan(ctx, s, c.RawExpr, st.Text)
	return err
}
