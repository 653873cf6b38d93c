package sql

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"

	"tailrace"
	"tailrace/catalog"
	"tailrace/log"
	"tailrace/shard"
)

// txn is a transaction: one time that it reads at, what it read, and what it will write.
type txn struct {
	engine  *Engine
	strict  bool             // it must see everything acknowledged before its first statement
	turn    bool             // it holds a turn: others wait for it
	time    tailrace.Time    // that it reads at, 0 until it first reads
	base    *catalog.Catalog // of that time; nil until it first reads
	catalog *catalog.Catalog // base with changes: what it sees
	changes []catalog.Change
	tables  map[catalog.ID]*written
	writing shard.WriteOptions // of what is written from now on
	points  []*savepoint       // that stand, outermost first
	reads   map[catalog.ID]*footprint
	holds   map[held]func()
	after   []func(context.Context) // run once it is committed

	selects, subscribes bool // it ran a SELECT; it has a SUBSCRIBE, which must then be its only read
}

// footprint is what a transaction read of one table.
type footprint struct {
	keys  map[uint64]struct{}
	whole bool
}

// footprintKeys is how many keys a footprint lists before it stands for the whole table.
const footprintKeys = 1 << 16

func (e *Engine) begin(strict bool) *txn {
	return &txn{engine: e, strict: strict, reads: map[catalog.ID]*footprint{}}
}

// open fixes the time that the transaction reads at and the catalog of that time. stale allows a time that misses the newest commits of this node: for
// a statement that changes nothing unless what it read is still so when it commits. Another node's may have been acknowledged long before they are
// known here, so where there are others nothing is stale.
func (t *txn) open(ctx context.Context, stale bool) error {
	if t.base != nil {
		return nil
	}
	at := t.engine.Log.Newest()
	if t.strict && (!stale || t.engine.Log.Shared()) {
		var err error
		if at, err = t.engine.Log.Sync(ctx); err != nil {
			return err
		}
	}
	c := t.engine.Catalog.Current()
	for c.Time > at { // the catalog is applied before the rows of the same commit
		if err := t.engine.Log.WaitTime(ctx, c.Time); err != nil {
			return err
		}
		at, c = t.engine.Log.Newest(), t.engine.Catalog.Current()
	}
	t.time, t.base, t.catalog = at, c, c
	return nil
}

// allTables lists the tables that the transaction sees, by ID.
func (t *txn) allTables() []*catalog.Table {
	var out []*catalog.Table
	for _, id := range slices.Sorted(maps.Keys(t.catalog.Tables)) {
		out = append(out, t.catalog.Tables[id])
	}
	return out
}

// isNew tells that the transaction itself created the table: nothing of it is anywhere else.
func (t *txn) isNew(id catalog.ID) bool { return t.base.Tables[id] == nil }

// newID is the ID of an object that the transaction creates; change with the object comes before the next newID.
func (t *txn) newID() catalog.ID { return t.catalog.NextID }

// change adds a change of the catalog.
func (t *txn) change(c catalog.Change) {
	t.changes = append(t.changes, c)
	t.catalog = t.catalog.With(c)
	if c.Table != nil && t.tables[c.Table.ID] != nil {
		t.tables[c.Table.ID].become(c.Table)
	}
	t.readWhole(0)
}

func (t *txn) footprint(id catalog.ID) *footprint {
	f := t.reads[id]
	if f == nil {
		f = &footprint{keys: map[uint64]struct{}{}}
		t.reads[id] = f
	}
	return f
}

func (t *txn) readWhole(id catalog.ID) {
	f := t.footprint(id)
	f.whole, f.keys = true, nil
}

func (t *txn) readKey(id catalog.ID, hash uint64) {
	f := t.footprint(id)
	if f.whole {
		return
	}
	if f.keys[hash] = struct{}{}; len(f.keys) > footprintKeys {
		t.readWhole(id)
	}
}

// held is a table's rows as of a time.
type held struct {
	table catalog.ID
	at    tailrace.Time
}

// hold keeps the history that the transaction reads of a table until it ends.
func (t *txn) hold(id catalog.ID) error {
	if t.isNew(id) {
		return nil
	}
	return t.holdAt(id, t.time)
}

// holdAt is hold for a time of its own. The error is 22023 when that is no longer readable.
func (t *txn) holdAt(id catalog.ID, at tailrace.Time) error {
	h := held{id, at}
	if t.holds[h] != nil {
		return nil
	}
	release, err := t.engine.Shards.Hold(id, at)
	if err != nil {
		return err
	}
	if t.holds == nil {
		t.holds = map[held]func(){}
	}
	t.holds[h] = release
	return nil
}

// inOrder are the keys of m in order. Most transactions are about one table, and Sorted would allocate three times for it.
func inOrder[V any](m map[catalog.ID]V) []catalog.ID {
	out := make([]catalog.ID, 0, len(m))
	for id := range m {
		out = append(out, id)
	}
	slices.Sort(out)
	return out
}

// records is everything that the transaction will write.
func (t *txn) records(ctx context.Context) ([]log.Record, error) {
	var out []log.Record
	for i := range t.changes {
		out = append(out, t.changes[i].Record())
	}
	for _, id := range inOrder(t.tables) {
		if t.catalog.Tables[id] == nil {
			continue // it was dropped afterwards
		}
		rs, err := t.tables[id].records(ctx)
		if err != nil {
			return nil, fmt.Errorf("write rows of table %s: %w", t.tables[id].table.Name, err)
		}
		out = append(out, rs...)
	}
	return out, nil
}

// commit makes the transaction durable and visible, and ends it. A cancel that comes while the log decides is too late.
func (t *txn) commit(ctx context.Context) error {
	records, err := t.records(ctx)
	if err != nil {
		t.abort(ctx)
		return err
	}
	if len(records) == 0 {
		t.abort(ctx)
		return nil
	}
	if err := t.yield(ctx); err != nil {
		t.abort(ctx)
		return err
	}
	c := log.Txn{ReadTime: t.time, Records: records}
	for _, id := range inOrder(t.reads) {
		f := t.reads[id]
		c.Reads = append(c.Reads, log.Read{Collection: id, Whole: f.whole, Keys: slices.AppendSeq(make([]uint64, 0, len(f.keys)), maps.Keys(f.keys))})
	}
	admitted, err := t.engine.Shards.Admit(ctx, c)
	if err != nil {
		t.abort(ctx)
		return err
	}
	_, err = t.engine.Log.Commit(context.WithoutCancel(ctx), c)
	admitted()
	if err != nil && !errors.Is(err, log.ErrUnknown) {
		t.abort(ctx)
		return err
	}
	t.forgetDropped(ctx)
	t.release()
	if err == nil {
		for _, f := range t.after {
			f(ctx)
		}
	}
	return err
}

// forgetDropped deletes what was written to tables that the transaction dropped afterwards: a ROLLBACK TO could have brought them back until now.
func (t *txn) forgetDropped(ctx context.Context) {
	for _, id := range inOrder(t.tables) {
		if t.catalog.Tables[id] == nil {
			t.tables[id].abort(ctx)
		}
	}
}

// abort ends the transaction and leaves nothing of it.
func (t *txn) abort(ctx context.Context) {
	for _, id := range inOrder(t.tables) {
		t.tables[id].abort(ctx)
	}
	t.release()
}

func (t *txn) release() {
	for _, w := range t.tables {
		for _, l := range w.layers {
			l.free()
		}
	}
	for _, release := range t.holds {
		release()
	}
	t.holds, t.tables, t.points = nil, nil, nil
}
