package sql

import (
	"context"
	"errors"
	"io"
	"iter"

	pg_query "github.com/pganalyze/pg_query_go/v6"

	"tailrace"
	"tailrace/catalog"
	"tailrace/expr"
	"tailrace/query"
	"tailrace/shard"
)

// returningBytes is how much of what RETURNING gives is held in memory, in bytes of values. More waits in parts in Blob, as rows of a large transaction do.
const returningBytes = 32 << 20

// returning is a RETURNING list whose names are resolved: the columns of a row of the statement's table become those of the result.
type returning struct {
	table   *catalog.Table
	columns []tailrace.ResultColumn
	exprs   []*expr.Expr       // nil when it takes the query engine
	list    []*pg_query.Node   // for that
	from    *pg_query.RangeVar // likewise: the statement's table
}

// resolveReturning plans list for rows of table, nil when it is empty.
func (s *Session) resolveReturning(ctx context.Context, st *statement, table *catalog.Table, rel *pg_query.RangeVar, list []*pg_query.Node) (*returning, error) {
	if len(list) == 0 {
		return nil, nil
	}
	for _, n := range list {
		if hasNode(n, func(n *pg_query.Node) bool { return n.GetSubLink() != nil }) {
			return nil, s.unsupported("a subquery in RETURNING", "Return the columns, then SELECT.")
		}
	}
	alias := rel.Alias.GetAliasname()
	direct := &short{session: s}
	types := append([]tailrace.Type(nil), st.types...)
	err := error(nil)
	for _, n := range list {
		if err = direct.target(n.GetResTarget(), s.tableScope(st, table, alias), table); err != nil {
			break
		}
	}
	if err == nil {
		return &returning{table: table, columns: direct.columns, exprs: direct.exprs}, nil
	}
	if err = passOn(err); !errors.Is(err, expr.ErrUnsupported) {
		return nil, err
	}
	st.types = types
	r := &returning{table: table, list: list, from: rel}
	p, err := s.planReturning(ctx, st, r, nil)
	if err != nil {
		return nil, err
	}
	st.types, r.columns = p.Params(), p.Columns()
	return r, nil
}

// returnedResolver knows the rows that a statement changed by the name of its table: without subqueries nothing else is read.
type returnedResolver struct {
	*resolver
	table *query.Table
}

func (r *returnedResolver) Resolve(string, string) (*query.Table, error) { return r.table, nil }

// planReturning plans the list for the engine. rows gives the changed rows of the run.
func (s *Session) planReturning(ctx context.Context, st *statement, r *returning, rows func() *tailrace.Batch) (*query.Plan, error) {
	if s.engine.Query == nil {
		return nil, s.unsupported("a RETURNING like this", "Start the server with its query engine.")
	}
	table := &query.Table{ID: r.table.ID, Columns: r.table.Columns, Scan: func(_ context.Context, cols []int) (tailrace.Rows, error) {
		return &literal{pick(rows(), cols)}, nil
	}}
	sel := &pg_query.SelectStmt{
		TargetList: r.list, FromClause: []*pg_query.Node{{Node: &pg_query.Node_RangeVar{RangeVar: r.from}}},
		LimitOption: pg_query.LimitOption_LIMIT_OPTION_DEFAULT, Op: pg_query.SetOperation_SETOP_NONE,
	}
	tree := &pg_query.Node{Node: &pg_query.Node_SelectStmt{SelectStmt: sel}}
	return s.engine.Query.Plan(ctx, tree, st.Text, &returnedResolver{&resolver{s: s}, table}, st.types, query.Returning)
}

// returned is what RETURNING gave so far. All of it is worked out before the client sees a row: the statement may yet run again, and its errors undo it.
type returned struct {
	s       *Session
	st      *statement
	r       *returning
	plan    *query.Plan     // nil when exprs do it
	changed *tailrace.Batch // that plan reads
	batches []*tailrace.Batch
	size    int           // of batches, bytes
	spill   *shard.Writer // holds all rows, when they are many
	next    int64         // number of the next row in spill
}

// returned begins a run of r, nil for none.
func (s *Session) returned(ctx context.Context, st *statement, r *returning) (*returned, error) {
	if r == nil {
		return nil, nil
	}
	if st.columns != nil && !sameColumns(st.columns, r.columns) { // before anything is written
		return nil, failure("0A000", "cached plan must not change result type")
	}
	o := &returned{s: s, st: st, r: r}
	if r.exprs != nil {
		return o, nil
	}
	var err error
	o.plan, err = s.planReturning(ctx, st, r, func() *tailrace.Batch { return o.changed })
	return o, err
}

