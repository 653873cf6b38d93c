package redo

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"testing"
	"testing/synctest"

	"tailrace"
	"tailrace/internal/sim"
)

func options(epoch uint64) Options {
	return Options{Feed: "f", Epoch: epoch, Logger: slog.New(slog.DiscardHandler)}
}

// flushed adds one update of span 7 at a time and waits until it is durable.
func flushed(t *testing.T, w *Writer, at int) {
	t.Helper()
	table := tableOf(7, "t", 0, "id:int name:text")
	add(t, w, 7, changes(table, update{tailrace.Time(at), 1, fmt.Sprintf("%d|x", at)}))
	settled(t, w)
}

// refused adds one update and demands that the writer ends because it is fenced.
func refused(t *testing.T, w *Writer, at int) {
	t.Helper()
	table := tableOf(7, "t", 0, "id:int name:text")
	if err := w.Add(context.Background(), 7, changes(table, update{tailrace.Time(at), 1, "0|lost"})); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); !errors.Is(err, tailrace.ErrSinkFenced) {
		t.Errorf("a writer that another one has followed: got %v, want ErrSinkFenced", err)
	}
	if err := w.Add(context.Background(), 7, Piece{}); !errors.Is(err, tailrace.ErrSinkFenced) {
		t.Errorf("add to it: got %v, want ErrSinkFenced", err)
	}
}

func TestEarlierEpochIsFenced(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		blob := sim.NewBlob()
		first, _ := open(t, blob, options(1))
		flushed(t, first, 1)
		second, _ := open(t, blob, options(2))
		refused(t, first, 2)
		flushed(t, second, 2)
		if _, err := Open(context.Background(), blob, options(1)); !errors.Is(err, tailrace.ErrSinkFenced) {
			t.Errorf("open under epoch 1: got %v, want ErrSinkFenced", err)
		}
		if got, want := contents(t, blob, "f")[7], []string{"1 +1 (1|x)", "2 +1 (2|x)"}; !slices.Equal(got, want) {
			t.Errorf("got %q, want %q", got, want)
		}
		third, _ := open(t, blob, options(2)) // the same holder that came back
		refused(t, second, 3)
		flushed(t, third, 3)
	})
}

// TestSleeperIsFencedAfterFolding has a writer sleep while its successor folds the manifests around the number that the sleeper is about to take.
func TestSleeperIsFencedAfterFolding(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		blob := sim.NewBlob()
		sleeper, _ := open(t, blob, options(1))
		flushed(t, sleeper, 1)
		second, stop := open(t, blob, options(2))
		for i := range 3 * foldEvery {
			flushed(t, second, 2+i)
		}
		synctest.Wait() // what was folded is deleted: else a stop leaves it to the next Open
		_ = stop()
		numbers, err := manifests(context.Background(), blob, folder("f"))
		if err != nil || len(numbers) > foldEvery+5 {
			t.Errorf("manifests after %d flushes: got %d (%v), want about %d at most", 3*foldEvery, len(numbers), err, foldEvery)
		}
		refused(t, sleeper, 2)
	})
}

// hookedBlob calls before once, when the key is about to be put.
type hookedBlob struct {
	tailrace.Blob
	key    string
	before func()
}

func (b *hookedBlob) Put(ctx context.Context, key string, value []byte) error {
	if before := b.before; before != nil && key == b.key {
		b.before = nil
		before()
	}
	return b.Blob.Put(ctx, key, value)
}

// TestOpenerThatSleepsTakesNoFoldedNumber has one sleep between reading the store and putting its opening, while the writer that it follows folds that number away.
func TestOpenerThatSleepsTakesNoFoldedNumber(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		blob := sim.NewBlob()
		first, _ := open(t, blob, options(1))
		flushed(t, first, 1)
		hooked := &hookedBlob{Blob: blob, key: manifestKey(folder("f"), 3), before: func() {
			for i := range 3 * foldEvery {
				flushed(t, first, 2+i)
			}
		}}
		second, _ := open(t, hooked, options(2))
		if got := second.Frontiers()[7]; got.Time != 3*foldEvery+1 {
			t.Errorf("the second writer begins at %v, want after all that the first made durable", got)
		}
		refused(t, first, 1000)
		flushed(t, second, 1000)
		if _, err := readManifest(context.Background(), blob, folder("f"), 3); !errors.Is(err, errMissing) {
			t.Errorf("the number that did not count: got %v, want it gone", err)
		}
	})
}

func TestManyManifestsAreFoldedAndManySegmentsPaged(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		blob := sim.NewBlob()
		const n = pageSegments + 3*foldEvery
		var want []string
		for i, epoch := 1, uint64(1); i <= n; epoch++ {
			w, stop := open(t, blob, options(epoch))
			for range 400 {
				flushed(t, w, i)
				want = append(want, fmt.Sprintf("%d +1 (%d|x)", i, i))
				i++
			}
			_ = stop()
		}
		pages := 0
		for _, key := range keys(t, blob) {
			if strings.HasPrefix(key, folder("f")+pageRoom) {
				pages++
			}
		}
		if got := contents(t, blob, "f")[7]; !slices.Equal(got, want) || pages != 1 {
			t.Errorf("got %d updates and %d pages, want %d in order and 1", len(got), pages, len(want))
		}
	})
}

func TestNamesOfFeeds(t *testing.T) {
	for _, feed := range []string{"orders_copy", "Orders copy", "a.b", "../x", "zażółć", "A", ".41"} {
		blob := sim.NewBlob()
		if _, err := Open(context.Background(), blob, Options{Feed: feed, Epoch: 1}); err != nil {
			t.Fatal(err)
		}
		got, err := Feeds(context.Background(), blob)
		if err != nil || len(got) != 1 || got[0] != feed {
			t.Errorf("feeds: got %q (%v), want %q", got, err, feed)
		}
		for _, key := range keys(t, blob) {
			if strings.ContainsFunc(key, func(r rune) bool { return !strings.ContainsRune("abcdefghijklmnopqrstuvwxyz0123456789-_./", r) }) {
				t.Errorf("key %q of feed %q is not one of a Blob", key, feed)
			}
		}
	}
}
