package shard

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"go.uber.org/goleak"

	"tailrace"
	"tailrace/internal/sim"
	"tailrace/log"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// filled is a world with a few hundred commits.
func filled(t *testing.T, seed uint64, keyed bool) *world {
	w := newWorld(t, seed, keyed)
	for range 40 {
		w.write(context.Background(), 1+w.rng.IntN(40))
	}
	return w
}

func TestHoldKeepsSinceBack(t *testing.T) {
	ctx := context.Background()
	w := filled(t, 1, true)
	sh := w.shard()
	w.set.Define(table, w.schema, 0, w.now)
	w.try("flush", sh.flush(ctx, w.commit, 1))
	w.try("merge", sh.merge(ctx, w.commit))
	at := w.times[10]
	release, err := w.set.Hold(table, at)
	if err != nil {
		t.Fatal(err)
	}
	_, _ = w.commit(ctx, log.Txn{Records: []log.Record{HoldRecord(table, "feed", w.times[20])}})
	w.set.advance(ctx, w.commit)
	if got := sh.Since(); got > at {
		t.Fatalf("since under a lease: got %d, want at most %d", got, at)
	}
	release()
	w.set.advance(ctx, w.commit)
	if got := sh.Since(); got <= at || got > w.times[20] {
		t.Fatalf("since under a named hold: got %d, want in (%d, %d]", got, at, w.times[20])
	}
	w.takeCheckpoint()
	w.crash()
	sh = w.shard()
	w.set.Define(table, w.schema, 0, w.now)
	_, _ = w.commit(ctx, log.Txn{Records: []log.Record{FreeRecord(table, "feed")}})
	w.set.advance(ctx, w.commit)
	if got := sh.Since(); got <= w.times[20] {
		t.Fatalf("since after the hold was freed: got %d, want above %d", got, w.times[20])
	}
	if _, err = w.set.Hold(table, at); tailrace.Code(err) != "22023" {
		t.Fatalf("hold below since: got %v, want a 22023", err)
	}
	if _, err := sh.Snapshot(ctx, SnapshotOptions{AsOf: at}); !errors.Is(err, ErrCompacted) {
		t.Fatalf("snapshot below since: got %v, want ErrCompacted", err)
	}
	if err := sh.Listen(ctx, at, w.now, nil, nil); !errors.Is(err, ErrCompacted) {
		t.Fatalf("listen below since: got %v, want ErrCompacted", err)
	}
}

// A lease that is asked for while since is on its way up is refused or kept, never broken.
func TestHoldMeetsMovingSince(t *testing.T) {
	ctx := context.Background()
	w := filled(t, 2, true)
	sh := w.shard()
	w.set.Define(table, w.schema, 0, w.now)
	w.try("flush", sh.flush(ctx, w.commit, 1))
	w.try("merge", sh.merge(ctx, w.commit))
	at := w.times[5]
	w.set.advance(ctx, func(ctx context.Context, txn log.Txn) (tailrace.Time, error) {
		if _, err := w.set.Hold(table, at); tailrace.Code(err) != "22023" {
			t.Errorf("hold at %d while since moves past it: got %v, want a 22023", at, err)
		}
		return w.commit(ctx, txn)
	})
	if sh.Since() <= at {
		t.Fatalf("since: got %d, want above %d", sh.Since(), at)
	}
}

func TestPinnedReaderOutlivesMergeAndCollect(t *testing.T) {
	ctx := context.Background()
	w := newWorld(t, 3, true)
	w.keys = 60_000
	sh := w.shard()
	w.write(ctx, 1000)
	w.write(ctx, 1000)
	w.try("flush", sh.flush(ctx, w.commit, 1))
	w.try("merge", sh.merge(ctx, w.commit))
	if n := len(sh.current().state[0].parts); n < 3 {
		t.Fatalf("parts of the state: got %d, want several, to be read one after the other", n)
	}
	asOf := w.set.Upper() - 1
	want := w.want(asOf)
	c, err := sh.Snapshot(ctx, SnapshotOptions{AsOf: asOf, PieceRows: 5})
	if err != nil {
		t.Fatal(err)
	}
	for range 8 {
		w.write(ctx, 500)
		w.try("flush", sh.flush(ctx, w.commit, 1))
		w.try("merge", sh.merge(ctx, w.commit))
	}
	w.set.Drop(table, w.now)
	w.set.collect(ctx)
	rows, diffs, _, _, err := w.drain(ctx, c)
	if err != nil {
		t.Fatal(err)
	}
	if d := differs(summed(rows, diffs), want); d != "" {
		t.Fatal(d)
	}
	if _, err := sh.Snapshot(ctx, SnapshotOptions{AsOf: asOf}); !errors.Is(err, ErrDropped) {
		t.Fatalf("snapshot of a dropped collection: got %v, want ErrDropped", err)
	}
	c.Close()
	w.set.collect(ctx)
	for key := range w.store.List(ctx, "part/") {
		t.Errorf("part %s is left of a dropped collection", key)
	}
	if n := len(w.set.gone); n != 0 {
		t.Errorf("dropped collections remembered: got %d, want 0", n)
	}
}

