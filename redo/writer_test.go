package redo

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"tailrace"
	"tailrace/internal/sim"
)

func TestWhatWasAddedIsRead(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		blob := sim.NewBlob()
		w, stop := open(t, blob, Options{Epoch: 1})
		orders, bag := tableOf(7, "orders", 1, "id:int name:text"), tableOf(8, "bag", 0, "n:int name:text")
		add(t, w, 7, Piece{Kind: Snapshot, Table: orders, Rows: batchOf(orders, []update{{5, 1, "1|ann"}, {5, 1, "2|NULL"}}), To: Position{5, 2}})
		add(t, w, 7, Piece{Kind: Snapshot, Rows: batchOf(orders, []update{{5, 1, "3|joe"}}), To: Position{Time: 5}})
		add(t, w, 8, Piece{Kind: Snapshot, Table: bag, To: Position{Time: 5}})
		add(t, w, 7, changes(orders, update{6, -1, "1|ann"}, update{6, 1, "1|bob"}, update{8, 1, "4|"}))
		add(t, w, 8, changes(bag, update{7, 3, "1|x"}))
		add(t, w, 8, Piece{Kind: Alter, Alter: &tailrace.SinkAlter{Kind: tailrace.SinkTruncate, Before: bag, After: bag}, To: Position{Time: 9}})
		w.Resolved(8, 10)
		if got := w.Frontiers(); len(got) != 0 {
			t.Errorf("frontiers before anything is durable: got %v, want none", got)
		}
		if w.Unflushed() == 0 {
			t.Error("unflushed: got 0, want what was added")
		}
		settled(t, w)
		if err := stop(); !errors.Is(err, context.Canceled) {
			t.Errorf("run: got %v, want that it was cancelled", err)
		}
		want := map[tailrace.CollectionID][]string{
			7: {"snapshot 5 +1 (1|ann)", "snapshot 5 +1 (2|NULL)", "snapshot 5 +1 (3|joe)", "6 -1 (1|ann)", "6 +1 (1|bob)", "8 +1 (4|)"},
			8: {"5 empty bag", "7 +3 (1|x)", "9 alter 5"},
		}
		if got := contents(t, blob, "f"); fmt.Sprint(got) != fmt.Sprint(want) {
			t.Errorf("got %v, want %v", got, want)
		}
		again, _ := open(t, blob, Options{Epoch: 1})
		if got, want := again.Frontiers(), fmt.Sprint(map[tailrace.CollectionID]Position{7: {Time: 8}, 8: {Time: 10}}); fmt.Sprint(got) != want {
			t.Errorf("frontiers after a restart: got %v, want %v", got, want)
		}
	})
}

func TestFlushedByTimeBytesAndWish(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		acked := make(chan Position, 10)
		o := Options{Epoch: 1, FlushBytes: 1000, FlushEvery: 2 * time.Second, Acked: func(_ tailrace.CollectionID, _ int64, to Position) { acked <- to }}
		w, _ := open(t, sim.NewBlob(), o)
		table := tableOf(7, "t", 1, "id:int name:text")
		began := time.Now()
		after := func(what string, want time.Duration) {
			t.Helper()
			<-acked
			if got := time.Since(began); got != want {
				t.Errorf("%s: durable after %v, want %v", what, got, want)
			}
			began = time.Now()
		}
		add(t, w, 7, changes(table, update{5, 1, "1|a"}))
		after("a little", 2*time.Second)
		w.Resolved(7, 6)
		after("a frontier alone", 2*time.Second)
		add(t, w, 7, changes(table, update{7, 1, "2|" + strings.Repeat("x", 1000)}))
		after("enough", 0)
		add(t, w, 7, changes(table, update{8, 1, "3|a"}))
		w.Flush()
		after("asked for", 0)
	})
}

