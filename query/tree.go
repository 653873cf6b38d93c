package query

import (
	pg_query "github.com/pganalyze/pg_query_go/v6"
	"google.golang.org/protobuf/reflect/protoreflect"
)

// walk calls f for n and the nodes below it, depth first; it does not go below a node for which f is false.
func walk(n *pg_query.Node, f func(*pg_query.Node) bool) {
	if n == nil || !f(n) {
		return
	}
	walkMessage(n.ProtoReflect(), f)
}

func walkMessage(m protoreflect.Message, f func(*pg_query.Node) bool) {
	visit := func(v protoreflect.Message) {
		if n, ok := v.Interface().(*pg_query.Node); ok {
			walk(n, f)
		} else {
			walkMessage(v, f)
		}
	}
	m.Range(func(d protoreflect.FieldDescriptor, v protoreflect.Value) bool {
		switch {
		case d.Kind() != protoreflect.MessageKind:
		case d.IsList():
			for i := range v.List().Len() {
				visit(v.List().Get(i).Message())
			}
		default:
			visit(v.Message())
		}
		return true
	})
}

// location is where n begins in the statement's text, -1 when the tree does not say. Of an operator it is where its left side begins.
func location(n *pg_query.Node) int32 {
	switch {
	case n.GetColumnRef() != nil:
		return n.GetColumnRef().GetLocation()
	case n.GetAConst() != nil:
		return n.GetAConst().GetLocation()
	case n.GetParamRef() != nil:
		return n.GetParamRef().GetLocation()
	case n.GetFuncCall() != nil:
		return n.GetFuncCall().GetLocation()
	case n.GetTypeCast() != nil:
		if l := location(n.GetTypeCast().GetArg()); l >= 0 {
			return min(l, positive(n.GetTypeCast().GetLocation(), l))
		}
		return n.GetTypeCast().GetLocation()
	case n.GetAExpr() != nil:
		if l := location(n.GetAExpr().GetLexpr()); l >= 0 {
			return l
		}
		return n.GetAExpr().GetLocation()
	case n.GetGroupingFunc() != nil:
		return n.GetGroupingFunc().GetLocation()
	case n.GetBoolExpr() != nil:
		return n.GetBoolExpr().GetLocation()
	case n.GetSubLink() != nil:
		return n.GetSubLink().GetLocation()
	case n.GetCaseExpr() != nil:
		return n.GetCaseExpr().GetLocation()
	case n.GetCoalesceExpr() != nil:
		return n.GetCoalesceExpr().GetLocation()
	case n.GetMinMaxExpr() != nil:
		return n.GetMinMaxExpr().GetLocation()
	case n.GetNullTest() != nil:
		return location(n.GetNullTest().GetArg())
	case n.GetBooleanTest() != nil:
		return location(n.GetBooleanTest().GetArg())
	case n.GetSqlvalueFunction() != nil:
		return n.GetSqlvalueFunction().GetLocation()
	case n.GetRowExpr() != nil:
		return n.GetRowExpr().GetLocation()
	case n.GetAArrayExpr() != nil:
		return n.GetAArrayExpr().GetLocation()
	case n.GetCollateClause() != nil:
		return location(n.GetCollateClause().GetArg())
	case n.GetList() != nil && len(n.GetList().GetItems()) > 0:
		return location(n.GetList().GetItems()[0])
	}
	return -1
}

func positive(a, otherwise int32) int32 {
	if a >= 0 {
		return a
	}
	return otherwise
}
