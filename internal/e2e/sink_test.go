package e2e

import (
	"context"
	"fmt"
	"os/exec"
	"slices"
	"strings"
	"testing"
	"time"

	"tailrace/internal/mytest"
	"tailrace/internal/pgtest"
)

// target is a database that a sink writes to.
type target interface {
	URL() string
	Exec(t testing.TB, sql string)
	Query(t testing.TB, sql string) [][]string
}

// onBothTargets runs a test of sinks against a MariaDB and a PostgreSQL of its own.
func onBothTargets(t *testing.T, test func(t *testing.T, s *server, into string, to target)) {
	t.Run("mariadb", func(t *testing.T) {
		to := mytest.Start(t)
		test(t, start(t), fmt.Sprintf("MARIADB (URL '%s')", to.URL()), to)
	})
	t.Run("postgres", func(t *testing.T) {
		to := pgtest.Start(t)
		test(t, start(t), fmt.Sprintf("POSTGRES (URL '%s')", to.URL()), to)
	})
}

// rowsOf is the result of a query at the target, a line a row, sorted.
func rowsOf(t testing.TB, to target, sql string) []string {
	t.Helper()
	var out []string
	for _, r := range to.Query(t, sql) {
		out = append(out, strings.Join(r, "|"))
	}
	slices.Sort(out)
	return out
}

// eventually waits until got is want.
func eventually(t testing.TB, what string, got func() []string, want ...string) {
	t.Helper()
	slices.Sort(want)
	deadline := time.Now().Add(30 * time.Second)
	for {
		have := got()
		if slices.Equal(have, want) {
			return
		}
		if time.Now().After(deadline) {
			t.Fatalf("%s: got %q, want %q", what, have, want)
		}
		<-time.After(20 * time.Millisecond)
	}
}

// caughtUp waits until a sink has sent everything that was committed before.
func (c *client) caughtUp(sink string) {
	c.t.Helper()
	now := c.one("SELECT mz_now()")
	deadline := time.Now().Add(60 * time.Second)
	for {
		rows := c.run("SELECT checkpoint >= " + now + ", state, reason FROM mz_internal.mz_sinks WHERE name = '" + sink + "'")
		if len(rows) == 1 && strings.HasPrefix(rows[0], "t ") {
			return
		}
		if time.Now().After(deadline) {
			c.t.Fatalf("sink %s is not caught up: %q\nspans %q", sink, rows, c.run("SELECT * FROM mz_internal.mz_sink_spans"))
		}
		<-time.After(20 * time.Millisecond)
	}
}

// sameRows fails unless a query has the same rows here and at the target.
func sameRows(t testing.TB, c *client, to target, sql string) {
	t.Helper()
	var want []string
	for _, r := range c.cells(sql) {
		want = append(want, strings.Join(r, "|"))
	}
	slices.Sort(want)
	got := rowsOf(t, to, sql)
	if slices.Equal(got, want) {
		return
	}
	for i := range max(len(got), len(want)) {
		if i >= len(got) || i >= len(want) || got[i] != want[i] {
			t.Fatalf("%s: got %d rows, want %d; from row %d on they differ: got %.300q, want %.300q", sql, len(got), len(want), i, got[min(i, len(got)):], want[min(i, len(want)):])
		}
	}
}

// cells are the rows of a query, NULL as the targets' tests print it.
func (c *client) cells(sql string) (out [][]string) {
	c.t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), 60*time.Second)
	defer cancel()
	results, err := c.c.PgConn().Exec(ctx, sql).ReadAll()
	if err != nil {
		c.t.Fatalf("%s: %v", sql, describe(err))
	}
	for _, row := range results[len(results)-1].Rows {
		cells := make([]string, len(row))
		for i, v := range row {
			if cells[i] = string(v); v == nil {
				cells[i] = "NULL"
			}
		}
		out = append(out, cells)
	}
	return out
}

