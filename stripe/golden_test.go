package stripe

import (
	"bytes"
	"context"
	"flag"
	"os"
	"path/filepath"
	"testing"

	"go.uber.org/goleak"

	"tailrace"
)

var rewrite = flag.Bool("rewrite", false, "write the golden part of the present format anew")

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// TestGoldenParts reads the parts of every released version of the format, and holds the bytes of the present one. The kinds of format 1.0 are
// written as they were then.
func TestGoldenParts(t *testing.T) {
	testGolden(t, "part-1.0", allKinds[:tailrace.KindForeign])
	testGolden(t, "part-1.0-types", allKinds[:tailrace.KindRegrole])
}

func testGolden(t *testing.T, version string, kinds []tailrace.Kind) {
	s, b, part := partOf(t, 300, kinds)
	newest := filepath.Join("testdata", version+".golden")
	if *rewrite {
		if err := os.WriteFile(newest, part, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	old, err := os.ReadFile(newest)
	if err != nil {
		t.Fatal(err)
	}
	if err := Verify(context.Background(), old); err != nil {
		t.Errorf("%s: %v", newest, err)
	}
	if err := readAll(t, old, s, b); err != nil {
		t.Errorf("%s: %v", newest, err)
	}
	if !bytes.Equal(old, part) {
		t.Errorf("%s: got other bytes than the %d of the golden part (-rewrite accepts them)", newest, len(old))
	}
}
