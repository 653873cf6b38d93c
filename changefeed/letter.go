package changefeed

import (
	"context"
	"errors"
	"fmt"
	"time"

	"tailrace"
	"tailrace/catalog"
	"tailrace/format"
	"tailrace/log"
	"tailrace/shard"
)

// Dead letters are rows that the target refuses, in a table here: public.<sink>_dead_letter. A row is there once: its key is the place of the change.

// letterFields are the columns of the table, its key first.
var letterFields = []tailrace.Field{
	{Name: "table_name", Type: tailrace.TypeOf(tailrace.KindText), NotNull: true},
	{Name: "changed_at", Type: tailrace.TypeOf(tailrace.KindInt8), NotNull: true}, // the commit's time, microseconds
	{Name: "ordinal", Type: tailrace.TypeOf(tailrace.KindInt8), NotNull: true},    // among the updates of that time
	{Name: "action", Type: tailrace.TypeOf(tailrace.KindText)},                    // upsert or delete
	{Name: "row_key", Type: tailrace.TypeOf(tailrace.KindText)},
	{Name: "row_data", Type: tailrace.TypeOf(tailrace.KindText)},
	{Name: "cause", Type: tailrace.TypeOf(tailrace.KindText)},
	{Name: "sqlstate", Type: tailrace.TypeOf(tailrace.KindText)},
	{Name: "refused_at", Type: tailrace.TypeOf(tailrace.KindTimestamptz)},
}

// letterKey is how many of letterFields are the key.
const letterKey = 3

// letterName is the name of a sink's table of dead letters.
func letterName(s *catalog.Sink) string { return s.Name + "_dead_letter" }

// letterTable finds the table, and makes it when it is missing.
func (f *feed) letterTable(ctx context.Context) (*catalog.Table, error) {
	for {
		readTime := f.f.o.Log.Newest()
		cat := f.f.o.Catalog.Current()
		if t := cat.Table("public", letterName(f.sink)); t != nil {
			if len(t.Columns.Fields) != len(letterFields) || len(t.Columns.Key) != letterKey {
				return nil, fmt.Errorf("table %s is there and is no table of dead letters: rename it", t.Name)
			}
			return t, nil
		}
		t := &catalog.Table{ID: cat.NextID, Schema: "public", Name: letterName(f.sink), Retain: catalog.DefaultRetain, Columns: &tailrace.Schema{Version: 1, NextColumn: 1}}
		for i, fd := range letterFields {
			fd.ID = t.Columns.NextColumn
			t.Columns.NextColumn++
			t.Columns.Fields = append(t.Columns.Fields, fd)
			if i < letterKey {
				t.Columns.Key = append(t.Columns.Key, i)
			}
		}
		change := catalog.Change{Table: t}
		_, err := f.f.o.Log.Commit(ctx, log.Txn{ReadTime: readTime, Claim: f.claim, Reads: []log.Read{{Whole: true}}, Records: []log.Record{change.Record()}})
		if err != nil && !errors.Is(err, log.ErrConflict) {
			return nil, fmt.Errorf("make the table of dead letters of sink %s: %w", f.sink.Name, err)
		}
	}
}

// bury writes the rows of a batch that the target refuses, one item or a few that are tied together, as dead letters, and has the target pass over them.
func (w *worker) bury(ctx context.Context, b *batch, se *tailrace.SinkError) error {
	f := w.f
	t, err := f.letterTable(ctx)
	if err != nil {
		return err
	}
	letters := tailrace.NewBatch(t.Columns, len(b.items))
	for i := range b.items {
		f.appendLetter(letters, b.items[i], se)
	}
	if err := f.writeLetters(ctx, t, letters); err != nil {
		return fmt.Errorf("write dead letters of sink %s: %w", f.sink.Name, err)
	}
	progress := b.progress()
	if err := w.conn.Apply(ctx, &tailrace.SinkTxn{Progress: progress}); err != nil {
		return err
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	for n, tb := range b.span.tables {
		if tb == b.items[0].table() {
			b.span.counts[n].letter(int64(len(b.items)))
		}
	}
	f.done(b, progress)
	return nil
}

// writeLetters commits those that are not there yet: a crash may have come between this and the target's progress.
func (f *feed) writeLetters(ctx context.Context, t *catalog.Table, letters *tailrace.Batch) error {
	sh := f.f.o.Shards.Shard(t.ID)
	if sh == nil {
		return shard.ErrDropped
	}
	keys := &tailrace.Batch{N: letters.N, IDs: letters.IDs[:letterKey], Cols: letters.Cols[:letterKey]}
	_, at, err := sh.Lookup(ctx, keys, f.f.o.Log.Newest(), nil)
	if err != nil {
		return err
	}
	var fresh []int32
	for i, n := range at {
		if n < 0 {
			fresh = append(fresh, int32(i))
		}
	}
	if len(fresh) == 0 {
		return nil
	}
	w := f.f.o.Shards.NewWriter(t.ID, t.Columns, shard.WriteOptions{Workers: 1})
	err = w.Append(ctx, letters.Gather(fresh))
	var records []log.Record
	if err == nil {
		records, err = w.Records(ctx)
	}
	if err == nil {
		_, err = f.f.o.Log.Commit(ctx, log.Txn{ReadTime: f.f.o.Log.Newest(), Claim: f.claim, Records: records})
	}
	if err != nil && !errors.Is(err, log.ErrUnknown) {
		w.Abort(ctx)
	}
	return err
}

// appendLetter adds the letter of an item.
func (f *feed) appendLetter(dst *tailrace.Batch, it *item, se *tailrace.SinkError) {
	b, tb := it.slice.parts[it.part].batch, it.table()
	row, action := it.from, "delete"
	for i := it.from; i < it.to; i++ {
		if b.Diff(i) > 0 {
			row, action = i, "upsert"
		}
	}
	dst.Cols[0].AppendString(tb.target.Table.Schema + "." + tb.target.Table.Name)
	dst.Cols[1].AppendInt64(int64(it.time))
	dst.Cols[2].AppendInt64(int64(it.ordinal))
	dst.Cols[3].AppendString(action)
	dst.Cols[4].AppendString(f.keyText(tb, b, row))
	dst.Cols[5].AppendString(rowText(tb.reader.schema, b, row))
	dst.Cols[6].AppendString(se.Err.Message)
	dst.Cols[7].AppendString(se.Err.Code)
	dst.Cols[8].AppendInt64(time.Now().UnixMicro() - epoch2000)
	dst.AppendDiff(1)
}

// epoch2000 is from when timestamps are counted, in microseconds of Unix.
const epoch2000 = 946_684_800_000_000

// letterBytes is how much of a row a letter shows, in bytes.
const letterBytes = 64 << 10

// rowText is a row as people read it: a=1, b=NULL.
func rowText(s *tailrace.Schema, b *tailrace.Batch, i int) string {
	var out []byte
	for c := range s.Fields {
		if c > 0 {
			out = append(out, ", "...)
		}
		out = append(append(out, s.Fields[c].Name...), '=')
		if b.Cols[c].IsNull(i) {
			out = append(out, "NULL"...)
			continue
		}
		out = format.AppendText(out, s.Fields[c].Type, &b.Cols[c], i, format.Default())
		if len(out) > letterBytes {
			return string(out[:letterBytes]) + "..."
		}
	}
	return string(out)
}
