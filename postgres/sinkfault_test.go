package postgres_test

import (
	"context"
	"errors"
	"strings"
	"testing"

	"tailrace"
	"tailrace/internal/pgtest"
)

// sinkTarget opens a table of an integer key and a text, with a connection to write to it.
func sinkTarget(t *testing.T, s tailrace.Sink, name string) (*tailrace.SinkTarget, tailrace.SinkConn) {
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

func sinkUpsert(ctx context.Context, conn tailrace.SinkConn, table *tailrace.SinkTarget, id int32, text string) error {
	b := tailrace.NewBatch(table.Table.Columns, 1)
	b.Cols[0].AppendInt32(id)
	b.Cols[1].AppendString(text)
	b.AppendDiff(1)
	return conn.Apply(ctx, &tailrace.SinkTxn{Steps: []tailrace.SinkStep{{Kind: tailrace.SinkUpsert, Target: table, Rows: b}}})
}

func sinkFaultOf(t *testing.T, what string, err error, want tailrace.SinkFault) *tailrace.SinkError {
	t.Helper()
	se := (*tailrace.SinkError)(nil)
	if !errors.As(err, &se) || se.Fault != want || se.Err.Hint == "" {
		t.Fatalf("%s: got %#v (%v), want a SinkError of fault %d with a hint", what, err, err, want)
	}
	return se
}

func TestSinkThatRestartsOrTakesNoWritesIsTriedAgain(t *testing.T) {
	server := pgtest.Start(t)
	s := openSink(t, server.URL())
	table, conn := sinkTarget(t, s, "restarts")
	server.Exec(t, "ALTER SYSTEM SET default_transaction_read_only = on; ")
	server.Exec(t, "SELECT pg_reload_conf()")
	_, err := s.Prepare(t.Context(), "readonly", 1)
	for err == nil { // until the server has heard of it
		_, err = s.Prepare(t.Context(), "readonly", 1)
	}
	_ = sinkFaultOf(t, "read-only", err, tailrace.SinkRetry)
	server.Stop()
	_ = sinkFaultOf(t, "stopped", sinkUpsert(t.Context(), conn, table, 1, "a"), tailrace.SinkRetry)
	_, err = s.Connect(t.Context())
	_ = sinkFaultOf(t, "connect to a stopped server", err, tailrace.SinkRetry)
	server.Restart(t, "default_transaction_read_only=off")
	again, err := s.Connect(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer again.Close()
	if err := sinkUpsert(t.Context(), again, table, 1, "a"); err != nil {
		t.Fatal(err)
	}
	if got := server.Query(t, "SELECT v FROM restarts")[0][0]; got != "a" {
		t.Errorf("after the restart: got %s, want a", got)
	}
}

func TestSinkWithoutPrivilege(t *testing.T) {
	server := pgtest.Start(t)
	s := openSink(t, server.URL())
	table, _ := sinkTarget(t, s, "denied")
	server.Exec(t, "CREATE ROLE reader LOGIN; GRANT USAGE ON SCHEMA tailrace TO reader; GRANT ALL ON ALL TABLES IN SCHEMA tailrace TO reader; GRANT SELECT ON denied TO reader; CREATE ROLE nobody LOGIN")
	reader := openSink(t, strings.Replace(server.URL(), "postgres@", "reader@", 1))
	if _, err := reader.Prepare(t.Context(), "denied", 1); err != nil {
		t.Fatal(err)
	}
	if _, err := reader.Table(t.Context(), table.Table, false); err == nil {
		t.Error("a table that may not be written: got no error")
	} else if se := sinkFaultOf(t, "no INSERT", err, tailrace.SinkTableFault); !strings.Contains(se.Err.Hint, "GRANT") {
		t.Errorf("got hint %q, want a GRANT", se.Err.Hint)
	}
	nobody := openSink(t, strings.Replace(server.URL(), "postgres@", "nobody@", 1))
	_, err := nobody.Prepare(t.Context(), "denied", 1)
	_ = sinkFaultOf(t, "no privilege on the schema", err, tailrace.SinkDown)
}