func TestSinkKeepsTheTargetEqual(t *testing.T) {
	onBothTargets(t, func(t *testing.T, s *server, into string, to target) {
		c := s.connect(t)
		c.run("CREATE TABLE stock (item text PRIMARY KEY, n int, price numeric(10,2))")
		c.run("CREATE TABLE history (what text, n int)") // no key
		c.run("INSERT INTO stock SELECT 'item ' || g, g, g * 1.5 FROM generate_series(1, 1000) g")
		c.run("INSERT INTO history SELECT 'h' || g % 3, g % 5 FROM generate_series(1, 100) g")
		c.run("CREATE SINK copy FROM stock, history INTO " + into)
		c.caughtUp("copy")
		all := func() {
			t.Helper()
			sameRows(t, c, to, "SELECT item, n, price FROM stock")
			sameRows(t, c, to, "SELECT what, n, count(*) FROM history GROUP BY what, n")
		}
		all()
		c.run("UPDATE stock SET n = n + 1 WHERE n % 2 = 0")
		c.run("DELETE FROM stock WHERE n % 7 = 0")
		c.run("INSERT INTO history VALUES ('h1', 1), ('h1', 1), ('new', NULL)")
		c.run("DELETE FROM history WHERE what = 'h2'")
		for i := range 50 {
			c.run(fmt.Sprintf("BEGIN; UPDATE stock SET price = price + %d WHERE item = 'item 1'; INSERT INTO history VALUES ('h0', %d); COMMIT", i, i%4))
		}
		c.caughtUp("copy")
		all()
		c.run("DROP SINK copy")
		if n := rowsOf(t, to, "SELECT count(*) FROM information_schema.tables WHERE table_schema = 'tailrace'"); n[0] != "0" {
			t.Errorf("tables of progress after DROP SINK: got %s, want 0", n[0])
		}
		c.run("DROP TABLE stock")
	})
}

// columnsOf lists the columns of the target's table.
func columnsOf(t testing.TB, to target, table string) []string {
	t.Helper()
	return rowsOf(t, to, "SELECT column_name FROM information_schema.columns WHERE table_name = '"+table+"'")
}

func TestSinkCarriesSchemaChangesOver(t *testing.T) {
	onBothTargets(t, func(t *testing.T, s *server, into string, to target) {
		c := s.connect(t)
		c.run("CREATE TABLE a (id int PRIMARY KEY, v text, gone int)")
		c.run("CREATE TABLE bag (v text, n int)")
		c.run("INSERT INTO a SELECT g, 'v' || g, g FROM generate_series(1, 50) g")
		c.run("INSERT INTO bag SELECT 'b' || g % 4, g FROM generate_series(1, 50) g")
		c.run("CREATE SINK copy FROM a, bag INTO " + into)
		c.caughtUp("copy")
		changes := []string{
			"ALTER TABLE a ADD COLUMN more int DEFAULT 7",
			"ALTER TABLE a DROP COLUMN gone",
			"ALTER TABLE a RENAME COLUMN v TO w",
			"ALTER TABLE a ALTER COLUMN more TYPE bigint",
			"ALTER TABLE bag ADD COLUMN extra text",
			"ALTER TABLE bag ALTER COLUMN n TYPE bigint",
			"TRUNCATE bag",
			"ALTER TABLE a RENAME TO b",
		}
		for i, change := range changes {
			table, value := "a", "v"
			if i >= 2 {
				value = "w"
			}
			c.run(fmt.Sprintf("UPDATE bag SET n = n + %d", i))
			c.run(change)
			if i == len(changes)-1 {
				table = "b"
			}
			c.run(fmt.Sprintf("INSERT INTO %s (id, %s) VALUES (%d, 'after')", table, value, 1001+2*i))
			c.run("INSERT INTO bag (v, n) VALUES ('after', 1)")
			c.caughtUp("copy")
			sameRows(t, c, to, "SELECT * FROM "+table)
			sameRows(t, c, to, "SELECT * FROM bag")
		}
		if got := columnsOf(t, to, "b"); !slices.Equal(got, []string{"id", "more", "w"}) {
			t.Errorf("columns: got %q, want id, more, w", got)
		}
	})
}

