package e2e

import (
	"fmt"
	"net"
	"strings"
	"testing"
	"time"

	"tailrace/internal/mytest"
	"tailrace/internal/pgtest"
)

// state waits until a sink is in a state whose reason has some words.
func (c *client) state(sink, state string, words ...string) {
	c.t.Helper()
	deadline := time.Now().Add(30 * time.Second)
	for {
		rows := c.run("SELECT state, reason, hint FROM mz_internal.mz_sinks WHERE name = '" + sink + "'")
		ok := len(rows) == 1 && strings.HasPrefix(rows[0], state+" ")
		for _, w := range words {
			ok = ok && strings.Contains(rows[0], w)
		}
		if ok {
			return
		}
		if time.Now().After(deadline) {
			c.t.Fatalf("sink %s: got %q, want state %s with %q", sink, rows, state, words)
		}
		<-time.After(20 * time.Millisecond)
	}
}

func TestSinkSaysWhatIsWrongWithItsTarget(t *testing.T) {
	my, pg := mytest.Start(t), pgtest.Start(t)
	s := start(t)
	c := s.connect(t)
	c.run("CREATE TABLE a (id int PRIMARY KEY, v text)")
	c.run("INSERT INTO a VALUES (1, 'x')")
	c.fails("CREATE SINK bad FROM a INTO MYSQL (URL 'http://x')", "08001", "")
	c.fails("CREATE SINK bad FROM a INTO ORACLE (URL 'x')", "0A000", "oracle")
	c.fails("CREATE SINK bad FROM nothing INTO MYSQL (URL 'mysql://x@127.0.0.1/y')", "42P01", "nothing")
	c.fails("CREATE SINK bad FROM a INTO MYSQL (URL 'mysql://x@127.0.0.1/y') WITH (MEMROY = '1GiB')", "22023", "memroy")
	c.fails("CREATE SINK bad FROM a INTO MYSQL (URL 'mysql://x@127.0.0.1/y') WITH (START AS OF 5)", "22023", "no longer readable")
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	nobody := l.Addr().String()
	l.Close()
	for _, k := range []struct{ into, words string }{
		{fmt.Sprintf("MYSQL (URL 'mysql://root@%s/shop')", nobody), "connect"},
		{fmt.Sprintf("POSTGRES (URL 'postgres://postgres@%s/shop')", nobody), "connect"},
		{fmt.Sprintf("MYSQL (URL 'mysql://nobody:wrong@%s/shop')", my.Addr()), "denied"},
		{fmt.Sprintf("MYSQL (URL '%s')", strings.Replace(my.URL(), "/shop", "/nowhere", 1)), "nowhere"},
		{fmt.Sprintf("POSTGRES (URL '%s')", pg.URLOf("nowhere")), "nowhere"},
	} {
		c.run("CREATE SINK bad FROM a INTO " + k.into)
		c.state("bad", "failing", k.words)
		c.run("DROP SINK bad")
	}
	c.fails("DROP SINK bad", "42704", "bad")
	pg.Exec(t, "CREATE USER weak; GRANT CREATE ON DATABASE postgres TO weak")
	c.run(fmt.Sprintf("CREATE SINK weak FROM a INTO POSTGRES (URL '%s')", strings.Replace(pg.URL(), "postgres://postgres", "postgres://weak", 1)))
	c.state("weak", "degraded", "permission denied")
	pg.Exec(t, "GRANT CREATE, USAGE ON SCHEMA public TO weak")
	c.caughtUp("weak")
	sameRows(t, c, pg, "SELECT * FROM a")
	c.fails("DROP TABLE a", "2BP01", "sink \"weak\" follows it")
}

