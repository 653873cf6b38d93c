package ingest

import (
	"context"
	"fmt"
	"slices"

	"tailrace"
	"tailrace/catalog"
	"tailrace/log"
	"tailrace/shard"
)

// applier turns pieces into commits, in order.
type applier struct {
	r       *runner
	adapter tailrace.Source
	tables  map[uint32]*followed // by the source's identity
	open    *txn                 // a large or special transaction under way, nil when there is none
}

// followed is a table that the source fills.
type followed struct {
	table *catalog.Table        // with what the transactions applied so far made of it
	shape *tailrace.SourceTable // the newest description that is known to be table's
	fold  keyFold               // of the group under way
	gone  bool                  // in state error: its changes are passed over
}

func newApplier(r *runner, adapter tailrace.Source) *applier {
	return &applier{r: r, adapter: adapter, tables: map[uint32]*followed{}}
}

// follow adds a table and returns how its source last described it.
func (a *applier) follow(t *catalog.Table) *tailrace.SourceTable {
	a.tables[t.Upstream.Rel] = &followed{table: t, fold: keyFold{entries: map[string]*entry{}}}
	return knownTable(t)
}

// plain reports whether p is a whole transaction that changes rows only, of tables as they are known.
func (a *applier) plain(p *tailrace.SourcePiece) bool {
	if !p.End || a.open != nil {
		return false
	}
	for _, c := range p.Changes {
		f := a.tables[c.Table.Rel]
		if f == nil || f.gone {
			continue
		}
		if c.Err != nil || !f.is(c.Table) {
			return false
		}
		for i := range c.List {
			if c.List[i].Kind == tailrace.ChangeTruncate {
				return false
			}
		}
	}
	return true
}

// is reports whether t describes the table as it is known.
func (f *followed) is(t *tailrace.SourceTable) bool {
	if f.shape == t {
		return true
	}
	if !sameShape(f.table.Upstream, t) {
		return false
	}
	f.shape = t
	return true
}

// txn is a source's transaction on its way into a log.Txn.
type txn struct {
	readTime tailrace.Time
	tables   map[*followed]*txnTable
	order    []*txnTable
}

// txnTable is what a transaction does to one table.
type txnTable struct {
	f         *followed
	before    *catalog.Table  // as it was before the transaction
	writers   []*shard.Writer // one for each schema that the table had in the transaction; the last is the newest
	rows      *rowBuilder     // rows of the piece under way
	truncated bool            // nothing that was there before the transaction is there any more
	spilled   map[uint64]bool // hashes of keys whose versions are in writers only
	failed    *tailrace.Error
}

func (t *txn) table(f *followed) *txnTable {
	tt := t.tables[f]
	if tt == nil {
		tt = &txnTable{f: f, before: f.table}
		t.tables[f] = tt
		t.order = append(t.order, tt)
	}
	return tt
}

func (a *applier) begin() *txn {
	for _, f := range a.tables {
		f.fold.begin()
	}
	return &txn{readTime: a.r.i.o.Log.Newest(), tables: map[*followed]*txnTable{}}
}

// apply commits pieces: several whole, plain transactions, or one piece of another.
func (a *applier) apply(ctx context.Context, pieces []*tailrace.SourcePiece) error {
	if a.r.i.o.Catalog.Current().Sources[a.r.id] == nil {
		return errGone
	}
	if a.open != nil || len(pieces) == 1 && !a.plain(pieces[0]) {
		return a.applyPiece(ctx, pieces[0])
	}
	asOf := a.r.i.o.Log.Newest()
	for _, p := range pieces {
		a.bind(p, nil)
	}
	if err := a.lookup(ctx, nil, asOf, pieces); err != nil {
		return err
	}
	txns := make([]log.Txn, 0, len(pieces))
	for _, p := range pieces {
		t := a.begin()
		t.readTime = asOf
		if err := a.fold(ctx, t, p); err != nil {
			return err
		}
		done, err := a.finish(ctx, t, p.Position)
		if err != nil {
			return err
		}
		txns = append(txns, done)
	}
	a.forget()
	return a.commit(ctx, txns, pieces[len(pieces)-1])
}

