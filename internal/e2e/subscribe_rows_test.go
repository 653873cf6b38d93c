package e2e

import (
	"fmt"
	"slices"
	"strings"
	"testing"
)

// data fetches n rows and returns them without timestamps.
func (c *client) data(n int) []string {
	c.t.Helper()
	_, rest := times(c.fetch(n))
	return rest
}

func TestSnapshotAndUpdates(t *testing.T) { onBothPaths(t, snapshotAndUpdates) }

func snapshotAndUpdates(t *testing.T, s *server) {
	c, w := s.connect(t), s.connect(t)
	w.run("CREATE TABLE t (a int, b text); INSERT INTO t VALUES (1,'one'),(2,'two')")
	t.Run("S01-S03", func(t *testing.T) {
		c.declare("SUBSCRIBE t")
		ts, rest := times(c.fetch(2))
		wantRows(t, "S01", rest, "1 1 one", "1 2 two")
		if ts[0] != ts[1] {
			t.Fatalf("S01: two timestamps %v", ts)
		}
		w.run("INSERT INTO t VALUES (3,'three')")
		ts2, rest := times(c.fetch(1))
		wantRows(t, "S02", rest, "1 3 three")
		if ts2[0] <= ts[0] {
			t.Fatalf("S02: %s is not after %s", ts2[0], ts[0])
		}
		w.run("DELETE FROM t WHERE a = 1")
		wantRows(t, "S03", c.data(1), "-1 1 one")
	})
	t.Run("S04", func(t *testing.T) {
		w.run("CREATE TABLE s4 (a int)")
		c.declare("SUBSCRIBE s4")
		c.run("FETCH 0 c")
		w.run("INSERT INTO s4 VALUES (7),(7),(7)")
		wantRows(t, "S04", c.data(1), "3 7")
		wantRows(t, "S04 rest", c.run("FETCH ALL c WITH (TIMEOUT = '0s')"))
	})
	t.Run("S05", func(t *testing.T) {
		w.run("CREATE TABLE s5 (a int)")
		c.declare("SUBSCRIBE s5")
		c.run("FETCH 0 c")
		for range 2 {
			w.run("BEGIN; INSERT INTO s5 VALUES (1); INSERT INTO s5 VALUES (1); COMMIT")
		}
		ts, rest := times(c.fetch(2))
		wantRows(t, "S05", rest, "2 1", "2 1")
		if ts[0] >= ts[1] {
			t.Fatalf("S05: timestamps %v", ts)
		}
	})
	t.Run("S07", func(t *testing.T) {
		w.run("CREATE TABLE s7 (a int); INSERT INTO s7 VALUES (1),(2)")
		w.run("DELETE FROM s7 WHERE a = 1")
		w.run("INSERT INTO s7 VALUES (3)")
		c.declare("SUBSCRIBE s7")
		wantRows(t, "S07", c.data(2), "1 2", "1 3")
	})
	t.Run("S08", func(t *testing.T) {
		var v []string
		for i := 5000; i > 0; i-- {
			v = append(v, fmt.Sprintf("('%05d')", i))
		}
		w.run("CREATE TABLE s8 (a text); INSERT INTO s8 VALUES " + strings.Join(v, ","))
		c.declare("SUBSCRIBE s8")
		ts, rest := times(c.run("FETCH 3 c"))
		wantRows(t, "S08", rest, "1 00001", "1 00002", "1 00003")
		if ts[0] != ts[2] {
			t.Fatalf("S08: timestamps %v", ts)
		}
		rows := c.data(4997)
		if len(rows) != 4997 || !slices.IsSorted(rows) || rows[4996] != "1 05000" {
			t.Fatalf("S08: %d rows, last %q", len(rows), rows[len(rows)-1])
		}
	})
	t.Run("S10", func(t *testing.T) {
		w.run("CREATE TABLE s10 (a int)")
		for i := range 101 {
			w.run(fmt.Sprintf("INSERT INTO s10 VALUES (%d)", i))
		}
		c.declare("SUBSCRIBE s10 WITH (SNAPSHOT = false)")
		wantRows(t, "S10", c.run("FETCH ALL c WITH (TIMEOUT = '0s')"))
		w.run("INSERT INTO s10 VALUES (999)")
		wantRows(t, "S10", c.data(1), "1 999")
	})
}

func TestAsOfAndUpTo(t *testing.T) { onBothPaths(t, asOfAndUpTo) }

