package conform

import (
	"bytes"
	"context"
	"errors"
	"strconv"
	"sync"
	"testing"

	"tailrace"
)

// Consensus runs the suite of tailrace.Consensus.
func Consensus(t *testing.T, open func(t *testing.T) Opened[tailrace.Consensus]) {
	for _, c := range []struct {
		name string
		test func(t *testing.T, o Opened[tailrace.Consensus])
	}{
		{"UnsetKeyHasNoHead", consensusEmpty},
		{"WrongHeadIsRefused", consensusCompare},
		{"KeysAreApart", consensusKeys},
		{"ScanPagesThroughHistory", consensusScan},
		{"TruncateKeepsTheHead", consensusTruncate},
		{"OneOfManyWins", consensusRace},
		{"LargeValues", consensusLarge},
		{"AcknowledgedValueSurvivesReopening", consensusReopen},
		{"CancelledCallChangesNothing", consensusCancelled},
		{"CallerOwnsBuffers", consensusBuffers},
	} {
		t.Run(c.name, func(t *testing.T) { c.test(t, open(t)) })
	}
}

// set appends value to key after expect and wants success.
func set(t *testing.T, c tailrace.Consensus, key string, expect tailrace.SeqNo, value string) {
	t.Helper()
	ok, err := c.CompareAndSet(context.Background(), key, expect, []byte(value))
	must(t, "compare and set", err)
	if !ok {
		t.Fatalf("compare and set %s after %d: got false, want true", key, expect)
	}
}

// fill makes the history of key 1, 2, ... n.
func fill(t *testing.T, c tailrace.Consensus, key string, n int) {
	t.Helper()
	for i := range n {
		set(t, c, key, tailrace.SeqNo(i), strconv.Itoa(i+1))
	}
}

func wantHead(t *testing.T, c tailrace.Consensus, key string, seq tailrace.SeqNo, value string) {
	t.Helper()
	got, err := c.Head(context.Background(), key)
	must(t, "head", err)
	if got.Seq != seq || string(got.Value) != value {
		t.Fatalf("head of %s: got %d %.40q, want %d %.40q", key, got.Seq, got.Value, seq, value)
	}
}

// wantHistory reads key from a SeqNo on, in pages of limit, and checks that it is what fill wrote. A page may be short.
func wantHistory(t *testing.T, c tailrace.Consensus, key string, from tailrace.SeqNo, limit int, first, last tailrace.SeqNo) {
	t.Helper()
	next := first
	for {
		page, err := c.Scan(context.Background(), key, from, limit)
		must(t, "scan", err)
		if len(page) > limit {
			t.Fatalf("scan %s from %d: got %d values, want at most %d", key, from, len(page), limit)
		}
		for _, v := range page {
			if v.Seq != next || string(v.Value) != strconv.Itoa(int(next)) {
				t.Fatalf("scan %s from %d: got %d %q, want %d", key, from, v.Seq, v.Value, next)
			}
			next, from = next+1, v.Seq+1
		}
		if len(page) == 0 {
			break
		}
	}
	if next != last+1 {
		t.Fatalf("scan %s: got an end after %d, want %d", key, next-1, last)
	}
}

func consensusEmpty(t *testing.T, o Opened[tailrace.Consensus]) {
	wantHead(t, o.Store, "log", 0, "")
	page, err := o.Store.Scan(context.Background(), "log", 0, 10)
	must(t, "scan", err)
	if len(page) != 0 {
		t.Errorf("scan of nothing: got %d values, want 0", len(page))
	}
	must(t, "truncate of nothing", o.Store.Truncate(context.Background(), "log", 10))
	set(t, o.Store, "log", 0, "")
	wantHead(t, o.Store, "log", 1, "")
}

func consensusCompare(t *testing.T, o Opened[tailrace.Consensus]) {
	fill(t, o.Store, "log", 3)
	for _, expect := range []tailrace.SeqNo{0, 1, 2, 4, 1 << 63} {
		ok, err := o.Store.CompareAndSet(context.Background(), "log", expect, []byte("x"))
		must(t, "compare and set", err)
		if ok {
			t.Errorf("compare and set after %d with the head at 3: got true, want false", expect)
		}
	}
	wantHead(t, o.Store, "log", 3, "3")
	wantHistory(t, o.Store, "log", 0, 10, 1, 3)
}

func consensusKeys(t *testing.T, o Opened[tailrace.Consensus]) {
	fill(t, o.Store, "log", 5)
	fill(t, o.Store, "lo", 2)
	fill(t, o.Store, "log2", 3)
	must(t, "truncate", o.Store.Truncate(context.Background(), "lo", 100))
	wantHead(t, o.Store, "log", 5, "5")
	wantHead(t, o.Store, "lo", 2, "2")
	wantHistory(t, o.Store, "lo", 0, 10, 2, 2)
	wantHistory(t, o.Store, "log", 0, 10, 1, 5)
	wantHistory(t, o.Store, "log2", 0, 10, 1, 3)
}

func consensusScan(t *testing.T, o Opened[tailrace.Consensus]) {
	const n = 300 // past 255: the order is of numbers, not of their last bytes
	fill(t, o.Store, "log", n)
	for _, limit := range []int{1, 7, 1000} {
		wantHistory(t, o.Store, "log", 0, limit, 1, n)
	}
	wantHistory(t, o.Store, "log", 1, 10, 1, n)
	wantHistory(t, o.Store, "log", 290, 10, 290, n)
	wantHistory(t, o.Store, "log", n, 10, n, n)
	page, err := o.Store.Scan(context.Background(), "log", n+1, 10)
	must(t, "scan", err)
	if len(page) != 0 {
		t.Errorf("scan past the head: got %d values, want 0", len(page))
	}
}

