package e2e

import (
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
)

// ledger is what the writers were told: which rows of ins were acknowledged, and how often each counter of acc was.
type ledger struct {
	mu     sync.Mutex
	acked  map[int]bool
	tried  map[int]bool
	counts [8]int // acknowledged increments
	maybe  [8]int // increments without an answer
	next   int
}

// filler makes rows so large that the log passes a checkpoint, and memtables a flush, every few hundred commits.
var filler = strings.Repeat("a row to be kept ", 512)

// write inserts and updates on one connection until it breaks.
func (l *ledger) write(ctx context.Context, url string, w int) {
	conn, err := pgx.Connect(ctx, url+"?user=writer")
	if err != nil {
		return
	}
	defer conn.Close(context.Background())
	for ctx.Err() == nil {
		l.mu.Lock()
		id := l.next
		l.next++
		l.tried[id] = true
		l.mu.Unlock()
		if _, err := conn.Exec(ctx, "INSERT INTO ins VALUES ($1, $2)", id, filler); err != nil {
			return
		}
		l.mu.Lock()
		l.acked[id] = true
		l.mu.Unlock()
		_, err := conn.Exec(ctx, "UPDATE acc SET n = n + 1 WHERE id = $1", w)
		l.mu.Lock()
		if err != nil {
			l.maybe[w]++
		} else {
			l.counts[w]++
		}
		l.mu.Unlock()
		if err != nil {
			return
		}
	}
}

// check compares the server's tables with what was acknowledged.
func (l *ledger) check(t *testing.T, c *client) {
	t.Helper()
	seen := map[int]int{}
	for _, r := range c.run("SELECT id FROM ins") {
		id, err := strconv.Atoi(r)
		if err != nil {
			t.Fatal(err)
		}
		seen[id]++
	}
	for id := range l.acked {
		if seen[id] == 0 {
			t.Fatalf("acknowledged row %d is missing", id)
		}
	}
	for id, n := range seen {
		if n != 1 || !l.tried[id] {
			t.Fatalf("row %d is there %d times (tried: %v)", id, n, l.tried[id])
		}
	}
	for _, r := range c.run("SELECT id, n FROM acc") {
		var id, n int
		fmt.Sscan(r, &id, &n)
		if n < l.counts[id] || n > l.counts[id]+l.maybe[id] {
			t.Fatalf("counter %d is %d, want %d to %d", id, n, l.counts[id], l.counts[id]+l.maybe[id])
		}
	}
}

// TestKillUnderWrites kills the server at random points under writes, many times, on one folder.
func TestKillUnderWrites(t *testing.T) {
	rounds := 16
	if long {
		rounds = 300
	}
	seed := uint64(time.Now().UnixNano())
	t.Logf("seed %d", seed)
	rng := rand.New(rand.NewPCG(seed, 1))
	dir := t.TempDir()
	l := &ledger{acked: map[int]bool{}, tried: map[int]bool{}}
	s := startIn(t, dir)
	c := s.connect(t)
	c.run("CREATE TABLE ins (id int, v text); CREATE TABLE acc (id int PRIMARY KEY, n int)")
	for i := range l.counts {
		c.run(fmt.Sprintf("INSERT INTO acc VALUES (%d, 0)", i))
	}
	followers := []*follower{{table: "ins"}, {table: "acc"}}
	written := func(kind string) bool {
		found, err := os.ReadDir(filepath.Join(dir, "blob", kind))
		return err == nil && len(found) > 0
	}
	most := 4 * rounds // a slow machine takes more of them to fill a log and a memtable
	for round := 0; round < rounds || round < most && !(written("checkpoint") && written("part")); round++ {
		ctx, cancel := context.WithCancel(context.Background())
		var wg sync.WaitGroup
		for w := range 4 {
			wg.Go(func() { l.write(ctx, s.url, w) })
		}
		for _, f := range followers {
			wg.Go(func() { f.follow(ctx, s.url) })
		}
		<-time.After(time.Duration(50+rng.IntN(400)) * time.Millisecond)
		s.kill()
		cancel()
		wg.Wait()
		s = startIn(t, dir)
		if round%4 == 3 || round >= rounds-1 {
			l.check(t, s.connect(t))
		}
	}
	for _, kind := range []string{"checkpoint", "part"} {
		if !written(kind) {
			t.Errorf("no %s was written in %d rounds", kind, most)
		}
	}
	c = s.connect(t)
	ctx, cancel := context.WithCancel(context.Background())
	var wg sync.WaitGroup
	defer wg.Wait()
	defer cancel()
	for _, f := range followers {
		wg.Go(func() { f.follow(ctx, s.url) })
		now, _ := strconv.ParseUint(c.one("SELECT mz_now()"), 10, 64)
		compare(t, f, f.wait(t, now), c.run("SELECT * FROM "+f.table))
		if f.resumes < rounds/2 {
			t.Errorf("%s: resumed only %d times in %d rounds", f.table, f.resumes, rounds)
		}
	}
	t.Logf("%d rounds, %d rows acknowledged, counters %v", rounds, len(l.acked), l.counts)
}

// compare holds a follower's rows against a table's.
func compare(t *testing.T, f *follower, rows map[string]int, table []string) {
	t.Helper()
	want := map[string]int{}
	for _, r := range table {
		want[r]++
	}
	have := map[string]int{}
	for r, n := range rows {
		have[blanks(r)] += n
	}
	for r, n := range want {
		if have[r] != n {
			t.Fatalf("%s: row %q: follower has %d, table %d", f.table, r, have[r], n)
		}
	}
	if len(have) != len(want) {
		t.Fatalf("%s: follower has %d rows, table %d", f.table, len(have), len(want))
	}
}

// blanks turns a COPY text row into the form of client.run.
func blanks(row string) string {
	cells := strings.Split(row, "\t")
	for i := range cells {
		if cells[i] == `\N` {
			cells[i] = "_"
		}
	}
	return strings.Join(cells, " ")
}
