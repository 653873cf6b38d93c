package sql

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
)

// TestBothPathsGiveTheSameRows: random SUBSCRIBEs over tables that random statements changed, each on both paths, in every shape. Of progress rows only the first and
// the last are compared: how many there are between is each path's own.
func TestBothPathsGiveTheSameRows(t *testing.T) {
	for seed := range uint64(12) {
		rng := rand.New(rand.NewPCG(seed, 5))
		w := newWorld(t)
		c := w.client()
		c.must("CREATE TABLE t (a int PRIMARY KEY, b int, c text, d numeric); CREATE TABLE k (a int, b int, c text, d numeric)")
		times := []uint64{uint64(c.now())}
		for range 25 {
			c.must(randomDML(rng))
			times = append(times, uint64(c.now()))
			if rng.IntN(6) == 0 {
				if err := w.engine.Shards.Flush(t.Context(), w.engine.Log.Commit); err != nil {
					t.Fatal(err)
				}
			}
		}
		both := 0
		for range 40 {
			text := randomSubscribe(rng, times)
			c.must("SET subscribe_path = storage")
			stored := c.query(text, "")
			c.must("SET subscribe_path = dataflow")
			flowed := c.query(text, "")
			if strings.Contains(strings.Join(stored, "\n"), "cannot be served from storage") {
				continue
			}
			both++
			progress := strings.Contains(text, "PROGRESS")
			if got, want := comparedRows(flowed, progress), comparedRows(stored, progress); got != want {
				t.Fatalf("seed %d: %s\non the dataflow path\n%s\nfrom storage\n%s", seed, text, got, want)
			}
		}
		if both < 20 {
			t.Fatalf("seed %d: only %d of 40 statements ran on both paths", seed, both)
		}
	}
}

// comparedRows leaves out progress rows between the first and the last.
func comparedRows(lines []string, progress bool) string {
	var out []string
	var last string
	for _, l := range lines {
		if f := strings.SplitN(l, "|", 3); progress && len(f) > 1 && f[1] == "t" {
			if last == "" {
				out = append(out, l)
			}
			last = l
			continue
		}
		out = append(out, l)
	}
	return strings.Join(append(out, last), "\n")
}

func randomDML(rng *rand.Rand) string {
	a, b, text := rng.IntN(20), rng.IntN(4), []string{"'x'", "'y%'", "NULL", "'zz'"}[rng.IntN(4)]
	switch rng.IntN(7) {
	case 0:
		return fmt.Sprintf("UPDATE t SET b = %d WHERE a < %d", b, a)
	case 1:
		return fmt.Sprintf("UPDATE t SET c = %s, d = %d.%d0 WHERE b = %d", text, a, b, b)
	case 2:
		return fmt.Sprintf("DELETE FROM t WHERE a = %d", a)
	case 3:
		return fmt.Sprintf("DELETE FROM k WHERE b = %d", b)
	case 4:
		return fmt.Sprintf("INSERT INTO k VALUES (%d, %d, %s, %d), (%d, %d, %s, NULL)", a%5, b, text, b, a%5, b, text)
	case 5:
		return fmt.Sprintf("UPDATE k SET b = b + 1 WHERE a = %d", a%5)
	}
	return fmt.Sprintf("INSERT INTO t SELECT g, g %% %d, %s, g / 2.0 FROM generate_series(%d, %d) g ON CONFLICT (a) DO UPDATE SET b = excluded.b", b+1, text, a, a+rng.IntN(6))
}

func randomSubscribe(rng *rand.Rand, times []uint64) string {
	table := []string{"t", "k"}[rng.IntN(2)]
	of, columns := table, []string{"a", "b", "c", "d"}
	if rng.IntN(4) > 0 {
		all := columns
		columns = nil
		for _, i := range rng.Perm(4)[:1+rng.IntN(4)] {
			columns = append(columns, all[i])
		}
		if rng.IntN(4) == 0 {
			columns = all
		}
		of = "(SELECT " + strings.Join(columns, ", ") + " FROM " + table
		if rng.IntN(4) > 0 {
			of += " WHERE " + randomCondition(rng)
		}
		of += ")"
	}
	text := "SUBSCRIBE " + of
	one := func() string { return columns[rng.IntN(len(columns))] }
	switch rng.IntN(5) {
	case 0:
		text += " ENVELOPE UPSERT (KEY (" + one() + "))"
	case 1:
		text += " ENVELOPE DEBEZIUM (KEY (" + one() + "))"
	case 2:
		text += " WITHIN TIMESTAMP ORDER BY " + one() + " DESC, mz_diff"
	}
	var with []string
	if rng.IntN(3) == 0 {
		with = append(with, "SNAPSHOT = false")
	}
	if rng.IntN(2) == 0 {
		with = append(with, "PROGRESS")
	}
	if len(with) > 0 {
		text += " WITH (" + strings.Join(with, ", ") + ")"
	}
	from := rng.IntN(len(times))
	to := from + rng.IntN(len(times)-from)
	return fmt.Sprintf("%s AS OF %d UP TO %d", text, times[from], times[to]+1)
}

func randomCondition(rng *rand.Rand) string {
	n := rng.IntN(10)
	switch rng.IntN(9) {
	case 0:
		return fmt.Sprintf("b = %d", n%4)
	case 1:
		return fmt.Sprintf("a BETWEEN %d AND %d", n, n+5)
	case 2:
		return fmt.Sprintf("a IN (%d, %d, %d)", n, n+3, n+7)
	case 3:
		return "c LIKE '%y\\%' OR c = 'x'"
	case 4:
		return "c IS NULL"
	case 5:
		return fmt.Sprintf("NOT (d > %d.5)", n%4)
	case 6:
		return fmt.Sprintf("b = %d AND d IS NOT NULL AND a > %d", n%4, n)
	case 7:
		return fmt.Sprintf("c <> 'x' AND c NOT LIKE 'z_' OR b NOT IN (1, %d)", n)
	}
	return fmt.Sprintf("%d <= a AND (b < 2 OR c IS NOT NULL)", n)
}
