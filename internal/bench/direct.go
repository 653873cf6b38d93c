package bench

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"os"
	"path/filepath"
	"sync"
	"time"

	"tailrace"
	"tailrace/file"
	"tailrace/log"
	"tailrace/pebble"
	"tailrace/shard"
)

// direct is a Set of one table in this process: what a lookup costs without SQL and without a network. Its log is a counter.
type direct struct {
	dir       string
	consensus *pebble.Consensus
	set       *shard.Set
	schema    *tailrace.Schema
	rows      int

	mu  sync.Mutex // of the counter
	seq tailrace.SeqNo
	now tailrace.Time
}

// directTable is the id of its table.
const directTable = tailrace.CollectionID(1)

func newDirect(ctx context.Context, rows int) (d *direct, err error) {
	d = &direct{rows: rows, schema: &tailrace.Schema{Version: 1, Key: []int{0}, NextColumn: 4, Fields: []tailrace.Field{
		{ID: 1, Name: "id", Type: tailrace.TypeOf(tailrace.KindInt8), NotNull: true},
		{ID: 2, Name: "n", Type: tailrace.TypeOf(tailrace.KindInt4)},
		{ID: 3, Name: "v", Type: tailrace.TypeOf(tailrace.KindText)},
	}}}
	if d.dir, err = os.MkdirTemp("", "tailrace-bench-"); err != nil {
		return nil, err
	}
	quiet := slog.New(slog.DiscardHandler)
	if d.consensus, err = pebble.Open(filepath.Join(d.dir, "log"), pebble.Options{Logger: quiet}); err != nil {
		return nil, err
	}
	blob, err := file.Open(filepath.Join(d.dir, "blob"), file.Options{})
	if err != nil {
		return nil, err
	}
	d.set = shard.New(blob, "00000000000000aa", shard.Options{Logger: quiet})
	if err := d.set.OpenIndex(ctx, filepath.Join(d.dir, "index"), d.consensus, 0); err != nil {
		return nil, err
	}
	d.set.Define(directTable, d.schema, time.Minute, 1)
	return d, d.load(ctx)
}

func (d *direct) close() error {
	return errors.Join(d.set.CloseIndex(), d.consensus.Close(), os.RemoveAll(d.dir))
}

// commit is the log.
func (d *direct) commit(_ context.Context, txn log.Txn) (tailrace.Time, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.seq++
	d.now = max(d.now+1, tailrace.Time(time.Now().UnixMicro()))
	return d.now, d.set.Apply(&log.Entry{Seq: d.seq, Time: d.now, Txns: []log.Committed{{Time: d.now, Records: txn.Records}}})
}

// write commits one batch.
func (d *direct) write(ctx context.Context, batches ...*tailrace.Batch) error {
	w := d.set.NewWriter(directTable, d.schema, shard.WriteOptions{})
	for _, b := range batches {
		if err := w.Append(ctx, b); err != nil {
			return err
		}
	}
	return d.finish(ctx, w)
}

func (d *direct) finish(ctx context.Context, w *shard.Writer) error {
	records, err := w.Records(ctx)
	if err != nil {
		return err
	}
	_, err = d.commit(ctx, log.Txn{Records: records})
	return err
}

// load writes the rows in one transaction, as a COPY does: about 64 bytes each, the same as writeRows.
func (d *direct) load(ctx context.Context) error {
	const per = 8192
	w := d.set.NewWriter(directTable, d.schema, shard.WriteOptions{})
	rng := rand.New(rand.NewPCG(1, 1))
	for from := 0; from < d.rows; from += per {
		b := tailrace.NewBatch(d.schema, per)
		var text []byte
		for i := from; i < min(d.rows, from+per); i++ {
			b.Cols[0].AppendInt64(int64(i))
			b.Cols[1].AppendInt32(int32(rng.IntN(1000)))
			text = appendText(text[:0], rng)
			b.Cols[2].Append(text)
			b.AppendDiff(1)
		}
		if err := w.Append(ctx, b); err != nil {
			return fmt.Errorf("load: %w", err)
		}
	}
	return d.finish(ctx, w)
}

// lookup looks up n random keys and returns their rows.
func (d *direct) lookup(ctx context.Context, rng *rand.Rand, n int) (*tailrace.Batch, error) {
	keys := &tailrace.Batch{N: n, IDs: []tailrace.ColumnID{1}, Cols: []tailrace.Column{tailrace.MakeColumn(tailrace.KindInt8, n)}}
	for range n {
		keys.Cols[0].AppendInt64(rng.Int64N(int64(d.rows)))
	}
	rows, at, err := d.set.Shard(directTable).Lookup(ctx, keys, d.set.Upper()-1, nil)
	if err != nil {
		return nil, err
	}
	for i := range at {
		if at[i] < 0 {
			return nil, fmt.Errorf("key %d is not found", keys.Cols[0].Int64s()[i])
		}
	}
	return rows, nil
}

// update adds 1 to n of some random rows in one transaction and returns how many.
func (d *direct) update(ctx context.Context, rng *rand.Rand, n int) (int, error) {
	old, err := d.lookup(ctx, rng, n)
	if err != nil {
		return 0, err
	}
	seen := map[int64]bool{}
	changes := tailrace.NewBatch(d.schema, 2*n)
	for i := range old.N {
		if id := old.Cols[0].Int64s()[i]; !seen[id] {
			seen[id] = true
			changes.AppendUpdate(old, i, -1)
			changes.Cols[0].AppendFrom(&old.Cols[0], i)
			changes.Cols[1].AppendInt32(old.Cols[1].Int32s()[i] + 1)
			changes.Cols[2].AppendFrom(&old.Cols[2], i)
			changes.AppendDiff(1)
		}
	}
	return len(seen), d.write(ctx, changes)
}