func TestAddWaitsForTheStore(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		plan := sim.NewPlan(1, sim.Faults{})
		w, _ := open(t, &sim.FaultyBlob{Under: sim.NewBlob(), Plan: plan}, Options{Epoch: 1, FlushBytes: 1000})
		plan.Set(sim.Faults{Lost: 1})
		table := tableOf(7, "t", 1, "id:int name:text")
		added := make(chan int, 100)
		go func() {
			for i := range 10 {
				if err := w.Add(context.Background(), 7, changes(table, update{tailrace.Time(i + 1), 1, fmt.Sprintf("%d|%s", i, strings.Repeat("x", 500))})); err != nil {
					t.Errorf("add: %v", err)
				}
				added <- i
			}
			close(added)
		}()
		synctest.Wait()
		if n := len(added); n < 3 || n > 5 {
			t.Errorf("added while nothing is durable: got %d pieces of about 550 bytes, want about 4 for 2000", n)
		}
		ctx, cancel := context.WithTimeout(context.Background(), time.Second)
		defer cancel()
		if err := w.Add(ctx, 8, changes(table, update{1, 1, "1|x"})); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("add with a deadline: got %v, want that it passed", err)
		}
		plan.Heal()
		for range added { // all go in now
		}
		settled(t, w)
		if got := w.Unflushed(); got != 0 {
			t.Errorf("unflushed at rest: got %d, want 0", got)
		}
	})
}

func TestBytesAreAckedExactly(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var mu sync.Mutex
		got := map[tailrace.CollectionID]int64{}
		want := map[tailrace.CollectionID]int64{}
		w, _ := open(t, sim.NewBlob(), Options{Epoch: 1, FlushBytes: 300, Acked: func(span tailrace.CollectionID, bytes int64, _ Position) {
			mu.Lock()
			defer mu.Unlock()
			got[span] += bytes
		}})
		table := tableOf(7, "t", 1, "id:int name:text")
		for i := range 50 {
			p := changes(table, update{tailrace.Time(i + 1), 1, "1|some text"})
			span := tailrace.CollectionID(7 + i%3)
			want[span] += int64(p.Rows.Size())
			add(t, w, span, p)
		}
		settled(t, w)
		mu.Lock()
		defer mu.Unlock()
		if fmt.Sprint(got) != fmt.Sprint(want) {
			t.Errorf("acked: got %v, want %v", got, want)
		}
	})
}

func TestStoreErrorsAreToldAndPass(t *testing.T) {
	for seed := range uint64(30) {
		synctest.Test(t, func(t *testing.T) {
			plan := sim.NewPlan(seed, sim.Faults{Latency: time.Second})
			under := sim.NewBlob()
			var mu sync.Mutex
			var told []error
			w, stop := open(t, &sim.FaultyBlob{Under: under, Plan: plan}, Options{Epoch: 1, FlushBytes: 500, State: func(err error) {
				mu.Lock()
				defer mu.Unlock()
				told = append(told, err)
			}})
			plan.Set(sim.Faults{Lost: 0.2, Unknown: 0.2, Late: 0.2, Slow: 0.1, Latency: time.Second})
			r := rand.New(rand.NewPCG(seed, 3))
			table := tableOf(7, "t", 0, "id:int name:text")
			updates := randomUpdates(r, 1, 40, 4)
			for p := range pieces(r, table, updates, Position{}) {
				add(t, w, 7, p)
			}
			settled(t, w)
			if err := w.Close(); err != nil {
				t.Errorf("seed %d: close: %v", seed, err)
			}
			_ = stop()
			plan.Wait()
			if got, want := contents(t, under, "f")[7], texts(updates); !slices.Equal(got, want) {
				t.Errorf("seed %d: got %v, want %v", seed, got, want)
			}
			if len(told) == 0 {
				t.Errorf("seed %d: no error was told", seed)
			}
		})
	}
}

// TestWriterThatDiesGoesOn kills the store at every call, and goes on with what was durable.
func TestWriterThatDiesGoesOn(t *testing.T) {
	ctx := context.Background()
	tables := map[tailrace.CollectionID]*tailrace.SinkTable{7: tableOf(7, "a", 0, "id:int name:text"), 8: tableOf(8, "b", 0, "id:int name:text")}
	for at := 1; at < 120; at++ {
		synctest.Test(t, func(t *testing.T) {
			r := rand.New(rand.NewPCG(uint64(at), 4))
			truth := map[tailrace.CollectionID][]update{7: randomUpdates(r, 1, 60, 3), 8: randomUpdates(r, 5, 60, 3)}
			under := sim.NewBlob()
			var acked sync.Map
			o := Options{Epoch: 1, FlushBytes: 150, Feed: "f", Logger: slog.New(slog.DiscardHandler), Acked: func(span tailrace.CollectionID, _ int64, to Position) { acked.Store(span, to) }}
			dying := newDyingBlob(under, at, at%2 == 0)
			if w, err := Open(ctx, dying, o); err == nil {
				stop := start(t, w)
				writeUntil(dying.dead, r, w, tables, truth)
				_ = stop()
			}
			w, stop := open(t, under, o)
			from := w.Frontiers()
			acked.Range(func(span, to any) bool {
				if from[span.(tailrace.CollectionID)].Before(to.(Position)) {
					t.Errorf("died at call %d: span %v is durable up to %v, and was acked up to %v", at, span, from, to)
				}
				return true
			})
			writeUntil(nil, r, w, tables, truth)
			settled(t, w)
			_ = stop()
			got := contents(t, under, "f")
			for span, updates := range truth {
				if want := texts(updates); !slices.Equal(got[span], want) {
					t.Errorf("died at call %d, span %d went on from %v:\n got %v\nwant %v", at, span, from[span], got[span], want)
				}
			}
			if n := litter(t, under); n > 0 {
				t.Errorf("died at call %d: %d segments that no manifest names", at, n)
			}
		})
	}
}