func TestDamagedPartIsNamed(t *testing.T) {
	ctx := context.Background()
	w := filled(t, 4, true)
	w.try("flush", w.shard().flush(ctx, w.commit, 1))
	w.try("merge", w.shard().merge(ctx, w.commit))
	asOf := w.set.Upper() - 1
	p := w.shard().current().state[0].parts[0]
	raw, err := w.store.Get(ctx, p.key, 0, -1)
	if err != nil {
		t.Fatal(err)
	}
	found := 0
	for at := 0; at < len(raw); at += 1 + len(raw)/97 {
		bad := bytes.Clone(raw)
		bad[at] ^= 0x10
		if err := errors.Join(w.store.Delete(ctx, p.key), w.store.Put(ctx, p.key, bad)); err != nil {
			t.Fatal(err)
		}
		p.reader.Store(nil)
		c, err := w.shard().Snapshot(ctx, SnapshotOptions{AsOf: asOf})
		if err == nil {
			_, _, _, _, err = w.drain(ctx, c)
			c.Close()
		}
		if err == nil {
			continue // padding between pages
		}
		found++
		if !errors.Is(err, tailrace.ErrCorrupt) || !strings.Contains(err.Error(), p.key) {
			t.Fatalf("byte %d flipped: got %v, want ErrCorrupt that names %s", at, err, p.key)
		}
	}
	if found == 0 {
		t.Fatal("no flipped byte was noticed")
	}
}

func TestMissingMultiplicityIsAnError(t *testing.T) {
	ctx := context.Background()
	w := newWorld(t, 5, false)
	b := tailrace.NewBatch(w.schema, 1)
	appendRow(b, w.schema, w.randomRow(), -1)
	_, _ = w.commit(ctx, log.Txn{Records: []log.Record{{Kind: log.KindData, Collection: table, Payload: tailrace.AppendBatch(nil, b)}}})
	c, err := w.shard().Snapshot(ctx, SnapshotOptions{AsOf: w.now})
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	if _, err := c.Next(ctx); !errors.Is(err, tailrace.ErrCorrupt) {
		t.Fatalf("a row deleted that never was: got %v, want ErrCorrupt", err)
	}
}

func TestWriterMakesInlineRecordsOrParts(t *testing.T) {
	ctx := context.Background()
	w := newWorld(t, 6, true)
	w.set.limits = standardLimits()
	one := func(n int) []log.Record {
		wr := w.set.NewWriter(table, w.schema, WriteOptions{})
		b := tailrace.NewBatch(w.schema, n)
		for i := range n {
			b.Cols[0].AppendString(strings.Repeat("x", 40))
			b.Cols[1].AppendInt32(int32(n - i))
			b.Cols[2].AppendNull()
			b.AppendDiff(1)
		}
		if err := wr.Append(ctx, b); err != nil {
			t.Fatal(err)
		}
		records, err := wr.Records(ctx)
		if err != nil {
			t.Fatal(err)
		}
		pending, err := wr.Pending(ctx)
		if err != nil || len(pending) == 0 {
			t.Fatalf("pending of %d rows: %d batches, %v", n, len(pending), err)
		}
		total := 0
		for _, p := range pending {
			total += p.N
		}
		if total != n {
			t.Fatalf("pending: got %d rows, want %d", total, n)
		}
		if wr.Size() > log.MaxEntry/2 {
			t.Fatalf("size of %d rows in an entry: %d", n, wr.Size())
		}
		return records
	}
	small := one(3)
	if len(small) != 1 || small[0].Kind != log.KindData || len(small[0].Keys) != 3 || small[0].Whole {
		t.Fatalf("3 rows: got %d records, kind %d, %d keys, whole %v", len(small), small[0].Kind, len(small[0].Keys), small[0].Whole)
	}
	large := one(20_000)
	if len(large) != 1 || large[0].Kind != log.KindRef || !large[0].Whole || len(large[0].Payload) > 1000 {
		t.Fatalf("20,000 rows: got %d records, kind %d, whole %v, %d bytes", len(large), large[0].Kind, large[0].Whole, len(large[0].Payload))
	}
	wr := w.set.NewWriter(table, w.schema, WriteOptions{})
	b := tailrace.NewBatch(w.schema, 2)
	row := w.randomRow()
	appendRow(b, w.schema, row, 1)
	appendRow(b, w.schema, row, -1)
	if err := wr.Append(ctx, b); err != nil {
		t.Fatal(err)
	}
	if records, err := wr.Records(ctx); err != nil || records != nil {
		t.Fatalf("a row in and out again: got %v, %v, want no records", records, err)
	}
}

