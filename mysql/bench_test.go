package mysql_test

import (
	"database/sql"
	"fmt"
	"strings"
	"testing"

	driver "github.com/go-sql-driver/mysql"

	"tailrace"
	"tailrace/internal/mytest"
)

// BenchmarkApply upserts 256 rows a transaction; BenchmarkPlainLoader sends the same statement in a transaction with
// neither epoch nor progress, nor a value to write out.
func BenchmarkApply(b *testing.B) {
	s, err := openURL(mytest.Shared(b).URL())
	if err != nil {
		b.Fatal(err)
	}
	defer s.Close()
	ctx := b.Context()
	if _, err := s.Prepare(ctx, b.Name(), 1); err != nil {
		b.Fatal(err)
	}
	text := tailrace.TypeOf(tailrace.KindText)
	target, err := s.Table(ctx, &tailrace.SinkTable{Name: "bench", Columns: &tailrace.Schema{Key: []int{0}, Fields: []tailrace.Field{
		{ID: 1, Name: "id", Type: tailrace.TypeOf(tailrace.KindInt4), NotNull: true}, {ID: 2, Name: "a", Type: text}, {ID: 3, Name: "b", Type: tailrace.TypeOf(tailrace.KindInt8)},
	}}}, true)
	if err != nil {
		b.Fatal(err)
	}
	conn, err := s.Connect(ctx)
	if err != nil {
		b.Fatal(err)
	}
	defer conn.Close()
	var rows [2]*tailrace.Batch // in turn, so that every row changes
	for n := range rows {
		rows[n] = tailrace.NewBatch(target.Table.Columns, 256)
		for i := range 256 {
			rows[n].Cols[0].AppendInt32(int32(i))
			rows[n].Cols[1].AppendString(strings.Repeat("x", 100))
			rows[n].Cols[2].AppendInt64(int64(n))
			rows[n].AppendDiff(1)
		}
	}
	at := tailrace.Time(0)
	for b.Loop() {
		at++
		txn := &tailrace.SinkTxn{Steps: []tailrace.SinkStep{{Kind: tailrace.SinkUpsert, Target: target, Rows: rows[at%2]}}, Progress: []tailrace.SinkProgress{{Span: 1, Time: at}}}
		if err := conn.Apply(ctx, txn); err != nil {
			b.Fatal(err)
		}
	}
	b.ReportMetric(256*float64(b.N)/b.Elapsed().Seconds(), "rows/s")
}

func BenchmarkPlainLoader(b *testing.B) {
	c := driver.NewConfig()
	c.User, c.Passwd, c.Net, c.Addr, c.DBName = mytest.User, mytest.Password, "tcp", mytest.Shared(b).Addr(), "shop"
	connector, err := driver.NewConnector(c)
	if err != nil {
		b.Fatal(err)
	}
	db := sql.OpenDB(connector)
	defer db.Close()
	var texts [2]string
	for n := range texts {
		var tuples []string
		for i := range 256 {
			tuples = append(tuples, fmt.Sprintf("(%d,'%s',%d)", i, strings.Repeat("x", 100), n))
		}
		texts[n] = "INSERT INTO plain (id, a, b) VALUES " + strings.Join(tuples, ", ") +
			" ON DUPLICATE KEY UPDATE `id` = IF(`id` = VALUES(`id`), `id`, NULL), `a` = VALUES(`a`), `b` = VALUES(`b`)"
	}
	if _, err := db.Exec("CREATE TABLE IF NOT EXISTS plain (id int PRIMARY KEY, a longtext, b bigint) COLLATE utf8mb4_nopad_bin"); err != nil {
		b.Fatal(err)
	}
	for n := 0; b.Loop(); n++ {
		tx, err := db.Begin()
		if err != nil {
			b.Fatal(err)
		}
		if _, err := tx.Exec(texts[n%2]); err != nil {
			b.Fatal(err)
		}
		if err := tx.Commit(); err != nil {
			b.Fatal(err)
		}
	}
	b.ReportMetric(256*float64(b.N)/b.Elapsed().Seconds(), "rows/s")
}