func TestSinkGoesOnWhenItsTargetComesBack(t *testing.T) {
	onBothTargets(t, func(t *testing.T, s *server, into string, to target) {
		c := s.connect(t)
		c.run("CREATE TABLE a (id int PRIMARY KEY, v text)")
		c.run("CREATE TABLE bag (n int)")
		c.run("CREATE SINK copy FROM a, bag INTO " + into)
		c.caughtUp("copy")
		for i := range 3 {
			c.run(fmt.Sprintf("INSERT INTO bag SELECT g FROM generate_series(1, 1000) g; INSERT INTO a VALUES (%d, 'before')", 2*i))
			to.(interface {
				Restart(t testing.TB, settings ...string)
			}).Restart(t)
			c.run(fmt.Sprintf("INSERT INTO bag SELECT g FROM generate_series(1, 1000) g; INSERT INTO a VALUES (%d, 'after')", 2*i+1))
			c.caughtUp("copy")
			sameRows(t, c, to, "SELECT * FROM a")
			sameRows(t, c, to, "SELECT n, count(*) FROM bag GROUP BY n")
		}
		to.Exec(t, "DROP TABLE bag")
		c.run("INSERT INTO bag VALUES (7); INSERT INTO a VALUES (100, 'x')")
		eventually(t, "the other table", func() []string { return rowsOf(t, to, "SELECT v FROM a WHERE id = 100") }, "x")
		c.state("copy", "degraded", "bag")
		to.Exec(t, "CREATE TABLE bag (n int)")
		c.run("ALTER SINK copy RESYNC TABLE bag")
		c.caughtUp("copy")
		sameRows(t, c, to, "SELECT n, count(*) FROM bag GROUP BY n")
	})
}

func TestRowLargerThanThePacketIsRefusedByName(t *testing.T) {
	to := mytest.Start(t, "max_allowed_packet=1M")
	s := start(t)
	c := s.connect(t)
	c.run("CREATE TABLE a (id int PRIMARY KEY, v text)")
	c.run("CREATE TABLE b (id int PRIMARY KEY, v text)")
	c.run(fmt.Sprintf("CREATE SINK copy FROM a, b INTO MARIADB (URL '%s')", to.URL()))
	c.caughtUp("copy")
	c.run("INSERT INTO a SELECT g, repeat('x', 300000) FROM generate_series(1, 10) g") // together more than a packet
	c.caughtUp("copy")
	c.run("INSERT INTO a VALUES (77, repeat('x', 2000000)), (78, 'small')")
	c.state("copy", "degraded", "id=77", "max_allowed_packet")
	c.run("INSERT INTO b VALUES (1, 'beside it')")
	eventually(t, "the other table", func() []string { return rowsOf(t, to, "SELECT v FROM b") }, "beside it")
	to.Exec(t, "SET GLOBAL max_allowed_packet = 16777216")
	c.run("ALTER SINK copy RESUME TABLE a")
	c.caughtUp("copy")
	sameRows(t, c, to, "SELECT id, length(v) FROM a")
}

func TestSinkThatIsTooFarBehindFails(t *testing.T) {
	to := mytest.Start(t)
	s := start(t)
	c := s.connect(t)
	c.run("CREATE TABLE a (id int PRIMARY KEY, v text) WITH (RETAIN HISTORY FOR '0s')")
	c.run(fmt.Sprintf("CREATE SINK copy FROM a INTO MARIADB (URL '%s') WITH (MAX LAG = '2s')", to.URL()))
	c.caughtUp("copy")
	unlock := to.Lock(t, "a")
	c.run("INSERT INTO a VALUES (1, 'x')")
	c.state("copy", "failed", "behind", "RESYNC TABLE a")
	unlock()
	c.run("INSERT INTO a VALUES (2, 'y')")
	c.run("ALTER SINK copy RESYNC TABLE a")
	c.run("ALTER SINK copy RESUME")
	c.caughtUp("copy")
	sameRows(t, c, to, "SELECT * FROM a")
}

// TestSinkThatDoesNotRunFailsToo: neither a paused sink nor a target that is gone holds history for ever.
func TestSinkThatDoesNotRunFailsToo(t *testing.T) {
	to := mytest.Start(t)
	s := start(t)
	c := s.connect(t)
	c.run("CREATE TABLE a (id int PRIMARY KEY, v text)")
	for _, name := range []string{"paused", "gone"} {
		c.run(fmt.Sprintf("CREATE SINK %s FROM a INTO MARIADB (URL '%s') WITH (MAX LAG = '1s', ON CONFLICT = 'overwrite')", name, to.URL()))
		c.caughtUp(name)
	}
	c.run("ALTER SINK paused PAUSE")
	to.Stop()
	c.run("INSERT INTO a VALUES (1, 'x')")
	c.state("paused", "failed", "behind", "RESYNC TABLE a")
	c.state("gone", "failed", "behind", "RESYNC TABLE a")
}

