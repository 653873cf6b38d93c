package tail

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"sync"
	"testing"

	"github.com/cockroachdb/datadriven"

	"tailrace"
	"tailrace/budget"
	"tailrace/format"
	"tailrace/log"
)

// TestManyComeBackOnOneReading: subscribers that were left at places near each other read what they missed, in several shapes, with a few readings of history
// for all. Each sends what it would send alone.
func TestManyComeBackOnOneReading(t *testing.T) {
	for _, flushed := range []bool{false, true} {
		t.Run(fmt.Sprint("flushed ", flushed), func(t *testing.T) {
			w := newWorld(t, &datadriven.TestData{CmdArgs: []datadriven.CmdArg{{Key: "a"}, {Key: "b"}, {Key: "tc"}, {Key: "primary", Vals: []string{"a"}}}})
			var history []*log.Entry
			commit := func(_ context.Context, txn log.Txn) (tailrace.Time, error) {
				at := w.tail.Newest() + 100_000
				w.apply(at, txn.Records, nil)
				history = append(history, &log.Entry{Seq: w.seq, Time: at, Txns: []log.Committed{{Time: at, Records: txn.Records}}})
				return at, nil
			}
			for i := range 60 { // six seconds of 150 rows each
				b := tailrace.NewBatch(w.table.Columns, 0)
				for k := range 150 {
					w.put(b, int64(1000*i+k), fmt.Sprint(k%5), 1)
				}
				record := log.Record{Kind: log.KindData, Collection: 7, Payload: tailrace.AppendBatch(nil, b)}
				if _, err := commit(t.Context(), log.Txn{Records: []log.Record{record}}); err != nil {
					t.Fatal(err)
				}
			}
			if flushed {
				if err := w.shards.Flush(t.Context(), commit); err != nil {
					t.Fatal(err)
				}
			}
			w.run(&datadriven.TestData{Cmd: "evict"})
			shapes := []Request{{}, {}, {Envelope: EnvelopeUpsert, Key: []string{"a"}}, {Progress: true}, {OrderBy: []Order{{Column: "b"}}}}
			var all []*sharer
			for i := range 200 {
				r := shapes[i%len(shapes)]
				asOf := 1_000_000 + tailrace.Time(19-i%20)*50_000 // those further behind come later
				r.Table, r.Now, r.AsOf = w.table, w.tail.Newest(), &asOf
				all = append(all, newSharer(t, w.tail, r, format.CopyText))
			}
			for ready := len(all); ready > 0; { // one delivery each, as sockets would
				ready = 0
				for _, sh := range all {
					before := len(sh.sent)
					sh.read(t, 1)
					if len(sh.sent) > before {
						ready++
					}
				}
			}
			got := w.tail.Frames()
			if got.Catchups < 1 || got.Catchups > 2 {
				t.Errorf("history was opened %d times, want once or twice", got.Catchups)
			}
			if encoded := int64(4 * 2 * 12); got.Made > encoded { // wires, pieces, with those for who came into the middle of one
				t.Errorf("%d frames were made, want %d at most", got.Made, encoded)
			}
			calm := New(Options{Shards: w.shards})
			for _, e := range history {
				calm.Apply(e, nil)
			}
			for i, sh := range all {
				got, want := dataIn(sh.sent, sh.r.Progress), dataIn(sh.alone(t, calm), sh.r.Progress)
				if len(want) == 0 || !bytes.Equal(got, want) {
					t.Fatalf("subscriber %d (%+v): got %d bytes, want %d others", i, sh.r, len(got), len(want))
				}
				sh.s.Close()
			}
			if n := w.tail.Frames().Kept; n != 0 || len(w.tail.catchups) != 0 {
				t.Errorf("%d bytes are kept in %d catch-ups when nobody reads", n, len(w.tail.catchups))
			}
		})
	}
}

// TestAReadingThatNobodyWantsIsClosed: who stops in the middle of catching up keeps no memory that others wait for, and goes on later.
func TestAReadingThatNobodyWantsIsClosed(t *testing.T) {
	w := newSmall(t, 1, nil)
	for i := range 20 {
		w.insert(0, 1000*i, 1000, 100)
	}
	w.tail.mu.Lock()
	win := w.tail.window(w.tables[0].ID)
	win.items, win.lower, win.bytes = nil, w.tail.newest, 0
	w.tail.mu.Unlock()
	asOf := tailrace.Time(1001)
	s := w.subscribe(0, Request{AsOf: &asOf})
	b, err := s.Next(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if w.node.Share(budget.Snapshots).Usage().Used == 0 {
		t.Fatal("the reading is not open after the first delivery")
	}
	w.now += 2 * lingers
	w.apply(nil)
	w.within(budget.Snapshots, 0)
	for rows := b.N; rows < 20_000; rows += b.N {
		if b, err = s.Next(t.Context()); err != nil {
			t.Fatalf("after %d rows: %v", rows, err)
		}
	}
	if n := w.tail.Frames().Catchups; n != 2 {
		t.Errorf("history was opened %d times, want twice", n)
	}
	s.Close()
	w.within(budget.Frames, 0)
}

// TestManyComeBackAtOnce: they read what they missed from goroutines of their own, while some are cancelled in the middle and go on, and the cache forgets.
func TestManyComeBackAtOnce(t *testing.T) {
	w := newSmall(t, 1, nil)
	for i := range 100 {
		w.insert(0, 1000*i, 300, 40)
	}
	w.tail.mu.Lock()
	win := w.tail.window(w.tables[0].ID)
	win.items, win.lower, win.bytes = nil, w.tail.newest, 0
	w.tail.mu.Unlock()
	const readers = 30
	sent := make([][]byte, readers)
	upTo := w.tail.Newest() + 1
	var all sync.WaitGroup
	for i := range readers {
		asOf := tailrace.Time(1001)
		sh := newSharer(t, w.tail, Request{Table: w.tables[0], Now: w.now, AsOf: &asOf, UpTo: &upTo}, format.CopyText)
		all.Go(func() {
			defer sh.s.Close()
			for n := 0; ; n++ {
				ctx, cancel := context.WithCancel(context.Background())
				if i%3 == 0 && n%2 == 0 {
					cancel()
				}
				d, err := sh.s.NextEncoded(ctx)
				cancel()
				switch {
				case errors.Is(err, context.Canceled):
					continue
				case errors.Is(err, io.EOF):
					return
				case err != nil:
					t.Error(err)
					return
				}
				for _, m := range d.Messages {
					sent[i] = append(sent[i], m...)
				}
				sent[i] = sh.encoder.AppendBatch(sent[i], d.Rows, 0, d.Rows.N)
				if n%10 == i%10 {
					w.tail.cache.clear()
				}
			}
		})
	}
	all.Wait()
	for i := range readers {
		if !bytes.Equal(sent[i], sent[0]) {
			t.Fatalf("reader %d sent %d bytes, reader 0 other %d", i, len(sent[i]), len(sent[0]))
		}
	}
	if n := bytes.Count(sent[0], []byte{'\n'}); n != 30_000 {
		t.Fatalf("%d rows, want 30000", n)
	}
	w.within(budget.Snapshots, 0)
	w.within(budget.Frames, 0)
}
