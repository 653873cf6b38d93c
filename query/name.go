package query

import (
	"slices"

	pg_query "github.com/pganalyze/pg_query_go/v6"
)

// nameOf is the name PostgreSQL gives an output column without AS.
func (p *planner) nameOf(n *pg_query.Node) string {
	if name, _ := figure(n); name != "" {
		return name
	}
	return "?column?"
}

// How much a name says: a cast's type name is taken only when the value has no better one.
const (
	noName = iota
	weakName
	strongName
)

// figure is PostgreSQL's FigureColname.
func figure(n *pg_query.Node) (string, int) {
	switch v := n.GetNode().(type) {
	case *pg_query.Node_ColumnRef:
		parts, _ := names(v.ColumnRef.GetFields())
		if len(parts) > 0 {
			return parts[len(parts)-1], strongName
		}
	case *pg_query.Node_FuncCall:
		parts := namesOf(v.FuncCall.GetFuncname())
		return parts[len(parts)-1], strongName
	case *pg_query.Node_AExpr:
		if v.AExpr.GetKind() == pg_query.A_Expr_Kind_AEXPR_NULLIF {
			return "nullif", strongName
		}
	case *pg_query.Node_TypeCast:
		name, strength := figure(v.TypeCast.GetArg())
		if strength <= weakName {
			if parts := namesOf(v.TypeCast.GetTypeName().GetNames()); len(parts) > 0 {
				return parts[len(parts)-1], weakName
			}
		}
		return name, strength
	case *pg_query.Node_CollateClause:
		return figure(v.CollateClause.GetArg())
	case *pg_query.Node_CaseExpr:
		if name, strength := figure(v.CaseExpr.GetDefresult()); strength > weakName {
			return name, strength
		}
		return "case", weakName
	case *pg_query.Node_GroupingFunc:
		return "grouping", strongName
	case *pg_query.Node_CoalesceExpr:
		return "coalesce", strongName
	case *pg_query.Node_MinMaxExpr:
		if v.MinMaxExpr.GetOp() == pg_query.MinMaxOp_IS_LEAST {
			return "least", strongName
		}
		return "greatest", strongName
	case *pg_query.Node_AIndirection:
		for _, i := range slices.Backward(v.AIndirection.GetIndirection()) {
			if i.GetString_() != nil {
				return i.GetString_().GetSval(), strongName
			}
		}
		return figure(v.AIndirection.GetArg())
	case *pg_query.Node_AArrayExpr:
		return "array", strongName
	case *pg_query.Node_RowExpr:
		return "row", strongName
	case *pg_query.Node_SqlvalueFunction:
		return valueNames[v.SqlvalueFunction.GetOp()], strongName
	case *pg_query.Node_SubLink:
		return figureSubLink(v.SubLink)
	}
	return "", noName
}

func figureSubLink(n *pg_query.SubLink) (string, int) {
	switch n.GetSubLinkType() {
	case pg_query.SubLinkType_EXISTS_SUBLINK:
		return "exists", strongName
	case pg_query.SubLinkType_ARRAY_SUBLINK:
		return "array", strongName
	case pg_query.SubLinkType_EXPR_SUBLINK:
		s := n.GetSubselect().GetSelectStmt()
		for s.GetLarg() != nil {
			s = s.GetLarg()
		}
		if len(s.GetTargetList()) == 0 {
			if len(s.GetValuesLists()) > 0 {
				return "column1", strongName
			}
			return "", noName
		}
		t := s.GetTargetList()[0].GetResTarget()
		if t.GetName() != "" {
			return t.GetName(), strongName
		}
		return figure(t.GetVal())
	}
	return "", noName
}

var valueNames = map[pg_query.SQLValueFunctionOp]string{
	pg_query.SQLValueFunctionOp_SVFOP_CURRENT_DATE:        "current_date",
	pg_query.SQLValueFunctionOp_SVFOP_CURRENT_TIME:        "current_time",
	pg_query.SQLValueFunctionOp_SVFOP_CURRENT_TIME_N:      "current_time",
	pg_query.SQLValueFunctionOp_SVFOP_CURRENT_TIMESTAMP:   "current_timestamp",
	pg_query.SQLValueFunctionOp_SVFOP_CURRENT_TIMESTAMP_N: "current_timestamp",
	pg_query.SQLValueFunctionOp_SVFOP_LOCALTIME:           "localtime",
	pg_query.SQLValueFunctionOp_SVFOP_LOCALTIME_N:         "localtime",
	pg_query.SQLValueFunctionOp_SVFOP_LOCALTIMESTAMP:      "localtimestamp",
	pg_query.SQLValueFunctionOp_SVFOP_LOCALTIMESTAMP_N:    "localtimestamp",
	pg_query.SQLValueFunctionOp_SVFOP_CURRENT_ROLE:        "current_role",
	pg_query.SQLValueFunctionOp_SVFOP_CURRENT_USER:        "current_user",
	pg_query.SQLValueFunctionOp_SVFOP_USER:                "user",
	pg_query.SQLValueFunctionOp_SVFOP_SESSION_USER:        "session_user",
	pg_query.SQLValueFunctionOp_SVFOP_CURRENT_CATALOG:     "current_catalog",
	pg_query.SQLValueFunctionOp_SVFOP_CURRENT_SCHEMA:      "current_schema",
}
