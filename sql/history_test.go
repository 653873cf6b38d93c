package sql

import (
	"context"
	"fmt"
	"maps"
	"math/rand/v2"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"tailrace"
	"tailrace/log"
)

// keeper keeps house for a world's shards, and tells of what it committed.
type keeper struct {
	w    *world
	done chan log.Kind
}

// keep runs Maintain until stop is called. It commits through the log as the server's does.
func (w *world) keep() (k *keeper, stop func()) {
	k = &keeper{w, make(chan log.Kind, 1000)}
	ctx, cancel := context.WithCancel(context.Background())
	var wait sync.WaitGroup
	wait.Go(func() {
		if err := w.engine.Shards.Maintain(ctx, k.commit); err != nil {
			w.t.Error(err)
		}
	})
	return k, func() { cancel(); wait.Wait() }
}

func (k *keeper) commit(ctx context.Context, txn log.Txn) (tailrace.Time, error) {
	t, err := k.w.engine.Log.Commit(ctx, txn)
	for _, r := range txn.Records {
		k.done <- r.Kind
	}
	return t, err
}

// await waits until a record of kind was committed.
func (k *keeper) await(kind log.Kind) {
	k.w.t.Helper()
	late := time.After(time.Minute)
	for {
		select {
		case got := <-k.done:
			if got == kind {
				return
			}
		case <-late:
			k.w.t.Fatalf("no record of kind %v was committed in a minute", kind)
		}
	}
}

// bag is rows with their multiplicities.
type bag map[string]int64

func (b bag) add(row string, n int64) {
	if b[row] += n; b[row] == 0 {
		delete(b, row)
	}
}

// rows are those that text selects, but for the header and the tag.
func (c *client) rows(text string) []string {
	c.t.Helper()
	lines := c.must(text)
	return lines[1 : len(lines)-1]
}

func (c *client) asOf(columns string, at tailrace.Time) bag {
	c.t.Helper()
	b := bag{}
	for _, r := range c.rows(fmt.Sprintf("SELECT %s FROM t AS OF %d", columns, at)) {
		b.add(r, 1)
	}
	return b
}

// now is the newest committed time.
func (c *client) now() tailrace.Time {
	c.t.Helper()
	n, err := strconv.ParseUint(c.rows("SELECT mz_now()")[0], 10, 64)
	if err != nil {
		c.t.Fatal(err)
	}
	return tailrace.Time(n)
}

// TestHistoryReadsTheSameBeforeAndAfterAMerge: rows as of each time are what a SELECT gave then, and changes between two times are their difference, while the history lies
// in the memtable, in flushed runs, in referenced parts, and folded into the state.
func TestHistoryReadsTheSameBeforeAndAfterAMerge(t *testing.T) {
	for _, key := range []string{"", " PRIMARY KEY"} {
		t.Run("t (a int"+key+")", func(t *testing.T) {
			seed := rand.Uint64()
			rng := rand.New(rand.NewPCG(seed, 1))
			w := newWorld(t)
			c := w.client()
			c.must("CREATE TABLE t (a int" + key + ", b int, c text)")
			const columns = "a, b, length(c)"
			var times []tailrace.Time
			then := map[tailrace.Time]bag{}
			for range 40 {
				c.must(randomChange(rng, key != ""))
				at := c.now()
				b := bag{}
				for _, r := range c.rows("SELECT " + columns + " FROM t") {
					b.add(r, 1)
				}
				times, then[at] = append(times, at), b
				if rng.IntN(6) == 0 {
					if err := w.engine.Shards.Flush(t.Context(), w.engine.Log.Commit); err != nil {
						t.Fatal(err)
					}
				}
			}
			compare := func(when string) {
				t.Helper()
				for _, at := range times {
					if got := c.asOf(columns, at); !maps.Equal(got, then[at]) {
						t.Fatalf("seed %d, %s: rows as of %d: got %v, want %v", seed, when, at, got, then[at])
					}
				}
				for range 30 {
					i := rng.IntN(len(times))
					j := i + rng.IntN(len(times)-i)
					sum := maps.Clone(then[times[i]])
					last := ""
					for _, r := range c.rows(fmt.Sprintf("SELECT mz_timestamp, mz_diff, %s FROM changes('t', %d, %d)", columns, times[i]+1, times[j]+1)) {
						parts := strings.SplitN(r, "|", 3)
						n, err := strconv.ParseInt(parts[1], 10, 64)
						if err != nil || parts[0] < last {
							t.Fatalf("seed %d, %s: row %s after %s: %v", seed, when, r, last, err)
						}
						last = parts[0]
						sum.add(parts[2], n)
					}
					if !maps.Equal(sum, then[times[j]]) {
						t.Fatalf("seed %d, %s: rows as of %d and changes up to %d: got %v, want %v", seed, when, times[i], times[j], sum, then[times[j]])
					}
				}
			}
			compare("before the merge")
			k, stop := w.keep()
			c.must("INSERT INTO t SELECT 100000 + g, g, repeat('m', 100) FROM generate_series(1, 70000) g") // enough for a merge
			if err := w.engine.Shards.Flush(t.Context(), w.engine.Log.Commit); err != nil {
				t.Fatal(err)
			}
			k.await(log.KindMerge)
			stop()
			compare("after the merge")
			if got := c.rows("SELECT sum(mz_diff), count(*) FROM changes('t', " + fmt.Sprint(times[len(times)-1]+1) + ")"); got[0] != "70000|70000" {
				t.Errorf("seed %d: changes up to now: got %v", seed, got)
			}
		})
	}
}

