package file_test

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"testing"

	"tailrace"
	"tailrace/file"
)

// TestViewChangesNothing: it reads what is there, and leaves a folder of values aside that another process is writing.
func TestViewChangesNothing(t *testing.T) {
	ctx := context.Background()
	dir := t.TempDir()
	b := open(t, dir, file.Options{})
	if err := b.Put(ctx, "part/a/1", []byte("value")); err != nil {
		t.Fatal(err)
	}
	aside := filepath.Join(dir, "TMP", "7")
	if err := os.WriteFile(aside, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if raw, err := file.View(dir).Get(ctx, "part/a/1", 0, -1); string(raw) != "value" || err != nil {
		t.Errorf("got %q, %v, want value", raw, err)
	}
	if _, err := os.Stat(aside); err != nil {
		t.Errorf("what is being written: got %v, want it there", err)
	}
	if _, err := file.View(filepath.Join(dir, "none")).Get(ctx, "a", 0, -1); !errors.Is(err, tailrace.ErrNotFound) {
		t.Errorf("in a folder that is not there: got %v, want ErrNotFound", err)
	}
}

// TestLinkOutlivesTheFirstName: a linked value is the same, and stays when the first is deleted.
func TestLinkOutlivesTheFirstName(t *testing.T) {
	ctx := context.Background()
	base := t.TempDir()
	from, to := open(t, filepath.Join(base, "from"), file.Options{}), open(t, filepath.Join(base, "to"), file.Options{})
	if err := from.Put(ctx, "part/a/1", []byte("value")); err != nil {
		t.Fatal(err)
	}
	if err := to.Link(ctx, "part/a/1", from); err != nil {
		t.Fatal(err)
	}
	if err := to.Link(ctx, "part/a/1", from); !errors.Is(err, tailrace.ErrExists) {
		t.Errorf("twice: got %v, want ErrExists", err)
	}
	for _, key := range []string{"part/a/2", "part/a"} {
		if err := to.Link(ctx, key, from); !errors.Is(err, tailrace.ErrNotFound) {
			t.Errorf("%s: got %v, want ErrNotFound", key, err)
		}
	}
	if err := to.Link(ctx, "../a", from); err == nil {
		t.Error("a key that leaves the folder: got no error")
	}
	if err := from.Delete(ctx, "part/a/1"); err != nil {
		t.Fatal(err)
	}
	if raw, err := to.Get(ctx, "part/a/1", 0, -1); string(raw) != "value" || err != nil {
		t.Errorf("after the first name is gone: got %q, %v, want value", raw, err)
	}
	if err := to.Link(ctx, "part/a/3", file.View("/proc/self")); !errors.Is(err, tailrace.ErrNotFound) {
		t.Errorf("from nowhere: got %v, want ErrNotFound", err)
	}
}
