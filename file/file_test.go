package file_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"go.uber.org/goleak"

	"tailrace"
	"tailrace/file"
	"tailrace/internal/sim/conform"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func open(t *testing.T, dir string, opts file.Options) *file.Blob {
	t.Helper()
	b, err := file.Open(dir, opts)
	if err != nil {
		t.Fatalf("open %s: got %v, want none", dir, err)
	}
	return b
}

func TestBlobConforms(t *testing.T) {
	conform.Blob(t, func(t *testing.T) conform.Opened[tailrace.Blob] {
		dir := filepath.Join(t.TempDir(), "a", "blob")
		return conform.Opened[tailrace.Blob]{
			Store: open(t, dir, file.Options{}),
			Again: func() tailrace.Blob { return open(t, dir, file.Options{}) },
		}
	})
}

func TestOpenSweepsWhatACrashLeft(t *testing.T) {
	dir := t.TempDir()
	b := open(t, dir, file.Options{})
	if err := b.Put(context.Background(), "s/1", []byte("x")); err != nil {
		t.Fatal(err)
	}
	litter := filepath.Join(dir, "TMP", "17")
	empty := filepath.Join(dir, "old", "older")
	if err := errors.Join(os.WriteFile(litter, []byte("half"), 0o600), os.MkdirAll(empty, 0o700)); err != nil {
		t.Fatal(err)
	}
	b = open(t, dir, file.Options{})
	for _, path := range []string{litter, empty, filepath.Dir(empty)} {
		if _, err := os.Stat(path); !errors.Is(err, os.ErrNotExist) {
			t.Errorf("%s after opening again: got %v, want it gone", path, err)
		}
	}
	if got, err := b.Get(context.Background(), "s/1", 0, -1); err != nil || string(got) != "x" {
		t.Errorf("get s/1: got %q %v, want x", got, err)
	}
}

func TestPutLeavesNothingAside(t *testing.T) {
	dir := t.TempDir()
	b := open(t, dir, file.Options{})
	_ = b.Put(context.Background(), "k", []byte("x"))
	_ = b.Put(context.Background(), "k", []byte("y"))
	entries, err := os.ReadDir(filepath.Join(dir, "TMP"))
	if err != nil || len(entries) != 0 {
		t.Errorf("files aside: got %v %v, want none", entries, err)
	}
}

func TestKeyCannotLeaveTheFolder(t *testing.T) {
	dir := t.TempDir()
	b := open(t, filepath.Join(dir, "blob"), file.Options{})
	ctx := context.Background()
	for _, key := range []string{"", "/", "..", "../x", "a/../../x", "a//b", "/a", "a/", ".", "A", "TMP/1", "a b", "a\x00", "ä"} {
		if err := b.Put(ctx, key, nil); err == nil {
			t.Errorf("put %q: got no error, want one", key)
		}
		if _, err := b.Get(ctx, key, 0, -1); err == nil || errors.Is(err, tailrace.ErrNotFound) {
			t.Errorf("get %q: got %v, want a refusal", key, err)
		}
		if err := b.Delete(ctx, key); err == nil {
			t.Errorf("delete %q: got no error, want one", key)
		}
	}
	for _, key := range []string{"a", "...", "a.b-c_9", "-"} {
		if err := b.Put(ctx, key, nil); err != nil {
			t.Errorf("put %q: got %v, want none", key, err)
		}
	}
}

func TestFullDiskIsRefusedAndChangesNothing(t *testing.T) {
	dir := t.TempDir()
	b := open(t, dir, file.Options{MinFree: 1 << 60})
	if err := b.Put(context.Background(), "k", []byte("x")); !errors.Is(err, tailrace.ErrFull) {
		t.Errorf("put with too little free: got %v, want ErrFull", err)
	}
	for key := range b.List(context.Background(), "") {
		t.Errorf("list: got %s, want nothing", key)
	}
}

func BenchmarkPut4K(b *testing.B) {
	blob, err := file.Open(b.TempDir(), file.Options{})
	if err != nil {
		b.Fatal(err)
	}
	value := make([]byte, 4096)
	b.SetBytes(4096)
	for i := 0; b.Loop(); i++ {
		if err := blob.Put(context.Background(), fmt.Sprintf("s/%d", i), value); err != nil {
			b.Fatal(err)
		}
	}
}
