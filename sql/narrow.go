package sql

import (
	"fmt"
	"slices"
	"strings"

	pg_query "github.com/pganalyze/pg_query_go/v6"

	"tailrace"
	"tailrace/catalog"
	"tailrace/dataflow"
	"tailrace/expr"
	"tailrace/query"
	"tailrace/shard"
	"tailrace/tail"
)

// filters is what the conditions over a table ask of its rows.
type filters struct {
	conds  []*expr.Expr // with the table's fields for columns
	text   []string     // tells conditions apart
	shown  []string     // the conditions, for people
	reads  []int        // fields that they look at
	ranges []shard.Range
	equal  *tail.Equal
}

// with adds a condition over in. The result is nil when in is not the table with its columns in their places.
func (f *filters) with(b *flowBinder, in *input, cond *expr.Expr, where *pg_query.Node) (*filters, error) {
	if f == nil || len(in.tables) != 1 {
		return nil, nil
	}
	if _, projected := in.root.(*dataflow.Project); projected {
		return nil, nil
	}
	shown, text, err := b.textOf(in, where)
	if err != nil {
		return nil, err
	}
	out := &filters{shown: append(slices.Clone(f.shown), shown), conds: append(slices.Clone(f.conds), cond), text: append(slices.Clone(f.text), text), ranges: slices.Clone(f.ranges), equal: f.equal}
	out.reads = append(slices.Clone(f.reads), in.reads(where)...)
	table := in.tables[0]
	asked := in.asked(where)
	out.ranges = append(out.ranges, b.s.ranges(b.st, table.Columns, asked)...)
	for _, a := range asked {
		if a.Op != "=" || len(a.Values) != 1 || out.equal != nil {
			continue
		}
		if key, null, ok := b.s.keyOf(b.st, &table.Columns.Fields[a.Field], a.Values[0], "="); ok && !null {
			out.equal = &tail.Equal{Field: a.Field, Key: string(key)}
		}
	}
	return out, nil
}

// textOf is a condition as people write it, and a text that is the same for conditions with the same meaning only: with what the session's settings and parameters make of constants.
func (b *flowBinder) textOf(in *input, where *pg_query.Node) (shown, text string, err error) {
	shown, err = pg_query.Deparse(&pg_query.ParseResult{Version: grammarVersion, Stmts: []*pg_query.RawStmt{{Stmt: &pg_query.Node{Node: &pg_query.Node_SelectStmt{SelectStmt: &pg_query.SelectStmt{
		WhereClause: where, LimitOption: pg_query.LimitOption_LIMIT_OPTION_DEFAULT, Op: pg_query.SetOperation_SETOP_NONE,
	}}}}}})
	if err != nil {
		return "", "", fmt.Errorf("write a condition: %w", err)
	}
	shown = strings.TrimPrefix(shown, "SELECT WHERE ")
	var out strings.Builder
	fmt.Fprintf(&out, "%s of %s", shown, in.name)
	for _, c := range in.columns {
		fmt.Fprintf(&out, " %q", c.Name)
	}
	set := b.s.format
	fmt.Fprintf(&out, " %v %s %s %s", set.Location, set.DateStyle, set.DateOrder, set.IntervalStyle)
	if p := b.st.params; p != nil {
		for i := range p.Cols {
			if p.Cols[i].IsNull(0) {
				out.WriteString(" null")
			} else {
				fmt.Fprintf(&out, " %x", p.Cols[i].Bytes(0))
			}
		}
	}
	return shown, out.String(), nil
}

// comparable operators of conditions that prune, and what they are with sides changed.
var flippedOps = map[string]string{"=": "=", "<": ">", "<=": ">=", ">": "<", ">=": "<="}

