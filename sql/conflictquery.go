package sql

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"strings"

	pg_query "github.com/pganalyze/pg_query_go/v6"
	"google.golang.org/protobuf/proto"

	"tailrace"
	"tailrace/catalog"
	"tailrace/query"
)

// pairQuery is a DO UPDATE whose expressions take the query engine. It is asked about pairs of rows: those that are there, and those proposed, each with the pair's number
// behind its columns:
//
//	SELECT t.n, expressions FROM t JOIN excluded ON t.n = excluded.n WHERE ...
type pairQuery struct {
	table   *catalog.Table
	rel     *pg_query.RangeVar
	columns []int
	values  []*pg_query.Node
	where   *pg_query.Node // nil for none
}

// list is the values assigned, but for DEFAULT.
func (q *pairQuery) list() []*pg_query.Node {
	var out []*pg_query.Node
	for k, v := range q.values {
		if v.GetSetToDefault() == nil {
			out = append(out, typed(proto.Clone(v).(*pg_query.Node), q.table.Columns.Fields[q.columns[k]].Type))
		}
	}
	return out
}

// describePairs checks the expressions, and finds the types of the statement's parameters in them.
func (s *Session) describePairs(ctx context.Context, st *statement, q *pairQuery) error {
	for _, n := range append(slices.Clone(q.values), q.where) {
		if n != nil && hasNode(n, func(n *pg_query.Node) bool { return n.GetSubLink() != nil }) {
			return s.unsupported("a subquery in ON CONFLICT DO UPDATE", "INSERT the rows of a SELECT that joins what the subquery reads.")
		}
	}
	nothing := func() *tailrace.Batch { return nil }
	p, err := s.planPairs(ctx, st, q, q.list(), nil, nothing, nothing)
	if err != nil {
		return inUpdate(err)
	}
	st.types = p.Params()
	i := 0
	for k, v := range q.values {
		if v.GetSetToDefault() != nil {
			continue
		}
		if err := assignable(&q.table.Columns.Fields[q.columns[k]], p.Columns()[i+1].Type); err != nil {
			return at(err, st.pos(nodeLocation(v)))
		}
		i++
	}
	if q.where == nil {
		return nil
	}
	if p, err = s.planPairs(ctx, st, q, nil, q.where, nothing, nothing); err == nil {
		st.types = p.Params()
	}
	return err
}

// inUpdate names the clause that the planner takes for a RETURNING.
func inUpdate(err error) error {
	var e *tailrace.Error
	if !errors.As(err, &e) || !strings.HasSuffix(e.Message, " in RETURNING") {
		return err
	}
	renamed := *e
	renamed.Message = strings.TrimSuffix(e.Message, "RETURNING") + "UPDATE"
	return &renamed
}

// pairResolver knows the two tables.
type pairResolver struct {
	*resolver
	old, proposed *query.Table
}

func (r *pairResolver) Resolve(_, name string) (*query.Table, error) {
	if name == excluded {
		return r.proposed, nil
	}
	return r.old, nil
}

