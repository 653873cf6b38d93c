package sql

import (
	"context"
	"errors"

	pg_query "github.com/pganalyze/pg_query_go/v6"

	"tailrace"
	"tailrace/catalog"
	"tailrace/expr"
)

// short is a SELECT that needs no query engine: constants, or rows of one table by key.
type short struct {
	columns []tailrace.ResultColumn
	exprs   []*expr.Expr
	path    *keyPath // nil for a SELECT without FROM
	session *Session
}

// planShort plans sel as a short one; expr.ErrUnsupported when it is not.
func (s *Session) planShort(_ context.Context, st *statement, sel *pg_query.SelectStmt) (*short, error) {
	if sel == nil || sel.Op != pg_query.SetOperation_SETOP_NONE || len(sel.ValuesLists) > 0 || len(sel.TargetList) == 0 || sel.DistinctClause != nil || sel.GroupClause != nil ||
		sel.HavingClause != nil || sel.WindowClause != nil || sel.SortClause != nil || sel.LimitCount != nil || sel.LimitOffset != nil || sel.WithClause != nil {
		return nil, expr.ErrUnsupported
	}
	p := &short{session: s}
	sc := s.scope(st)
	var table *catalog.Table
	if len(sel.FromClause) > 0 || sel.WhereClause != nil {
		rel := (*pg_query.RangeVar)(nil)
		if len(sel.FromClause) == 1 {
			rel = sel.FromClause[0].GetRangeVar()
		}
		if rel == nil || isSystem(rel.Schemaname) || rel.Alias.GetColnames() != nil {
			return nil, expr.ErrUnsupported
		}
		if table = s.find(rel.Schemaname, rel.Relname); table == nil || table.Upstream != nil && table.Upstream.State == catalog.StateSnapshot {
			return nil, expr.ErrUnsupported
		}
		var err error
		if p.path, err = s.keyPath(st, table, rel.Alias.GetAliasname(), sel.WhereClause); err != nil {
			return nil, passOn(err)
		}
		sc = s.tableScope(st, table, rel.Alias.GetAliasname())
	}
	for _, n := range sel.TargetList {
		if err := p.target(n.GetResTarget(), sc, table); err != nil {
			return nil, passOn(err)
		}
	}
	return p, nil
}

// passOn leaves a name or a type that expr does not know to the query engine, which knows more of them.
func passOn(err error) error {
	var e *tailrace.Error
	if errors.As(err, &e) && e.Code[:2] == "42" {
		return expr.ErrUnsupported
	}
	return err
}

func (p *short) target(t *pg_query.ResTarget, sc *expr.Scope, table *catalog.Table) error {
	if fields := t.GetVal().GetColumnRef().GetFields(); len(fields) == 1 && fields[0].GetAStar() != nil && table != nil {
		for i, f := range table.Columns.Fields {
			ref := &pg_query.Node{Node: &pg_query.Node_ColumnRef{ColumnRef: &pg_query.ColumnRef{Fields: []*pg_query.Node{stringNode(f.Name)}}}}
			e, err := expr.BindOutput(ref, sc)
			if err != nil {
				return err
			}
			p.exprs = append(p.exprs, e)
			p.columns = append(p.columns, tailrace.ResultColumn{Name: f.Name, Type: f.Type, Table: table.ID, Attr: int16(i + 1)})
		}
		return nil
	}
	e, err := expr.BindOutput(t.GetVal(), sc)
	if err != nil {
		return err
	}
	col := tailrace.ResultColumn{Name: t.Name, Type: e.Type}
	if col.Name == "" {
		col.Name, _ = columnName(t.Val)
	}
	if e.Column >= 0 && table != nil {
		col.Table, col.Attr = table.ID, int16(e.Column+1)
	}
	p.exprs, p.columns = append(p.exprs, e), append(p.columns, col)
	return nil
}

// run reads the rows and evaluates the targets.
func (p *short) run(ctx context.Context, st *statement) (tailrace.Rows, error) {
	s := p.session
	row := s.row(st.params)
	n := 1
	s.way = "constant"
	if p.path != nil {
		rows, err := p.path.find(ctx, s, st)
		if err != nil {
			return nil, err
		}
		row.Batch, n = rows, rows.N
	}
	out := &tailrace.Batch{N: n}
	for _, e := range p.exprs {
		c := tailrace.MakeColumn(e.Type.Kind, n)
		for row.I = 0; row.I < n; row.I++ {
			if err := e.Append(&c, row); err != nil {
				return nil, err
			}
		}
		out.Cols = append(out.Cols, c)
	}
	return &literal{out}, nil
}

// columnName is the name that PostgreSQL gives an output column without AS, and how good it is: 0 is none.
func columnName(n *pg_query.Node) (name string, strength int) {
	switch n := n.GetNode().(type) {
	case *pg_query.Node_ColumnRef:
		return n.ColumnRef.Fields[len(n.ColumnRef.Fields)-1].GetString_().GetSval(), 2
	case *pg_query.Node_FuncCall:
		return n.FuncCall.Funcname[len(n.FuncCall.Funcname)-1].GetString_().GetSval(), 2
	case *pg_query.Node_TypeCast:
		if name, strength := columnName(n.TypeCast.Arg); strength > 1 {
			return name, strength
		}
		names := n.TypeCast.TypeName.Names
		return names[len(names)-1].GetString_().GetSval(), 1
	case *pg_query.Node_CaseExpr:
		if name, strength := columnName(n.CaseExpr.Defresult); strength > 1 {
			return name, strength
		}
		return "case", 1
	case *pg_query.Node_CoalesceExpr:
		return "coalesce", 2
	case *pg_query.Node_MinMaxExpr:
		if n.MinMaxExpr.Op == pg_query.MinMaxOp_IS_LEAST {
			return "least", 2
		}
		return "greatest", 2
	case *pg_query.Node_AExpr:
		if n.AExpr.Kind == pg_query.A_Expr_Kind_AEXPR_NULLIF {
			return "nullif", 2
		}
	case *pg_query.Node_AArrayExpr:
		return "array", 2
	case *pg_query.Node_AIndirection:
		return columnName(n.AIndirection.Arg)
	case *pg_query.Node_SqlvalueFunction:
		name := map[pg_query.SQLValueFunctionOp]string{
			pg_query.SQLValueFunctionOp_SVFOP_CURRENT_DATE: "current_date", pg_query.SQLValueFunctionOp_SVFOP_CURRENT_TIMESTAMP: "current_timestamp",
			pg_query.SQLValueFunctionOp_SVFOP_LOCALTIMESTAMP: "localtimestamp", pg_query.SQLValueFunctionOp_SVFOP_LOCALTIME: "localtime",
		}[n.SqlvalueFunction.Op]
		if name != "" {
			return name, 2
		}
	}
	return "?column?", 0
}
