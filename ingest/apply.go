package ingest

import (
	"context"

	"tailrace"
	"tailrace/catalog"
	"tailrace/log"
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
	ids   []tailrace.ColumnID   // what the columns of shape are here
	fold  keyFold               // of the group under way
	rows  *rowBuilder           // rows of the piece under way
	gone  bool                  // in state error: its changes are passed over
	why   *tailrace.Error       // what lookup found: it goes into state error with its next change
}

func newApplier(r *runner, adapter tailrace.Source) *applier {
	return &applier{r: r, adapter: adapter, tables: map[uint32]*followed{}}
}

// follow adds a table and returns how its source last described it.
func (a *applier) follow(t *catalog.Table) *tailrace.SourceTable {
	f := &followed{fold: newKeyFold()}
	f.become(t)
	a.tables[t.Upstream.Rel] = f
	return knownTable(t)
}

// become makes t what the table is from here on.
func (f *followed) become(t *catalog.Table) {
	f.table, f.rows = t, newRowBuilder(t.Columns)
	f.ids = make([]tailrace.ColumnID, len(t.Upstream.Columns))
	for i, col := range t.Upstream.Columns {
		f.ids[i] = col.ID
	}
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
		t := a.newTxn(asOf)
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
		a.open = a.newTxn(a.r.i.o.Log.Newest())
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
		return a.spill(t, p)
	}
	done, err := a.finish(ctx, t, p.Position)
	if err != nil {
		return err
	}
	a.open = nil
	a.close(t)
	a.forget()
	return a.commit(ctx, []log.Txn{done}, p)
}

// commit commits txns in order and confirms the position of the last piece, which is theirs.
func (a *applier) commit(ctx context.Context, txns []log.Txn, last *tailrace.SourcePiece) error {
	admitted, err := a.r.i.o.Shards.Admit(ctx, txns...)
	if err != nil {
		return err
	}
	_, err = a.r.i.o.Log.CommitAll(ctx, txns)
	admitted()
	if err != nil {
		return err
	}
	a.adapter.Confirm(last.Position)
	a.r.tell(a.adapter, last.Position, last.Lag)
	return nil
}

// forget drops what was kept of a group.
func (a *applier) forget() {
	for _, f := range a.tables {
		f.fold.forget()
	}
}
