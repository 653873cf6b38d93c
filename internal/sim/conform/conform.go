package conform

import (
	"bytes"
	"context"
	"testing"

	"tailrace"
)

// Opened is a fresh, empty store under test.
type Opened[S any] struct {
	Store S
	// Again ends the store and opens what it left, as after a crash if it can. The suite calls it once at most, with no call in flight.
	Again func() S
}

// must fails the test if err is not nil.
func must(t *testing.T, what string, err error) {
	t.Helper()
	if err != nil {
		t.Fatalf("%s: got error %v, want none", what, err)
	}
}

// wantKeys fails the test unless the keys that begin with prefix are want, in that order.
func wantKeys(t *testing.T, b tailrace.Blob, prefix string, want ...string) {
	t.Helper()
	var got []string
	for key, err := range b.List(context.Background(), prefix) {
		must(t, "list "+prefix, err)
		got = append(got, key)
	}
	if len(got) != len(want) {
		t.Fatalf("list %q: got %q, want %q", prefix, got, want)
	}
	for i := range want {
		if got[i] != want[i] {
			t.Fatalf("list %q: got %q, want %q", prefix, got, want)
		}
	}
}

// wantValue fails the test unless key holds want.
func wantValue(t *testing.T, b tailrace.Blob, key string, want []byte) {
	t.Helper()
	got, err := b.Get(context.Background(), key, 0, -1)
	must(t, "get "+key, err)
	if !bytes.Equal(got, want) {
		t.Fatalf("get %s: got %.40q (%d bytes), want %.40q (%d bytes)", key, got, len(got), want, len(want))
	}
}
