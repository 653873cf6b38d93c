package ingest_test

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"tailrace"
	"tailrace/catalog"
	"tailrace/log"
	"tailrace/shard"
)

// lose takes the row with the given key out of our copy of a table, as damage would, and keeps the source out of it.
func (w *world) lose(name string, id int32) {
	w.t.Helper()
	t := w.table(name)
	ctx := context.Background()
	column := t.Columns.Fields[t.Columns.Key[0]].ID
	keys := &tailrace.Batch{N: 1, IDs: []tailrace.ColumnID{column}, Cols: []tailrace.Column{tailrace.MakeColumn(tailrace.KindInt4, 1)}}
	keys.Cols[0].AppendInt32(id)
	rows, at, err := w.shards.Shard(t.ID).Lookup(ctx, keys, w.log.Newest(), nil)
	if err != nil || at[0] < 0 {
		w.t.Fatalf("look up row %d of %s: got place %v, error %v", id, name, at, err)
	}
	rows.Diffs = []tailrace.Diff{-1}
	writer := w.shards.NewWriter(t.ID, t.Columns, shard.WriteOptions{})
	if err := writer.Append(ctx, rows); err != nil {
		w.t.Fatal(err)
	}
	records, err := writer.Records(ctx)
	if err != nil {
		w.t.Fatal(err)
	}
	if _, err := w.log.Commit(ctx, log.Txn{ReadTime: w.log.Newest(), Records: records}); err != nil {
		w.t.Fatal(err)
	}
}

// TestChangeOfARowWeLackIsTheTablesError: a copy that is not the source's table any more must say so, not go on from what it has.
func TestChangeOfARowWeLackIsTheTablesError(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	changes := map[string]string{
		"updated": "UPDATE updated SET v = 'x' WHERE id = 2", "deleted": "DELETE FROM deleted WHERE id = 2", "moved": "UPDATE moved SET id = 20 WHERE id = 2",
		"large": "BEGIN; INSERT INTO large SELECT g, repeat('v', 100) FROM generate_series(100, 60000) g; UPDATE large SET v = 'x' WHERE id = 2; COMMIT",
	}
	w.exec("CREATE TABLE good(id int PRIMARY KEY, v text)")
	for name := range changes {
		w.exec(fmt.Sprintf("CREATE TABLE %[1]s(id int PRIMARY KEY, v text); INSERT INTO %[1]s SELECT g, 'v' FROM generate_series(1, 3) g", name))
	}
	source := w.attach()
	w.live(source)
	for name, sql := range changes {
		w.lose(name, 2)
		w.exec("INSERT INTO good VALUES (" + fmt.Sprint(len(w.ours("good"))) + ", 'before')")
		w.exec(sql)
		w.exec("INSERT INTO good VALUES (-" + fmt.Sprint(len(w.ours("good"))+100) + ", 'after')")
		w.caughtUp(source)
		if why := w.state(name, catalog.StateError); !strings.Contains(why, "changed a row that is not here") || !strings.Contains(why, "drop the source") {
			t.Errorf("%s: got %q, want what is wrong and what mends it", name, why)
		}
		if got := len(w.ours(name)); got != 2 {
			t.Errorf("rows of %s: got %d, want the 2 from before the transaction", name, got)
		}
	}
	w.same("good")
}