func TestAbortDeletesParts(t *testing.T) {
	ctx := context.Background()
	w := newWorld(t, 7, false)
	wr := w.set.NewWriter(table, w.schema, WriteOptions{})
	if err := wr.Append(ctx, w.randomUpdates(300)); err != nil {
		t.Fatal(err)
	}
	if err := wr.Cut(ctx); err != nil {
		t.Fatal(err)
	}
	wr.Abort(ctx)
	for key := range w.store.List(ctx, "part/") {
		t.Errorf("part %s is left after abort", key)
	}
}

// TestMaintainReorganizes runs the loops under a fake clock beside a writer.
func TestMaintainReorganizes(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, 8, true)
		w.set = New(w.blob, "00000000000000bb", Options{FlushBytes: 1000})
		w.set.limits = w.limits
		w.set.Define(table, w.schema, 20*time.Second, w.now)
		var mu sync.Mutex // the apply loop is one caller
		kinds := map[log.Kind]int{}
		commit := func(ctx context.Context, txn log.Txn) (tailrace.Time, error) {
			mu.Lock()
			defer mu.Unlock()
			kinds[txn.Records[0].Kind]++
			w.now = max(w.now+1, tailrace.Time(time.Now().UnixMicro()))
			err := w.set.Apply(&log.Entry{Time: w.now, Txns: []log.Committed{{Time: w.now, Records: txn.Records}}})
			return w.now, err
		}
		ctx, cancel := context.WithCancel(t.Context())
		done := make(chan error, 1)
		go func() { done <- w.set.Maintain(ctx, commit) }()
		for range 600 {
			b := w.randomUpdates(5)
			wr := w.set.NewWriter(table, w.schema, WriteOptions{})
			if err := wr.Append(ctx, b); err != nil {
				t.Fatal(err)
			}
			records, err := wr.Records(ctx)
			if err != nil {
				t.Fatal(err)
			}
			at, err := commit(ctx, log.Txn{Records: records})
			if err != nil {
				t.Fatal(err)
			}
			w.record(at, b)
			time.Sleep(100 * time.Millisecond) // of the bubble's clock
		}
		synctest.Wait()
		w.checkSnapshot(ctx)
		w.checkListen(ctx)
		w.checkLookup(ctx)
		cancel()
		if err := <-done; err != nil {
			t.Fatalf("maintain: %v", err)
		}
		for _, k := range []log.Kind{log.KindFlush, log.KindMerge, log.KindSince} {
			if kinds[k] == 0 {
				t.Errorf("records of kind %d in a minute of writes: none", k)
			}
		}
		if n := w.set.Unflushed(); n > 5000 {
			t.Errorf("unflushed: got %d bytes, want at most a few thousand", n)
		}
		back := tailrace.Time((35 * time.Second).Microseconds())
		if since := w.shard().Since(); since+back < w.now {
			t.Errorf("since is %d µs behind, want at most %d", w.now-since, back)
		}
		keys := 0
		for range w.store.List(context.Background(), "part/") {
			keys++
		}
		if named := len(w.shard().current().parts()); keys > named+3 {
			t.Errorf("parts in the store: got %d, want about the %d named", keys, named)
		}
	})
}

// TestConcurrentReadersSeeWholeCommits reads while another goroutine writes and reorganizes: every snapshot has as many rows as its time says.
func TestConcurrentReadersSeeWholeCommits(t *testing.T) {
	ctx := context.Background()
	w := newWorld(t, 9, true)
	next := int32(0)
	write := func() {
		b := tailrace.NewBatch(w.schema, 3)
		for range 3 {
			b.Cols[0].AppendString("row")
			b.Cols[1].AppendInt32(next)
			b.Cols[2].AppendNull()
			b.AppendDiff(1)
			next++
		}
		if _, err := w.commit(ctx, log.Txn{Records: []log.Record{{Kind: log.KindData, Collection: table, Payload: tailrace.AppendBatch(nil, b)}}}); err != nil {
			t.Error(err)
		}
	}
	sh := w.shard()
	stop := make(chan struct{})
	var readers sync.WaitGroup
	for r := range 2 {
		readers.Go(func() {
			for {
				select {
				case <-stop:
					return
				default:
				}
				if err := readOnce(ctx, sh, r == 0); err != nil {
					t.Error(err)
					return
				}
			}
		})
	}
	for i := range 300 {
		write()
		if i%7 == 0 {
			w.try("flush", sh.flush(ctx, w.commit, 1))
			w.try("merge", sh.merge(ctx, w.commit))
			w.set.collect(ctx)
		}
	}
	close(stop)
	readers.Wait()
}

