package shard

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"tailrace"
	"tailrace/budget"
	"tailrace/internal/sim"
	"tailrace/log"
)

// crowd gives every second seed so little memory that each cursor is parked after each piece, and each writer sheds: what is read and written must be the same.
func (w *world) crowd() {
	if w.seed%2 == 0 {
		return
	}
	snapshots := budget.NewShare(budget.Snapshots, 1<<20)
	snapshots.TryAcquire(1) // with the half that one cursor takes it is crowded
	w.set.shares = shares{snapshots: snapshots, merges: budget.NewShare(budget.Merges, 1<<20), transactions: budget.NewShare(budget.Transactions, 2000)}
}

// small is a set with a budget of small shares, a keyed collection in it, and what commits to it.
type small struct {
	t      *testing.T
	set    *Set
	node   *budget.Node
	schema *tailrace.Schema
	now    tailrace.Time
	seq    tailrace.SeqNo
}

func newSmall(t *testing.T, sizes map[string]int64) *small {
	t.Helper()
	node, err := budget.New(budget.Least, sizes)
	if err != nil {
		t.Fatal(err)
	}
	s := &small{t: t, node: node, now: 1000, schema: &tailrace.Schema{Version: 1, NextColumn: 3, Key: []int{0}, Fields: []tailrace.Field{
		{ID: 1, Name: "k", Type: tailrace.TypeOf(tailrace.KindInt8)}, {ID: 2, Name: "v", Type: tailrace.TypeOf(tailrace.KindText)},
	}}}
	s.set = New(sim.NewBlob(), "0000000000000001", Options{Budget: node})
	s.set.Define(table, s.schema, time.Hour, 1)
	s.apply()
	return s
}

func (s *small) apply(records ...log.Record) tailrace.Time {
	s.t.Helper()
	s.now++
	s.seq++
	e := &log.Entry{Seq: s.seq, Time: s.now}
	if len(records) > 0 {
		e.Txns = []log.Committed{{Time: s.now, Records: records}}
	}
	if err := s.set.Apply(e); err != nil {
		s.t.Fatal(err)
	}
	return s.now
}

// commit is the log, for flushes and merges.
func (s *small) commit(_ context.Context, txn log.Txn) (tailrace.Time, error) {
	return s.apply(txn.Records...), nil
}

// rows are n rows from key first on, each of size bytes.
func (s *small) rows(first, n, size int) *tailrace.Batch {
	b := tailrace.NewBatch(s.schema, n)
	value := string(slices.Repeat([]byte("x"), size))
	for i := range n {
		b.Cols[0].AppendInt64(int64(first + i))
		b.Cols[1].AppendString(value)
	}
	b.N = n
	return b
}

func (s *small) write(batches ...*tailrace.Batch) []log.Record {
	s.t.Helper()
	w := s.set.NewWriter(table, s.schema, WriteOptions{})
	for _, b := range batches {
		if err := w.Append(s.t.Context(), b); err != nil {
			s.t.Fatal(err)
		}
	}
	records, err := w.Records(s.t.Context())
	if err != nil {
		s.t.Fatal(err)
	}
	return records
}

// within checks a share: it was never above its limit, and all of it is given back.
func (s *small) within(name string) budget.Usage {
	s.t.Helper()
	u := s.node.Share(name).Usage()
	if u.Peak > u.Limit || u.Used != 0 || u.Peak == 0 {
		s.t.Errorf("%s: got %+v, want a peak within the limit and nothing used", name, u)
	}
	return u
}

// TestWritersWaitForTheMemtablesShare until a flush makes room.
func TestWritersWaitForTheMemtablesShare(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newSmall(t, map[string]int64{budget.Memtables: 600 << 10})
		waited := false
		for i := range 20 {
			txn := log.Txn{Records: s.write(s.rows(i*100, 100, 400))} // 40 kB, 120 kB of the share
			var done func()
			admitted := make(chan error)
			go func() {
				var err error
				done, err = s.set.Admit(t.Context(), txn)
				admitted <- err
			}()
			synctest.Wait()
			select {
			case err := <-admitted:
				if err != nil {
					t.Fatal(err)
				}
			default:
				waited = true
				s.set.flushLarge(t.Context(), s.commit) // what Maintain does
				if err := <-admitted; err != nil {
					t.Fatal(err)
				}
			}
			s.apply(txn.Records...)
			done()
			if u := s.node.Share(budget.Memtables).Usage(); u.Used > u.Limit {
				t.Fatalf("after %d commits: got %+v, want it within the limit", i, u)
			}
		}
		if u := s.node.Share(budget.Memtables).Usage(); !waited || u.Waits == 0 {
			t.Errorf("got %+v, waited %v: want writers to have waited", u, waited)
		}
		ctx, stop := context.WithCancelCause(t.Context())
		stop(errors.New("canceled by the user"))
		if _, err := s.set.Admit(ctx, log.Txn{Records: []log.Record{{Kind: log.KindData, Payload: make([]byte, 190<<10)}}}); err == nil {
			t.Error("a canceled writer: got no error")
		}
		for s.set.Unflushed() > 0 {
			s.set.opts.FlushBytes = 1
			s.set.flushLarge(t.Context(), s.commit)
		}
		s.within(budget.Memtables)
	})
}

