package sql

import (
	"context"
	"fmt"

	"tailrace"
	"tailrace/query"
	"tailrace/shard"
)

// putting is one run of an INSERT: its rows come in pieces and are checked, written and returned.
type putting struct {
	s       *Session
	st      *statement
	in      *inserting
	out     *returned    // nil without RETURNING
	touched shard.KeySet // keys of rows that ON CONFLICT inserted or updated
	count   int64        // of rows inserted or updated

	wherePlan, setPlan *query.Plan     // of DO UPDATE, once it asked the query engine
	old, proposed      *tailrace.Batch // that they read
}

// putting begins a run of in.
func (s *Session) putting(ctx context.Context, st *statement, in *inserting) (*putting, error) {
	out, err := s.returned(ctx, st, in.returning)
	return &putting{s: s, st: st, in: in, out: out, touched: s.txn.newKeys()}, err
}

// take inserts rows, which have all columns of the table.
func (p *putting) take(ctx context.Context, b *tailrace.Batch) error {
	if c := p.in.conflict; c != nil {
		if !c.update || !touchesKey(p.in.table.Columns, c.columns) {
			return p.resolveRows(ctx, b)
		}
		for i := range b.N { // where a key goes decides about the next row
			if err := p.resolveRows(ctx, piece(b, i, i+1)); err != nil {
				return err
			}
		}
		return nil
	}
	if err := p.s.insertRows(ctx, p.in.table, b); err != nil {
		return err
	}
	return p.put(ctx, b)
}

// put counts and returns rows that were written.
func (p *putting) put(ctx context.Context, b *tailrace.Batch) error {
	p.count += int64(b.N)
	return p.out.take(ctx, b)
}

// result ends the run, which failed with err or did not.
func (p *putting) result(ctx context.Context, err error) (*Result, error) {
	p.touched.Free()
	if err != nil {
		p.out.drop(ctx)
		return nil, err
	}
	return p.out.result(fmt.Sprintf("INSERT 0 %d", p.count)), nil
}
