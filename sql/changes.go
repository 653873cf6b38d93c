package sql

import (
	"context"
	"errors"
	"fmt"
	"io"

	pg_query "github.com/pganalyze/pg_query_go/v6"

	"tailrace"
	"tailrace/catalog"
	"tailrace/expr"
	"tailrace/parse"
	"tailrace/query"
)

// changes('t', from, to) is a table function: every update of t with from <= time < to, as rows of its time (mz_timestamp), its difference (mz_diff) and t's
// columns. A row occurs once per time. Without to, the updates up to and including the time that the transaction reads at; a to that is still to
// come is waited for. So, with t as of a time,
//
//	rows AS OF y  =  rows AS OF x  +  changes('t', x + 1, y + 1)          when x <= y
//
// The rows as of the oldest readable time are what updates up to then add up to, those updates themselves are gone: from must be above it.

// Function is query.Functions.
func (r *resolver) Function(name string, args []*pg_query.Node, params *[]tailrace.Type) (*query.Table, error) {
	if name != "changes" {
		return nil, nil
	}
	if len(args) != 2 && len(args) != 3 {
		return nil, &tailrace.Error{
			Code: "42883", Message: fmt.Sprintf("function changes with %d arguments does not exist", len(args)), Hint: "Write changes('table', from) or changes('table', from, to).",
		}
	}
	table, err := r.changedTable(args[0])
	if err != nil {
		return nil, err
	}
	sc := &expr.Scope{Params: params, Settings: r.s.format, Type: r.s.namedType}
	if r.st != nil {
		sc.Text = r.st.Text
	}
	l := &listing{s: r.s, table: table}
	for _, n := range args[1:] {
		e, err := expr.BindOutput(n, sc)
		if err != nil {
			return nil, passTime(r.s, err)
		}
		l.bounds = append(l.bounds, e)
	}
	if r.st != nil {
		l.params = r.st.params
	}
	l.schema = &tailrace.Schema{Version: 1, Fields: []tailrace.Field{
		{ID: 1, Name: "mz_timestamp", Type: tailrace.TypeOf(tailrace.KindNumeric), NotNull: true},
		{ID: 2, Name: "mz_diff", Type: tailrace.TypeOf(tailrace.KindInt8), NotNull: true},
	}}
	for _, f := range table.Columns.Fields {
		f.ID = tailrace.ColumnID(len(l.schema.Fields) + 1)
		l.schema.Fields = append(l.schema.Fields, f)
	}
	l.schema.NextColumn = tailrace.ColumnID(len(l.schema.Fields) + 1)
	return &query.Table{Columns: l.schema, Scan: l.scan}, nil
}

// passTime is the error for a bound that needs the query engine.
func passTime(s *Session, err error) error {
	if errors.Is(passOn(err), expr.ErrUnsupported) {
		return s.unsupported("this expression as a bound of changes", "Use a number, mz_now(), or now() with an interval.")
	}
	return err
}

// changedTable is the table that the first argument names: a literal, with a schema or without.
func (r *resolver) changedTable(n *pg_query.Node) (*catalog.Table, error) {
	for n.GetTypeCast() != nil { // 't'::regclass
		n = n.GetTypeCast().Arg
	}
	c := n.GetAConst()
	if _, isString := c.GetVal().(*pg_query.A_Const_Sval); !isString {
		return nil, r.s.unsupported("a table of changes that is no literal", "Write the table's name between quotes.")
	}
	sts, err := parse.Parse("TABLE " + c.GetSval().GetSval())
	if err != nil || len(sts) != 1 || len(sts[0].Tree.GetSelectStmt().GetFromClause()) != 1 {
		return nil, failure("42602", "invalid name syntax")
	}
	rel := sts[0].Tree.GetSelectStmt().FromClause[0].GetRangeVar()
	t, err := r.s.relation(rel)
	if err != nil {
		return nil, err
	}
	if t.Upstream != nil && t.Upstream.State == catalog.StateSnapshot {
		r.waiting = append(r.waiting, t)
	}
	return t, nil
}