func asOfAndUpTo(t *testing.T, s *server) {
	c, w := s.connect(t), s.connect(t)
	w.run("CREATE TABLE t (a int, b text)")
	x := w.one("SELECT mz_now()")
	w.run("INSERT INTO t VALUES (5,'five')")
	c.declare("SUBSCRIBE t WITH (SNAPSHOT = false) AS OF " + x)
	ts, rest := times(c.fetch(1))
	wantRows(t, "A01", rest, "1 5 five")
	if ts[0] <= x {
		t.Fatalf("A01: %s is not after %s", ts[0], x)
	}
	c.notices = nil
	c.declare("SUBSCRIBE t AS OF " + x + " UP TO " + x)
	wantRows(t, "A02", c.run("FETCH ALL c"))
	if !strings.Contains(strings.Join(c.notices, "\n"), "guaranteed to be empty") {
		t.Fatalf("A02: notices %q", c.notices)
	}
	c.declare("SUBSCRIBE t AS OF " + x + " UP TO " + before(x))
	c.fails("FETCH ALL c", "22000", "is beyond its upper")

	w.run("CREATE TABLE e (v text)")
	var at []string
	for i := 1; i <= 3; i++ {
		w.run(fmt.Sprintf("INSERT INTO e VALUES ('e%d')", i))
		at = append(at, w.one("SELECT mz_now()"))
	}
	c.declare("SUBSCRIBE e WITH (SNAPSHOT = false) AS OF " + before(at[0]))
	if ts, _ = times(c.fetch(3)); ts[0] > at[0] || ts[1] > at[1] || ts[2] > at[2] || ts[1] <= at[0] || ts[2] <= at[1] {
		t.Fatalf("A04: times %v, committed by %v", ts, at)
	}
	for i := range 3 {
		var want, with []string
		for j := range 3 {
			row := fmt.Sprintf("1 e%d", j+1)
			if j >= i {
				want = append(want, ts[j]+" "+row)
				with = append(with, ts[j]+" "+row)
			} else {
				with = append(with, before(ts[i])+" "+row)
			}
		}
		c.declare("SUBSCRIBE e WITH (SNAPSHOT = false) AS OF " + before(ts[i]))
		wantRows(t, "A04", c.fetch(3-i), want...)
		c.declare("SUBSCRIBE e AS OF " + before(ts[i]))
		wantRows(t, "A05", c.fetch(3), with...)
		c.declare("SUBSCRIBE e AS OF " + ts[0] + " UP TO " + ts[i])
		var below []string
		for j := range i {
			below = append(below, ts[j]+fmt.Sprintf(" 1 e%d", j+1))
		}
		wantRows(t, "A06", c.fetch(3), below...)
		wantRows(t, "A06 after the end", c.run("FETCH ALL c"))
	}
	c.declare("SUBSCRIBE e AS OF 1")
	if e := c.fails("FETCH ALL c", "22023", "could not find a valid timestamp"); e.Detail == "" {
		t.Fatal("A07: no detail with the oldest readable time")
	}
	c.declare("SUBSCRIBE e AS OF 18446744073709551615")
	wantRows(t, "A08", c.run("FETCH 0 c"))
	c.run("ROLLBACK")
	c.declare("SUBSCRIBE e AS OF AT LEAST 1")
	if got := c.run("FETCH 1 c WITH (TIMEOUT = '5s')"); len(got) != 1 {
		t.Fatalf("AS OF AT LEAST: got %q", got)
	}
}

// before is the timestamp one microsecond earlier.
func before(ts string) string {
	var n uint64
	fmt.Sscan(ts, &n)
	return fmt.Sprint(n - 1)
}

func TestProgress(t *testing.T) { onBothPaths(t, progress) }