// take adds the result for rows, which have all columns of the table.
func (o *returned) take(ctx context.Context, rows *tailrace.Batch) error {
	if o == nil || rows.N == 0 {
		return nil
	}
	rows = spreadOut(rows)
	if o.plan != nil {
		o.changed = rows
		out, err := o.s.runPlan(ctx, o.plan, o.st)
		if err != nil {
			return err
		}
		return drain(ctx, out, func(b *tailrace.Batch) error {
			kept := copyOf(b)
			return o.add(ctx, &kept)
		})
	}
	row := o.s.row(o.st.params)
	row.Batch = rows
	out := &tailrace.Batch{N: rows.N}
	for _, e := range o.r.exprs {
		c := tailrace.MakeColumn(e.Type.Kind, rows.N)
		for row.I = 0; row.I < rows.N; row.I++ {
			if err := e.Append(&c, row); err != nil {
				return err
			}
		}
		out.Cols = append(out.Cols, c)
	}
	return o.add(ctx, out)
}

// add keeps rows of the result.
func (o *returned) add(ctx context.Context, b *tailrace.Batch) error {
	if o.spill == nil {
		o.batches, o.size = append(o.batches, b), o.size+b.Size()
		if o.size <= returningBytes {
			return nil
		}
		o.spill = o.s.engine.Shards.NewWriter(o.r.table.ID, o.spillSchema(), o.s.writing)
		for _, b := range o.batches {
			if err := o.write(ctx, b); err != nil {
				return err
			}
		}
		o.batches = nil
		return nil
	}
	return o.write(ctx, b)
}

// spillSchema is the result's columns after the row's number, which is the key: rows come back in their order.
func (o *returned) spillSchema() *tailrace.Schema {
	schema := &tailrace.Schema{Version: 1, Key: []int{0}, Fields: []tailrace.Field{{ID: 1, Name: "n", Type: tailrace.TypeOf(tailrace.KindInt8), NotNull: true}}}
	for i, c := range o.r.columns {
		schema.Fields = append(schema.Fields, tailrace.Field{ID: tailrace.ColumnID(i + 2), Name: c.Name, Type: c.Type})
	}
	schema.NextColumn = tailrace.ColumnID(len(schema.Fields) + 1)
	return schema
}

func (o *returned) write(ctx context.Context, b *tailrace.Batch) error {
	out := tailrace.NewBatch(o.spillSchema(), 0)
	number := tailrace.MakeColumn(tailrace.KindInt8, b.N)
	for range b.N {
		number.AppendInt64(o.next)
		o.next++
	}
	out.N, out.Cols[0] = b.N, number
	copy(out.Cols[1:], b.Cols)
	return o.spill.Append(ctx, out)
}

// result is the statement's answer, with RETURNING's rows if it has that.
func (o *returned) result(tag string) *Result {
	if o == nil {
		return done(tag)
	}
	rows := tailrace.Rows(&pieces{o.batches})
	if o.spill != nil {
		rows = &spilled{writer: o.spill}
	}
	return &Result{Columns: o.r.columns, Rows: rows, complete: true, tag: func(int64) string { return tag }}
}

// drop gives up what a statement that failed has kept.
func (o *returned) drop(ctx context.Context) {
	if o != nil && o.spill != nil {
		o.spill.Abort(context.WithoutCancel(ctx))
	}
}

// pieces is rows that are already there, in pieces.
type pieces struct{ left []*tailrace.Batch }

func (r *pieces) Next(context.Context) (*tailrace.Batch, error) {
	if len(r.left) == 0 {
		return nil, io.EOF
	}
	b := r.left[0]
	r.left[0], r.left = nil, r.left[1:]
	return b, nil
}

func (r *pieces) Close() error { return nil }

// spilled is rows that wait in a writer, after their numbers.
type spilled struct {
	writer *shard.Writer
	next   func() (*tailrace.Batch, bool) // nil before the first
	stop   func()
	err    error
}

func (r *spilled) Next(ctx context.Context) (*tailrace.Batch, error) {
	if r.writer == nil {
		return nil, io.EOF
	}
	if r.next == nil {
		r.next, r.stop = iter.Pull(func(yield func(*tailrace.Batch) bool) {
			err := r.writer.Each(ctx, func(b *tailrace.Batch) error {
				if !yield(b) {
					return io.EOF
				}
				return nil
			})
			if !errors.Is(err, io.EOF) {
				r.err = err
			}
		})
	}
	b, ok := r.next()
	switch {
	case ok:
		return &tailrace.Batch{N: b.N, Cols: b.Cols[1:]}, nil
	case r.err != nil:
		return nil, r.err
	}
	return nil, io.EOF
}

// Close deletes what was kept.
func (r *spilled) Close() error {
	if r.stop != nil {
		r.stop()
	}
	if r.writer != nil {
		r.writer.Abort(context.Background())
		r.writer = nil
	}
	return nil
}