// asked lists what all rows that n is true for must meet, column by column.
func (in *input) asked(n *pg_query.Node) []query.Filter {
	if e := n.GetBoolExpr(); e != nil && e.Boolop == pg_query.BoolExprType_AND_EXPR {
		var out []query.Filter
		for _, a := range e.Args {
			out = append(out, in.asked(a)...)
		}
		return out
	}
	if t := n.GetNullTest(); t != nil {
		if c := in.field(t.Arg); c >= 0 {
			op := map[bool]string{true: "null", false: "not null"}[t.Nulltesttype == pg_query.NullTestType_IS_NULL]
			return []query.Filter{{Field: c, Op: op}}
		}
		return nil
	}
	a := n.GetAExpr()
	if a == nil || len(a.Name) != 1 {
		return nil
	}
	op := a.Name[0].GetString_().GetSval()
	l, list := in.field(a.Lexpr), a.Rexpr.GetList().GetItems()
	switch {
	case a.Kind == pg_query.A_Expr_Kind_AEXPR_IN && op == "=" && l >= 0 && in.constants(list...):
		return []query.Filter{{Field: l, Op: "=", Values: list}}
	case a.Kind == pg_query.A_Expr_Kind_AEXPR_BETWEEN && l >= 0 && len(list) == 2 && in.constants(list...):
		return []query.Filter{{Field: l, Op: ">=", Values: list[:1]}, {Field: l, Op: "<=", Values: list[1:]}}
	case a.Kind != pg_query.A_Expr_Kind_AEXPR_OP || flippedOps[op] == "":
		return nil
	case l >= 0 && in.constants(a.Rexpr):
		return []query.Filter{{Field: l, Op: op, Values: []*pg_query.Node{a.Rexpr}}}
	}
	if r := in.field(a.Rexpr); r >= 0 && in.constants(a.Lexpr) {
		return []query.Filter{{Field: r, Op: flippedOps[op], Values: []*pg_query.Node{a.Lexpr}}}
	}
	return nil
}

// reads lists the columns that n looks at.
func (in *input) reads(n *pg_query.Node) []int {
	var out []int
	hasNode(n, func(n *pg_query.Node) bool {
		if c := in.field(n); c >= 0 {
			out = append(out, c)
		}
		return false
	})
	return out
}

// field is the place of the column that n is, -1 when it is none.
func (in *input) field(n *pg_query.Node) int {
	fields := n.GetColumnRef().GetFields()
	if len(fields) == 0 {
		return -1
	}
	name := fields[len(fields)-1].GetString_().GetSval()
	return slices.IndexFunc(in.columns, func(c tailrace.ResultColumn) bool { return c.Name == name })
}

func (in *input) constants(list ...*pg_query.Node) bool {
	for _, n := range list {
		if n == nil || hasNode(n, func(n *pg_query.Node) bool { return n.GetColumnRef() != nil || n.GetSubLink() != nil }) {
			return false
		}
	}
	return true
}

// narrowed is the table and the part of it (nil: all) that f follows, when it follows nothing else and storage can serve it.
func (f *flow) narrowed(s *Session, st *statement) (table *catalog.Table, sel *tail.Selection, ok bool) {
	if len(f.tables) != 1 || f.filters == nil {
		return nil, nil, false
	}
	table = f.tables[0]
	sel = &tail.Selection{}
	root := f.root
	p, projected := root.(*dataflow.Project)
	if projected {
		root = p.In
	}
	for {
		if _, bare := root.(*dataflow.Scan); bare {
			break
		}
		filter, is := root.(*dataflow.Filter)
		if !is {
			return nil, nil, false
		}
		root = filter.In
	}
	whole := len(f.filters.conds) == 0
	for i, c := range f.columns {
		field := i
		if projected {
			if field = p.List[i].Column; field < 0 {
				return nil, nil, false
			}
		}
		sel.Columns, sel.Names = append(sel.Columns, field), append(sel.Names, c.Name)
		whole = whole && field == i && c.Name == table.Columns.Fields[i].Name
	}
	if whole && len(f.columns) == len(table.Columns.Fields) {
		return table, nil, true
	}
	sel.ID, sel.Ranges, sel.Equal = strings.Join(f.filters.text, "\x00"), f.filters.ranges, f.filters.equal
	if conds := f.filters.conds; len(conds) > 0 {
		row := s.flowRow(st)
		sel.Where = func(b *tailrace.Batch, i int) (bool, error) {
			r := row
			r.Batch, r.I = b, i
			for _, c := range conds {
				v, err := c.Eval(&r)
				if err != nil || v.Null || v.Raw[0] == 0 {
					return false, err
				}
			}
			return true, nil
		}
		sel.Reads = f.filters.reads
	}
	return table, sel, true
}

// flowRow is what expressions of a SUBSCRIBE see besides columns: the statement's parameters, and the session's settings as they are now.
func (s *Session) flowRow(st *statement) expr.Row {
	settings := *s.format
	return expr.Row{Params: st.params, Settings: &settings}
}
