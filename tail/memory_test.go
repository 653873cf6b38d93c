package tail

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"tailrace"
	"tailrace/budget"
	"tailrace/catalog"
	"tailrace/internal/sim"
	"tailrace/log"
	"tailrace/shard"
)

// small is a tail with small shares over some tables.
type small struct {
	t      *testing.T
	node   *budget.Node
	set    *shard.Set
	tail   *Tail
	tables []*catalog.Table
	now    tailrace.Time
	seq    tailrace.SeqNo
}

func newSmall(t *testing.T, tables int, sizes map[string]int64) *small {
	t.Helper()
	node, err := budget.New(budget.Least, sizes)
	if err != nil {
		t.Fatal(err)
	}
	w := &small{t: t, node: node, now: 1000}
	w.set = shard.New(sim.NewBlob(), "0000000000000001", shard.Options{Budget: node})
	w.tail = New(Options{Shards: w.set, Budget: node})
	for i := range tables {
		id := tailrace.CollectionID(100 + i)
		columns := &tailrace.Schema{Version: 1, NextColumn: 3, Key: []int{0}, Fields: []tailrace.Field{field(1, "n"), field(2, "t")}}
		w.tables = append(w.tables, &catalog.Table{ID: id, Schema: "public", Name: fmt.Sprintf("t%d", i), Columns: columns, Retain: time.Hour})
		w.set.Define(id, columns, time.Hour, 1)
	}
	w.apply(nil)
	return w
}

func (w *small) apply(records []log.Record) {
	w.t.Helper()
	w.now++
	w.seq++
	e := &log.Entry{Seq: w.seq, Time: w.now}
	if records != nil {
		e.Txns = []log.Committed{{Time: w.now, Records: records}}
	}
	if err := w.set.Apply(e); err != nil {
		w.t.Fatal(err)
	}
	w.tail.Apply(e, nil)
}

// insert writes n rows of size bytes to a table, from key first on.
func (w *small) insert(table, first, n, size int) {
	w.t.Helper()
	s := w.tables[table].Columns
	b := tailrace.NewBatch(s, n)
	for i := range n {
		b.Cols[0].AppendInt64(int64(first + i))
		b.Cols[1].AppendString(strings.Repeat("x", size))
	}
	b.N = n
	wr := w.set.NewWriter(w.tables[table].ID, s, shard.WriteOptions{})
	if err := wr.Append(w.t.Context(), b); err != nil {
		w.t.Fatal(err)
	}
	records, err := wr.Records(w.t.Context())
	if err != nil {
		w.t.Fatal(err)
	}
	w.apply(records)
}

func (w *small) subscribe(table int, r Request) *Subscription {
	w.t.Helper()
	r.Table, r.Now = w.tables[table], w.now
	s, err := w.tail.Subscribe(w.t.Context(), r)
	if err != nil {
		w.t.Fatal(err)
	}
	w.t.Cleanup(func() { s.Close() })
	return s
}

// within checks a share: it was never above its limit.
func (w *small) within(name string, used int64) budget.Usage {
	w.t.Helper()
	u := w.node.Share(name).Usage()
	if u.Peak > u.Limit || u.Used > used || u.Peak == 0 {
		w.t.Errorf("%s: got %+v, want a peak within the limit and %d used at most", name, u, used)
	}
	return u
}

// TestWindowsStayInTheirShare even when every window is down to its newest batch; a subscriber that was at the end then reads from the shard, and
// misses nothing.
func TestWindowsStayInTheirShare(t *testing.T) {
	const limit = 200 << 10
	w := newSmall(t, 20, map[string]int64{budget.Windows: limit})
	var subs []*Subscription
	for i := range w.tables {
		subs = append(subs, w.subscribe(i, Request{}))
	}
	for round := range 3 {
		for i := range w.tables {
			w.insert(i, round*10, 10, 2000) // 20 kB, 40 of the share
			if u := w.node.Share(budget.Windows).Usage(); u.Used > limit {
				t.Fatalf("after table %d: got %+v, want it within the limit", i, u)
			}
		}
	}
	for i, s := range subs {
		rows := 0
		for rows < 30 {
			b, err := s.Next(t.Context())
			if err != nil {
				t.Fatalf("subscription %d: %v", i, err)
			}
			rows += b.N
		}
		if rows != 30 {
			t.Errorf("subscription %d: got %d rows, want 30", i, rows)
		}
		s.Close()
	}
	w.within(budget.Windows, limit)
	w.within(budget.Snapshots, 0)
	w.within(budget.Frames, 0)
}

// TestSlowSubscribersLeaveRoomInFrames: hundreds of clients that took a delivery and do not read it do not keep one more from getting all rows.
func TestSlowSubscribersLeaveRoomInFrames(t *testing.T) {
	w := newSmall(t, 1, map[string]int64{budget.Frames: 4 << 20, budget.Snapshots: 16 << 20})
	w.insert(0, 0, 20000, 100) // 2 MB
	var subs []*Subscription
	for range 300 {
		s := w.subscribe(0, Request{Snapshot: true})
		subs = append(subs, s)
		if _, err := s.Next(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	ctx, stop := context.WithTimeout(t.Context(), time.Minute)
	defer stop()
	s := w.subscribe(0, Request{Snapshot: true})
	rows := 0
	for rows < 20000 {
		b, err := s.Next(ctx)
		if err != nil {
			t.Fatalf("after %d rows: %v", rows, err)
		}
		rows += b.N
	}
	w.insert(0, 20000, 1000, 100) // one transaction of more than a part
	for rows < 21000 {
		b, err := s.Next(ctx)
		if err != nil {
			t.Fatalf("after %d rows: %v", rows, err)
		}
		rows += b.N
	}
	w.within(budget.Frames, 4<<20)
	for _, sub := range append(subs, s) {
		sub.Close()
	}
	w.within(budget.Frames, 0)
	w.within(budget.Snapshots, 0)
}

// TestRowsHeldTogetherAreOneShare of all subscriptions, not of each: 53200 says what to do.
func TestRowsHeldTogetherAreOneShare(t *testing.T) {
	w := newSmall(t, 1, map[string]int64{budget.Frames: 3 << 20})
	w.insert(0, 0, 20000, 100) // 2 MB
	order := Request{Snapshot: true, OrderBy: []Order{{Column: "t2", Desc: true}}}
	order.OrderBy[0].Column = w.tables[0].Columns.Fields[1].Name
	one := w.subscribe(0, order)
	first, err := one.Next(t.Context())
	if err != nil || first.N != 20000 {
		t.Fatalf("the first: got %v, %v, want 20000 rows", first, err)
	}
	two := w.subscribe(0, order) // the first still has its delivery
	_, err = two.Next(t.Context())
	var e *tailrace.Error
	if !errors.As(err, &e) || e.Code != "53200" || !strings.Contains(e.Hint, "--memory") {
		t.Errorf("the second: got %v, want 53200 with a hint that names the setting", err)
	}
	one.Close()
	two.Close()
	w.within(budget.Frames, 0)
	w.within(budget.Snapshots, 0)
}
