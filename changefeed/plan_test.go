package changefeed

import (
	"errors"
	"fmt"
	"slices"
	"sync"
	"testing"

	"go.uber.org/goleak"

	"tailrace"
	"tailrace/catalog"
	"tailrace/schedule"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// people is a table of id and mail, with mail unique at the target, in a span of lanes.
func people(lanes int) (*span, *table) {
	schema := &tailrace.Schema{NextColumn: 3, Key: []int{0}, Fields: []tailrace.Field{
		{ID: 1, Name: "id", Type: tailrace.TypeOf(tailrace.KindInt4)}, {ID: 2, Name: "mail", Type: tailrace.TypeOf(tailrace.KindText)},
	}}
	tb := &table{id: 1, target: &tailrace.SinkTarget{Name: "people", Table: &tailrace.SinkTable{Columns: schema}, Unique: [][]int{{1}}}}
	tb.reader.schema = schema
	s := &span{id: 1, tables: []*table{tb}, locks: locks{}}
	for n := range lanes {
		s.lanes = append(s.lanes, &lane{n: n})
	}
	return s, tb
}

type change struct {
	t    tailrace.Time
	d    tailrace.Diff
	id   int32
	mail string
}

// sliceOf is changes as a slice of the span.
func sliceOf(s *span, tb *table, changes ...change) *slice {
	b := tailrace.NewBatch(tb.reader.schema, 0)
	for _, c := range changes {
		b.Cols[0].AppendInt32(c.id)
		b.Cols[1].AppendString(c.mail)
		b.Times, b.Diffs = append(b.Times, c.t), append(b.Diffs, c.d)
		b.N++
	}
	out := &slice{}
	out.add(part{tb, b, 0, b.N})
	s.itemize(out, 0, 0)
	s.arrange(out, 0)
	return out
}

func TestItemsAreTheUpdatesOfOneKeyAtOneTime(t *testing.T) {
	s, tb := people(16)
	out := sliceOf(s, tb, change{5, -1, 1, "a"}, change{5, 1, 1, "b"}, change{5, 1, 2, "c"}, change{6, -1, 1, "b"}, change{6, 1, 1, "d"})
	var got []string
	for _, it := range out.items {
		got = append(got, fmt.Sprintf("%d.%d [%d,%d)", it.time, it.ordinal, it.from, it.to))
	}
	if want := []string{"5.2 [0,2)", "5.3 [2,3)", "6.2 [3,5)"}; !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
}

func TestRowsThatExchangeAUniqueValueGoTogether(t *testing.T) {
	for id := range int32(50) {
		s, tb := people(16)
		out := sliceOf(s, tb, change{5, -1, id, "a"}, change{5, 1, id, "b"}, change{5, -1, id + 100, "b"}, change{5, 1, id + 100, "a"}, change{5, 1, id + 200, "z"})
		if a, b := out.items[0].lane, out.items[1].lane; a != b {
			t.Errorf("ids %d and %d swap: lanes %d and %d", id, id+100, a, b)
		}
	}
}

func TestAnItemWaitsForTheValueThatAnotherLaneHolds(t *testing.T) {
	s, tb := people(16)
	var first, second *slice
	for id := int32(2); ; id++ { // two keys of different lanes
		first, second = sliceOf(s, tb, change{5, -1, 1, "a"}), sliceOf(s, tb, change{6, 1, id, "a"})
		if first.items[0].lane != second.items[0].lane {
			break
		}
	}
	a, b := first.items[0], second.items[0]
	if !s.locks.free(a) {
		t.Fatal("nobody holds anything: not free")
	}
	s.locks.take(a)
	if s.locks.free(b) {
		t.Error("the mail is still with another lane: free")
	}
	b.lane = a.lane
	if !s.locks.free(b) {
		t.Error("behind the other one in its lane: not free")
	}
	s.locks.give(a)
	if len(s.locks) != 0 {
		t.Errorf("locks left: %d", len(s.locks))
	}
}

func TestAScanThatFailsGivesBackWhatItTook(t *testing.T) {
	s, tb := people(16)
	at := schedule.Position{Time: 10, Ordinal: 3}
	f := &feed{runner: &runner{f: New(Options{}), sink: &catalog.Sink{}}, cat: &catalog.Catalog{Tables: map[catalog.ID]*catalog.Table{1: {Name: "people"}}}, spans: []*span{s}}
	f.changed = sync.NewCond(&f.mu)
	f.sched = schedule.New(schedule.Config{Pool: 1 << 20})
	f.sched.Add(0, s.id, [2]schedule.Position{at, at})
	f.sched.Readable(0, s.id, 20, true)
	s.read, s.end = at, 20
	sl, ok := f.sched.Next(0)
	if !ok {
		t.Fatal("no slice")
	}
	tb.reader.at = schedule.Position{Time: 15} // it was there when the store failed
	f.scanned(s, sl, nil, false, nil, errors.New("the store failed"))
	if tb.reader.at != at {
		t.Errorf("the next scan goes on at %+v, and updates after %+v are lost", tb.reader.at, at)
	}
	f.recover(s)
	if again, ok := f.sched.Next(0); !ok || again.From != at {
		t.Errorf("the next slice: got %+v, %v, want one from %+v", again, ok, at)
	}
}

func TestReadersOfAParentDoNotMindEachOther(t *testing.T) {
	l := locks{}
	child := func(lane int) *item { return &item{lane: lane, locks: []lock{{hash: 7}}} }
	parent := &item{lane: 3, locks: []lock{{hash: 7, write: true}}}
	l.take(child(1))
	if !l.free(child(2)) {
		t.Error("two children of one parent: not free")
	}
	if l.free(parent) {
		t.Error("a parent whose child is on its way in another lane: free")
	}
}

func TestALanePassesOverWhatTheTargetHas(t *testing.T) {
	l := &lane{progress: tailrace.SinkProgress{Time: 10, Ordinal: 3}}
	for _, c := range []struct {
		time    tailrace.Time
		ordinal uint64
		want    bool
	}{{9, 100, true}, {10, 3, true}, {10, 4, false}, {11, 1, false}} {
		if got := l.covers(&item{time: c.time, ordinal: c.ordinal}); got != c.want {
			t.Errorf("%d.%d: got %v, want %v", c.time, c.ordinal, got, c.want)
		}
	}
}

func TestWholeTimesOfAPosition(t *testing.T) {
	for _, c := range []struct {
		p    schedule.Position
		want tailrace.Time
	}{{schedule.Position{Time: 10}, 10}, {schedule.Position{Time: 10, Ordinal: 1}, 9}} {
		if got := whole(c.p); got != c.want {
			t.Errorf("%+v: got %d, want %d", c.p, got, c.want)
		}
	}
}

func TestChangesBetweenTwoVersionsOfATable(t *testing.T) {
	field := func(id tailrace.ColumnID, name string, k tailrace.Kind) tailrace.Field {
		return tailrace.Field{ID: id, Name: name, Type: tailrace.TypeOf(k)}
	}
	version := func(name string, fields ...tailrace.Field) *tailrace.SinkTable {
		return sinkTableOf(&catalog.Catalog{}, &catalog.Table{Schema: "public", Name: name, Columns: &tailrace.Schema{Key: []int{0}, Fields: fields}})
	}
	id := field(1, "id", tailrace.KindInt4)
	a := version("t", id, field(2, "kept", tailrace.KindText), field(3, "gone", tailrace.KindText), field(4, "wide", tailrace.KindInt4))
	b := version("u", id, field(2, "renamed", tailrace.KindText), field(5, "wide", tailrace.KindInt8), field(6, "new", tailrace.KindText))
	list, err := changesBetween(a, b)
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, c := range list {
		got = append(got, fmt.Sprint(c.Kind, ":", c.Column))
	}
	want := []string{
		fmt.Sprint(tailrace.SinkRenameTable, ":0"), fmt.Sprint(tailrace.SinkDropColumn, ":3"), fmt.Sprint(tailrace.SinkRenameColumn, ":2"),
		fmt.Sprint(tailrace.SinkRetypeColumn, ":5"), fmt.Sprint(tailrace.SinkAddColumn, ":6"),
	}
	if !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
	keyless := version("t", id)
	keyless.Columns.Key = nil
	if _, err := changesBetween(a, keyless); err == nil {
		t.Error("another primary key: got no error")
	}
}
