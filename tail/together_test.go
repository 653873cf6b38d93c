package tail

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"strings"
	"testing"

	"github.com/cockroachdb/datadriven"

	"tailrace"
	"tailrace/budget"
	"tailrace/log"
	"tailrace/shard"
)

// spillWorld is a table with large transactions, and two tails of it: one has memory for everything, the other hardly any, and a folder.
type spillWorld struct {
	*world
	node  *budget.Node
	tight *Tail
	dir   string
}

func newSpillWorld(t *testing.T, disk int64) *spillWorld {
	w := &spillWorld{world: newWorld(t, &datadriven.TestData{CmdArgs: []datadriven.CmdArg{{Key: "a"}, {Key: "b"}, {Key: "tc"}}}), dir: t.TempDir()}
	s := *w.table.Columns
	s.Key = []int{0}
	w.table.Columns = &s
	w.shards.Define(7, &s, w.table.Retain, 1)
	var err error
	if w.node, err = budget.New(budget.Least, map[string]int64{budget.Frames: 256 << 10, budget.Subscribe: disk}); err != nil {
		t.Fatal(err)
	}
	w.tight = New(Options{Shards: w.shards, Budget: w.node, SpillDir: w.dir})
	w.tight.Apply(&log.Entry{Seq: w.seq, Time: 1}, nil)
	return w
}

// commit writes rows from key first on, and takes away those from key gone on.
func (w *spillWorld) commit(first, n, gone, less int) {
	w.t.Helper()
	b := tailrace.NewBatch(w.table.Columns, n)
	for i := range n {
		w.put(b, int64(first+i), fmt.Sprint((first+i)*7%5), 1)
	}
	for i := range less {
		w.put(b, int64(gone+i), fmt.Sprint((gone+i)*7%5), -1)
	}
	writer := w.shards.NewWriter(7, w.table.Columns, shard.WriteOptions{})
	if err := writer.Append(w.t.Context(), b); err != nil {
		w.t.Fatal(err)
	}
	records, err := writer.Records(w.t.Context())
	if err != nil {
		w.t.Fatal(err)
	}
	at := w.tail.Newest() + 1
	w.apply(at, records, nil)
	w.tight.Apply(&log.Entry{Seq: w.seq, Time: at, Txns: []log.Committed{{Time: at, Records: records}}}, nil)
}

// TestRowsOnDiskAreThoseInMemory: what must be together and has no room in memory goes to disk, and the rows are those of a tail with room, however they are
// fetched and cancelled. The files are gone at once.
func TestRowsOnDiskAreThoseInMemory(t *testing.T) {
	w := newSpillWorld(t, 64<<20)
	w.commit(0, 15_000, 0, 0)
	w.commit(20_000, 9_000, 3_000, 6_000)
	part := &Selection{Columns: []int{1, 2}, Names: []string{"b", "tc"}}
	tall := &Selection{Columns: []int{2, 0}, Names: []string{"tc", "a"}}
	orders := map[string]Request{
		"desc":              {OrderBy: []Order{{Column: "b", Desc: true}, {Column: "a"}}},
		"nulls first, ties": {OrderBy: []Order{{Column: "tc", NullsFirst: true}}},
		"diff":              {OrderBy: []Order{{Column: "mz_diff", Desc: true}, {Column: "tc", Desc: true}}},
		"upsert":            {Envelope: EnvelopeUpsert, Key: []string{"a", "b"}},
		"violations":        {Envelope: EnvelopeDebezium, Key: []string{"tc"}},
		"added up":          {Selection: part},
		"added up, ordered": {Selection: part, OrderBy: []Order{{Column: "mz_diff"}}},
		"added up, judged":  {Selection: part, Envelope: EnvelopeUpsert, Key: []string{"b"}},
		"selected, ordered": {Selection: tall, OrderBy: []Order{{Column: "tc"}, {Column: "a", Desc: true}}},
	}
	for name, r := range orders {
		t.Run(name, func(t *testing.T) {
			for _, snapshot := range []bool{false, true} {
				r.Table, r.Now, r.Snapshot = w.table, w.tail.Newest(), snapshot
				asOf := tailrace.Time(1)
				if snapshot {
					asOf = 2
				}
				r.AsOf = &asOf
				calm, err := w.tail.Subscribe(t.Context(), r)
				if err != nil {
					t.Fatal(err)
				}
				want := &reading{s: calm}
				want.fetch(t, -1)
				calm.Close()
				s, err := w.tight.Subscribe(t.Context(), r)
				if err != nil {
					t.Fatal(err)
				}
				got := &reading{s: s}
				rng := rand.New(rand.NewPCG(3, uint64(len(name))))
				for n := -1; len(got.rows) > n; {
					n = len(got.rows)
					if rng.IntN(3) == 0 {
						cancelled, cancel := context.WithCancel(t.Context())
						cancel()
						s.Fetch(cancelled, -1, -1)
					}
					got.fetch(t, 1+rng.IntN(6000))
				}
				s.Close()
				if len(want.rows) == 0 || strings.Join(got.rows, "\n") != strings.Join(want.rows, "\n") {
					t.Fatalf("snapshot %v: got %d rows, want %d others", snapshot, len(got.rows), len(want.rows))
				}
			}
			u := w.node.Share(budget.Subscribe).Usage()
			if u.Used != 0 {
				t.Errorf("got %+v, want none on disk after", u)
			}
			if files, err := os.ReadDir(w.dir); err != nil || len(files) > 0 {
				t.Errorf("got files %v, %v, want none", files, err)
			}
			if u := w.node.Share(budget.Frames).Usage(); u.Used != 0 || u.Peak > u.Limit {
				t.Errorf("got %+v, want nothing taken", u)
			}
		})
	}
	if u := w.node.Share(budget.Subscribe).Usage(); u.Peak == 0 { // few rows are left of some once they are added up
		t.Error("nothing was on disk")
	}
}

// TestDiskIsBounded: beyond what subscriptions may spill it is 53200, which says what to do, and the disk is given back.
func TestDiskIsBounded(t *testing.T) {
	w := newSpillWorld(t, 100<<10)
	w.commit(0, 15_000, 0, 0)
	s, err := w.tight.Subscribe(t.Context(), Request{Table: w.table, Now: w.tail.Newest(), Snapshot: true, OrderBy: []Order{{Column: "b"}}})
	if err != nil {
		t.Fatal(err)
	}
	_, err = s.Next(t.Context())
	var e *tailrace.Error
	if !errors.As(err, &e) || e.Code != "53200" || !strings.Contains(e.Hint, "--subscribe-spill-bytes") {
		t.Errorf("got %v, want 53200 with a hint that names the setting", err)
	}
	s.Close()
	if u := w.node.Share(budget.Subscribe).Usage(); u.Used != 0 || u.Peak == 0 {
		t.Errorf("got %+v, want none on disk", u)
	}
}