// TestMergesWaitForTheirShare and run one after the other where it has room for one.
func TestMergesWaitForTheirShare(t *testing.T) {
	s := newSmall(t, map[string]int64{budget.Merges: 8 << 20})
	for i := range 4 {
		s.apply(s.write(s.rows(i*5000, 5000, 200))...)
	}
	share := s.node.Share(budget.Merges)
	other := share.Grant()
	if err := other.Wait(t.Context(), 6<<20); err != nil { // another merge
		t.Fatal(err)
	}
	done := make(chan error)
	go func() { done <- s.set.Shard(table).merge(t.Context(), s.commit) }()
	for share.Usage().Waits == 0 {
		select {
		case err := <-done:
			t.Fatalf("the merge did not wait: %v", err)
		case <-time.After(time.Millisecond):
		}
	}
	other.Free()
	if err := <-done; err != nil {
		t.Fatal(err)
	}
	s.within(budget.Merges)
}

// TestIdleCursorsLeaveRoom for others: many clients that stopped in the middle of a snapshot do not keep one more from reading all.
func TestIdleCursorsLeaveRoom(t *testing.T) {
	s := newSmall(t, map[string]int64{budget.Snapshots: 16 << 20})
	for i := range 6 {
		s.apply(s.write(s.rows(i, 20000, 100))...) // later ones add up to rows there already: the sum has several of each
	}
	ctx, stop := context.WithTimeout(t.Context(), time.Minute)
	defer stop()
	sh, at := s.set.Shard(table), s.now
	var idle []*Cursor
	for i := range 20 {
		c, err := sh.Snapshot(ctx, SnapshotOptions{AsOf: at, PieceRows: 500})
		if err != nil {
			t.Fatalf("cursor %d: %v", i, err)
		}
		defer c.Close()
		if _, err := c.Next(ctx); err != nil {
			t.Fatalf("cursor %d: %v", i, err)
		}
		idle = append(idle, c)
	}
	want := ""
	for i, c := range append(idle[:3:3], nil) {
		skip := 500
		if c == nil {
			skip = 0
			var err error
			if c, err = sh.Snapshot(ctx, SnapshotOptions{AsOf: at, PieceRows: 500}); err != nil {
				t.Fatal(err)
			}
			defer c.Close()
		}
		rows, sum := skip, int64(0)
		for {
			b, err := c.Next(ctx)
			if errors.Is(err, io.EOF) {
				break
			}
			if err != nil {
				t.Fatal(err)
			}
			for r := range b.N {
				sum += int64(b.Diff(r))
			}
			rows += b.N
		}
		got := fmt.Sprint(rows)
		if want == "" {
			want = got
		}
		if got != want || rows != 20005 || skip == 0 && sum != 120000 {
			t.Errorf("cursor %d: got %d rows, want 20005", i, rows)
		}
	}
	for _, c := range idle {
		c.Close()
	}
	s.within(budget.Snapshots)
}

