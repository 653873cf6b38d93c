package sql

import (
	"context"
	"fmt"

	pg_query "github.com/pganalyze/pg_query_go/v6"
	"google.golang.org/protobuf/proto"

	"tailrace"
	"tailrace/expr"
	"tailrace/query"
)

// planInsert plans the SELECT of an INSERT. Its literals and parameters that have no type take the column's.
func (s *Session) planInsert(ctx context.Context, st *statement, in *inserting, n *pg_query.InsertStmt) (*query.Plan, error) {
	tree := proto.Clone(n.SelectStmt).(*pg_query.Node)
	sel := tree.GetSelectStmt()
	if n.WithClause != nil {
		if sel.WithClause != nil {
			return nil, s.unsupported("INSERT with WITH before it and in its SELECT", "Put both into one WITH.")
		}
		sel.WithClause = n.WithClause
	}
	lists := [][]*pg_query.Node{}
	for _, v := range sel.ValuesLists {
		lists = append(lists, v.GetList().Items)
	}
	if len(sel.ValuesLists) == 0 && sel.Op == pg_query.SetOperation_SETOP_NONE {
		for _, t := range sel.TargetList {
			if rt := t.GetResTarget(); rt != nil {
				lists = append(lists, []*pg_query.Node{rt.Val})
			}
		}
		for i, l := range lists {
			if i < len(in.columns) {
				sel.TargetList[i].GetResTarget().Val = typed(l[0], in.table.Columns.Fields[in.columns[i]].Type)
			}
		}
	}
	for _, v := range sel.ValuesLists {
		items := v.GetList().Items
		if err := s.checkWidth(st, in, len(items), items, len(sel.ValuesLists[0].GetList().Items)); err != nil {
			return nil, err
		}
		for i, item := range items {
			if item.GetSetToDefault() != nil {
				return nil, s.unsupported("DEFAULT beside an expression like this", "Leave the column out of the column list.")
			}
			items[i] = typed(item, in.table.Columns.Fields[in.columns[i]].Type)
		}
	}
	p, err := s.plan(ctx, st, tree)
	if err != nil {
		return nil, err
	}
	cols := p.Columns()
	if len(cols) > len(in.columns) {
		return nil, at(failure("42601", "INSERT has more expressions than target columns"), st.pos(locate(targets(sel), len(in.columns))))
	}
	if len(n.Cols) > len(cols) {
		return nil, at(failure("42601", "INSERT has more target columns than expressions"), st.pos(n.Cols[len(cols)].GetResTarget().Location))
	}
	for i, c := range cols {
		f := &in.table.Columns.Fields[in.columns[i]]
		if err := assignable(f, c.Type); err != nil {
			return nil, at(err, st.pos(locate(targets(sel), i)))
		}
	}
	return p, nil
}

func targets(sel *pg_query.SelectStmt) []*pg_query.Node {
	var out []*pg_query.Node
	for _, t := range sel.TargetList {
		out = append(out, t.GetResTarget().GetVal())
	}
	return out
}

// assignable is 42804 when a value of type t may not be stored in column f without a cast.
func assignable(f *tailrace.Field, t tailrace.Type) error {
	if c := expr.CastContext(t, f.Type); c != 0 && c <= expr.Assignment {
		return nil
	}
	return &tailrace.Error{
		Code: "42804", Message: fmt.Sprintf("column \"%s\" is of type %s but expression is of type %s", f.Name, expr.Bare(f.Type), expr.Bare(t)),
		Hint: "You will need to rewrite or cast the expression.", Column: f.Name,
	}
}

// typed is an untyped literal, or a parameter, with a cast to t; anything else as it is.
func typed(n *pg_query.Node, t tailrace.Type) *pg_query.Node {
	c := n.GetAConst()
	_, isString := c.GetVal().(*pg_query.A_Const_Sval)
	if c != nil && (isString || c.Isnull) || n.GetParamRef() != nil {
		return castTo(n, t)
	}
	return n
}

// castTo is n::t, without t's modifier: assignment applies that.
func castTo(n *pg_query.Node, t tailrace.Type) *pg_query.Node {
	name := &pg_query.TypeName{Typemod: -1, Location: nodeLocation(n)}
	if t.Kind == tailrace.KindArray {
		name.ArrayBounds = []*pg_query.Node{{Node: &pg_query.Node_Integer{Integer: &pg_query.Integer{Ival: -1}}}}
		t = t.Element()
	}
	if t.Kind == tailrace.KindEnum {
		name.Names = []*pg_query.Node{stringNode(t.Name)}
	} else {
		name.Names = []*pg_query.Node{stringNode("pg_catalog"), stringNode(typeWord(t.Kind))}
	}
	return &pg_query.Node{Node: &pg_query.Node_TypeCast{TypeCast: &pg_query.TypeCast{Arg: n, Location: nodeLocation(n), TypeName: name}}}
}

func stringNode(v string) *pg_query.Node {
	return &pg_query.Node{Node: &pg_query.Node_String_{String_: &pg_query.String{Sval: v}}}
}

// typeWord is the name of kind k in pg_catalog.
func typeWord(k tailrace.Kind) string {
	return map[tailrace.Kind]string{
		tailrace.KindBool: "bool", tailrace.KindInt2: "int2", tailrace.KindInt4: "int4", tailrace.KindInt8: "int8", tailrace.KindFloat4: "float4", tailrace.KindFloat8: "float8",
		tailrace.KindNumeric: "numeric", tailrace.KindText: "text", tailrace.KindVarchar: "varchar", tailrace.KindChar: "bpchar", tailrace.KindBytea: "bytea", tailrace.KindDate: "date",
		tailrace.KindTime: "time", tailrace.KindTimestamp: "timestamp", tailrace.KindTimestamptz: "timestamptz", tailrace.KindInterval: "interval", tailrace.KindUUID: "uuid",
		tailrace.KindJSON: "json", tailrace.KindJSONB: "jsonb", tailrace.KindForeign: "text",
		tailrace.KindOID: "oid", tailrace.KindName: "name", tailrace.KindLetter: "char", tailrace.KindRegclass: "regclass", tailrace.KindRegtype: "regtype", tailrace.KindRegproc: "regproc",
		tailrace.KindRegnspace: "regnamespace", tailrace.KindRegrole: "regrole",
	}[k]
}
