package mysql_test

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"tailrace"
	"tailrace/internal/mytest"
)

// target opens a table of an integer key and a text, with a connection to write to it.
func target(t *testing.T, s tailrace.Sink, name string) (*tailrace.SinkTarget, tailrace.SinkConn) {
	t.Helper()
	if _, err := s.Prepare(t.Context(), name, 1); err != nil {
		t.Fatal(err)
	}
	table, err := s.Table(t.Context(), &tailrace.SinkTable{Name: name, Columns: &tailrace.Schema{Key: []int{0}, Fields: []tailrace.Field{
		{ID: 1, Name: "id", Type: tailrace.TypeOf(tailrace.KindInt4), NotNull: true}, {ID: 2, Name: "v", Type: tailrace.TypeOf(tailrace.KindText)},
	}}}, true)
	if err != nil {
		t.Fatal(err)
	}
	conn, err := s.Connect(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = conn.Close() })
	return table, conn
}

func upsert(ctx context.Context, conn tailrace.SinkConn, table *tailrace.SinkTarget, ids []int32, texts ...string) error {
	b := tailrace.NewBatch(table.Table.Columns, len(ids))
	for i, id := range ids {
		b.Cols[0].AppendInt32(id)
		b.Cols[1].AppendString(texts[i])
		b.AppendDiff(1)
	}
	return conn.Apply(ctx, &tailrace.SinkTxn{Steps: []tailrace.SinkStep{{Kind: tailrace.SinkUpsert, Target: table, Rows: b}}})
}

func TestRowBeyondThePacketIsFoundBeforeItIsSent(t *testing.T) {
	server := mytest.Start(t, "max_allowed_packet=1M")
	s := openSink(t, server.URL())
	table, conn := target(t, s, "packets")
	if got := s.Limits().StatementBytes; got >= 1<<20 || got < 1<<19 {
		t.Errorf("limit: got %d bytes, want a little below 1 MiB", got)
	}
	half := strings.Repeat("x", 600<<10) // two rows do not fit into one statement
	if err := upsert(t.Context(), conn, table, []int32{1, 2, 3}, half, half, half); err != nil {
		t.Fatal(err)
	}
	se := faultOf(t, "a row of 2 MiB", upsert(t.Context(), conn, table, []int32{4, 5, 6}, "a", strings.Repeat("x", 2<<20), "b"), tailrace.SinkRowFault)
	if se.Row != 1 || se.Key != "id=5" {
		t.Errorf("got row %d, key %q, want 1, id=5", se.Row, se.Key)
	}
	if got := server.Query(t, "SELECT COUNT(*), SUM(LENGTH(v)) FROM packets")[0]; got[0] != "3" || got[1] != fmt.Sprint(3*600<<10) {
		t.Errorf("at the target: got %v, want 3 rows of 600 KiB", got)
	}
}

