package conform

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"tailrace"
)

// Blob runs the suite of tailrace.Blob.
func Blob(t *testing.T, open func(t *testing.T) Opened[tailrace.Blob]) {
	for _, c := range []struct {
		name string
		test func(t *testing.T, o Opened[tailrace.Blob])
	}{
		{"ValueIsReadInRanges", blobRanges},
		{"MissingKeyIsNotFound", blobMissing},
		{"EqualBytesMayBePutAgainOthersNot", blobWriteOnce},
		{"ListIsInByteOrder", blobList},
		{"DeletedKeyIsGone", blobDelete},
		{"OneOfManyPutsWins", blobRace},
		{"AcknowledgedPutSurvivesReopening", blobReopen},
		{"CancelledCallChangesNothing", blobCancelled},
		{"CallerOwnsBuffers", blobBuffers},
	} {
		t.Run(c.name, func(t *testing.T) { c.test(t, open(t)) })
	}
}

func blobRanges(t *testing.T, o Opened[tailrace.Blob]) {
	ctx := context.Background()
	value := bytes.Repeat([]byte("0123456789"), 200_000)
	must(t, "put", o.Store.Put(ctx, "a/b", value))
	must(t, "put", o.Store.Put(ctx, "a/empty", nil))
	wantValue(t, o.Store, "a/b", value)
	wantValue(t, o.Store, "a/empty", nil)
	size := int64(len(value))
	for _, r := range []struct{ off, n, from, to int64 }{
		{0, 10, 0, 10},
		{3, 0, 3, 3},
		{1_999_990, 10, 1_999_990, size},
		{1_999_990, 11, 1_999_990, size},
		{1_999_990, -1, 1_999_990, size},
		{size, 10, size, size},
		{size + 10, 10, size, size},
		{5, 1 << 62, 5, size},
	} {
		got, err := o.Store.Get(ctx, "a/b", r.off, r.n)
		must(t, fmt.Sprintf("get %d bytes at %d", r.n, r.off), err)
		if !bytes.Equal(got, value[r.from:r.to]) {
			t.Errorf("get %d bytes at %d: got %d bytes, want those from %d to %d", r.n, r.off, len(got), r.from, r.to)
		}
	}
}

func blobMissing(t *testing.T, o Opened[tailrace.Blob]) {
	ctx := context.Background()
	must(t, "put", o.Store.Put(ctx, "a/b", []byte("x")))
	for _, key := range []string{"b", "a", "a/c", "a/b/c"} {
		if _, err := o.Store.Get(ctx, key, 0, -1); !errors.Is(err, tailrace.ErrNotFound) {
			t.Errorf("get %s: got %v, want ErrNotFound", key, err)
		}
		must(t, "delete "+key, o.Store.Delete(ctx, key))
	}
	wantKeys(t, o.Store, "", "a/b")
}

func blobWriteOnce(t *testing.T, o Opened[tailrace.Blob]) {
	ctx := context.Background()
	must(t, "put", o.Store.Put(ctx, "k", []byte("one")))
	must(t, "put the same again", o.Store.Put(ctx, "k", []byte("one")))
	for _, other := range []string{"two", "", "one more"} {
		if err := o.Store.Put(ctx, "k", []byte(other)); !errors.Is(err, tailrace.ErrExists) {
			t.Errorf("put %q over one: got %v, want ErrExists", other, err)
		}
	}
	wantValue(t, o.Store, "k", []byte("one"))
	wantKeys(t, o.Store, "", "k")
}

func blobList(t *testing.T, o Opened[tailrace.Blob]) {
	keys := []string{"a-b", "a.c", "a/b", "a/c/d", "a/c/e", "a0", "a_", "b/1", "b/10", "b/2", "c"}
	for i := range keys {
		must(t, "put", o.Store.Put(context.Background(), keys[(i*7)%len(keys)], []byte{byte(i)}))
	}
	wantKeys(t, o.Store, "", keys...)
	wantKeys(t, o.Store, "a", keys[:7]...)
	wantKeys(t, o.Store, "a/", "a/b", "a/c/d", "a/c/e")
	wantKeys(t, o.Store, "a/c", "a/c/d", "a/c/e")
	wantKeys(t, o.Store, "b/1", "b/1", "b/10")
	wantKeys(t, o.Store, "c", "c")
	wantKeys(t, o.Store, "c/")
	wantKeys(t, o.Store, "x/y")
	for key, err := range o.Store.List(context.Background(), "") {
		must(t, "list", err)
		if key != "a-b" {
			t.Fatalf("list, first only: got %s, want a-b", key)
		}
		break
	}
}

