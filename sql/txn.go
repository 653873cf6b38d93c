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
	reads   map[catalog.ID]*footprint
	holds   map[catalog.ID]func()
	after   []func(context.Context) // run once it is committed

	selects, subscribes bool // it ran a SELECT; it has a SUBSCRIBE, which must then be its only read
}

// written is what a transaction does to one table.
type written struct {
	table   *catalog.Table
	writer  *shard.Writer
	keys    keySet           // of rows it inserted, unless order follows them
	order   *shard.Ascending // of rows it inserted, as long as their keys ascend and none was removed; else nil
	removed bool             // it deleted rows too, so that keys does not tell what is there
	rows    int64
	own     *own // its updates by key; nil until a statement needs them, or when they are large
	large   bool
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

// open fixes the time that the transaction reads at and the catalog of that time. stale allows a time that misses the newest commits: for a
// statement that changes nothing unless what it read is still so when it commits.
func (t *txn) open(ctx context.Context, stale bool) error {
	if t.base != nil {
		return nil
	}
	at := t.engine.Log.Newest()
	if t.strict && !stale {
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

// hold keeps the history that the transaction reads of a table until it ends.
func (t *txn) hold(id catalog.ID) error {
	if t.holds[id] != nil || t.isNew(id) {
		return nil
	}
	release, err := t.engine.Shards.Hold(id, t.time)
	if err != nil {
		return err
	}
	if t.holds == nil {
		t.holds = map[catalog.ID]func(){}
	}
	t.holds[id] = release
	return nil
}

// write is what the transaction does to table, begun if need be.
func (t *txn) write(table *catalog.Table) *written {
	w := t.tables[table.ID]
	if w == nil {
		w = &written{table: table, writer: t.engine.Shards.NewWriter(table.ID, table.Columns)}
		if t.tables == nil {
			t.tables = map[catalog.ID]*written{}
		}
		t.tables[table.ID] = w
	}
	return w
}

// records is everything that the transaction will write.
func (t *txn) records(ctx context.Context) ([]log.Record, error) {
	var out []log.Record
	for i := range t.changes {
		out = append(out, t.changes[i].Record())
	}
	for _, id := range slices.Sorted(maps.Keys(t.tables)) {
		if t.catalog.Tables[id] == nil {
			continue // it was dropped afterwards
		}
		rs, err := t.tables[id].writer.Records(ctx)
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
	for _, id := range slices.Sorted(maps.Keys(t.reads)) {
		f := t.reads[id]
		c.Reads = append(c.Reads, log.Read{Collection: id, Whole: f.whole, Keys: slices.AppendSeq(make([]uint64, 0, len(f.keys)), maps.Keys(f.keys))})
	}
	_, err = t.engine.Log.Commit(context.WithoutCancel(ctx), c)
	if err != nil && !errors.Is(err, log.ErrUnknown) {
		t.abort(ctx)
		return err
	}
	t.release()
	if err == nil {
		for _, f := range t.after {
			f(ctx)
		}
	}
	return err
}

// abort ends the transaction and leaves nothing of it.
func (t *txn) abort(ctx context.Context) {
	for _, w := range t.tables {
		w.writer.Abort(context.WithoutCancel(ctx))
	}
	t.release()
}

func (t *txn) release() {
	for _, release := range t.holds {
		release()
	}
	t.holds, t.tables = nil, nil
}
