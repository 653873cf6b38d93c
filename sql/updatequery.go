package sql

import (
	"cmp"
	"context"
	"fmt"
	"slices"

	pg_query "github.com/pganalyze/pg_query_go/v6"
	"google.golang.org/protobuf/proto"

	"tailrace"
	"tailrace/budget"
	"tailrace/query"
)

// changeBytes is the most that an UPDATE or DELETE by query holds when it may not write as it reads, in bytes: row numbers and assigned values, on
// a node without a budget.
const changeBytes = 256 << 20

// found is what the query engine says about one row to change: its number in the scan, and where the values assigned are.
type found struct {
	number   int64
	batch, i int32
}

// foundBytes is what a found takes.
const foundBytes = 16

// hits are the rows that a statement changes.
type hits struct {
	rows   []found           // by number
	values []*tailrace.Batch // assigned; nil for a DELETE
	cols   []tailrace.ResultColumn
	size   int // bytes
	grant  budget.Grant
}

// applyByQuery lets the query engine pick row numbers and compute the assigned values, and walks over the same snapshot for the old rows. A statement
// that reads its table once, and moves no keys, writes as it reads; another must have read all first.
func (s *Session) applyByQuery(ctx context.Context, st *statement, c *changing, out *returned) (int64, error) {
	plan, err := s.planChange(ctx, st, c)
	if err != nil {
		return 0, err
	}
	rows, err := s.runPlan(ctx, plan, st)
	if err != nil {
		return 0, err
	}
	moves := touchesKey(c.table.Columns, c.columns)
	w := newWalk(s, c, out)
	defer w.close()
	if plan.Scans() == 1 && !moves && len(c.table.Columns.Key) > 0 {
		return s.applyAsRead(ctx, plan, rows, w)
	}
	h := &hits{cols: plan.Columns(), grant: s.engine.room().Grant()}
	defer h.grant.Free()
	err = drain(ctx, rows, func(b *tailrace.Batch) error {
		kept := copyOf(b)
		h.add(c, &kept)
		return s.changeFits(&h.grant, h.size)
	})
	if err != nil {
		return 0, err
	}
	slices.SortFunc(h.rows, byNumber)
	if moves {
		return s.applyMoves(ctx, c, h, out)
	}
	err = w.take(ctx, h)
	return w.count, err
}

// applyAsRead writes as rows come, which they do in the order of their numbers, unless the engine chose to build a hash table of them: those that come late
// wait, for a second walk over what was there before the statement.
func (s *Session) applyAsRead(ctx context.Context, plan *query.Plan, rows tailrace.Rows, w *walk) (int64, error) {
	w.again = newWalk(s, w.c, w.out)
	defer w.again.close()
	late := &hits{cols: plan.Columns(), grant: s.engine.room().Grant()}
	defer late.grant.Free()
	err := drain(ctx, rows, func(b *tailrace.Batch) error {
		h := &hits{cols: plan.Columns()}
		h.add(w.c, b)
		if len(h.rows) == 0 || h.rows[0].number > w.last && slices.IsSortedFunc(h.rows, byNumber) {
			return w.take(ctx, h)
		}
		kept := copyOf(b)
		late.add(w.c, &kept)
		return s.changeFits(&late.grant, late.size)
	})
	if err != nil {
		return 0, err
	}
	slices.SortFunc(late.rows, byNumber)
	err = w.again.take(ctx, late)
	return w.count + w.again.count, err
}

func byNumber(a, b found) int { return cmp.Compare(a.number, b.number) }

// add takes the rows of b, which the query returned.
func (h *hits) add(c *changing, b *tailrace.Batch) {
	if len(c.columns) > 0 {
		h.values = append(h.values, b)
		h.size += b.Size()
	}
	h.size += foundBytes * b.N
	for i, n := range b.Cols[0].Int64s()[:b.N] {
		h.rows = append(h.rows, found{n, int32(len(h.values) - 1), int32(i)})
	}
}

