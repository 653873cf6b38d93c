package conform

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"tailrace"
)

func sinkTypes(t *testing.T, s *sinkCase) {
	for n, ty := range s.Types {
		target := s.table(t, tableOf(fmt.Sprintf("types%d", n), 1, of("id", tailrace.KindInt4), column{"v", ty.Type}))
		texts := []string{"0|NULL"}
		for i, v := range ty.Values {
			texts = append(texts, fmt.Sprintf("%d|%s", i+1, v))
		}
		sent := s.rows(t, target, texts...)
		s.apply(t, tailrace.SinkStep{Kind: tailrace.SinkUpsert, Target: target, Rows: sent})
		s.apply(t, tailrace.SinkStep{Kind: tailrace.SinkUpsert, Target: target, Rows: sent}) // and as updates
		back, err := s.conn.Rows(t.Context(), target, nil, 1000)
		must(t, "rows", err)
		if back.N != sent.N {
			t.Errorf("%s: got %d rows, want %d", ty.Type, back.N, sent.N)
			continue
		}
		for i := range sent.N {
			if tailrace.CompareStored([]int{0, 1}, back, i, sent, i) != 0 {
				t.Errorf("%s %s: came back as %q", ty.Type, texts[i], back.Cols[1].Bytes(i))
			}
		}
		// Once more without a key: rows are found by all they hold.
		bag := s.table(t, tableOf(fmt.Sprintf("bag%d", n), 0, of("id", tailrace.KindInt4), column{"v", ty.Type}))
		for _, kind := range []tailrace.SinkStepKind{tailrace.SinkInsert, tailrace.SinkDelete} {
			s.apply(t, tailrace.SinkStep{Kind: kind, Target: bag, Rows: sent})
		}
		s.want(t, fmt.Sprintf("SELECT id, v FROM bag%d", n))
	}
}

func sinkRefusedValues(t *testing.T, s *sinkCase) {
	for n, ty := range s.Types {
		if len(ty.Refused) == 0 {
			continue
		}
		target := s.table(t, tableOf(fmt.Sprintf("refused%d", n), 1, of("id", tailrace.KindInt4), column{"v", ty.Type}))
		for _, v := range ty.Refused {
			se := faultOf(t, ty.Type.String()+" "+v, s.try(s.step(t, tailrace.SinkUpsert, target, "1|NULL", "2|"+v, "3|NULL")), tailrace.SinkRowFault)
			if se.Row != 1 || se.Step != 0 || se.Key != "id=2" {
				t.Errorf("%s %s: got step %d, row %d, key %q, want 0, 1, id=2", ty.Type, v, se.Step, se.Row, se.Key)
			}
		}
		s.want(t, fmt.Sprintf("SELECT id FROM refused%d", n))
	}
}

func sinkChanges(t *testing.T, s *sinkCase) {
	target := s.table(t, tableOf("stock", 1, of("item", tailrace.KindText), of("n", tailrace.KindInt4)))
	if target.Loaded {
		t.Error("a table that was just made: got Loaded, want it empty")
	}
	all := "SELECT item, n FROM stock ORDER BY item"
	s.apply(t, s.step(t, tailrace.SinkUpsert, target, "bolt|1", "it's \\ \"odd\" \x01\n\t|2", "nut|NULL"))
	s.want(t, all, "bolt|1", "it's \\ \"odd\" \x01\n\t|2", "nut|NULL")
	s.apply(t, s.step(t, tailrace.SinkUpsert, target, "nut|3", "Bolt|4", "bolt |5"))
	s.want(t, "SELECT COUNT(*) FROM stock", "5")
	s.apply(t, s.step(t, tailrace.SinkReplace, target, "bolt|9"), s.step(t, tailrace.SinkDelete, target, "Bolt|4", "bolt |5", "it's \\ \"odd\" \x01\n\t|2", "gone|0"))
	s.want(t, all, "bolt|9", "nut|3")
	s.apply(t, s.step(t, tailrace.SinkReplace, target, "bolt|9")) // equal already
	_ = faultOf(t, "replace of a row that is not there", s.try(s.step(t, tailrace.SinkReplace, target, "gone|1")), tailrace.SinkRowFault)
	_ = faultOf(t, "insert of a row that is there", s.try(s.step(t, tailrace.SinkInsert, target, "new|1", "nut|7")), tailrace.SinkRowFault)
	s.want(t, all, "bolt|9", "nut|3")
	must(t, "load", s.conn.Load(t.Context(), target, s.rows(t, target, "nut|4", "pin|1"), nil))
	s.want(t, all, "bolt|9", "nut|4", "pin|1")
	if again := s.table(t, target.Table); !again.Loaded {
		t.Error("a table with rows: got not Loaded")
	}
}

