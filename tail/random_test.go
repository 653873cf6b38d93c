package tail

import (
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/cockroachdb/datadriven"

	"tailrace"
	"tailrace/log"
	"tailrace/shard"
)

// TestAnyReadingGivesTheSameRows: subscriptions are read in random pieces while transactions commit, small and by reference, the window is
// evicted, memtables are flushed and FETCHes are cancelled. Each must give the rows that the same SUBSCRIBE gives when it is read at once from an
// undisturbed tail, and their sum must be the table.
func TestAnyReadingGivesTheSameRows(t *testing.T) {
	for seed := range uint64(60) {
		t.Run(fmt.Sprint("seed ", seed), func(t *testing.T) { randomReading(t, seed) })
	}
}

type reading struct {
	s    *Subscription
	r    Request
	rows []string
}

func randomReading(t *testing.T, seed uint64) {
	ctx := context.Background()
	rng := rand.New(rand.NewPCG(seed, 7))
	w := newWorld(t, &datadriven.TestData{CmdArgs: []datadriven.CmdArg{{Key: "a"}, {Key: "b"}, {Key: "tc"}, {Key: "pieces", Vals: []string{"3"}}}})
	if seed%2 == 0 {
		s := *w.table.Columns
		s.Key = []int{0}
		w.table.Columns = &s
		w.shards.Define(7, &s, w.table.Retain, 1)
	}
	var history []func(*Tail) // every entry, for an undisturbed tail
	apply := func(at tailrace.Time, records []log.Record) {
		w.apply(at, records, nil)
		e := &log.Entry{Seq: w.seq, Time: at}
		if records != nil {
			e.Txns = []log.Committed{{Time: at, Records: records}}
		}
		history = append(history, func(tl *Tail) { tl.Apply(e, nil) })
	}
	commit := func(_ context.Context, txn log.Txn) (tailrace.Time, error) {
		at := w.tail.Newest() + 1
		apply(at, txn.Records)
		return at, nil
	}
	model := map[int64]string{} // key a to its row, for the keyed table
	var readings []*reading
	for range 150 {
		switch op := rng.IntN(12); {
		case op < 5:
			w.randomCommit(rng, model, commit)
		case op == 5:
			apply(w.tail.Newest()+tailrace.Time(1+rng.IntN(1_500_000)), nil)
		case op == 6:
			if err := w.shards.Flush(ctx, commit); err != nil {
				t.Fatal(err)
			}
		case op == 7:
			w.run(&datadriven.TestData{Cmd: "evict"})
		case op == 8 && len(readings) < 8:
			r := randomRequest(rng, w)
			s, err := w.tail.Subscribe(ctx, r)
			if err != nil {
				t.Fatal(err)
			}
			t.Cleanup(func() { s.Close() })
			readings = append(readings, &reading{s: s, r: r})
		case len(readings) > 0:
			rd := readings[rng.IntN(len(readings))]
			if rng.IntN(3) == 0 {
				cancelled, cancel := context.WithCancel(ctx)
				cancel()
				rd.s.Fetch(cancelled, -1, -1)
			}
			rd.fetch(t, rng.IntN(20))
		}
	}
	for i, rd := range readings {
		rd.fetch(t, -1)
		calm := New(Options{Shards: w.shards})
		for _, h := range history {
			h(calm)
		}
		s, err := calm.Subscribe(ctx, rd.r)
		if err != nil {
			t.Fatal(err)
		}
		want := &reading{s: s}
		want.fetch(t, -1)
		s.Close()
		got, exp := dataOf(rd.rows), dataOf(want.rows)
		if strings.Join(got, "\n") != strings.Join(exp, "\n") {
			t.Fatalf("reading %d (%+v):\ngot  %q\nwant %q", i, rd.r, got, exp)
		}
	}
}

// dataOf leaves out progress rows: how many there are depends on when one looks.
func dataOf(rows []string) []string {
	var out []string
	for _, r := range rows {
		if !strings.Contains(r, " true ") {
			out = append(out, r)
		}
	}
	return out
}

func (rd *reading) fetch(t *testing.T, limit int) {
	t.Helper()
	rows, _, err := rd.s.Fetch(context.Background(), limit, 0)
	if err != nil {
		t.Fatal(err)
	}
	if text := printed(rows, false, nil); text != "nothing" {
		rd.rows = append(rd.rows, strings.Split(strings.TrimSpace(text), "\n")...)
	}
}

