package sql

import (
	"context"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
)

// TestPrunedSelectEqualsWhole compares WHERE, which page groups are left out by, with the same condition in a form that says nothing to the scan.
func TestPrunedSelectEqualsWhole(t *testing.T) {
	w := newWorld(t)
	c := w.client()
	c.must("CREATE TABLE t (id int PRIMARY KEY, n bigint, s text, d date, x numeric(10,2), f float8, b bool)")
	rng := rand.New(rand.NewPCG(7, 7))
	flush := func() {
		if err := w.engine.Shards.Flush(context.Background(), w.engine.Log.Commit); err != nil {
			t.Fatal(err)
		}
	}
	c.must("INSERT INTO t SELECT i, i / 10, 'k' || i / 100, '2024-01-01'::date + i / 50, i / 7.0, i * 0.5, i > 20000 FROM generate_series(1, 30000) AS g(i)")
	flush()
	c.must("UPDATE t SET n = NULL, s = NULL WHERE id BETWEEN 9000 AND 9100; DELETE FROM t WHERE id BETWEEN 100 AND 8000; UPDATE t SET n = -n, f = f + 1 WHERE id > 29000")
	flush()
	c.must("UPDATE t SET n = 5 WHERE id = 25000; INSERT INTO t VALUES (50000, 1, 'zz', 'infinity', 0, 'NaN', NULL)")
	ops := []string{"=", "<", "<=", ">", ">="}
	for i := range 60 {
		var conds []string
		for range 1 + rng.IntN(2) {
			v := rng.IntN(33000)
			conds = append(conds, []string{
				fmt.Sprintf("id %s %d", ops[rng.IntN(5)], v), fmt.Sprintf("%d %s n", v/10, ops[rng.IntN(5)]), fmt.Sprintf("s %s 'k%d'", ops[rng.IntN(5)], v/100),
				fmt.Sprintf("d %s '2024-01-01'::date + %d", ops[rng.IntN(4)], v/50), fmt.Sprintf("x BETWEEN %d AND %d", v/7, v/7+100), fmt.Sprintf("f %s %d.5", ops[rng.IntN(5)], v/2),
				fmt.Sprintf("id IN (%d, %d, NULL)", v, v+7), "n IS NULL", "s IS NOT NULL", "b = true", fmt.Sprintf("x > %d::int8", v/7), fmt.Sprintf("f < %d", v/2),
			}[rng.IntN(12)])
		}
		cond := strings.Join(conds, " AND ")
		query := "SELECT count(*), sum(id), min(n), max(s), sum(x) FROM t WHERE "
		got, want := c.must(query + cond)[1], c.must(query + "(" + cond + ") IS TRUE")[1]
		if got != want {
			t.Errorf("%d: WHERE %s: got %s, want %s", i, cond, got, want)
		}
	}
	plan := strings.Join(c.must("EXPLAIN (ANALYZE, VERBOSE, TIMING OFF, SUMMARY OFF) SELECT * FROM t WHERE id > 29900"), "\n")
	if strings.Contains(plan, "Page Groups Pruned: 0") || !strings.Contains(plan, "Page Groups Pruned: ") {
		t.Errorf("nothing was passed over:\n%s", plan)
	}
	t.Log(plan)
}