func progress(t *testing.T, s *server) {
	c, w := s.connect(t), s.connect(t)
	w.run("CREATE TABLE t (a int)")
	c.declare("SUBSCRIBE t WITH (PROGRESS)")
	ts, rest := times(c.fetch(2))
	wantRows(t, "P01", rest, "t _ _", "t _ _")
	if ts[1] <= ts[0] {
		t.Fatalf("P01: %v", ts)
	}
	w.run("INSERT INTO t VALUES (1)")
	c.declare("SUBSCRIBE t WITH (PROGRESS)")
	ts, rest = times(c.fetch(3))
	wantRows(t, "P02", rest, "t _ _", "f 1 1", "t _ _")
	if ts[0] != ts[1] || ts[2] <= ts[0] {
		t.Fatalf("P02: %v", ts)
	}
	c.declare("SUBSCRIBE t WITH (SNAPSHOT = false, PROGRESS)")
	ts, rest = times(c.fetch(2))
	wantRows(t, "P03", rest, "t _ _", "t _ _")
	if ts[1] <= ts[0] {
		t.Fatalf("P03: %v", ts)
	}
	w.run("INSERT INTO t VALUES (2)")
	for { // progress rows may come before
		ts, rest = times(c.run("FETCH 1 c"))
		if rest[0] != "t _ _" {
			break
		}
	}
	wantRows(t, "P04", rest, "f 1 2")
	data := ts[0]
	ts, rest = times(c.run("FETCH 1 c"))
	wantRows(t, "P04", rest, "t _ _")
	if ts[0] <= data {
		t.Fatalf("P04: %s then %s", data, ts[0])
	}
	for range 3 {
		_, rest = times(c.run("FETCH ALL c"))
		if len(rest) == 0 || slices.ContainsFunc(rest, func(r string) bool { return r != "t _ _" }) {
			t.Fatalf("P06: %q", rest)
		}
	}
	w.run("CREATE TABLE o (a int, b int, c int); INSERT INTO o VALUES (1,2,3),(4,0,-4),(2,5,-6)")
	c.declare("SUBSCRIBE o WITHIN TIMESTAMP ORDER BY c, b, a WITH (PROGRESS)")
	wantRows(t, "P08", c.data(4), "t _ _ _ _", "f 1 2 5 -6", "f 1 4 0 -4", "f 1 1 2 3")
	w.run("CREATE TABLE t2 (value int, key int); INSERT INTO t2 VALUES (3, 2)")
	c.declare("SUBSCRIBE t2 ENVELOPE DEBEZIUM (KEY (key)) WITH (PROGRESS)")
	wantRows(t, "P09", c.data(3), "t _ _ _ _", "f insert 2 _ 3", "t _ _ _ _")
	u := w.one("SELECT mz_now() + 1500000")
	c.declare("SUBSCRIBE o WITH (PROGRESS) UP TO " + u)
	rows := c.fetch(1000)
	if got := rows[len(rows)-1]; got != u+" t _ _ _ _" {
		t.Fatalf("closing progress row: got %q, want at %s", got, u)
	}
}

func TestOrder(t *testing.T) { onBothPaths(t, orderWithinTimestamp) }

func orderWithinTimestamp(t *testing.T, s *server) {
	c, w := s.connect(t), s.connect(t)
	w.run("CREATE TABLE p (a int, b int); INSERT INTO p VALUES (1,2),(2,1)")
	w.run("CREATE TABLE q (a int, b int, c int); INSERT INTO q VALUES (1,2,3),(4,0,-4),(2,5,-6)")
	for _, x := range []struct{ name, object, by, want string }{
		{"W01", "p", "a, mz_diff", "1 1 2|1 2 1"},
		{"W02", "p", "b, a", "1 2 1|1 1 2"},
		{"W03", "p", "b DESC NULLS LAST, a", "1 1 2|1 2 1"},
		{"W04", "q", "a, b, c", "1 1 2 3|1 2 5 -6|1 4 0 -4"},
		{"W05", "q", "c, b, mz_diff, a", "1 2 5 -6|1 4 0 -4|1 1 2 3"},
		{"W05 by position", "q", "4, 3, 1, 2", "1 2 5 -6|1 4 0 -4|1 1 2 3"},
	} {
		c.declare("SUBSCRIBE " + x.object + " WITHIN TIMESTAMP ORDER BY " + x.by)
		want := strings.Split(x.want, "|")
		wantRows(t, x.name, c.data(len(want)), want...)
	}
	w.run("CREATE TABLE k (key int PRIMARY KEY, v int); INSERT INTO k VALUES (1, 1)")
	c.declare("SUBSCRIBE k WITH (SNAPSHOT = false) WITHIN TIMESTAMP ORDER BY key, mz_diff")
	c.run("FETCH 0 c")
	w.run("UPDATE k SET key = 4 WHERE key = 1")
	wantRows(t, "W06", c.data(2), "-1 1 1", "1 4 1")
	c.run("ROLLBACK")
	c.fails("SUBSCRIBE p WITHIN TIMESTAMP ORDER BY a + 1", "42P10", "invalid ORDER BY in SUBSCRIBE WITHIN TIMESTAMP ORDER BY")
	c.fails("SUBSCRIBE p WITHIN TIMESTAMP ORDER BY c", "42703", `column "c" does not exist`)
	c.fails("SUBSCRIBE p ENVELOPE UPSERT (KEY (a)) WITHIN TIMESTAMP ORDER BY a", "42601", "")
}