func sinkWideKey(t *testing.T, s *sinkCase) {
	target := s.table(t, tableOf("wide", 3, of("a", tailrace.KindInt4), of("b", tailrace.KindText), of("c", tailrace.KindUUID)))
	u := "|00000000-0000-0000-0000-00000000000"
	s.apply(t, s.step(t, tailrace.SinkUpsert, target, "1|x"+u+"1", "1|x"+u+"2", "1|y"+u+"1", "2|x"+u+"1"))
	s.apply(t, s.step(t, tailrace.SinkUpsert, target, "1|x"+u+"1", "3|x"+u+"1"), s.step(t, tailrace.SinkDelete, target, "1|x"+u+"2", "2|x"+u+"1"))
	s.want(t, "SELECT a, b FROM wide ORDER BY a, b", "1|x", "1|y", "3|x")
}

func sinkKeyless(t *testing.T, s *sinkCase) {
	target := s.table(t, tableOf("bag", 0, of("a", tailrace.KindInt4), of("b", tailrace.KindText)))
	s.apply(t, s.step(t, tailrace.SinkInsert, target, "1|x *3", "1|X", "NULL|NULL *2", "2|NULL"))
	s.apply(t, s.step(t, tailrace.SinkDelete, target, "1|x *2", "NULL|NULL"))
	s.want(t, "SELECT a, b, COUNT(*) FROM bag GROUP BY a, b ORDER BY COALESCE(a, 9), b", "1|X|1", "1|x|1", "2|NULL|1", "NULL|NULL|1")
}

func sinkUniqueMoves(t *testing.T, s *sinkCase) {
	s.Exec(t, "CREATE TABLE people (id int NOT NULL PRIMARY KEY, mail varchar(50), UNIQUE (mail))")
	target := s.table(t, tableOf("people", 1, of("id", tailrace.KindInt4), column{"mail", varchar(50)}))
	if len(target.Unique) != 1 || !slices.Equal(target.Unique[0], []int{1}) {
		t.Errorf("unique keys: got %v, want [[1]]", target.Unique)
	}
	s.apply(t, s.step(t, tailrace.SinkUpsert, target, "1|a@x", "2|b@x"))
	s.apply(t, s.step(t, tailrace.SinkDelete, target, "1|a@x", "2|b@x"), s.step(t, tailrace.SinkInsert, target, "1|b@x", "2|a@x"))
	s.want(t, "SELECT id, mail FROM people ORDER BY id", "1|b@x", "2|a@x")
	s.apply(t, s.step(t, tailrace.SinkDelete, target, "1|b@x"), s.step(t, tailrace.SinkUpsert, target, "3|b@x"))
	s.want(t, "SELECT id, mail FROM people ORDER BY id", "2|a@x", "3|b@x")
}

func varchar(n int32) tailrace.Type { return tailrace.Type{Kind: tailrace.KindVarchar, Mod: n + 4} }

func sinkUniqueGuard(t *testing.T, s *sinkCase) {
	s.Exec(t, "CREATE TABLE guarded (id int NOT NULL PRIMARY KEY, mail varchar(50), n int, UNIQUE (mail))")
	target := s.table(t, tableOf("guarded", 1, of("id", tailrace.KindInt4), column{"mail", varchar(50)}, of("n", tailrace.KindInt4)))
	s.apply(t, s.step(t, tailrace.SinkUpsert, target, "1|a@x|1", "2|b@x|2"))
	se := faultOf(t, "another row's mail", s.try(s.step(t, tailrace.SinkUpsert, target, "5|e@x|5", "3|a@x|3", "4|d@x|4")), tailrace.SinkRowFault)
	if se.Row != 1 || se.Key != "id=3" {
		t.Errorf("got row %d, key %q, want 1, id=3", se.Row, se.Key)
	}
	_ = faultOf(t, "another row's mail by update", s.try(s.step(t, tailrace.SinkUpsert, target, "2|a@x|9")), tailrace.SinkRowFault)
	s.want(t, "SELECT id, mail, n FROM guarded ORDER BY id", "1|a@x|1", "2|b@x|2")
}