func TestServerThatRestartsOrTakesNoWritesIsTriedAgain(t *testing.T) {
	server := mytest.Start(t)
	s := openSink(t, server.URL())
	table, conn := target(t, s, "restarts")
	server.Exec(t, "CREATE USER plain IDENTIFIED BY 'secret'; GRANT SELECT, INSERT, UPDATE, DELETE, CREATE ON *.* TO plain; SET GLOBAL read_only = 1")
	plain := openSink(t, strings.Replace(server.URL(), mytest.User+":", "plain:", 1))
	_, err := plain.Prepare(t.Context(), "restarts", 1)
	faultOf(t, "read-only", err, tailrace.SinkRetry)
	server.Exec(t, "SET GLOBAL read_only = 0")
	server.Stop()
	faultOf(t, "stopped", upsert(t.Context(), conn, table, []int32{1}, "a"), tailrace.SinkRetry)
	_, err = s.Connect(t.Context())
	faultOf(t, "connect to a stopped server", err, tailrace.SinkRetry)
	server.Restart(t)
	again, err := s.Connect(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer again.Close()
	if err := upsert(t.Context(), again, table, []int32{1}, "a"); err != nil {
		t.Fatal(err)
	}
	if got := server.Query(t, "SELECT v FROM restarts")[0][0]; got != "a" {
		t.Errorf("after the restart: got %s, want a", got)
	}
}

func TestMissingPrivilegeIsTheTablesFault(t *testing.T) {
	server := mytest.Shared(t)
	s := openSink(t, server.URL())
	table, _ := target(t, s, "denied")
	server.Exec(t, "CREATE USER IF NOT EXISTS reader IDENTIFIED BY 'secret'; GRANT ALL ON tailrace.* TO reader; GRANT SELECT ON shop.* TO reader")
	reader := openSink(t, strings.Replace(server.URL(), mytest.User+":", "reader:", 1))
	if _, err := reader.Prepare(t.Context(), "denied", 1); err != nil {
		t.Fatal(err)
	}
	conn, err := reader.Connect(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	se := faultOf(t, "no INSERT", upsert(t.Context(), conn, table, []int32{1}, "a"), tailrace.SinkTableFault)
	if se.Table != table.Name || !strings.Contains(se.Err.Hint, "GRANT") {
		t.Errorf("got table %q, hint %q, want %s and a GRANT", se.Table, se.Err.Hint, table.Name)
	}
}

func TestTableThatCannotBeTrusted(t *testing.T) {
	server := mytest.Shared(t)
	s := openSink(t, server.URL())
	server.Exec(t, "CREATE TABLE IF NOT EXISTS nolog (id int PRIMARY KEY) ENGINE=MyISAM; CREATE TABLE IF NOT EXISTS folded (id varchar(20) COLLATE utf8mb4_general_ci PRIMARY KEY)")
	text, number := tailrace.TypeOf(tailrace.KindText), tailrace.TypeOf(tailrace.KindInt4)
	for name, typ := range map[string]tailrace.Type{"nolog": number, "folded": text} {
		st := &tailrace.SinkTable{Name: name, Columns: &tailrace.Schema{Key: []int{0}, Fields: []tailrace.Field{{ID: 1, Name: "id", Type: typ, NotNull: true}}}}
		_, err := s.Table(t.Context(), st, true)
		faultOf(t, name, err, tailrace.SinkTableFault)
	}
}

func TestValueThatWouldBeCutOrRoundedIsRefused(t *testing.T) {
	server := mytest.Shared(t)
	s := openSink(t, server.URL())
	server.Exec(t, "CREATE TABLE IF NOT EXISTS rounded (id varchar(5) COLLATE utf8mb4_nopad_bin PRIMARY KEY, n decimal(10,2))")
	if _, err := s.Prepare(t.Context(), "rounded", 1); err != nil {
		t.Fatal(err)
	}
	table, err := s.Table(t.Context(), &tailrace.SinkTable{Name: "rounded", Columns: &tailrace.Schema{Key: []int{0}, Fields: []tailrace.Field{
		{ID: 1, Name: "id", Type: tailrace.TypeOf(tailrace.KindText), NotNull: true}, {ID: 2, Name: "n", Type: tailrace.TypeOf(tailrace.KindNumeric)},
	}}}, false)
	if err != nil {
		t.Fatal(err)
	}
	conn, err := s.Connect(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	for _, c := range []struct {
		id, n string
		fits  bool
	}{
		{"abcde", "99999999.99", true},
		{"b    ", "1.500", true}, // blanks that fit are kept, zeros say nothing
		{"c     ", "1", false},   // the server would cut the last blank with a note
		{"d", "1.005", false},    // and round this one
		{"e", "100000000", false},
	} {
		rows := tailrace.NewBatch(table.Table.Columns, 1)
		rows.Cols[0].AppendString(c.id)
		if err := sinkOptions().Parse(&rows.Cols[1], tailrace.TypeOf(tailrace.KindNumeric), c.n); err != nil {
			t.Fatal(err)
		}
		rows.AppendDiff(1)
		err := conn.Apply(t.Context(), &tailrace.SinkTxn{Steps: []tailrace.SinkStep{{Kind: tailrace.SinkUpsert, Target: table, Rows: rows}}})
		switch {
		case c.fits && err != nil:
			t.Errorf("%q, %s: got %v, want it to fit", c.id, c.n, err)
		case !c.fits:
			_ = faultOf(t, c.id, err, tailrace.SinkRowFault)
		}
	}
	if got := server.Query(t, "SELECT COUNT(*) FROM rounded WHERE LENGTH(id) = 5")[0][0]; got != "2" {
		t.Errorf("rows with all their blanks: got %s, want 2", got)
	}
}
