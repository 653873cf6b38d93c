package ingest

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"sync"

	"golang.org/x/sync/errgroup"

	"tailrace"
	"tailrace/catalog"
	"tailrace/log"
	"tailrace/shard"
)

// commitBytes bounds what one commit of a snapshot carries; a large snapshot takes several, the last of which has the position. Only together
// are they a copy: without a position everything is begun anew.
const commitBytes = log.MaxEntry * 3 / 4

// snapshot copies all tables of the source and commits them with the position they are at.
func (r *runner) snapshot(ctx context.Context, adapter tailrace.Source) error {
	r.progress.set(Starting, nil)
	p, err := r.createTables(ctx, adapter)
	if err != nil {
		return err
	}
	copied := &snapshotCopy{r: r, plan: p, tables: make([]copiedTable, len(p.tables))}
	defer copied.abort(context.WithoutCancel(ctx))
	err = adapter.Snapshot(ctx, p.upstream, tailrace.SnapshotTo{
		Waiting: r.progress.wait, Begin: copied.begin, Rows: copied.rows, Done: copied.done,
	})
	if err != nil {
		return err
	}
	if err := copied.commit(ctx); err != nil {
		return err
	}
	adapter.Confirm(copied.position)
	return nil
}

// createTables puts the source's tables into the catalog, in state snapshot, in place of those of an attempt that did not end.
func (r *runner) createTables(ctx context.Context, adapter tailrace.Source) (*plan, error) {
	readTime := r.i.o.Log.Newest()
	cat := r.i.o.Catalog.Current()
	s := cat.Sources[r.id]
	if s == nil {
		return nil, errGone
	}
	found, err := adapter.Tables(ctx, selectionOf(s))
	if err != nil {
		return nil, err
	}
	p, err := planTables(cat, s, found)
	if err != nil {
		return nil, err
	}
	var changes []*catalog.Change
	for _, t := range cat.TablesOf(r.id) {
		changes = append(changes, &catalog.Change{Drop: t.ID})
	}
	estimates := map[catalog.ID]int64{}
	for i, t := range p.tables {
		changes = append(changes, &catalog.Change{Table: t})
		estimates[t.ID] = p.upstream[i].Rows
	}
	if err := r.put(ctx, readTime, changes...); err != nil {
		return nil, err
	}
	r.progress.expect(estimates, p.left)
	return p, nil
}

// snapshotCopy takes the rows of a snapshot into shard writers.
type snapshotCopy struct {
	r        *runner
	plan     *plan
	position []byte
	tables   []copiedTable
}

// copiedTable is one table. Each of the lanes that it is read in has a writer of its own: no row is in two.
type copiedTable struct {
	ids []tailrace.ColumnID

	mu      sync.Mutex // for memory only
	writers map[int]*shard.Writer
	records []log.Record
	failed  *tailrace.Error
}

// writer is the one of a lane.
func (c *snapshotCopy) writer(table, lane int) *shard.Writer {
	t := &c.tables[table]
	t.mu.Lock()
	defer t.mu.Unlock()
	w := t.writers[lane]
	if w == nil {
		w = c.r.i.o.Shards.NewWriter(c.plan.tables[table].ID, c.plan.tables[table].Columns, shard.WriteOptions{})
		t.writers[lane] = w
	}
	return w
}

// takeWriters returns the table's writers, by lane, and takes them from it.
func (t *copiedTable) takeWriters() []*shard.Writer {
	t.mu.Lock()
	defer t.mu.Unlock()
	var out []*shard.Writer
	for _, lane := range slices.Sorted(maps.Keys(t.writers)) {
		out = append(out, t.writers[lane])
	}
	clear(t.writers)
	return out
}

func (c *snapshotCopy) begin(position []byte) error {
	c.position = position
	c.r.progress.set(Snapshot, nil)
	for i, t := range c.plan.tables {
		for _, f := range t.Columns.Fields {
			c.tables[i].ids = append(c.tables[i].ids, f.ID)
		}
		c.tables[i].writers = map[int]*shard.Writer{}
	}
	return nil
}

func (c *snapshotCopy) rows(ctx context.Context, table, lane int, b *tailrace.Batch) error {
	b.IDs = c.tables[table].ids
	c.r.progress.read(c.plan.tables[table].ID, b.N)
	if err := c.writer(table, lane).Take(ctx, b); err != nil {
		return fmt.Errorf("store the snapshot of %s: %w", c.plan.tables[table].Name, err)
	}
	return nil
}

func (c *snapshotCopy) done(ctx context.Context, table int, failed *tailrace.Error) error {
	t := &c.tables[table]
	if failed != nil {
		t.failed = failed
		abortAll(ctx, t.takeWriters())
		return nil
	}
	t.mu.Lock()
	writers := maps.Clone(t.writers)
	t.mu.Unlock()
	records := make([][]log.Record, len(writers))
	g, ctx := errgroup.WithContext(ctx)
	for i, lane := range slices.Sorted(maps.Keys(writers)) {
		g.Go(func() (err error) {
			records[i], err = writers[lane].Records(ctx)
			return err
		})
	}
	if err := g.Wait(); err != nil {
		return fmt.Errorf("store the snapshot of %s: %w", c.plan.tables[table].Name, err)
	}
	t.records = slices.Concat(records...)
	return nil
}

// commit commits all rows, with every table put to live, or error, and the position.
func (c *snapshotCopy) commit(ctx context.Context) error {
	for i := range c.tables { // from here on the log may name the parts, whatever Commit returns
		c.tables[i].takeWriters()
	}
	readTime := c.r.i.o.Log.Newest()
	if c.r.i.o.Catalog.Current().Sources[c.r.id] == nil {
		return errGone
	}
	source := log.Read{Collection: c.r.id, Whole: true}
	txn := log.Txn{ReadTime: readTime, Claim: c.r.claim, Reads: []log.Read{source}}
	bytes := 0
	for i := range c.tables {
		t := *c.plan.tables[i]
		up := *t.Upstream
		up.State = catalog.StateLive
		t.Upstream = &up
		if c.tables[i].failed != nil {
			t = *inError(&t, c.tables[i].failed)
		}
		records := append([]log.Record{(&catalog.Change{Table: &t}).Record()}, c.tables[i].records...)
		size := recordBytes(records)
		if bytes > 0 && bytes+size > commitBytes {
			if _, err := c.r.i.o.Log.Commit(ctx, txn); err != nil {
				return err
			}
			readTime = c.r.i.o.Log.Newest()
			txn, bytes = log.Txn{ReadTime: readTime, Claim: c.r.claim, Reads: []log.Read{source}}, 0
		}
		txn.Records, bytes = append(txn.Records, records...), bytes+size
	}
	txn.Records = append(txn.Records, catalog.PositionRecord(c.r.id, c.position))
	if _, err := c.r.i.o.Log.Commit(ctx, txn); err != nil {
		return err
	}
	return nil
}

// abort removes what was written of a snapshot that did not end.
func (c *snapshotCopy) abort(ctx context.Context) {
	for i := range c.tables {
		abortAll(ctx, c.tables[i].takeWriters())
	}
}

func recordBytes(records []log.Record) int {
	n := 0
	for _, r := range records {
		n += len(r.Payload) + 8*len(r.Keys) + 32
	}
	return n
}