// readOnce checks that a snapshot's keys are 0..n-1 with n a multiple of 3, by reading all or by looking the last ones up.
func readOnce(ctx context.Context, sh *Shard, all bool) error {
	asOf := sh.set.Upper() - 1
	c, err := sh.Snapshot(ctx, SnapshotOptions{AsOf: asOf, PieceRows: 50})
	if err != nil {
		return err
	}
	defer c.Close()
	n := 0
	for {
		b, err := c.Next(ctx)
		if err != nil {
			break
		}
		for i, v := range b.Cols[1].Int32s() {
			if int(v) != n+i {
				return fmt.Errorf("key %d at place %d", v, n+i)
			}
		}
		n += b.N
	}
	if n%3 != 0 {
		return fmt.Errorf("%d rows as of %d: part of a commit", n, asOf)
	}
	if all || n == 0 {
		return nil
	}
	keys := &tailrace.Batch{N: 2, IDs: []tailrace.ColumnID{2}, Cols: []tailrace.Column{tailrace.MakeColumn(tailrace.KindInt4, 2)}}
	keys.Cols[0].AppendInt32(int32(n - 1))
	keys.Cols[0].AppendInt32(int32(n))
	_, at, err := sh.Lookup(ctx, keys, asOf, nil)
	if err != nil {
		return err
	}
	if !slices.Equal(at, []int32{0, -1}) {
		return fmt.Errorf("lookup of %d and %d as of %d: got %v, want [0 -1]", n-1, n, asOf, at)
	}
	return nil
}

func TestFlushLeavesWhatACheckpointCarries(t *testing.T) {
	ctx := context.Background()
	w := newWorld(t, 13, false)
	small := table + 1
	w.set.Define(small, w.schema, time.Hour, w.now)
	b := tailrace.NewBatch(w.schema, 1)
	appendRow(b, w.schema, map[tailrace.ColumnID]cell{}, 1)
	_, _ = w.commit(ctx, log.Txn{Records: []log.Record{{Kind: log.KindData, Collection: small, Payload: tailrace.AppendBatch(nil, b)}}})
	w.set.limits = standardLimits() // so that writes stay inline
	w.keys = 1000
	for w.shard().current().memSize < 2*RemainderBytes {
		w.write(ctx, 300)
	}
	if err := w.set.Flush(ctx, w.commit); err != nil {
		t.Fatal(err)
	}
	if got := w.shard().current().memSize; got != 0 {
		t.Errorf("large memtable after a flush: got %d bytes, want 0", got)
	}
	if got := w.set.Shard(small).current().memSize; got == 0 {
		t.Error("small memtable after a flush: got 0 bytes, want it left for the checkpoint")
	}
	w.checkSnapshot(ctx)
}

func TestLookupNeedsAKey(t *testing.T) {
	w := filled(t, 10, false)
	_, _, err := w.shard().Lookup(context.Background(), &tailrace.Batch{}, w.now, nil)
	if err == nil || !strings.Contains(err.Error(), "no primary key") {
		t.Fatalf("lookup without a primary key: got %v", err)
	}
}

// TestStateRunsStayFew folds many small changes into a large state.
func TestStateRunsStayFew(t *testing.T) {
	ctx := context.Background()
	w := newWorld(t, 11, false)
	var written int64
	for range 60 {
		w.write(ctx, 20)
		w.try("flush", w.shard().flush(ctx, w.commit, 1))
		before := w.shard().current()
		w.try("merge", w.shard().merge(ctx, w.commit))
		if m := w.shard().current(); m.merges > before.merges && len(m.state) > 0 {
			written += m.state[len(m.state)-1].rows()
		}
		if n := len(w.shard().current().state); n > w.limits.stateRuns {
			t.Fatalf("state runs: got %d, want at most %d", n, w.limits.stateRuns)
		}
	}
	if updates := int64(len(w.model)); written > 12*updates {
		t.Fatalf("rows written by merges: %d for %d updates", written, updates)
	}
}

// TestStoreErrorsReachTheReader: with every call failing, each way of reading returns the store's error.
func TestStoreErrorsReachTheReader(t *testing.T) {
	ctx := context.Background()
	w := filled(t, 12, true)
	w.try("flush", w.shard().flush(ctx, w.commit, 1))
	w.set.blob = &sim.FaultyBlob{Under: w.store, Plan: sim.NewPlan(1, sim.Faults{Lost: 1})}
	c, err := w.shard().Snapshot(ctx, SnapshotOptions{AsOf: w.now})
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	if _, err = c.Next(ctx); !errors.Is(err, sim.ErrFault) {
		t.Errorf("snapshot: got %v, want the store's error", err)
	}
	err = w.shard().Listen(ctx, w.shard().Since(), w.now, nil, func(*tailrace.Batch) error { return nil })
	if !errors.Is(err, sim.ErrFault) {
		t.Errorf("listen: got %v, want the store's error", err)
	}
}