// writeUntil adds what the truth has after the frontiers, until stop is closed.
func writeUntil(stop <-chan struct{}, r *rand.Rand, w *Writer, tables map[tailrace.CollectionID]*tailrace.SinkTable, truth map[tailrace.CollectionID][]update) {
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	if stop != nil {
		go func() {
			select {
			case <-stop:
				cancel()
			case <-ctx.Done():
			}
		}()
	}
	from := w.Frontiers()
	for _, span := range []tailrace.CollectionID{7, 8} {
		for p := range pieces(r, tables[span], truth[span], from[span]) {
			if w.Add(ctx, span, p) != nil {
				return
			}
		}
	}
	if stop != nil {
		for ctx.Err() == nil { // dies in the end, at a frontier's manifest
			w.Resolved(7, tailrace.Time(1000+time.Now().UnixNano()))
			select {
			case <-ctx.Done():
			case <-time.After(time.Second):
			}
		}
	}
}

// litter counts the segments that are there and not named.
func litter(t *testing.T, blob tailrace.Blob) (n int) {
	s, err := readState(context.Background(), blob, folder("f"))
	if err != nil {
		t.Fatal(err)
	}
	all, err := s.all(context.Background(), blob, folder("f"))
	if err != nil {
		t.Fatal(err)
	}
	for _, key := range keys(t, blob) {
		if name, ok := strings.CutPrefix(key, folder("f")+segmentRoom); ok && !slices.ContainsFunc(all, func(s segment) bool { return s.name == name }) {
			n++
		}
	}
	return n
}

func TestPiecesThatCannotBeAreRefused(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w, _ := open(t, sim.NewBlob(), Options{Epoch: 1})
		table, other := tableOf(7, "t", 1, "id:int name:text"), tableOf(7, "t", 1, "id:int")
		add(t, w, 7, changes(table, update{5, 1, "1|a"}))
		rows := func(updates ...update) *tailrace.Batch { return batchOf(table, updates) }
		for _, c := range []struct {
			what string
			p    Piece
		}{
			{"goes back", Piece{Kind: Changes, To: Position{Time: 4}}},
			{"into a whole time", Piece{Kind: Changes, Rows: rows(update{5, 1, "2|a"}), To: Position{Time: 6}}},
			{"times that go back", Piece{Kind: Changes, Rows: rows(update{8, 1, "2|a"}, update{7, 1, "3|a"}), To: Position{Time: 9}}},
			{"beyond its position", Piece{Kind: Changes, Rows: rows(update{8, 1, "2|a"}), To: Position{Time: 7}}},
			{"other columns", Piece{Kind: Changes, Table: other, Rows: rows(update{8, 1, "2|a"}), To: Position{Time: 8}}},
			{"no kind", Piece{To: Position{Time: 8}}},
			{"an alter of nothing", Piece{Kind: Alter, To: Position{Time: 8}}},
		} {
			if err := w.Add(context.Background(), 7, c.p); err == nil {
				t.Errorf("%s: got no error", c.what)
			}
		}
		if err := w.Add(context.Background(), 8, Piece{Kind: Changes, To: Position{Time: 8}}); err == nil {
			t.Error("a first piece without a table: got no error")
		}
		add(t, w, 7, changes(table, update{6, 1, "2|a"})) // nothing of them is left
		if err := w.Close(); err != nil {
			t.Fatal(err)
		}
		if err := w.Add(context.Background(), 7, changes(table, update{7, 1, "2|a"})); !errors.Is(err, ErrClosed) {
			t.Errorf("add after close: got %v, want ErrClosed", err)
		}
	})
}