func TestUpsertAndDebezium(t *testing.T) { onBothPaths(t, upsertAndDebezium) }

func upsertAndDebezium(t *testing.T, s *server) {
	c, d, w := s.connect(t), s.connect(t), s.connect(t)
	w.run("CREATE TABLE t1 (key int, value int); INSERT INTO t1 VALUES (1,2),(2,3)")
	c.declare("SUBSCRIBE t1 ENVELOPE UPSERT (KEY (key))")
	d.declare("SUBSCRIBE t1 ENVELOPE DEBEZIUM (KEY (key))")
	wantRows(t, "snapshot", c.data(2), "upsert 1 2", "upsert 2 3")
	wantRows(t, "snapshot", d.data(2), "insert 1 _ 2", "insert 2 _ 3")
	for _, x := range []struct{ sql, upsert, debezium string }{
		{"UPDATE t1 SET value = 4 WHERE key = 1", "upsert 1 4", "upsert 1 2 4"},
		{"DELETE FROM t1 WHERE key = 1", "delete 1 _", "delete 1 4 _"},
		{"INSERT INTO t1 VALUES (1,1),(1,1)", "key_violation 1 _", "key_violation 1 _ _"},
		{"DELETE FROM t1 WHERE key = 1", "key_violation 1 _", "key_violation 1 _ _"},
		{"INSERT INTO t1 VALUES (1,1),(1,2)", "key_violation 1 _", "key_violation 1 _ _"},
		{"INSERT INTO t1 VALUES (1,3)", "upsert 1 3", "insert 1 _ 3"},
		{"DELETE FROM t1 WHERE key = 1 AND value = 1", "delete 1 _", "delete 1 1 _"},
		{"DELETE FROM t1 WHERE key = 1", "key_violation 1 _", "key_violation 1 _ _"},
	} {
		w.run(x.sql)
		wantRows(t, x.sql, c.data(1), x.upsert)
		wantRows(t, x.sql, d.data(1), x.debezium)
	}
	c.declare("SUBSCRIBE t1 ENVELOPE UPSERT (KEY (key, value))")
	wantRows(t, "key of all columns", c.data(1), "upsert 2 3")
	w.run("CREATE TABLE t4 (a int, b text, c uuid)")
	c.run("ROLLBACK")
	for _, x := range []struct{ subscribe, columns string }{
		{"SUBSCRIBE t4 ENVELOPE UPSERT (KEY (c, a))", "mz_timestamp mz_state c a b"},
		{"SUBSCRIBE t1", "mz_timestamp mz_diff key value"},
		{"SUBSCRIBE t1 WITH (PROGRESS)", "mz_timestamp mz_progressed mz_diff key value"},
		{"SUBSCRIBE t1 ENVELOPE UPSERT (KEY (value))", "mz_timestamp mz_state value key"},
		{"SUBSCRIBE t1 WITH (PROGRESS) ENVELOPE UPSERT (KEY (key))", "mz_timestamp mz_progressed mz_state key value"},
		{"SUBSCRIBE t1 ENVELOPE DEBEZIUM (KEY (key))", "mz_timestamp mz_state key before_value after_value"},
		{"SUBSCRIBE t4 ENVELOPE DEBEZIUM (KEY (b))", "mz_timestamp mz_state b before_a before_c after_a after_c"},
		{"SUBSCRIBE t4 ENVELOPE DEBEZIUM (KEY (c, b))", "mz_timestamp mz_state c b before_a after_a"},
		{"SUBSCRIBE t1 WITHIN TIMESTAMP ORDER BY key, mz_diff", "mz_timestamp mz_diff key value"},
	} {
		if got := c.columns(x.subscribe); got != x.columns {
			t.Errorf("%s: columns %q, want %q", x.subscribe, got, x.columns)
		}
	}
	c.fails("SUBSCRIBE t4 ENVELOPE UPSERT (KEY (a, a))", "42701", "")
	c.fails("SUBSCRIBE t4 ENVELOPE UPSERT (KEY (x))", "42703", "")
}
