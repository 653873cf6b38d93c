package pebble_test

import (
	"context"
	"errors"
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