// planPairs plans list over pairs of rows; the first output is the pair's number.
func (s *Session) planPairs(ctx context.Context, st *statement, q *pairQuery, list []*pg_query.Node, where *pg_query.Node, old, proposed func() *tailrace.Batch) (*query.Plan, error) {
	if s.engine.Query == nil {
		return nil, s.unsupported("an ON CONFLICT DO UPDATE like this", "Start the server with its query engine.")
	}
	number := "n"
	for q.table.Columns.ByName(number) >= 0 {
		number += "n"
	}
	schema := *q.table.Columns
	schema.Fields = append(slices.Clone(schema.Fields), tailrace.Field{ID: schema.NextColumn, Name: number, Type: tailrace.TypeOf(tailrace.KindInt8)})
	table := func(rows func() *tailrace.Batch) *query.Table {
		return &query.Table{ID: q.table.ID, Columns: &schema, Scan: func(_ context.Context, cols []int) (tailrace.Rows, error) {
			return &literal{pick(numbered(rows()), cols)}, nil
		}}
	}
	rel := proto.Clone(q.rel).(*pg_query.RangeVar)
	name := q.table.Name
	if a := rel.Alias.GetAliasname(); a != "" {
		name = a
	}
	ref := func(table string) *pg_query.Node {
		return &pg_query.Node{Node: &pg_query.Node_ColumnRef{ColumnRef: &pg_query.ColumnRef{Fields: []*pg_query.Node{stringNode(table), stringNode(number)}, Location: -1}}}
	}
	sel := &pg_query.SelectStmt{
		FromClause: []*pg_query.Node{{Node: &pg_query.Node_JoinExpr{JoinExpr: &pg_query.JoinExpr{
			Jointype: pg_query.JoinType_JOIN_INNER, Larg: &pg_query.Node{Node: &pg_query.Node_RangeVar{RangeVar: rel}},
			Rarg: &pg_query.Node{Node: &pg_query.Node_RangeVar{RangeVar: &pg_query.RangeVar{Relname: excluded, Inh: true, Relpersistence: "p", Location: -1}}},
			Quals: &pg_query.Node{Node: &pg_query.Node_AExpr{AExpr: &pg_query.A_Expr{
				Kind: pg_query.A_Expr_Kind_AEXPR_OP, Name: []*pg_query.Node{stringNode("=")}, Lexpr: ref(name), Rexpr: ref(excluded), Location: -1,
			}}},
		}}}},
		WhereClause: where,
		LimitOption: pg_query.LimitOption_LIMIT_OPTION_DEFAULT, Op: pg_query.SetOperation_SETOP_NONE,
	}
	for _, n := range append([]*pg_query.Node{ref(name)}, list...) {
		sel.TargetList = append(sel.TargetList, &pg_query.Node{Node: &pg_query.Node_ResTarget{ResTarget: &pg_query.ResTarget{Val: n, Location: nodeLocation(n)}}})
	}
	r := &pairResolver{&resolver{s: s}, table(old), table(proposed)}
	return s.engine.Query.Plan(ctx, &pg_query.Node{Node: &pg_query.Node_SelectStmt{SelectStmt: sel}}, st.Text, r, st.types, query.Returning)
}

// numbered is rows with their numbers behind.
func numbered(b *tailrace.Batch) *tailrace.Batch {
	number := tailrace.MakeColumn(tailrace.KindInt8, b.N)
	for i := range b.N {
		number.AppendInt64(int64(i))
	}
	return &tailrace.Batch{N: b.N, Cols: append(slices.Clone(b.Cols), number)}
}

// askPairs evaluates list over the pairs of rows that meet where, with a plan that is made once for a statement. The first column is the pair's number, which ascends.
func (p *putting) askPairs(ctx context.Context, plan **query.Plan, list []*pg_query.Node, where *pg_query.Node, old, proposed *tailrace.Batch) (*tailrace.Batch, error) {
	p.old, p.proposed = old, proposed
	if *plan == nil {
		var err error
		*plan, err = p.s.planPairs(ctx, p.st, p.in.conflict.asked, list, where, func() *tailrace.Batch { return p.old }, func() *tailrace.Batch { return p.proposed })
		if err != nil {
			return nil, err
		}
	}
	rows, err := p.s.runPlan(ctx, *plan, p.st)
	if err != nil {
		return nil, err
	}
	var out *tailrace.Batch
	err = drain(ctx, rows, func(b *tailrace.Batch) error {
		kept := copyOf(b)
		out = joined(out, &kept)
		return nil
	})
	if err != nil {
		return nil, err
	}
	if out == nil {
		return &tailrace.Batch{}, nil
	}
	order := make([]int32, out.N)
	for i := range order {
		order[i] = int32(i)
	}
	number := out.Cols[0].Int64s()
	slices.SortFunc(order, func(i, j int32) int { return cmp.Compare(number[i], number[j]) })
	return out.Gather(order), nil
}

// assignAsked puts into fresh what SET says, by the query engine.
func (p *putting) assignAsked(ctx context.Context, fresh, old, proposed *tailrace.Batch) error {
	q, s := p.in.conflict.asked, p.s
	got, err := p.askPairs(ctx, &p.setPlan, q.list(), nil, old, proposed)
	if err != nil {
		return err
	}
	n := 0
	for k, i := range q.columns {
		f := &q.table.Columns.Fields[i]
		col := tailrace.MakeColumn(f.Type.Kind, old.N)
		if q.values[k].GetSetToDefault() != nil {
			e, err := s.defaultOf(f)
			if err != nil {
				return err
			}
			for range old.N {
				if err := e.Append(&col, s.row(nil)); err != nil {
					return err
				}
			}
			fresh.Cols[i] = col
			continue
		}
		for row := range old.N {
			if err := s.appendConverted(&col, f.Type, &got.Cols[n+1], p.setPlan.Columns()[n+1].Type, row); err != nil {
				return err
			}
		}
		fresh.Cols[i] = col
		n++
	}
	return nil
}
