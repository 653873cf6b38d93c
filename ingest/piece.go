package ingest

import (
	"context"
	"fmt"

	"tailrace"
	"tailrace/shard"
)

// bind gives the batches of p the column IDs that they have here. With a transaction (t not nil), tables are altered on the way and tables that
// cannot be followed are put aside.
func (a *applier) bind(p *tailrace.SourcePiece, t *txn) {
	for _, c := range p.Changes {
		f := a.tables[c.Table.Rel]
		if f == nil || f.gone {
			continue
		}
		if c.Err != nil {
			t.table(f).fail(c.Err)
			continue
		}
		if !f.is(c.Table) {
			next, why := altered(f.table, c.Table)
			tt := t.table(f)
			if why != nil {
				tt.fail(why)
				continue
			}
			f.become(next)
			f.shape = c.Table
			if len(tt.writers) > 0 {
				tt.writers = append(tt.writers, a.r.i.o.Shards.NewWriter(next.ID, next.Columns, shard.WriteOptions{}))
			}
		}
		c.New.IDs, c.Old.IDs = f.ids, f.ids
	}
}

// fail leaves the table behind, as it was before the transaction.
func (tt *txnTable) fail(why *tailrace.Error) {
	tt.failed, tt.f.gone = why, true
}

// fold takes the changes of p into t.
func (a *applier) fold(ctx context.Context, t *txn, p *tailrace.SourcePiece) error {
	for _, c := range p.Changes {
		f := a.tables[c.Table.Rel]
		if f == nil || f.gone {
			continue
		}
		tt := t.table(f)
		if f.why != nil {
			tt.fail(f.why)
			continue
		}
		var why *tailrace.Error
		var err error
		if len(f.table.Columns.Key) > 0 {
			why, err = a.foldKeyed(ctx, t, tt, c)
		} else {
			why, err = a.foldMultiset(ctx, t, tt, c)
		}
		if err != nil {
			return err
		}
		if why != nil {
			tt.fail(why)
		}
	}
	for _, tt := range t.order {
		if tt.f.gone {
			continue
		}
		if err := a.emit(ctx, tt); err != nil {
			return err
		}
	}
	return nil
}

// emit moves what the piece did to a table into its writer.
func (a *applier) emit(ctx context.Context, tt *txnTable) error {
	rows := tt.f.rows
	defer rows.reset()
	complete := true
	err := tt.f.fold.each(func(v *version, d tailrace.Diff) error {
		complete = complete && rows.add(v, d)
		return nil
	})
	if err != nil {
		return err
	}
	tt.f.fold.begin()
	if !complete {
		tt.fail(cannotFollow(tt.before, "the source changed a row that is not here"))
		return nil
	}
	if rows.out.N == 0 {
		return nil
	}
	return a.append(ctx, tt, rows.out)
}

// append adds updates to the table's writer.
func (a *applier) append(ctx context.Context, tt *txnTable, b *tailrace.Batch) error {
	if len(tt.writers) == 0 {
		tt.writers = append(tt.writers, a.r.i.o.Shards.NewWriter(tt.f.table.ID, tt.f.table.Columns, shard.WriteOptions{}))
	}
	if err := tt.writers[len(tt.writers)-1].Append(ctx, b); err != nil {
		return fmt.Errorf("store updates of %s: %w", tt.f.table.Name, err)
	}
	return nil
}
