package stripe

import (
	"bytes"
	"context"
	"flag"
	"os"
	"path/filepath"
	"testing"

	"go.uber.org/goleak"
)

var rewrite = flag.Bool("rewrite", false, "write the golden part of the present format anew")

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// TestGoldenParts reads the part of every released version of the format, and holds the bytes of the present one.
func TestGoldenParts(t *testing.T) {
	s, b, part := smallPart(t, 300)
	newest := filepath.Join("testdata", "part-1.0.golden")
	if *rewrite {
		if err := os.WriteFile(newest, part, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	files, err := filepath.Glob(filepath.Join("testdata", "part-*.golden"))
	if err != nil || len(files) == 0 {
		t.Fatalf("golden parts: %v, %v", files, err)
	}
	for _, name := range files {
		old, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		if err := Verify(context.Background(), old); err != nil {
			t.Errorf("%s: %v", name, err)
		}
		if err := readAll(t, old, s, b); err != nil {
			t.Errorf("%s: %v", name, err)
		}
		if name == newest && !bytes.Equal(old, part) {
			t.Errorf("%s: got other bytes than the %d of the golden part (-rewrite accepts them)", name, len(old))
		}
	}
}
