package conform

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"tailrace"
)

func sinkRowFound(t *testing.T, s *sinkCase) {
	s.Exec(t, "CREATE TABLE checked (id int NOT NULL PRIMARY KEY, n int, CHECK (n < 1000))")
	target := s.table(t, tableOf("checked", 1, of("id", tailrace.KindInt4), of("n", tailrace.KindInt4)))
	for _, bad := range []int{0, 1, 149, 298, 299} {
		var texts []string
		for i := range 300 {
			n := 1
			if i == bad {
				n = 1000
			}
			texts = append(texts, fmt.Sprintf("%d|%d", i, n))
		}
		se := faultOf(t, "CHECK", s.try(s.step(t, tailrace.SinkUpsert, target, "1000|1"), s.step(t, tailrace.SinkUpsert, target, texts...)), tailrace.SinkRowFault)
		if se.Step != 1 || se.Row != bad || se.Key != fmt.Sprintf("id=%d", bad) || !strings.Contains(se.Table, "checked") {
			t.Errorf("got step %d, row %d, key %q, table %q, want 1, %d", se.Step, se.Row, se.Key, se.Table, bad)
		}
	}
	s.want(t, "SELECT COUNT(*) FROM checked", "0")
	s.apply(t, s.step(t, tailrace.SinkUpsert, target, "1|1"))
	s.want(t, "SELECT COUNT(*) FROM checked", "1")
}

func sinkTableFaults(t *testing.T, s *sinkCase) {
	s.Exec(t, "CREATE TABLE narrow (id int NOT NULL PRIMARY KEY, v varchar(10), w int NOT NULL)")
	refuse := func(what string, st *tailrace.SinkTable, names ...string) {
		t.Helper()
		_, err := s.sink.Table(t.Context(), st, false)
		se := faultOf(t, what, err, tailrace.SinkTableFault)
		for _, n := range names {
			if !strings.Contains(se.Error(), n) {
				t.Errorf("%s: got %q, want it to name %s", what, se.Error(), n)
			}
		}
	}
	id, w := of("id", tailrace.KindInt4), column{"w", tailrace.TypeOf(tailrace.KindInt4)}
	refuse("missing table", tableOf("nowhere", 1, id), "nowhere")
	refuse("missing column", tableOf("narrow", 1, id, of("gone", tailrace.KindInt4), w), "gone")
	refuse("narrower text", tableOf("narrow", 1, id, column{"v", varchar(11)}, w), "v", "11")
	refuse("narrower number", tableOf("narrow", 1, of("id", tailrace.KindInt8), column{"v", varchar(5)}, w), "id", "bigint")
	refuse("other type", tableOf("narrow", 1, id, of("v", tailrace.KindBytea), w), "bytea")
	refuse("NOT NULL there", tableOf("narrow", 1, id, column{"v", varchar(5)}, w), "w", "NULL")
	refuse("a column that must be given", tableOf("narrow", 1, id, column{"v", varchar(5)}), "w")
	refuse("another key", tableOf("narrow", 2, id, w, column{"v", varchar(5)}), "key")
	wide := tableOf("narrow", 1, id, column{"v", varchar(5)}, w)
	wide.Columns.Fields[2].NotNull = true
	_, err := s.sink.Table(t.Context(), wide, false)
	must(t, "a table that is wide enough", err)
	s.Exec(t, "DROP TABLE narrow")
	target := s.table(t, tableOf("dropped", 1, id))
	s.Exec(t, "DROP TABLE dropped")
	_ = faultOf(t, "table dropped meanwhile", s.try(s.step(t, tailrace.SinkUpsert, target, "1")), tailrace.SinkTableFault)
}

func sinkKilled(t *testing.T, s *sinkCase) {
	target := s.table(t, tableOf("killed", 1, of("id", tailrace.KindInt4)))
	must(t, "begin", s.conn.Begin(t.Context()))
	step := s.step(t, tailrace.SinkUpsert, target, "1")
	must(t, "add", s.conn.Add(t.Context(), &step))
	s.Kill(t)
	_ = faultOf(t, "commit on a lost connection", s.conn.Commit(t.Context(), []tailrace.SinkProgress{{Span: 7, Lane: 3, Time: 1}}), tailrace.SinkRetry)
	_ = faultOf(t, "apply on a lost connection", s.try(step), tailrace.SinkRetry)
	s.want(t, "SELECT COUNT(*) FROM killed", "0")
	s.conn = s.connect(t, s.sink)
	s.apply(t, step)
	s.want(t, "SELECT COUNT(*) FROM killed", "1")
}

func sinkDown(t *testing.T, s *sinkCase) {
	_, err := s.Absent(t).Prepare(t.Context(), s.feed, 1)
	_ = faultOf(t, "unknown database", err, tailrace.SinkDown)
}

func sinkAbandoned(t *testing.T, s *sinkCase) {
	target := s.table(t, tableOf("abandoned", 1, of("id", tailrace.KindInt4)))
	first, second := s.step(t, tailrace.SinkUpsert, target, "1"), s.step(t, tailrace.SinkUpsert, target, "2")
	must(t, "begin", s.conn.Begin(t.Context()))
	must(t, "add", s.conn.Add(t.Context(), &first))
	cancelled, cancel := context.WithCancel(t.Context())
	cancel()
	if err := s.conn.Commit(cancelled, nil); err == nil {
		t.Error("commit with a cancelled context: got no error")
	}
	if err := s.try(second); err != nil { // the adapter may have given the connection up
		s.conn = s.connect(t, s.sink)
		s.apply(t, second)
	}
	must(t, "begin", s.conn.Begin(t.Context()))
	must(t, "add", s.conn.Add(t.Context(), &first))
	s.apply(t, s.step(t, tailrace.SinkUpsert, target, "3")) // neither committed nor rolled back
	must(t, "begin", s.conn.Begin(t.Context()))
	refused := s.step(t, tailrace.SinkReplace, target, "9") // is not there
	_ = faultOf(t, "add", s.conn.Add(t.Context(), &refused), tailrace.SinkRowFault)
	if s.conn.Add(t.Context(), &first) == nil || s.conn.Commit(t.Context(), nil) == nil {
		t.Error("add and commit after a refused step: got no error")
	}
	s.want(t, "SELECT id FROM abandoned ORDER BY id", "2", "3")
}