func TestSinkMindsUniqueAndForeignKeys(t *testing.T) {
	onBothTargets(t, func(t *testing.T, s *server, into string, to target) {
		to.Exec(t, "CREATE TABLE people (id int NOT NULL PRIMARY KEY, mail varchar(50), UNIQUE (mail))")
		to.Exec(t, "CREATE TABLE parent (id int NOT NULL PRIMARY KEY, n int)")
		to.Exec(t, "CREATE TABLE child (id int NOT NULL PRIMARY KEY, parent int NOT NULL, FOREIGN KEY (parent) REFERENCES parent (id))")
		c := s.connect(t)
		c.run("CREATE TABLE people (id int PRIMARY KEY, mail varchar(50))")
		c.run("CREATE TABLE parent (id int PRIMARY KEY, n int)")
		c.run("CREATE TABLE child (id int PRIMARY KEY, parent int NOT NULL)")
		c.run("INSERT INTO people SELECT g, 'm' || g FROM generate_series(1, 40) g")
		c.run("INSERT INTO parent SELECT g, g FROM generate_series(1, 40) g")
		c.run("INSERT INTO child SELECT g, (g % 40) + 1 FROM generate_series(1, 400) g")
		c.run("CREATE SINK copy FROM child, people, parent INTO " + into)
		c.caughtUp("copy")
		c.run("BEGIN; UPDATE people SET mail = NULL WHERE id = 1; UPDATE people SET mail = 'm1' WHERE id = 2; UPDATE people SET mail = 'm2' WHERE id = 1; COMMIT") // swap
		c.run("BEGIN; DELETE FROM people WHERE id = 3; INSERT INTO people VALUES (103, 'm3'); COMMIT")
		c.run("UPDATE people SET mail = 'm' || (4 + (id - 3) % 37) WHERE id BETWEEN 4 AND 40") // all move on by one
		for i := range 30 {
			c.run(fmt.Sprintf("UPDATE people SET mail = 'free%d' WHERE id = %d", i, 10+i%3))
			c.run(fmt.Sprintf("INSERT INTO people VALUES (%d, 'm%d')", 200+i, 1000+i))
			c.run(fmt.Sprintf("BEGIN; DELETE FROM people WHERE id = %d; INSERT INTO people VALUES (%d, 'm%d'); COMMIT", 200+i, 300+i, 1000+i))
		}
		c.run("BEGIN; DELETE FROM child WHERE parent = 5; DELETE FROM parent WHERE id = 5; COMMIT")
		c.run("BEGIN; INSERT INTO parent VALUES (100, 1); INSERT INTO child VALUES (1000, 100); COMMIT")
		c.run("BEGIN; UPDATE child SET parent = 100 WHERE parent = 6; DELETE FROM parent WHERE id = 6; COMMIT") // children move away
		for i := range 30 {
			c.run(fmt.Sprintf("INSERT INTO parent VALUES (%d, 0)", 500+i))
			c.run(fmt.Sprintf("INSERT INTO child VALUES (%d, %d)", 2000+i, 500+i))
			c.run(fmt.Sprintf("UPDATE parent SET n = n + 1 WHERE id = %d", 500+i))
			if i%2 == 0 {
				c.run(fmt.Sprintf("DELETE FROM child WHERE parent = %d", 500+i))
				c.run(fmt.Sprintf("DELETE FROM parent WHERE id = %d", 500+i))
			}
		}
		c.caughtUp("copy")
		for _, table := range []string{"people", "parent", "child"} {
			sameRows(t, c, to, "SELECT * FROM "+table)
		}
	})
}

func TestSinkOfWholeTransactions(t *testing.T) {
	onBothTargets(t, func(t *testing.T, s *server, into string, to target) {
		c := s.connect(t)
		c.run("CREATE TABLE account (id int PRIMARY KEY, sum int)")
		c.run("CREATE TABLE entry (account int, amount int)")
		c.run("INSERT INTO account SELECT g, 0 FROM generate_series(1, 20) g")
		c.run("CREATE SINK copy FROM account, entry INTO " + into + " WITH (CONSISTENCY = 'transaction')")
		c.caughtUp("copy")
		ended := make(chan struct{})
		go func() {
			defer close(ended)
			for i := range 200 {
				c.run(fmt.Sprintf("BEGIN; UPDATE account SET sum = sum + %d WHERE id = %d; INSERT INTO entry VALUES (%[2]d, %[1]d); COMMIT", i, i%20+1))
			}
		}()
		for done := false; !done; {
			select {
			case <-ended:
				done = true
			default:
			}
			if got := to.Query(t, "SELECT (SELECT sum(sum) FROM account), (SELECT coalesce(sum(amount), 0) FROM entry)"); got[0][0] != got[0][1] {
				t.Fatalf("a part of a transaction is visible: sums %q", got[0])
			}
		}
		c.caughtUp("copy")
		sameRows(t, c, to, "SELECT * FROM account")
		sameRows(t, c, to, "SELECT * FROM entry")
	})
}

