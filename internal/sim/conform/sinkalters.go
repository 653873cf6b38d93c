package conform

import (
	"errors"
	"testing"

	"tailrace"
)

// sinkAlters makes each change twice, as a feed does that died after the first.
func sinkAlters(t *testing.T, s *sinkCase) {
	id, n := of("id", tailrace.KindInt4), of("n", tailrace.KindInt4)
	alter := func(kind tailrace.SinkAlterKind, before, after *tailrace.SinkTable, column tailrace.ColumnID) {
		t.Helper()
		for range 2 {
			must(t, "alter", s.conn.Alter(t.Context(), &tailrace.SinkAlter{Kind: kind, Before: before, After: after, Column: column}))
		}
	}
	first := tableOf("altered", 1, id, n)
	target := s.table(t, first)
	s.apply(t, s.step(t, tailrace.SinkUpsert, target, "1|10", "2|20"))

	added := tableOf("altered", 1, id, n, of("note", tailrace.KindText), column{"code", varchar(5)})
	added.Columns.Fields[3].NotNull, added.Columns.Fields[3].Missing = true, []byte("it's")
	alter(tailrace.SinkAddColumn, first, added, 3)
	alter(tailrace.SinkAddColumn, first, added, 4)
	s.want(t, "SELECT id, n, note, code FROM altered ORDER BY id", "1|10|NULL|it's", "2|20|NULL|it's")
	target = s.table(t, added)
	s.apply(t, s.step(t, tailrace.SinkUpsert, target, "2|20|two|b", "3|30|three|c"))

	renamed := tableOf("altered", 1, id, n, of("remark", tailrace.KindText), column{"code", varchar(5)})
	alter(tailrace.SinkRenameColumn, added, renamed, 3)
	s.want(t, "SELECT remark FROM altered WHERE id = 3", "three")

	wider := tableOf("altered", 1, id, of("n", tailrace.KindInt8), of("remark", tailrace.KindText), column{"code", varchar(5)})
	renamed.Columns.Fields[3].NotNull, wider.Columns.Fields[3].NotNull = true, true
	alter(tailrace.SinkRetypeColumn, renamed, wider, 2)
	s.apply(t, s.step(t, tailrace.SinkUpsert, s.table(t, wider), "4|5000000000|NULL|d"))
	s.want(t, "SELECT n FROM altered ORDER BY id", "10", "20", "30", "5000000000")

	fewer := tableOf("altered", 1, id, of("n", tailrace.KindInt8), of("remark", tailrace.KindText))
	alter(tailrace.SinkDropColumn, wider, fewer, 4)
	s.apply(t, s.step(t, tailrace.SinkUpsert, s.table(t, fewer), "5|5|five"))

	moved := tableOf("altered2", 1, id, of("n", tailrace.KindInt8), of("remark", tailrace.KindText))
	alter(tailrace.SinkRenameTable, fewer, moved, 0)
	s.want(t, "SELECT remark FROM altered2 WHERE id = 5", "five")
	alter(tailrace.SinkTruncate, moved, moved, 0)
	s.want(t, "SELECT id FROM altered2")
	alter(tailrace.SinkDropTable, moved, nil, 0)
	_, err := s.sink.Table(t.Context(), moved, false)
	_ = faultOf(t, "a table that was dropped", err, tailrace.SinkTableFault)

	other := s.Open(t)
	_, err = other.Prepare(t.Context(), s.feed, 2)
	must(t, "prepare epoch 2", err)
	if err := s.conn.Alter(t.Context(), &tailrace.SinkAlter{Kind: tailrace.SinkDropTable, Before: moved}); !errors.Is(err, tailrace.ErrSinkFenced) {
		t.Errorf("alter under epoch 1: got %v, want ErrSinkFenced", err)
	}
}
