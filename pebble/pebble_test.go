package pebble_test

import (
	"context"
	"errors"
	"math/rand/v2"
	"os"
	"path/filepath"
	"testing"

	"go.uber.org/goleak"

	"tailrace"
	"tailrace/internal/sim/conform"
	"tailrace/pebble"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func open(t testing.TB, dir string, opts pebble.Options) *pebble.Consensus {
	t.Helper()
	c, err := pebble.Open(dir, opts)
	if err != nil {
		t.Fatalf("open %s: got %v, want none", dir, err)
	}
	t.Cleanup(func() {
		if err := c.Close(); err != nil {
			t.Errorf("close: got %v, want none", err)
		}
	})
	return c
}

// crash opens a copy of the folder as it is on disk while the first store goes on: what a kill -9 leaves.
func crash(t testing.TB, dir string) *pebble.Consensus {
	t.Helper()
	left := filepath.Join(t.TempDir(), "left")
	if err := os.CopyFS(left, os.DirFS(dir)); err != nil {
		t.Fatalf("copy %s: %v", dir, err)
	}
	return open(t, left, pebble.Options{})
}

func TestConsensusConforms(t *testing.T) {
	conform.Consensus(t, func(t *testing.T) conform.Opened[tailrace.Consensus] {
		dir := filepath.Join(t.TempDir(), "log")
		return conform.Opened[tailrace.Consensus]{
			Store: open(t, dir, pebble.Options{}),
			Again: func() tailrace.Consensus { return crash(t, dir) },
		}
	})
}

func TestFullDiskIsRefusedAndChangesNothing(t *testing.T) {
	ctx := context.Background()
	c := open(t, t.TempDir(), pebble.Options{MinFree: 1 << 60})
	for range 2 {
		ok, err := c.CompareAndSet(ctx, "log", 0, []byte("x"))
		if ok || !errors.Is(err, tailrace.ErrFull) {
			t.Errorf("compare and set with too little free: got %v %v, want ErrFull", ok, err)
		}
	}
	if head, err := c.Head(ctx, "log"); head.Seq != 0 || err != nil {
		t.Errorf("head: got %d %v, want 0", head.Seq, err)
	}
}

func TestReopenedStoreGoesOn(t *testing.T) {
	ctx := context.Background()
	dir := t.TempDir()
	for seq := range tailrace.SeqNo(5) {
		c, err := pebble.Open(dir, pebble.Options{})
		if err != nil {
			t.Fatal(err)
		}
		if ok, err := c.CompareAndSet(ctx, "log", seq, []byte("x")); !ok || err != nil {
			t.Errorf("compare and set after %d: got %v %v, want true", seq, ok, err)
		}
		if err := c.Close(); err != nil {
			t.Fatal(err)
		}
	}
}

func BenchmarkCompareAndSet(b *testing.B) {
	c := open(b, b.TempDir(), pebble.Options{})
	value := make([]byte, 1024)
	for seq := tailrace.SeqNo(0); b.Loop(); seq++ {
		if ok, err := c.CompareAndSet(context.Background(), "log", seq, value); !ok || err != nil {
			b.Fatalf("compare and set: got %v %v, want true", ok, err)
		}
	}
}

// TestLogsAreLongBeforeTheyAreFull holds what longLogs is for: a sync that has no length to write.
func TestLogsAreLongBeforeTheyAreFull(t *testing.T) {
	dir := t.TempDir()
	c := open(t, dir, pebble.Options{})
	sizes := func() (out []int64) {
		names, err := filepath.Glob(dir + "/*.log")
		if err != nil {
			t.Fatal(err)
		}
		for _, name := range names {
			st, err := os.Stat(name)
			if err != nil {
				t.Fatal(err)
			}
			out = append(out, st.Size())
		}
		return out
	}
	var before []int64
	for seq := range tailrace.SeqNo(20) {
		if ok, err := c.CompareAndSet(context.Background(), "log", seq, []byte("x")); !ok || err != nil {
			t.Fatalf("compare and set after %d: got %v %v, want true", seq, ok, err)
		}
		now := sizes()
		if len(now) != 1 || now[0] < 1<<20 || before != nil && now[0] != before[0] {
			t.Fatalf("logs after append %d: %v bytes, before %v; want one that is long and does not grow", seq, now, before)
		}
		before = now
	}
}

// TestCrashesBesideEmptyLogs lets a store crash again and again, with and without appends between, where a log may have been made long and hold nothing.
func TestCrashesBesideEmptyLogs(t *testing.T) {
	ctx := context.Background()
	for seed := range uint64(5) {
		rng := rand.New(rand.NewPCG(seed, 1))
		dir, head := t.TempDir(), tailrace.SeqNo(0)
		for life := range 6 {
			c, err := pebble.Open(dir, pebble.Options{})
			if err != nil {
				t.Fatalf("seed %d, life %d: got %v, want none", seed, life, err)
			}
			if v, err := c.Head(ctx, "log"); err != nil || v.Seq != head {
				t.Fatalf("seed %d, life %d: got head %d %v, want %d", seed, life, v.Seq, err, head)
			}
			for range rng.IntN(3) {
				if ok, err := c.CompareAndSet(ctx, "log", head, []byte("x")); !ok || err != nil {
					t.Fatalf("seed %d: compare and set: got %v %v, want true", seed, ok, err)
				}
				head++
			}
			left := filepath.Join(t.TempDir(), "left")
			for os.CopyFS(left, os.DirFS(dir)) != nil { // pebble removes files that it no longer needs
				left = filepath.Join(t.TempDir(), "left")
			}
			if err := c.Close(); err != nil {
				t.Fatal(err)
			}
			dir = left
			makeLong(t, dir)
		}
	}
}

// makeLong gives the empty logs zeros, as a crash does between the reservation of space and the first append.
func makeLong(t *testing.T, dir string) {
	names, err := filepath.Glob(dir + "/*.log")
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range names {
		if st, err := os.Stat(name); err != nil || st.Size() > 0 {
			continue
		}
		if err := os.Truncate(name, 1<<20); err != nil {
			t.Fatal(err)
		}
	}
}