func sinkForeign(t *testing.T, s *sinkCase) {
	s.Exec(t, "CREATE TABLE parent (id int NOT NULL PRIMARY KEY)")
	s.Exec(t, "CREATE TABLE child (id int NOT NULL PRIMARY KEY, parent int, FOREIGN KEY (parent) REFERENCES parent (id))")
	parent := s.table(t, tableOf("parent", 1, of("id", tailrace.KindInt4)))
	child := s.table(t, tableOf("child", 1, of("id", tailrace.KindInt4), of("parent", tailrace.KindInt4)))
	if len(child.Foreign) != 1 || !slices.Equal(child.Foreign[0].Columns, []int{1}) || child.Foreign[0].Parent != parent.Name || child.Foreign[0].To[0] != "id" {
		t.Errorf("foreign keys: got %+v, want parent of %s", child.Foreign, parent.Name)
	}
	s.apply(t, s.step(t, tailrace.SinkUpsert, parent, "1", "2"), s.step(t, tailrace.SinkUpsert, child, "10|1", "11|2"))
	_ = faultOf(t, "a child without parent", s.try(s.step(t, tailrace.SinkUpsert, child, "12|3")), tailrace.SinkRowFault)
	s.apply(t, s.step(t, tailrace.SinkDelete, child, "10|1"), s.step(t, tailrace.SinkDelete, parent, "1"))
	s.want(t, "SELECT id FROM parent", "2")
	s.want(t, "SELECT id FROM child", "11")
}

func sinkFence(t *testing.T, s *sinkCase) {
	target := s.table(t, tableOf("fenced", 1, of("id", tailrace.KindInt4)))
	s.apply(t, s.step(t, tailrace.SinkUpsert, target, "1"))
	other := s.Open(t)
	progress, err := other.Prepare(t.Context(), s.feed, 2)
	must(t, "prepare epoch 2", err)
	if len(progress) != 1 || progress[0].Time != 1 {
		t.Errorf("progress: got %+v, want time 1", progress)
	}
	if err := s.try(s.step(t, tailrace.SinkUpsert, target, "2")); !errors.Is(err, tailrace.ErrSinkFenced) {
		t.Errorf("apply under epoch 1: got %v, want ErrSinkFenced", err)
	}
	if err := s.conn.Begin(t.Context()); !errors.Is(err, tailrace.ErrSinkFenced) {
		t.Errorf("begin under epoch 1: got %v, want ErrSinkFenced", err)
	}
	if _, err := s.sink.Prepare(t.Context(), s.feed, 1); !errors.Is(err, tailrace.ErrSinkFenced) {
		t.Errorf("prepare epoch 1: got %v, want ErrSinkFenced", err)
	}
	s.want(t, "SELECT id FROM fenced", "1")

	// A transaction that is under way holds a later Prepare up until it ends.
	s.conn = s.connect(t, other)
	must(t, "begin", s.conn.Begin(t.Context()))
	step := s.step(t, tailrace.SinkUpsert, target, "3")
	must(t, "add", s.conn.Add(t.Context(), &step))
	third := s.Open(t)
	short, cancel := context.WithTimeout(t.Context(), 300*time.Millisecond)
	defer cancel()
	if _, err := third.Prepare(short, s.feed, 3); err == nil {
		t.Error("prepare while a transaction is under way: got no error, want it to wait")
	}
	must(t, "commit", s.conn.Commit(t.Context(), []tailrace.SinkProgress{{Span: 7, Lane: 3, Time: 9, Ordinal: 1<<64 - 1, Note: "snapshot 00ff"}}))
	seen, err := third.Prepare(t.Context(), s.feed, 3)
	must(t, "prepare epoch 3", err)
	if len(seen) != 1 || seen[0].Time != 9 || seen[0].Ordinal != 1<<64-1 || seen[0].Note != "snapshot 00ff" || seen[0].Span != 7 || seen[0].Lane != 3 {
		t.Errorf("progress: got %+v, want that of the transaction that was under way", seen)
	}
}

