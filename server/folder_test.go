package server

import (
	"os"
	"path/filepath"
	"testing"
)

func TestFolderIsLockedAndItsSpillIsEmptied(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "new", "data")
	f, err := openFolder(dir)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := openFolder(dir); err == nil {
		t.Error("opened twice")
	}
	left := f.path("tmp/spilled")
	if err := os.WriteFile(left, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := f.close(); err != nil {
		t.Fatal(err)
	}
	if f, err = openFolder(dir); err != nil {
		t.Fatalf("after close: %v", err)
	}
	defer f.close()
	if _, err := os.Stat(left); !os.IsNotExist(err) {
		t.Errorf("what a query spilled before: got %v, want it gone", err)
	}
}

func TestFolderThatCannotBe(t *testing.T) {
	file := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	for _, dir := range []string{"", file, filepath.Join(file, "below")} {
		if f, err := openFolder(dir); err == nil {
			f.close()
			t.Errorf("folder %q: got no error", dir)
		}
	}
}