func randomRequest(rng *rand.Rand, w *world) Request {
	r := Request{Table: w.table, Now: w.tail.Newest(), Snapshot: rng.IntN(3) > 0, Progress: rng.IntN(2) == 0}
	asOf := r.Now
	if rng.IntN(2) == 0 {
		asOf = 1 + tailrace.Time(rng.Uint64N(uint64(r.Now)))
	}
	r.AsOf = &asOf
	r.Selection = randomSelection(rng, w.table.Columns)
	has := func(names ...string) bool {
		for _, n := range names {
			if r.Selection != nil && !slices.Contains(r.Selection.Names, n) {
				return false
			}
		}
		return true
	}
	switch rng.IntN(5) {
	case 0:
		if has("a") {
			r.Envelope, r.Key = EnvelopeUpsert, []string{"a"}
		}
	case 1:
		if has("tc", "b") {
			r.Envelope, r.Key = EnvelopeDebezium, []string{"tc", "b"}
		}
	case 2:
		if has("b") {
			r.OrderBy = []Order{{Column: "b", Desc: true}, {Column: "mz_diff"}}
		}
	}
	return r
}

// randomCommit writes one transaction: a few rows, or many, which go into parts.
func (w *world) randomCommit(rng *rand.Rand, model map[int64]string, commit func(context.Context, log.Txn) (tailrace.Time, error)) {
	ctx := context.Background()
	keyed := len(w.table.Columns.Key) > 0
	writer := w.shards.NewWriter(7, w.table.Columns, shard.WriteOptions{})
	n := 1 + rng.IntN(4)
	large := rng.IntN(10) == 0
	if large {
		n = 200
	}
	b := tailrace.NewBatch(w.table.Columns, 0)
	for range n {
		a := rng.Int64N(300)
		if old, there := model[a]; keyed && there {
			w.put(b, a, old, -1)
			delete(model, a)
			if rng.IntN(3) == 0 {
				continue
			}
		}
		row := fmt.Sprint(rng.IntN(5))
		w.put(b, a, row, 1)
		model[a] = row
	}
	if err := writer.Append(ctx, b); err != nil {
		w.t.Fatal(err)
	}
	if large {
		if err := writer.Cut(ctx); err != nil {
			w.t.Fatal(err)
		}
	}
	records, err := writer.Records(ctx)
	if err != nil {
		w.t.Fatal(err)
	}
	if len(records) > 0 {
		if _, err := commit(ctx, log.Txn{Records: records}); err != nil {
			w.t.Fatal(err)
		}
	}
}

// put adds the row (a, b, 'x' || b) to batch.
func (w *world) put(batch *tailrace.Batch, a int64, b string, d tailrace.Diff) {
	batch.Cols[0].AppendInt64(a)
	batch.Cols[1].AppendInt64(int64(b[0] - '0'))
	if b == "4" {
		batch.Cols[2].AppendNull()
	} else {
		batch.Cols[2].AppendString("x" + b)
	}
	batch.AppendDiff(d)
}

// TestCancelInsideALargeTransaction: a transaction read in pieces goes on at the row where it was left.
func TestCancelInsideALargeTransaction(t *testing.T) {
	ctx := context.Background()
	w := newWorld(t, &datadriven.TestData{CmdArgs: []datadriven.CmdArg{{Key: "a"}, {Key: "b"}, {Key: "tc"}}})
	s, err := w.tail.Subscribe(ctx, Request{Table: w.table, Now: w.tail.Newest()})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.Close() })
	const n = 60_000
	b := tailrace.NewBatch(w.table.Columns, n)
	for i := range n {
		w.put(b, int64(i), "1", 1)
	}
	writer := w.shards.NewWriter(7, w.table.Columns, shard.WriteOptions{})
	if err := writer.Append(ctx, b); err != nil {
		t.Fatal(err)
	}
	records, err := writer.Records(ctx)
	if err != nil {
		t.Fatal(err)
	}
	if records[0].Kind != log.KindRef {
		t.Fatalf("record kind %d, want a reference", records[0].Kind)
	}
	w.apply(w.tail.Newest()+1, records, nil)
	cancelled, cancel := context.WithCancel(ctx)
	cancel()
	next, inside := int64(0), 0
	for next < n {
		if s.pos.given > 0 && s.pos.given < n {
			inside++
		}
		if _, _, err := s.Fetch(cancelled, -1, -1); err == nil {
			t.Fatal("a cancelled FETCH returned rows")
		}
		rows, _, err := s.Fetch(ctx, 7_001, 0)
		if err != nil {
			t.Fatal(err)
		}
		if rows.N == 0 {
			t.Fatalf("nothing after row %d", next)
		}
		for _, a := range rows.Cols[2].Int64s() {
			if a != next {
				t.Fatalf("row %d, want %d", a, next)
			}
			next++
		}
	}
	if inside == 0 {
		t.Fatal("the transaction was never left half given out")
	}
}
