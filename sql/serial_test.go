package sql

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
)

// TestBlocksOfSeveralSessionsAreSerial runs blocks of reads and writes on few rows in several sessions at once. There must be one order of those that committed in which each reads what it read. A
// block reads all rows that it writes, so the order is known by the versions: each row's writes count it up, and a block that read version v of a row is after the one that wrote v and
// before the one that wrote v+1. Blocks of which one is before another, around in a circle, are not serial.
func TestBlocksOfSeveralSessionsAreSerial(t *testing.T) {
	const sessions, blocks, rows = 4, 40, 5
	seed := rand.Uint64()
	w := newWorld(t)
	setup := w.client()
	setup.must("CREATE TABLE t (a int PRIMARY KEY, v int)")
	setup.must(fmt.Sprintf("INSERT INTO t SELECT g, 0 FROM generate_series(0, %d) g", rows-1))
	var mu sync.Mutex
	var done []block
	conflicts := 0
	var wait sync.WaitGroup
	for n := range sessions {
		rng := rand.New(rand.NewPCG(seed, uint64(n)))
		c := w.client()
		wait.Go(func() {
			for range blocks {
				b, code := runBlock(c, rng, rows)
				mu.Lock()
				switch code {
				case "":
					done = append(done, b)
				case "40001":
					conflicts++
				default:
					t.Errorf("seed %d: a block failed with %s", seed, code)
				}
				mu.Unlock()
			}
		})
	}
	wait.Wait()
	if len(done) == 0 || conflicts == 0 {
		t.Fatalf("seed %d: %d blocks committed, %d in conflict: want some of both", seed, len(done), conflicts)
	}
	total := 0
	for _, b := range done {
		total += len(b.wrote)
	}
	if got := setup.rows("SELECT sum(v) FROM t")[0]; got != strconv.Itoa(total) {
		t.Errorf("seed %d: sum of versions: got %s, want %d writes", seed, got, total)
	}
	if circle := circleOf(done); circle != nil {
		t.Errorf("seed %d: no serial order of the blocks %v", seed, circle)
	}
	t.Logf("seed %d: %d blocks, %d conflicts", seed, len(done), conflicts)
}

// block is what a transaction read and wrote: versions by row. A write makes the version read plus one.
type block struct{ read, wrote map[int]int }

// runBlock runs one; code is the SQLSTATE with which it failed, "" when it committed.
func runBlock(c *client, rng *rand.Rand, rows int) (b block, code string) {
	b = block{map[int]int{}, map[int]int{}}
	failed := func(lines []string) bool {
		for _, l := range lines {
			if strings.HasPrefix(l, "ERROR") {
				code = l[6:11]
				c.query("ROLLBACK", "")
				return true
			}
		}
		return false
	}
	c.query("BEGIN", "")
	for i := range 1 + rng.IntN(3) {
		a := rng.IntN(rows)
		point := rng.IntN(3) == 0
		if point {
			c.query("SAVEPOINT s", "")
		}
		lines := c.query(fmt.Sprintf("SELECT v FROM t WHERE a = %d", a), "")
		if failed(lines) {
			return b, code
		}
		v, err := strconv.Atoi(lines[1])
		if err != nil {
			return b, "not a number: " + lines[1]
		}
		if was, ours := b.wrote[a]; ours && was != v {
			return b, fmt.Sprintf("row %d: wrote %d, read %d", a, was, v)
		} else if !ours {
			b.read[a] = v
		}
		if _, ours := b.wrote[a]; ours || rng.IntN(3) == 0 {
			continue
		}
		text := fmt.Sprintf("UPDATE t SET v = v + 1 WHERE a = %d", a)
		if i%2 == 1 {
			text = fmt.Sprintf("INSERT INTO t VALUES (%d, 0) ON CONFLICT (a) DO UPDATE SET v = t.v + 1 RETURNING v", a)
		}
		if failed(c.query(text, "")) {
			return b, code
		}
		if point && rng.IntN(2) == 0 {
			c.query("ROLLBACK TO s", "")
			continue
		}
		b.wrote[a] = v + 1
	}
	failed(c.query("COMMIT", ""))
	return b, code
}

// circleOf is blocks that would each have to come before the next, and the last before the first; nil when there are none.
func circleOf(done []block) []block {
	type version struct{ row, v int }
	writer := map[version]int{}
	readers := map[version][]int{}
	for i, b := range done {
		for row, v := range b.wrote {
			writer[version{row, v}] = i
		}
		for row, v := range b.read {
			readers[version{row, v}] = append(readers[version{row, v}], i)
		}
	}
	after := make([][]int, len(done))
	edge := func(i, j int) {
		if i != j && !slices.Contains(after[i], j) {
			after[i] = append(after[i], j)
		}
	}
	for at, w := range writer {
		for _, r := range readers[at] {
			edge(w, r) // it read what w wrote
		}
		for _, r := range readers[version{at.row, at.v - 1}] {
			edge(r, w) // w overwrote what it read
		}
		if before, ok := writer[version{at.row, at.v - 1}]; ok {
			edge(before, w)
		}
	}
	state := make([]int, len(done)) // 1: on the path, 2: done
	var path []int
	var visit func(i int) []int
	visit = func(i int) []int {
		state[i] = 1
		path = append(path, i)
		for _, j := range after[i] {
			if state[j] == 1 {
				return path[slices.Index(path, j):]
			}
			if state[j] == 0 {
				if c := visit(j); c != nil {
					return c
				}
			}
		}
		path, state[i] = path[:len(path)-1], 2
		return nil
	}
	for i := range done {
		if state[i] == 0 {
			if c := visit(i); c != nil {
				var out []block
				for _, k := range c {
					out = append(out, done[k])
				}
				return out
			}
		}
	}
	return nil
}
