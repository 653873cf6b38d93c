package shard

import (
	"context"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"tailrace"
	"tailrace/internal/sim"
	"tailrace/log"
)

// nearby is the local index of a world: its folder and what it may find there after a crash.
type nearby struct {
	consensus *sim.Consensus
	dir       string // of the process that runs
	stale     string // an earlier copy, "" for none
	copies    int
	served    int // lookups' checks that it was in use for
}

// withIndex gives a world that has just begun a local index.
func (w *world) withIndex() *world {
	w.near = &nearby{consensus: sim.NewConsensus(), dir: w.t.TempDir()}
	w.t.Cleanup(func() { _ = w.set.CloseIndex() }) // it may be damaged
	w.openIndex()
	return w
}

// openIndex opens the index on what a crash left: the folder as it was, or nothing, or a torn one, or an earlier copy.
func (w *world) openIndex() {
	if w.near == nil {
		return
	}
	w.set.logger = slog.New(slog.DiscardHandler) // damage is what the test does
	if err := w.set.OpenIndex(context.Background(), w.near.dir, w.near.consensus, w.seq); err != nil {
		w.fatal("open index: %v", err)
	}
}

// copyOf copies a folder to a new one. Files that vanish meanwhile are left out, as after a crash.
func (w *world) copyOf(dir string) string {
	w.near.copies++
	to := filepath.Join(w.t.TempDir(), fmt.Sprint(w.near.copies))
	err := filepath.WalkDir(dir, func(name string, d os.DirEntry, err error) error {
		rel, relErr := filepath.Rel(dir, name)
		if err != nil || relErr != nil {
			return nil
		}
		if d.IsDir() {
			return os.MkdirAll(filepath.Join(to, rel), 0o700)
		}
		raw, err := os.ReadFile(name)
		if err != nil {
			return nil
		}
		return os.WriteFile(filepath.Join(to, rel), raw, 0o600)
	})
	if err != nil {
		w.fatal("copy index: %v", err)
	}
	return to
}

// crashIndex ends the process's index and decides what the next one finds.
func (w *world) crashIndex() {
	if w.near == nil {
		return
	}
	n := w.near
	left := w.copyOf(n.dir)
	switch w.rng.IntN(8) {
	case 0: // it was shut down
		left = n.dir
	case 1:
		left = filepath.Join(w.t.TempDir(), "empty")
	case 2:
		w.tear(left)
	case 3:
		if n.stale != "" {
			left = w.copyOf(n.stale)
		}
	}
	_ = w.set.CloseIndex() // of a process that is gone
	n.dir = left
}

// tear cuts or flips some file.
func (w *world) tear(dir string) {
	var files []string
	_ = filepath.WalkDir(dir, func(name string, d os.DirEntry, err error) error {
		if err == nil && d.Type().IsRegular() {
			files = append(files, name)
		}
		return nil
	})
	if len(files) == 0 {
		return
	}
	name := files[w.rng.IntN(len(files))]
	raw, err := os.ReadFile(name)
	if err != nil || len(raw) == 0 {
		return
	}
	at := w.rng.IntN(len(raw))
	if w.rng.IntN(2) == 0 {
		raw = raw[:at]
	} else {
		raw[at] ^= 1 << w.rng.IntN(8)
	}
	if err := os.WriteFile(name, raw, 0o600); err != nil {
		w.fatal("tear: %v", err)
	}
}

// turnIndex lets the loop that writes the index take a turn.
func (w *world) turnIndex(ctx context.Context) {
	if w.near == nil {
		return
	}
	k := &indexing{s: w.set, dirty: true, paused: map[tailrace.CollectionID]time.Time{}}
	if w.rng.IntN(2) == 0 {
		k.flushed = time.Now() // not now
	}
	k.turn(ctx)
	if store := w.set.index.Load(); store.Damaged() == nil && w.rng.IntN(3) == 0 {
		if _, err := store.Merge(ctx); err != nil && store.Damaged() == nil {
			w.fatal("merge the index: %v", err)
		}
	}
	if len(k.paused) > 0 && w.plan == nil && w.set.index.Load().Damaged() == nil {
		_, err := w.shard().keep(ctx, w.set.index.Load())
		w.fatal("keep: %v\n%s", err, w.describe())
	}
	if w.rng.IntN(4) == 0 {
		w.near.stale = w.copyOf(w.near.dir)
	}
}

// TestStoriesUseTheIndex makes sure that the metamorphic test would notice a wrong index.
func TestStoriesUseTheIndex(t *testing.T) {
	served := 0
	for seed := range uint64(4) {
		w := newWorld(t, seed, true).withIndex()
		w.story(120)
		served += w.near.served
	}
	if served < 8 {
		t.Errorf("the index was in use for %d checks: too few to tell anything", served)
	}
}

