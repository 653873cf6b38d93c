package redo

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"tailrace"
	"tailrace/file"
)

// BenchmarkWriter is 4,096 rows of about 150 bytes a piece into a directory, until they are durable.
func BenchmarkWriter(b *testing.B) {
	blob, err := file.Open(b.TempDir(), file.Options{MinFree: 1})
	if err != nil {
		b.Fatal(err)
	}
	w, stop := open(b, blob, Options{Epoch: 1})
	table := tableOf(7, "t", 1, "id:int name:text")
	rows := tailrace.NewBatch(table.Columns, 4096)
	for i := range 4096 {
		rows.Cols[0].AppendInt32(int32(i))
		rows.Cols[1].AppendString(strings.Repeat(fmt.Sprint(i), 30))
		rows.Times, rows.Diffs, rows.N = append(rows.Times, 0), append(rows.Diffs, 1), rows.N+1
	}
	b.SetBytes(int64(rows.Size()))
	b.ReportAllocs()
	at := tailrace.Time(0)
	for b.Loop() {
		at++
		for i := range rows.Times {
			rows.Times[i] = at
		}
		if err := w.Add(context.Background(), 7, Piece{Kind: Changes, Table: table, Rows: rows, To: Position{Time: at}}); err != nil {
			b.Fatal(err)
		}
	}
	settled(b, w)
	_ = stop()
}
