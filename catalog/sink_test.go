package catalog

import (
	"testing"

	"tailrace"
	"tailrace/log"
)

func TestVersionsOfATableStayUntilAllItsSinksHavePassedThem(t *testing.T) {
	f := NewFold()
	v1, v2, v3 := table(7, "t", 1), table(7, "t", 2), table(7, "renamed", 3)
	v2.Columns.Fields = v2.Columns.Fields[:1]
	v3.Columns = v2.Columns
	a := &Sink{ID: 8, Name: "a", Kind: "mysql", Tables: []ID{7}}
	b := &Sink{ID: 9, Name: "b", Kind: "mysql", Tables: []ID{7}}
	moved := func(at tailrace.Time, sink ID, to tailrace.Time) {
		t.Helper()
		r := SinkProgressRecord(sink, SinkProgress{7: {Time: to}})
		if _, err := f.Apply(&log.Entry{Txns: []log.Committed{{Time: at, Records: []log.Record{r}}}}); err != nil {
			t.Fatal(err)
		}
	}
	want := func(what string, at tailrace.Time, version *Table, until tailrace.Time) {
		t.Helper()
		got, next := f.Current().TableAt(7, at)
		if got.Name != version.Name || len(got.Columns.Fields) != len(version.Columns.Fields) || next != until {
			t.Errorf("%s: at %d got %s with %d columns until %d, want %s with %d until %d", what, at, got.Name, len(got.Columns.Fields), next, version.Name, len(version.Columns.Fields), until)
		}
	}
	commit(t, f, 10, Change{Table: v1})
	commit(t, f, 11, Change{Table: v2})
	want("without a sink", 10, v2, tailrace.MaxTime)
	commit(t, f, 12, Change{Table: v1}, Change{Sink: a}, Change{Sink: b})
	moved(13, 8, 12)
	moved(13, 9, 12)
	commit(t, f, 20, Change{Table: v2})
	commit(t, f, 30, Change{Table: v3})
	retained := *v3
	retained.Retain = 0
	commit(t, f, 31, Change{Table: &retained}) // nothing for a target
	for range 2 {
		want("behind", 19, v1, 20)
		want("behind", 20, v2, 30)
		want("behind", 30, v3, tailrace.MaxTime)
		other := NewFold()
		if err := other.Restore(f.Encode()); err != nil {
			t.Fatal(err)
		}
		f = other
	}
	moved(40, 8, 35)
	want("one sink has passed", 19, v1, 20)
	moved(41, 9, 25)
	want("both have passed the first", 19, v2, 30)
	commit(t, f, 42, Change{Drop: 9})
	want("the slow one is gone", 19, v3, tailrace.MaxTime)
	if n := len(f.Current().Versions); n != 0 {
		t.Errorf("versions kept: got %d, want 0", n)
	}
	moved(43, 9, 50) // of a sink that is gone
	if _, err := f.Apply(&log.Entry{Txns: []log.Committed{{Time: 44, Records: []log.Record{{Kind: log.KindSinkProgress, Collection: 8, Payload: []byte("{")}}}}}); err == nil {
		t.Error("progress that is no JSON: got no error")
	}
}

func TestCheckpointOfASinkCountsOnceItsSnapshotIsThere(t *testing.T) {
	s := &Sink{ID: 8, Tables: []ID{7}, Generation: 1, Resyncs: map[ID]int{7: 2}}
	for _, c := range []struct {
		span SinkSpan
		want tailrace.Time
	}{
		{SinkSpan{Time: 5, Generation: 1, Resyncs: 2}, 5},
		{SinkSpan{Time: 5, Generation: 1, Resyncs: 2, Loading: true}, 0},
		{SinkSpan{Time: 5, Generation: 0, Resyncs: 2}, 0},
		{SinkSpan{Time: 5, Generation: 1, Resyncs: 1}, 0},
	} {
		cat := &Catalog{SinkProgress: map[ID]SinkProgress{8: {7: c.span}}}
		if got := cat.SinkCheckpoint(s, 7); got != c.want {
			t.Errorf("%+v: got %d, want %d", c.span, got, c.want)
		}
	}
}