// randomChange is a statement on t that changes some rows.
func randomChange(rng *rand.Rand, keyed bool) string {
	a, n := rng.IntN(30), rng.IntN(1000)
	size := rng.IntN(50)
	if rng.IntN(4) == 0 {
		size = 60_000 + rng.IntN(300_000)
	}
	upsert := ""
	if keyed {
		upsert = " ON CONFLICT (a) DO UPDATE SET b = excluded.b, c = excluded.c"
	}
	switch rng.IntN(5) {
	case 0:
		return fmt.Sprintf("DELETE FROM t WHERE a %% 7 = %d", a%7)
	case 1:
		return fmt.Sprintf("UPDATE t SET b = b + %d WHERE a < %d", n, a)
	case 2:
		return fmt.Sprintf("BEGIN; INSERT INTO t VALUES (%d, %d, 'x')%s; DELETE FROM t WHERE a = %d; INSERT INTO t VALUES (%d, 1, 'y'); COMMIT", a, n, upsert, a, a)
	}
	return fmt.Sprintf("INSERT INTO t SELECT g, %d, repeat('z', %d) FROM generate_series(%d, %d) g%s", n, size, a, a+rng.IntN(3), upsert)
}

// TestHistoryBelowSinceNamesTheOldestTime: AS OF and changes say how far back they reach.
func TestHistoryBelowSinceNamesTheOldestTime(t *testing.T) {
	w := newWorld(t)
	c := w.client()
	c.must("CREATE TABLE t (a int PRIMARY KEY, b text)")
	c.must("INSERT INTO t VALUES (1, repeat('x', 100000))")
	first := c.now()
	c.must("UPDATE t SET b = repeat('y', 100000)")
	c.must("ALTER TABLE t SET (RETAIN HISTORY FOR '0s')")
	c.must("INSERT INTO t VALUES (2, repeat('x', 100000))")
	if err := w.engine.Shards.Flush(t.Context(), w.engine.Log.Commit); err != nil {
		t.Fatal(err)
	}
	c.must("INSERT INTO t SELECT g, 'more' FROM generate_series(10, 70000) g")
	if err := w.engine.Shards.Flush(t.Context(), w.engine.Log.Commit); err != nil {
		t.Fatal(err)
	}
	k, stop := w.keep()
	k.await(log.KindMerge)
	sh := w.engine.Shards.Shard(c.tableID("t"))
	for sh.Since() <= first { // a commit may be refused, and is tried again
		k.await(log.KindSince)
	}
	stop()
	since := sh.Since()
	want := fmt.Sprintf("ERROR 22023: could not find a valid timestamp for the query | The oldest readable time is %d; %d was asked for.", since, first)
	for _, text := range []string{
		fmt.Sprintf("SELECT count(*) FROM t AS OF %d", first), fmt.Sprintf("SELECT b FROM t WHERE a = 1 AS OF %d", first),
		fmt.Sprintf("SELECT count(*) FROM changes('t', %d)", first+1), fmt.Sprintf("SELECT count(*) FROM changes('public.t', %d, %d)", first+1, first+1),
	} {
		got := regexp.MustCompile(` \(at \d+\)`).ReplaceAllString(c.query(text, "")[0], "")
		if got != want {
			t.Errorf("%s: got %s, want %s", text, got, want)
		}
	}
	if got := c.rows(fmt.Sprintf("SELECT count(*) FROM t AS OF %d", since)); len(got) != 1 {
		t.Errorf("as of since: got %q", got)
	}
}

// tableID is the ID of a table, as the newest catalog has it.
func (c *client) tableID(name string) tailrace.CollectionID {
	return c.engine.Catalog.Current().Table("public", name).ID
}

// TestSubscribersAreToldOfARetype: the column that they follow is another one now, also when it keeps its bytes.
func TestSubscribersAreToldOfARetype(t *testing.T) {
	for _, text := range []string{"ALTER TABLE t ALTER b TYPE int USING length(b)", "ALTER TABLE t ALTER b TYPE text", "ALTER TABLE t ALTER a TYPE bigint"} {
		w := newWorld(t)
		c, follower := w.client(), w.client()
		c.must("CREATE TABLE t (a int PRIMARY KEY, b varchar(5)); INSERT INTO t VALUES (1, 'one')")
		follower.must("BEGIN; DECLARE c CURSOR FOR SUBSCRIBE t; FETCH 1 FROM c")
		c.must(text)
		column := text[len("ALTER TABLE t ALTER ")]
		want := fmt.Sprintf("ERROR 0A000: column \"%c\" of relation \"t\" was retyped while SUBSCRIBE used it", column)
		if got := follower.query("FETCH ALL FROM c", ""); len(got) != 1 || !strings.HasPrefix(got[0], want) {
			t.Errorf("%s: got %q, want %s", text, got, want)
		}
		if got := c.rows("SELECT count(*) FROM t WHERE a = 1"); got[0] != "1" {
			t.Errorf("%s: %v rows", text, got)
		}
	}
}