// changeFits makes g what a statement holds; 53200 when that is too much.
func (s *Session) changeFits(g *budget.Grant, size int) error {
	limit := cmp.Or(s.engine.changeBytes, int(s.engine.room().Limit(changeBytes)))
	if size <= limit {
		if g.Set(int64(size)) {
			return nil
		}
		return g.Full("The statement must know all rows that it changes before it writes the first")
	}
	return &tailrace.Error{
		Code: "53200", Message: fmt.Sprintf("out of memory: the statement changes more rows than fit in %d MiB", limit>>20),
		Hint: "Change fewer rows at once: let WHERE pick a range of the key, and run it range by range. Or give the node more: tailrace serve --memory BYTES.",
	}
}

// copyOf is b with memory of its own.
func copyOf(b *tailrace.Batch) tailrace.Batch {
	all := make([]int32, b.N)
	for i := range all {
		all[i] = int32(i)
	}
	return *b.Gather(all)
}

// changeOf is what becomes of the rows that mine numbers, of a scan's batch whose first row has number base.
func (s *Session) changeOf(c *changing, h *hits, b *tailrace.Batch, base int64, mine []found) (*pendingChange, error) {
	rows := make([]int32, len(mine))
	for i, f := range mine {
		rows[i] = int32(f.number - base)
	}
	old := b.Gather(rows)
	old.IDs, old.Times = tailrace.NewBatch(c.table.Columns, 0).IDs, nil
	fresh, err := s.freshRows(c, h, old, mine)
	return &pendingChange{old, fresh}, err
}

// freshRows is old with the assigned columns replaced; nil for a DELETE.
func (s *Session) freshRows(c *changing, h *hits, old *tailrace.Batch, mine []found) (*tailrace.Batch, error) {
	if len(c.columns) == 0 {
		return nil, nil
	}
	fresh := &tailrace.Batch{N: old.N, IDs: old.IDs, Cols: slices.Clone(old.Cols)}
	out := 1 // column 0 is the row number
	for k, i := range c.columns {
		f := &c.table.Columns.Fields[i]
		col := tailrace.MakeColumn(f.Type.Kind, old.N)
		if c.values[k].GetSetToDefault() != nil {
			e, err := s.defaultOf(f)
			if err != nil {
				return nil, err
			}
			for range mine {
				if err := e.Append(&col, s.row(nil)); err != nil {
					return nil, err
				}
			}
		} else {
			for _, m := range mine {
				if err := s.appendConverted(&col, f.Type, &h.values[m.batch].Cols[out], h.cols[out].Type, int(m.i)); err != nil {
					return nil, err
				}
			}
			out++
		}
		fresh.Cols[i] = col
	}
	return fresh, nil
}

// planChange plans SELECT values FROM table WHERE ... with row numbers.
func (s *Session) planChange(ctx context.Context, st *statement, c *changing) (*query.Plan, error) {
	sel := &pg_query.SelectStmt{
		FromClause:  []*pg_query.Node{{Node: &pg_query.Node_RangeVar{RangeVar: c.rel}}},
		WhereClause: c.where, LimitOption: pg_query.LimitOption_LIMIT_OPTION_DEFAULT, Op: pg_query.SetOperation_SETOP_NONE,
	}
	var fields []*tailrace.Field
	for k, n := range c.values {
		if n.GetSetToDefault() != nil {
			continue
		}
		f := &c.table.Columns.Fields[c.columns[k]]
		fields = append(fields, f)
		val := typed(proto.Clone(n).(*pg_query.Node), f.Type)
		sel.TargetList = append(sel.TargetList, &pg_query.Node{Node: &pg_query.Node_ResTarget{ResTarget: &pg_query.ResTarget{Val: val, Name: f.Name, Location: nodeLocation(n)}}})
	}
	p, err := s.plan(ctx, st, &pg_query.Node{Node: &pg_query.Node_SelectStmt{SelectStmt: sel}}, query.RowRef)
	if err != nil {
		return nil, err
	}
	for i, f := range fields {
		if err := assignable(f, p.Columns()[i+1].Type); err != nil {
			return nil, at(err, st.pos(nodeLocation(sel.TargetList[i].GetResTarget().Val)))
		}
	}
	return p, nil
}