func sinkTwice(t *testing.T, s *sinkCase) {
	target := s.table(t, tableOf("twice", 0, of("id", tailrace.KindInt4)))
	s.apply(t, s.step(t, tailrace.SinkInsert, target, "1"))
	// Another holder of the same epoch, as one that came back after a lost answer, goes on from what the target has.
	other := s.Open(t)
	_, err := other.Prepare(t.Context(), s.feed, 1)
	must(t, "prepare", err)
	first := s.conn
	s.conn = s.connect(t, other)
	s.apply(t, s.step(t, tailrace.SinkInsert, target, "2"))
	s.at, s.conn = s.at-1, first
	if err := s.try(s.step(t, tailrace.SinkInsert, target, "2")); !errors.Is(err, tailrace.ErrSinkMoved) {
		t.Errorf("a transaction sent again: got %v, want ErrSinkMoved", err)
	}
	s.want(t, "SELECT id FROM twice ORDER BY id", "1", "2")
	progress, err := s.sink.Prepare(t.Context(), s.feed, 1)
	must(t, "prepare again", err)
	if len(progress) != 1 || progress[0].Time != 2 {
		t.Fatalf("progress: got %+v, want time 2", progress)
	}
	s.at = 2
	s.apply(t, s.step(t, tailrace.SinkInsert, target, "3"))
	s.want(t, "SELECT id FROM twice ORDER BY id", "1", "2", "3")
}

func sinkStreamed(t *testing.T, s *sinkCase) {
	target := s.table(t, tableOf("streamed", 1, of("id", tailrace.KindInt4), of("n", tailrace.KindInt4)))
	add := func(kind tailrace.SinkStepKind, texts ...string) {
		t.Helper()
		step := s.step(t, kind, target, texts...)
		must(t, "add", s.conn.Add(t.Context(), &step))
	}
	must(t, "begin", s.conn.Begin(t.Context()))
	add(tailrace.SinkUpsert, "1|1")
	must(t, "rollback", s.conn.Rollback())
	s.want(t, "SELECT id, n FROM streamed")
	must(t, "begin", s.conn.Begin(t.Context()))
	add(tailrace.SinkUpsert, "1|1", "2|2")
	s.want(t, "SELECT id, n FROM streamed")
	add(tailrace.SinkDelete, "1|1")
	must(t, "commit", s.conn.Commit(t.Context(), []tailrace.SinkProgress{{Span: 7, Lane: 3, Time: 1}}))
	s.want(t, "SELECT id, n FROM streamed", "2|2")
}

func sinkPages(t *testing.T, s *sinkCase) {
	target := s.table(t, tableOf("pages", 2, of("a", tailrace.KindInt4), of("b", tailrace.KindText), of("v", tailrace.KindText)))
	var texts []string
	for i := range 3000 {
		texts = append(texts, fmt.Sprintf("%d|%c%d|%s", i/100, "aBc"[i%3], i, strings.Repeat("x", i)))
	}
	sent := s.rows(t, target, texts...)
	s.apply(t, tailrace.SinkStep{Kind: tailrace.SinkUpsert, Target: target, Rows: sent})
	var before, key []byte
	var last *tailrace.Batch
	n := 0
	for {
		page, err := s.conn.Rows(t.Context(), target, last, 700)
		must(t, "rows", err)
		if page.N == 0 {
			break
		}
		for i := range page.N {
			if key = tailrace.AppendRowKey(key[:0], target.Table.Columns, target.Table.Columns.Key, page, i); string(key) <= string(before) {
				t.Fatalf("row %d is not after the one before", n+i)
			}
			before = append(before[:0], key...)
		}
		n, last = n+page.N, page
	}
	if n != sent.N {
		t.Errorf("got %d rows, want %d", n, sent.N)
	}
	s.apply(t, tailrace.SinkStep{Kind: tailrace.SinkDelete, Target: target, Rows: sent})
	s.want(t, "SELECT COUNT(*) FROM pages", "0")
}

func sinkForget(t *testing.T, s *sinkCase) {
	target := s.table(t, tableOf("forgotten", 0, of("id", tailrace.KindInt4)))
	s.apply(t, s.step(t, tailrace.SinkInsert, target, "1"))
	must(t, "forget", s.sink.Forget(t.Context(), s.feed))
	must(t, "forget again", s.sink.Forget(t.Context(), s.feed))
	if err := s.try(s.step(t, tailrace.SinkInsert, target, "2")); err == nil {
		t.Error("apply of a forgotten feed: got no error")
	}
	progress, err := s.sink.Prepare(t.Context(), s.feed, 1)
	must(t, "prepare", err)
	if len(progress) != 0 {
		t.Errorf("progress of a forgotten feed: got %+v, want none", progress)
	}
	s.want(t, "SELECT id FROM forgotten", "1")
}