// TestTransactionsSpillInTheirShare however many write at a time.
func TestTransactionsSpillInTheirShare(t *testing.T) {
	s := newSmall(t, map[string]int64{budget.Transactions: 2 << 20})
	writers := make([]*Writer, 8)
	for i := range writers {
		writers[i] = s.set.NewWriter(table, s.schema, WriteOptions{})
	}
	for round := range 10 {
		for i, w := range writers {
			b := s.rows((i*100+99-round)*1000, 1000, 200) // not in order
			if err := w.Append(t.Context(), b); err != nil {
				t.Fatal(err)
			}
		}
	}
	for i, w := range writers {
		records, err := w.Records(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		s.apply(records...)
		if w.InMemory() {
			t.Errorf("writer %d holds 2 MB in memory", i)
		}
	}
	if u := s.within(budget.Transactions); u.Peak < u.Limit/2 {
		t.Errorf("got %+v, want the half of it that rows may have to have been used", u)
	}
	w := s.set.NewWriter(table, s.schema, WriteOptions{})
	if err := w.Append(t.Context(), s.rows(0, 2000, 200)); err != nil {
		t.Fatal(err)
	}
	w.Abort(t.Context())
	s.within(budget.Transactions)
}

// TestKeySetIsASet that counts what it takes, and is refused with 53200 where there is no more.
func TestKeySetIsASet(t *testing.T) {
	share := budget.NewShare(budget.Transactions, 1<<20)
	set, model := NewKeySet(share), map[uint64]bool{}
	h := uint64(1)
	var err error
	for err == nil {
		h = h*6364136223846793005 + 1442695040888963407
		key := h
		if h>>40%3 == 1 {
			key = h & 0xfff // small ones, 0 and 1 among them
		}
		was := false
		if was, err = set.Add(key); err == nil {
			if key == 0 {
				key = 1
			}
			if was != model[key] {
				t.Fatalf("add %x: got %v, want %v", key, was, model[key])
			}
			model[key] = true
		}
	}
	var e *tailrace.Error
	if !errors.As(err, &e) || e.Code != "53200" || e.Hint == "" {
		t.Errorf("a full share: got %v, want 53200 with a hint", err)
	}
	if got := share.Usage(); len(model) < 70_000 || set.Len() != len(model) || got.Used > got.Limit {
		t.Errorf("got %d keys in %+v, want %d, twelve bytes each", set.Len(), got, len(model))
	}
	for key := range model {
		if !set.Has(key) {
			t.Fatalf("%x is not there", key)
		}
	}
	set.Free()
	if got := share.Usage().Used; got != 0 || set.Has(h) {
		t.Errorf("after Free: got %d bytes used, want 0", got)
	}
}

// TestLookupsKeepToTheirShares: page groups are let go of, and what the index has in memory goes to its tables, however much is looked up and written.
func TestLookupsKeepToTheirShares(t *testing.T) {
	s := newSmall(t, map[string]int64{budget.Pages: 1 << 20, budget.Index: 2 << 20})
	s.set.limits.index, s.set.limits.indexMisses, s.set.limits.indexBatch = 0, 8, 100<<10
	ctx := t.Context()
	if err := s.set.OpenIndex(ctx, t.TempDir(), sim.NewConsensus(), s.seq); err != nil {
		t.Fatal(err)
	}
	defer s.set.CloseIndex()
	const keys, size = 40_000, 100
	version := make([]int, keys)
	for from := 0; from < keys; from += 8000 {
		s.apply(s.write(s.rows(from, 8000, size))...)
	}
	sh := s.set.Shard(table)
	if err := sh.merge(ctx, s.commit); err != nil {
		t.Fatal(err)
	}
	rng := rand.New(rand.NewPCG(1, 1))
	loop := &indexing{s: s.set, paused: map[tailrace.CollectionID]time.Time{}}
	peaks := map[string]int64{}
	for round := range 30 {
		if round > 5 { // not before the index is wanted
			s.apply(s.write(s.newVersions(version, rng.IntN(keys-1500), 1500, size))...)
			s.set.opts.FlushBytes = 1
			s.set.flushLarge(ctx, s.commit)
		}
		loop.turn(ctx)
		s.lookUp(sh, version, rng, size)
		for _, name := range []string{budget.Pages, budget.Index} {
			u := s.node.Share(name).Usage()
			if u.Used > u.Limit {
				t.Fatalf("round %d: got %+v, want it within the limit", round, u)
			}
			peaks[name] = u.Peak
		}
	}
	if got := s.set.IndexStats(); got.Collections != 1 || got.Bytes < keys*size/4 {
		t.Errorf("index: got %+v, want it used", got)
	}
	if peaks[budget.Pages] < 1<<19 || peaks[budget.Index] < 1<<18 {
		t.Errorf("peaks: got %v, want both shares to have been used", peaks)
	}
	t.Log(peaks, s.set.IndexStats())
}

// newVersions gives n keys from first on a new value each.
func (s *small) newVersions(version []int, first, n, size int) *tailrace.Batch {
	b := tailrace.NewBatch(s.schema, 2*n)
	for key := first; key < first+n; key++ {
		for _, diff := range []tailrace.Diff{-1, 1} {
			b.Cols[0].AppendInt64(int64(key))
			b.Cols[1].AppendString(valueOf(version[key], size))
			b.AppendDiff(diff)
			if diff < 0 {
				version[key]++
			}
		}
	}
	return b
}

// valueOf is a key's value in some version, as rows makes it in the first.
func valueOf(version, size int) string { return strings.Repeat(string(rune('x'-version%20)), size) }

// lookUp looks up keys here and there, each of which must be what it is now.
func (s *small) lookUp(sh *Shard, version []int, rng *rand.Rand, size int) {
	s.t.Helper()
	for range 40 {
		key := rng.IntN(len(version))
		b := &tailrace.Batch{IDs: []tailrace.ColumnID{1}, Cols: []tailrace.Column{tailrace.MakeColumn(tailrace.KindInt8, 1)}, N: 1}
		b.Cols[0].AppendInt64(int64(key))
		rows, at, err := sh.Lookup(s.t.Context(), b, s.now, nil)
		if err != nil {
			s.t.Fatal(err)
		}
		if got := string(rows.Cols[1].Bytes(int(at[0]))); got != valueOf(version[key], size) {
			s.t.Fatalf("key %d: got %.10s..., want version %d", key, got, version[key])
		}
	}
}