func blobDelete(t *testing.T, o Opened[tailrace.Blob]) {
	ctx := context.Background()
	must(t, "put", o.Store.Put(ctx, "s/1", []byte("x")))
	must(t, "delete", o.Store.Delete(ctx, "s/1"))
	must(t, "delete again", o.Store.Delete(ctx, "s/1"))
	if _, err := o.Store.Get(ctx, "s/1", 0, -1); !errors.Is(err, tailrace.ErrNotFound) {
		t.Errorf("get after delete: got %v, want ErrNotFound", err)
	}
	wantKeys(t, o.Store, "")
}

func blobRace(t *testing.T, o Opened[tailrace.Blob]) {
	var wg sync.WaitGroup
	var won atomic.Int32
	for i := range 8 {
		wg.Go(func() {
			err := o.Store.Put(context.Background(), "race/k", bytes.Repeat([]byte{byte(i)}, 10_000))
			switch {
			case err == nil:
				won.Add(1)
			case !errors.Is(err, tailrace.ErrExists):
				t.Errorf("put %d: got %v, want nil or ErrExists", i, err)
			}
		})
	}
	wg.Wait()
	if won.Load() != 1 {
		t.Errorf("8 different puts of a key: got %d successes, want 1", won.Load())
	}
	got, err := o.Store.Get(context.Background(), "race/k", 0, -1)
	must(t, "get", err)
	if len(got) != 10_000 || strings.Trim(string(got), string(got[:1])) != "" {
		t.Errorf("get: got a mixture of %d bytes, want 10000 of one put", len(got))
	}
}

func blobReopen(t *testing.T, o Opened[tailrace.Blob]) {
	for i := range 20 {
		must(t, "put", o.Store.Put(context.Background(), fmt.Sprintf("s/%02d", i), bytes.Repeat([]byte{byte(i)}, 1000*i)))
	}
	again := o.Again()
	for i := range 20 {
		wantValue(t, again, fmt.Sprintf("s/%02d", i), bytes.Repeat([]byte{byte(i)}, 1000*i))
	}
	must(t, "put after reopening", again.Put(context.Background(), "s/new", nil))
}

func blobCancelled(t *testing.T, o Opened[tailrace.Blob]) {
	ctx, cancel := context.WithCancel(context.Background())
	must(t, "put", o.Store.Put(ctx, "k", []byte("x")))
	cancel()
	if err := o.Store.Put(ctx, "l", nil); !errors.Is(err, context.Canceled) {
		t.Errorf("put: got %v, want context.Canceled", err)
	}
	if _, err := o.Store.Get(ctx, "k", 0, -1); !errors.Is(err, context.Canceled) {
		t.Errorf("get: got %v, want context.Canceled", err)
	}
	if err := o.Store.Delete(ctx, "k"); !errors.Is(err, context.Canceled) {
		t.Errorf("delete: got %v, want context.Canceled", err)
	}
	for _, err := range o.Store.List(ctx, "") {
		if !errors.Is(err, context.Canceled) {
			t.Errorf("list: got %v, want context.Canceled", err)
		}
	}
	wantKeys(t, o.Store, "", "k")
}

func blobBuffers(t *testing.T, o Opened[tailrace.Blob]) {
	ctx := context.Background()
	mine := []byte("mine")
	must(t, "put", o.Store.Put(ctx, "k", mine))
	copy(mine, "XXXX")
	got, err := o.Store.Get(ctx, "k", 0, -1)
	must(t, "get", err)
	copy(got, "YYYY")
	wantValue(t, o.Store, "k", []byte("mine"))
}