func TestSinkStartsFromAnyReadableTime(t *testing.T) {
	onBothTargets(t, func(t *testing.T, s *server, into string, to target) {
		c := s.connect(t)
		c.run("CREATE TABLE a (id int PRIMARY KEY, v varchar(255))")
		c.run("INSERT INTO a VALUES (1, 'old'), (2, 'old')")
		at := c.one("SELECT mz_now()")
		c.run("INSERT INTO a VALUES (3, 'new'); DELETE FROM a WHERE id = 1")
		to.Exec(t, "CREATE TABLE a (id int NOT NULL PRIMARY KEY, v varchar(255))")
		to.Exec(t, "INSERT INTO a VALUES (1, 'old'), (2, 'old')")
		c.run("CREATE SINK copy FROM a INTO " + into + " WITH (START AS OF " + at + ")")
		c.caughtUp("copy")
		sameRows(t, c, to, "SELECT * FROM a")
		c.run("UPDATE a SET v = 'newer'")
		c.caughtUp("copy")
		to.Exec(t, "DELETE FROM a")
		to.Exec(t, "INSERT INTO a VALUES (1, 'old'), (2, 'old')")
		c.run("ALTER SINK copy RESUME FROM " + at)
		c.caughtUp("copy")
		sameRows(t, c, to, "SELECT * FROM a")
	})
}

func TestSyncPointIsATimeAtWhichBothSidesAreEqual(t *testing.T) {
	onBothTargets(t, func(t *testing.T, s *server, into string, to target) {
		c := s.connect(t)
		c.run("CREATE TABLE a (id int PRIMARY KEY, n int)")
		c.run("CREATE TABLE b (id int PRIMARY KEY, n int)")
		c.run("CREATE SINK copy FROM a, b INTO " + into + " WITH (SYNC POINT EVERY '1s')")
		c.caughtUp("copy")
		stop := time.Now().Add(4 * time.Second)
		for i := 0; time.Now().Before(stop); i++ {
			c.run(fmt.Sprintf("INSERT INTO a VALUES (%d, %[1]d) ON CONFLICT (id) DO UPDATE SET n = excluded.n; INSERT INTO b VALUES (%[1]d, 1)", i))
		}
		eventually(t, "a sync point", func() []string {
			return rowsOf(t, to, "SELECT count(*) FROM tailrace.progress WHERE span = 0 AND lane = -4 AND note LIKE 'sync point%'")
		}, "1")
		c.caughtUp("copy")
		sameRows(t, c, to, "SELECT * FROM a")
		sameRows(t, c, to, "SELECT * FROM b")
	})
}

// TestRestoredSinkIsComparedWithItsTarget: the target may be further than a backup; a restored sink waits, and makes it equal when it is resumed.
func TestRestoredSinkIsComparedWithItsTarget(t *testing.T) {
	to := mytest.Start(t)
	s := start(t)
	c := s.connect(t)
	c.run("CREATE TABLE a (id int PRIMARY KEY, v text); CREATE TABLE bag (n int)")
	c.run("INSERT INTO a SELECT g, 'v' FROM generate_series(1, 100) g; INSERT INTO bag SELECT g FROM generate_series(1, 100) g")
	c.run(fmt.Sprintf("CREATE SINK copy FROM a, bag INTO MARIADB (URL '%s')", to.URL()))
	c.caughtUp("copy")
	dir := t.TempDir()
	if out, _, err := tailrace(t, "backup", "--url", s.url, "--to", dir+"/backup"); err != nil {
		t.Fatalf("backup: %v\n%s", err, out)
	}
	c.run("DELETE FROM a WHERE id > 50; INSERT INTO bag VALUES (1000)") // after the backup
	c.caughtUp("copy")
	if err := s.stop(); err != nil {
		t.Fatal(err)
	}
	out, _, err := tailrace(t, "restore", "--from", dir+"/backup", "--data", dir+"/restored")
	if err != nil || !strings.Contains(out, "sink copy is paused") {
		t.Fatalf("restore: %v\n%s", err, out)
	}
	c = startIn(t, dir+"/restored").connect(t)
	wantRows(t, "state", c.run("SELECT state FROM mz_internal.mz_sinks"), "paused")
	c.run("ALTER SINK copy RESUME")
	c.caughtUp("copy")
	sameRows(t, c, to, "SELECT * FROM a")
	sameRows(t, c, to, "SELECT n, count(*) FROM bag GROUP BY n")
}