func TestSinkStopsOnlyTheTableWhoseRowIsRefused(t *testing.T) {
	onBothTargets(t, func(t *testing.T, s *server, into string, to target) {
		to.Exec(t, "CREATE TABLE narrow (id int NOT NULL PRIMARY KEY, v varchar(50), CHECK (id < 1000))")
		c := s.connect(t)
		c.run("CREATE TABLE narrow (id int PRIMARY KEY, v varchar(50))")
		c.run("CREATE TABLE other (id int PRIMARY KEY, v text)")
		c.run("CREATE SINK copy FROM narrow, other INTO " + into)
		c.caughtUp("copy")
		c.run("INSERT INTO narrow SELECT g, 'v' FROM generate_series(990, 1000) g")
		c.run("INSERT INTO other VALUES (1, 'x')")
		eventually(t, "the other table", func() []string { return rowsOf(t, to, "SELECT * FROM other") }, "1|x")
		eventually(t, "state of the refused table", func() []string {
			return c.run("SELECT state, reason LIKE '%id=1000%', hint LIKE '%RESUME TABLE narrow%' FROM mz_internal.mz_sink_spans WHERE table_name = 'narrow'")
		}, "error t t")
		eventually(t, "its earlier rows", func() []string { return rowsOf(t, to, "SELECT count(*) FROM narrow") }, "10")
		wantRows(t, "state", c.run("SELECT state FROM mz_internal.mz_sinks"), "degraded")
		c.run("DELETE FROM narrow WHERE id = 1000")
		c.run("ALTER SINK copy SET (ON ERROR = 'dead letter')")
		c.caughtUp("copy")
		sameRows(t, c, to, "SELECT * FROM narrow")
		c.run("INSERT INTO narrow VALUES (2000, 'a'), (5, 'b')")
		c.caughtUp("copy")
		wantRows(t, "the row beside a refused one", rowsOf(t, to, "SELECT * FROM narrow WHERE id = 5"), "5|b")
		wantRows(t, "dead letters", c.run("SELECT table_name, action, row_key, row_data FROM copy_dead_letter"), "public.narrow upsert id=2000 id=2000, v=a")
	})
}

func TestSinkPausesResumesAndIsComparedAnew(t *testing.T) {
	onBothTargets(t, func(t *testing.T, s *server, into string, to target) {
		c := s.connect(t)
		c.run("CREATE TABLE a (id int PRIMARY KEY, v text)")
		c.run("CREATE TABLE b (id int PRIMARY KEY, v text)")
		c.run("INSERT INTO a SELECT g, 'v' || g FROM generate_series(1, 5000) g")
		c.run("CREATE SINK copy FROM a, b INTO " + into)
		c.caughtUp("copy")
		c.run("ALTER SINK copy PAUSE")
		wantRows(t, "state", c.run("SELECT state FROM mz_internal.mz_sinks"), "paused")
		c.run("INSERT INTO b VALUES (1, 'x')")
		c.run("ALTER SINK copy PAUSE TABLE a")
		c.run("ALTER SINK copy RESUME")
		c.run("UPDATE a SET v = 'w' WHERE id <= 10")
		eventually(t, "the table that runs", func() []string { return rowsOf(t, to, "SELECT * FROM b") }, "1|x")
		wantRows(t, "state of the table", c.run("SELECT state FROM mz_internal.mz_sink_spans WHERE table_name = 'a'"), "paused")
		if got := rowsOf(t, to, "SELECT count(*) FROM a WHERE v = 'w'"); got[0] != "0" {
			t.Errorf("rows of a paused table: got %s, want 0", got[0])
		}
		c.run("ALTER SINK copy RESUME TABLE a")
		c.caughtUp("copy")
		sameRows(t, c, to, "SELECT * FROM a")
		to.Exec(t, "UPDATE a SET v = 'spoiled' WHERE id % 100 = 0")
		to.Exec(t, "DELETE FROM a WHERE id % 100 = 1")
		to.Exec(t, "INSERT INTO a VALUES (-1, 'stray'), (99999, 'stray')")
		c.run("ALTER SINK copy RESYNC TABLE a")
		c.run("INSERT INTO a VALUES (7000, 'after')")
		eventually(t, "end of the comparison", func() []string {
			return c.run("SELECT count(*) FROM mz_internal.mz_sink_spans WHERE state = 'running' AND checkpoint IS NOT NULL")
		}, "2")
		c.caughtUp("copy")
		sameRows(t, c, to, "SELECT * FROM a")
		c.run("DROP SINK copy")
		c.run("CREATE SINK copy FROM a INTO " + into)
		eventually(t, "refusal of a table with rows", func() []string {
			return c.run("SELECT state, reason LIKE '%has rows already%' FROM mz_internal.mz_sink_spans")
		}, "error t")
		c.run("ALTER SINK copy SET (ON CONFLICT = 'verify')")
		c.caughtUp("copy")
	})
}