// applyPiece takes the next piece of a transaction that is large, or does more than change rows, and commits after the last.
func (a *applier) applyPiece(ctx context.Context, p *tailrace.SourcePiece) error {
	if a.open == nil {
		a.open = a.begin()
	}
	t := a.open
	a.bind(p, t)
	if err := a.lookup(ctx, t, a.r.i.o.Log.Newest(), []*tailrace.SourcePiece{p}); err != nil {
		return err
	}
	if err := a.fold(ctx, t, p); err != nil {
		return err
	}
	if !p.End {
		a.spill(t)
		return nil
	}
	done, err := a.finish(ctx, t, p.Position)
	if err != nil {
		return err
	}
	a.open = nil
	a.forget()
	return a.commit(ctx, []log.Txn{done}, p)
}

// commit commits txns in order and confirms the position of the last piece, which is theirs.
func (a *applier) commit(ctx context.Context, txns []log.Txn, last *tailrace.SourcePiece) error {
	if _, err := a.r.i.o.Log.CommitAll(ctx, txns); err != nil {
		return err
	}
	a.adapter.Confirm(last.Position)
	a.r.tell(a.adapter, last.Position, last.Lag)
	return nil
}

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
			f.table, f.shape = next, c.Table
			tt.rows = nil
			if len(tt.writers) > 0 {
				tt.writers = append(tt.writers, a.r.i.o.Shards.NewWriter(next.ID, next.Columns))
			}
		}
		ids := make([]tailrace.ColumnID, len(f.table.Upstream.Columns))
		for i, col := range f.table.Upstream.Columns {
			ids[i] = col.ID
		}
		c.New.IDs, c.Old.IDs = ids, ids
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
		if tt.rows == nil {
			tt.rows = newRowBuilder(f.table.Columns)
		}
		var why *tailrace.Error
		var err error
		if len(f.table.Columns.Key) > 0 {
			err = a.foldKeyed(ctx, t, tt, c)
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
	if tt.rows == nil {
		return nil
	}
	complete := true
	err := tt.f.fold.each(func(v *version, d tailrace.Diff) error {
		complete = complete && tt.rows.add(v, d)
		return nil
	})
	if err != nil {
		return err
	}
	tt.f.fold.begin()
	b := tt.rows.take()
	if !complete {
		tt.fail(cannotFollow(tt.before, "the source changed a row that is not here"))
		return nil
	}
	if b.N == 0 {
		return nil
	}
	return a.append(ctx, tt, b)
}

// append adds updates to the table's writer.
func (a *applier) append(ctx context.Context, tt *txnTable, b *tailrace.Batch) error {
	if len(tt.writers) == 0 {
		tt.writers = append(tt.writers, a.r.i.o.Shards.NewWriter(tt.f.table.ID, tt.f.table.Columns))
	}
	if err := tt.writers[len(tt.writers)-1].Append(ctx, b); err != nil {
		return fmt.Errorf("store updates of %s: %w", tt.f.table.Name, err)
	}
	return nil
}

// finish makes the transaction that is committed: changes of tables first, then updates, then the position.
func (a *applier) finish(ctx context.Context, t *txn, position []byte) (log.Txn, error) {
	out := log.Txn{ReadTime: t.readTime, Reads: []log.Read{{Collection: a.r.id, Whole: true}}}
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

// forget drops what was kept of a group.
func (a *applier) forget() {
	for _, f := range a.tables {
		clear(f.fold.entries)
	}
}

// abort removes what was written of a transaction that did not come to its end.
func (a *applier) abort(ctx context.Context) {
	if a.open == nil {
		return
	}
	for _, tt := range a.open.order {
		abortAll(ctx, tt.writers)
	}
	a.open = nil
}

func abortAll(ctx context.Context, writers []*shard.Writer) {
	for _, w := range writers {
		w.Abort(ctx)
	}
}