func consensusTruncate(t *testing.T, o Opened[tailrace.Consensus]) {
	fill(t, o.Store, "log", 10)
	must(t, "truncate", o.Store.Truncate(context.Background(), "log", 4))
	wantHistory(t, o.Store, "log", 0, 3, 4, 10)
	must(t, "truncate to less", o.Store.Truncate(context.Background(), "log", 2))
	wantHistory(t, o.Store, "log", 0, 3, 4, 10)
	must(t, "truncate past the head", o.Store.Truncate(context.Background(), "log", 1000))
	wantHistory(t, o.Store, "log", 0, 3, 10, 10)
	wantHead(t, o.Store, "log", 10, "10")
	set(t, o.Store, "log", 10, "11")
	wantHistory(t, o.Store, "log", 0, 3, 10, 11)
}

func consensusRace(t *testing.T, o Opened[tailrace.Consensus]) {
	const writers, rounds = 8, 20
	var mu sync.Mutex
	wins := map[tailrace.SeqNo]int{}
	var wg sync.WaitGroup
	for w := range writers {
		wg.Go(func() {
			for range rounds {
				head, err := o.Store.Head(context.Background(), "log")
				if err != nil {
					t.Errorf("head: got %v, want none", err)
					return
				}
				ok, err := o.Store.CompareAndSet(context.Background(), "log", head.Seq, []byte{byte(w)})
				if err != nil {
					t.Errorf("compare and set: got %v, want none", err)
				}
				if ok {
					mu.Lock()
					wins[head.Seq+1]++
					mu.Unlock()
				}
			}
		})
	}
	wg.Wait()
	head, err := o.Store.Head(context.Background(), "log")
	must(t, "head", err)
	for seq := tailrace.SeqNo(1); seq <= head.Seq; seq++ {
		if wins[seq] != 1 {
			t.Errorf("slot %d: got %d winners, want 1", seq, wins[seq])
		}
	}
	if len(wins) != int(head.Seq) {
		t.Errorf("got %d wins and the head at %d, want them equal", len(wins), head.Seq)
	}
}

func consensusLarge(t *testing.T, o Opened[tailrace.Consensus]) {
	value := func(i int) []byte { return bytes.Repeat([]byte{byte(i), byte(i >> 3), 7}, 1<<20/3) }
	for i := range 8 {
		ok, err := o.Store.CompareAndSet(context.Background(), "log", tailrace.SeqNo(i), value(i))
		must(t, "compare and set 1 MiB", err)
		if !ok {
			t.Fatalf("compare and set after %d: got false, want true", i)
		}
	}
	for from := tailrace.SeqNo(1); from <= 8; {
		page, err := o.Store.Scan(context.Background(), "log", from, 100)
		must(t, "scan", err)
		if len(page) == 0 {
			t.Fatalf("scan from %d: got nothing, want the values to 8", from)
		}
		for _, v := range page {
			if v.Seq != from || !bytes.Equal(v.Value, value(int(from-1))) {
				t.Fatalf("scan: got %d with %d bytes, want %d with what was written", v.Seq, len(v.Value), from)
			}
			from++
		}
	}
}

func consensusReopen(t *testing.T, o Opened[tailrace.Consensus]) {
	fill(t, o.Store, "log", 50)
	set(t, o.Store, "checkpoint", 0, "c")
	again := o.Again()
	wantHead(t, again, "checkpoint", 1, "c")
	wantHead(t, again, "log", 50, "50")
	wantHistory(t, again, "log", 0, 100, 1, 50)
	set(t, again, "log", 50, "51")
	wantHistory(t, again, "log", 0, 100, 1, 51)
}

func consensusCancelled(t *testing.T, o Opened[tailrace.Consensus]) {
	ctx, cancel := context.WithCancel(context.Background())
	fill(t, o.Store, "log", 3)
	cancel()
	if _, err := o.Store.Head(ctx, "log"); !errors.Is(err, context.Canceled) {
		t.Errorf("head: got %v, want context.Canceled", err)
	}
	if _, err := o.Store.Scan(ctx, "log", 0, 1); !errors.Is(err, context.Canceled) {
		t.Errorf("scan: got %v, want context.Canceled", err)
	}
	if err := o.Store.Truncate(ctx, "log", 3); !errors.Is(err, context.Canceled) {
		t.Errorf("truncate: got %v, want context.Canceled", err)
	}
	wantHistory(t, o.Store, "log", 0, 10, 1, 3)
}

func consensusBuffers(t *testing.T, o Opened[tailrace.Consensus]) {
	mine := []byte("mine")
	if ok, err := o.Store.CompareAndSet(context.Background(), "k", 0, mine); !ok || err != nil {
		t.Fatalf("compare and set: got %v %v, want true", ok, err)
	}
	copy(mine, "XXXX")
	page, err := o.Store.Scan(context.Background(), "k", 0, 1)
	must(t, "scan", err)
	if got := string(page[0].Value); got != "mine" {
		t.Errorf("scan: got %q, want \"mine\"", got)
	}
	copy(page[0].Value, "YYYY")
	wantHead(t, o.Store, "k", 1, "mine")
}
