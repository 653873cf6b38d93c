package ingest

import (
	"context"
	"fmt"
	"slices"

	"tailrace"
	"tailrace/budget"
	"tailrace/catalog"
	"tailrace/log"
	"tailrace/shard"
)

// txn is a source's transaction on its way into a log.Txn.
type txn struct {
	readTime tailrace.Time
	tables   map[*followed]*txnTable
	order    []*txnTable
	keys     *budget.Share // that the hashes of keys are taken from
	kept     budget.Grant  // of the pieces whose rows the folds still name
}

// txnTable is what a transaction does to one table.
type txnTable struct {
	f         *followed
	before    *catalog.Table  // as it was before the transaction
	writers   []*shard.Writer // one for each schema that the table had in the transaction; the last is the newest
	truncated bool            // nothing that was there before the transaction is there any more
	spilled   shard.KeySet    // hashes of keys whose versions are in writers only
	failed    *tailrace.Error
}

func (a *applier) newTxn(readTime tailrace.Time) *txn {
	b := a.r.i.o.Budget
	return &txn{readTime: readTime, tables: map[*followed]*txnTable{}, kept: b.Share(budget.Ingest).Grant(), keys: b.Share(budget.Transactions)}
}

// table is what t does to f; with the first change of f, its fold begins a transaction.
func (t *txn) table(f *followed) *txnTable {
	tt := t.tables[f]
	if tt == nil {
		tt = &txnTable{f: f, before: f.table, spilled: shard.NewKeySet(t.keys)}
		f.fold.begin()
		t.tables[f] = tt
		t.order = append(t.order, tt)
	}
	return tt
}

// finish makes the transaction that is committed: changes of tables first, then updates, then the position.
func (a *applier) finish(ctx context.Context, t *txn, position []byte) (log.Txn, error) {
	out := log.Txn{ReadTime: t.readTime, Claim: a.r.claim, Reads: []log.Read{{Collection: a.r.id, Whole: true}}}
	for _, tt := range t.order {
		switch {
		case tt.failed != nil:
			a.r.i.o.Logger.Warn("table is not followed any more", "table", tt.before.Name, "reason", tt.failed.Message)
			abortAll(ctx, tt.writers)
			tt.writers = nil
			out.Records = append(out.Records, (&catalog.Change{Table: inError(tt.before, tt.failed)}).Record())
		case tt.f.table != tt.before:
			out.Records = append(out.Records, (&catalog.Change{Table: tt.f.table}).Record())
		}
	}
	if err := t.shrink(ctx); err != nil {
		return log.Txn{}, err
	}
	for _, tt := range t.order {
		for _, w := range tt.writers {
			records, err := w.Records(ctx)
			if err != nil {
				return log.Txn{}, fmt.Errorf("store updates of %s: %w", tt.f.table.Name, err)
			}
			out.Records = append(out.Records, records...)
		}
	}
	out.Records = append(out.Records, catalog.PositionRecord(a.r.id, position))
	return out, nil
}

// shrink makes the transaction fit a log entry: the writers with the most inline updates put them into parts.
func (t *txn) shrink(ctx context.Context) error {
	var writers []*shard.Writer
	total := 0
	for _, tt := range t.order {
		for _, w := range tt.writers {
			writers, total = append(writers, w), total+w.Size()
		}
	}
	slices.SortFunc(writers, func(a, b *shard.Writer) int { return b.Size() - a.Size() })
	for _, w := range writers {
		if total <= commitBytes {
			return nil
		}
		before := w.Size()
		if err := w.Cut(ctx); err != nil {
			return fmt.Errorf("store updates: %w", err)
		}
		total += w.Size() - before
	}
	return nil
}

// abort removes what was written of a transaction that did not come to its end.
func (a *applier) abort(ctx context.Context) {
	if a.open == nil {
		return
	}
	for _, tt := range a.open.order {
		abortAll(ctx, tt.writers)
	}
	a.close(a.open)
	a.open = nil
}

// close gives back the memory that t took.
func (a *applier) close(t *txn) {
	t.kept.Free()
	for _, tt := range t.order {
		tt.spilled.Free()
	}
}

func abortAll(ctx context.Context, writers []*shard.Writer) {
	for _, w := range writers {
		w.Abort(ctx)
	}
}