// listing is a call of changes.
type listing struct {
	s      *Session
	table  *catalog.Table
	schema *tailrace.Schema // of the result
	bounds []*expr.Expr     // from, and to when it is given
	params *tailrace.Batch
}

// bound evaluates bound i.
func (l *listing) bound(i int) (tailrace.Time, error) {
	e := l.bounds[i]
	v, err := e.Eval(l.s.row(l.params))
	if err != nil {
		return 0, err
	}
	t, ok := l.s.timeOf(e.Type, v)
	if !ok {
		return 0, &tailrace.Error{
			Code: "22023", Message: "invalid timestamp for changes",
			Hint: "Give microseconds since 1970 as a number up to 18446744073709551615, or a timestamp with time zone.",
		}
	}
	return t, nil
}

// scan begins a read of the updates.
func (l *listing) scan(ctx context.Context, cols []int) (tailrace.Rows, error) {
	from, err := l.bound(0)
	if err != nil {
		return nil, err
	}
	until := l.s.readTime() + 1
	if len(l.bounds) == 1 {
		l.s.txn.readWhole(l.table.ID) // what others do later at this transaction's time would be missing
	} else if until, err = l.bound(1); err != nil {
		return nil, err
	}
	after := max(from, 1) - 1
	sh, err := l.s.historyOf(l.table, after)
	if err != nil {
		return nil, err
	}
	if until <= from {
		return &literal{}, nil
	}
	if err := l.s.engine.Log.WaitTime(ctx, until-1); err != nil {
		return nil, err
	}
	return listen(ctx, func(ctx context.Context, fn func(*tailrace.Batch) error) error {
		return sh.Listen(ctx, after, until, l.table.Columns, func(b *tailrace.Batch) error { return fn(l.updates(b, cols)) })
	}), nil
}

// updates is b as the result has it, with the columns that cols lists.
func (l *listing) updates(b *tailrace.Batch, cols []int) *tailrace.Batch {
	out := &tailrace.Batch{N: b.N}
	if cols == nil {
		for c := range l.schema.Fields {
			cols = append(cols, c)
		}
	}
	for _, c := range cols {
		var col tailrace.Column
		switch c {
		case 0:
			col = tailrace.MakeColumn(tailrace.KindNumeric, b.N)
			for i := range b.N {
				col.Append(expr.TimeNumeric(b.Time(i, 0)))
			}
		case 1:
			col = tailrace.MakeColumn(tailrace.KindInt8, b.N)
			for i := range b.N {
				col.AppendInt64(int64(b.Diff(i)))
			}
		default:
			col = b.Cols[c-2]
		}
		out.Cols = append(out.Cols, col)
	}
	return out
}

// listening is rows that a function gives one batch after the other, from a goroutine that Close waits for.
type listening struct {
	stop  context.CancelFunc
	ready chan *tailrace.Batch // closed at the end
	err   error                // then
}

// listen begins to call give, which hands over batches and ends with its context.
func listen(ctx context.Context, give func(context.Context, func(*tailrace.Batch) error) error) *listening {
	ctx, stop := context.WithCancel(ctx)
	r := &listening{stop: stop, ready: make(chan *tailrace.Batch)}
	go func() { // Close waits until ready is closed
		defer close(r.ready)
		r.err = give(ctx, func(b *tailrace.Batch) error {
			select {
			case r.ready <- b:
				return nil
			case <-ctx.Done():
				return ctx.Err()
			}
		})
	}()
	return r
}

func (r *listening) Next(ctx context.Context) (*tailrace.Batch, error) {
	select {
	case b, ok := <-r.ready:
		switch {
		case ok:
			return b, nil
		case r.err != nil:
			return nil, r.err
		}
		return nil, io.EOF
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

// Close ends it.
func (r *listening) Close() error {
	r.stop()
	for range r.ready {
		continue // until it has ended
	}
	return nil
}