// TestSinkStreamsATransactionThatIsTooLarge: one that must be seen whole and has no room in memory goes into one open transaction of the target.
func TestSinkStreamsATransactionThatIsTooLarge(t *testing.T) {
	onBothTargets(t, func(t *testing.T, s *server, into string, to target) {
		c := s.connect(t)
		c.run("CREATE TABLE a (id int PRIMARY KEY, v text)")
		c.run("CREATE TABLE b (n int, v text)")
		c.run("CREATE SINK copy FROM a, b INTO " + into + " WITH (CONSISTENCY = 'transaction', MEMORY = '24MiB')")
		c.caughtUp("copy")
		c.run("BEGIN; INSERT INTO a SELECT g, repeat('x', 300) FROM generate_series(1, 70000) g; INSERT INTO b SELECT g % 100, 'b' FROM generate_series(1, 5000) g; COMMIT")
		c.caughtUp("copy")
		sameRows(t, c, to, "SELECT id, length(v) FROM a")
		c.run("BEGIN; UPDATE a SET v = 'y' WHERE id % 2 = 0; DELETE FROM a WHERE id % 7 = 0; DELETE FROM b WHERE n < 50; INSERT INTO b VALUES (1000, 'after'); COMMIT; INSERT INTO a VALUES (-1, 'small')")
		c.caughtUp("copy")
		sameRows(t, c, to, "SELECT id, length(v) FROM a")
		sameRows(t, c, to, "SELECT n, v, count(*) FROM b GROUP BY n, v")
		if got := rowsOf(t, to, "SELECT count(*) FROM tailrace.progress WHERE lane = -3 AND note = 'whole'"); got[0] != "1" {
			t.Errorf("notes of a streamed transaction: got %s, want 1", got[0])
		}
	})
}

// TestSinkFollowsASource is the chain: a PostgreSQL here, its tables at a MariaDB, and the source's database stopped.
func TestSinkFollowsASource(t *testing.T) {
	src := pgtest.Start(t, "wal_level=logical")
	src.Exec(t, `CREATE TABLE orders (id int PRIMARY KEY, item text, price numeric(12,2), at timestamptz);
		INSERT INTO orders SELECT g, 'item ' || g, g * 1.5, '2026-01-01 00:00+00' FROM generate_series(1, 1000) g`)
	to := mytest.Start(t)
	s := start(t)
	if out, err := s.attach(t, src.URL()); err != nil {
		t.Fatalf("attach: %v\n%s", err, out)
	}
	c := s.connect(t)
	out, err := exec.Command(binary, "sink", "create", "copy", "--from", "source:postgres", "--to", to.URL(), "--server", s.url).CombinedOutput()
	if err != nil || !strings.Contains(string(out), "Live: 1") {
		t.Fatalf("sink create: %v\n%s", err, out)
	}
	src.Exec(t, "UPDATE orders SET item = 'changed' WHERE id = 7; DELETE FROM orders WHERE id = 8")
	eventually(t, "the source's change at the target", func() []string { return rowsOf(t, to, "SELECT item FROM orders WHERE id IN (7, 8)") }, "changed")
	sameRows(t, c, to, "SELECT id, item, price FROM orders")
	src.Stop()
	second := pgtest.Start(t)
	c.run(fmt.Sprintf("CREATE SINK second FROM orders INTO POSTGRES (URL '%s')", second.URL()))
	c.caughtUp("second")
	sameRows(t, c, second, "SELECT * FROM orders")
	c.fails("DROP SOURCE postgres", "2BP01", "follows it")
	list, err := exec.Command(binary, "sink", "list", "--server", s.url).CombinedOutput()
	if err != nil || strings.Count(string(list), "running") != 2 {
		t.Errorf("sink list: %v\n%s", err, list)
	}
	if out, err := exec.Command(binary, "sink", "drop", "copy", "--server", s.url).CombinedOutput(); err != nil {
		t.Errorf("sink drop: %v\n%s", err, out)
	}
}
