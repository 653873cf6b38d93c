package sql

import (
	"slices"
	"testing"
)

// TestManyKeysMoveAsFewDo: rows that are walked over three times become what gathered ones do, and are refused for the same reasons.
func TestManyKeysMoveAsFewDo(t *testing.T) {
	few, many := newWorld(t), newWorld(t)
	many.engine.moveBytes = 1000
	a, b := few.client(), many.client()
	for _, text := range []string{
		"CREATE TABLE t (a int, b text, n int, PRIMARY KEY (a, b))",
		"INSERT INTO t SELECT g, 'row ' || g % 7, g FROM generate_series(1, 20000) g",
		"UPDATE t SET a = a + 1",
		"UPDATE t SET a = 30000 - a",
		"UPDATE t SET a = a / 2, b = 'same'", // two rows, one key
		"UPDATE t SET a = NULL WHERE n = 19000 OR n < 5000",
		"UPDATE t SET a = 29000 WHERE n > 10", // the key of a row that stays
		"UPDATE t SET b = 'same', a = a % 20001 WHERE n % 3 = 0 RETURNING a, n",
		"SELECT count(*), sum(a), min(b), max(b), sum(n), sum(a::int8 * n % 1000) FROM t",
		"BEGIN",
		"UPDATE t SET n = n + 1 WHERE a < 15000",
		"INSERT INTO t SELECT g, 'mine', g FROM generate_series(50000, 53000) g",
		"DELETE FROM t WHERE n % 11 = 0",
		"UPDATE t SET a = a + 1, b = b || '.'",
		"INSERT INTO t VALUES (53001, 'mine.', 1)", // taken by the last
		"ROLLBACK",
		"BEGIN",
		"INSERT INTO t SELECT g, 'mine', g FROM generate_series(50000, 53000) g",
		"UPDATE t SET a = a + 1",
		"SELECT count(*), sum(a), min(b), max(b), sum(n), sum(a::int8 * n % 1000) FROM t",
		"COMMIT",
		"SELECT count(*), sum(a), min(b), max(b), sum(n), sum(a::int8 * n % 1000) FROM t",
	} {
		want, got := a.query(text, ""), b.query(text, "")
		slices.Sort(want) // of RETURNING, too
		slices.Sort(got)
		if !slices.Equal(got, want) {
			t.Errorf("%s: many: got %.200q, few: %.200q", text, got, want)
		}
		t.Logf("%s: %.100q", text, got)
	}
}