// TestLookupBesideAMovingIndex looks up while others write, flush, merge, load and bring the index on, and checks each row against its time.
func TestLookupBesideAMovingIndex(t *testing.T) {
	const keys, checks = 64, 1000
	ctx := context.Background()
	w := newWorld(t, 77, false)
	w.limits.index, w.limits.indexMisses, w.limits.indexBehind, w.limits.indexBatch, w.limits.indexMem = 0, 0, 200, 200, 2000
	schema := &tailrace.Schema{Version: 1, Key: []int{0}, NextColumn: 3, Fields: []tailrace.Field{
		{ID: 1, Name: "k", Type: tailrace.TypeOf(tailrace.KindInt8)}, {ID: 2, Name: "at", Type: tailrace.TypeOf(tailrace.KindInt8)},
	}}
	set := New(sim.NewBlob(), "00000000000000ab", Options{Logger: slog.New(slog.DiscardHandler)})
	set.limits = w.limits
	if err := set.OpenIndex(ctx, t.TempDir(), sim.NewConsensus(), 0); err != nil {
		t.Fatal(err)
	}
	defer set.CloseIndex()
	set.Define(table, schema, time.Millisecond, 1)

	var mu sync.Mutex // of the log, and of what is true
	var truth [keys][]tailrace.Time
	seq, now := tailrace.SeqNo(0), tailrace.Time(1000)
	commit := func(_ context.Context, txn log.Txn) (tailrace.Time, error) {
		seq, now = seq+1, now+1
		return now, set.Apply(&log.Entry{Seq: seq, Time: now, Txns: []log.Committed{{Time: now, Records: txn.Records}}})
	}
	locked := func(ctx context.Context, txn log.Txn) (tailrace.Time, error) {
		mu.Lock()
		defer mu.Unlock()
		return commit(ctx, txn)
	}
	write := func(rng *rand.Rand) error {
		mu.Lock()
		defer mu.Unlock()
		b := tailrace.NewBatch(schema, 0)
		for _, k := range rng.Perm(keys)[:1+rng.IntN(6)] {
			if h := truth[k]; len(h) > 0 {
				b.Cols[0].AppendInt64(int64(k))
				b.Cols[1].AppendInt64(int64(h[len(h)-1]))
				b.AppendDiff(-1)
			}
			b.Cols[0].AppendInt64(int64(k))
			b.Cols[1].AppendInt64(int64(now + 1))
			b.AppendDiff(1)
			truth[k] = append(truth[k], now+1)
		}
		_, err := commit(ctx, log.Txn{Records: []log.Record{{Kind: log.KindData, Collection: table, Payload: tailrace.AppendBatch(nil, b)}}})
		return err
	}

	var done atomic.Bool
	var wg sync.WaitGroup
	fail := func(err error) {
		if err != nil {
			t.Error(err)
			done.Store(true)
		}
	}
	loop := func(step func(rng *rand.Rand) error) {
		wg.Go(func() {
			rng := rand.New(rand.NewPCG(9, 9))
			for !done.Load() {
				fail(step(rng))
			}
		})
	}
	sh := set.Shard(table)
	rng := rand.New(rand.NewPCG(1, 2))
	fail(write(rng))
	var used atomic.Int64 // lookups while the index was in use
	loop(func(rng *rand.Rand) error { return sh.flush(ctx, locked, 1+rng.IntN(400)) })
	loop(func(rng *rand.Rand) error {
		set.advance(ctx, locked)
		set.collect(ctx)
		if err := sh.compact(ctx, locked); err != nil {
			return err
		}
		return sh.merge(ctx, locked)
	})
	loop(func(rng *rand.Rand) error {
		if rng.IntN(40) == 0 {
			sh.rows.off()
		}
		_, err := sh.keep(ctx, set.index.Load())
		return err
	})
	loop(func(*rand.Rand) error {
		_, err := set.index.Load().Merge(ctx)
		return err
	})
	looked, stop := make(chan struct{}), make(chan struct{})
	loop(func(rng *rand.Rand) error {
		defer func() {
			select {
			case looked <- struct{}{}:
			case <-stop:
			}
		}()
		asOf := set.Upper() - 1
		release, err := sh.hold(asOf)
		if err != nil {
			return nil // since went by
		}
		defer release()
		k := rng.IntN(keys)
		b := &tailrace.Batch{N: 1, IDs: []tailrace.ColumnID{1}, Cols: []tailrace.Column{tailrace.MakeColumn(tailrace.KindInt8, 1)}}
		b.Cols[0].AppendInt64(int64(k))
		if sh.rows.used() {
			used.Add(1)
		}
		rows, at, err := sh.Lookup(ctx, b, asOf, nil)
		if err != nil {
			return err
		}
		got := tailrace.Time(0)
		if at[0] >= 0 {
			got = tailrace.Time(rows.Cols[1].Int64s()[at[0]])
		}
		mu.Lock()
		defer mu.Unlock()
		want := tailrace.Time(0)
		if i, _ := slices.BinarySearch(truth[k], asOf+1); i > 0 {
			want = truth[k][i-1]
		}
		if got != want {
			return fmt.Errorf("key %d as of %d: got the row of %d, want of %d", k, asOf, got, want)
		}
		return nil
	})
	for used.Load() < checks && !done.Load() {
		fail(write(rng))
		<-looked // at most one write a lookup, so that the others keep up
	}
	done.Store(true)
	close(stop)
	wg.Wait()
}

func FuzzRowOfTheIndex(f *testing.F) {
	w := newWorld(&testing.T{}, 1, true)
	for range 5 {
		b := tailrace.NewBatch(w.schema, 1)
		appendRow(b, w.schema, w.randomRow(), 1)
		f.Add(appendIndexRow(nil, b, 0))
	}
	f.Fuzz(func(t *testing.T, raw []byte) {
		d := newRowDecoder(w.schema)
		if err := d.add(raw); err != nil {
			return
		}
		again := newRowDecoder(w.schema)
		if err := again.add(appendIndexRow(nil, d.out, 0)); err != nil || show(again.out, 0) != show(d.out, 0) {
			t.Errorf("%x: got %s (%v), want %s", raw, show(again.out, 0), err, show(d.out, 0))
		}
	})
}
