package ingest_test

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5/pgconn"

	"tailrace/catalog"
	"tailrace/ingest"
)

func TestIdleSourceRetainsNoLog(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.exec("CREATE TABLE a(id int PRIMARY KEY)")
	source := w.attach()
	w.live(source)
	conn, err := pgconn.Connect(context.Background(), w.srv.URLOf("postgres"))
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close(context.Background())
	for range 8 {
		if _, err := conn.Exec(context.Background(), "CREATE TABLE IF NOT EXISTS junk(v text); INSERT INTO junk "+
			"SELECT repeat('x', 1000) FROM generate_series(1, 2000) g; CHECKPOINT").ReadAll(); err != nil {
			t.Fatal(err)
		}
	}
	end := w.query("SELECT pg_current_wal_lsn()")[0][0]
	w.until("the slot to move past "+end, func() bool {
		return lsn(w.query("SELECT confirmed_flush_lsn FROM pg_replication_slots WHERE database = current_database()")[0][0]) >= lsn(end)
	})
	if got := lsn(w.query("SELECT confirmed_flush_lsn FROM pg_replication_slots WHERE database = current_database()")[0][0]); got > lsn(w.ingest.Status()[0].Position) {
		t.Errorf("confirmed position: got %X, want at most ours, %s", got, w.ingest.Status()[0].Position)
	}
}

func TestPauseAndResume(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.exec("CREATE TABLE a(id int PRIMARY KEY)")
	source := w.attach()
	w.live(source)
	w.exec("INSERT INTO a VALUES (1)")
	w.caughtUp(source)
	paused := *w.cat.Current().Sources[source]
	paused.Paused = true
	w.commit(&catalog.Change{Source: &paused})
	w.says(ingest.Paused)
	w.until("the slot to be let go", func() bool {
		return w.query("SELECT active FROM pg_replication_slots WHERE database = current_database()")[0][0] == "f"
	})
	w.exec("INSERT INTO a VALUES (2)")
	if got := len(w.ours("a")); got != 1 {
		t.Errorf("rows while paused: got %d, want 1", got)
	}
	resumed := paused
	resumed.Paused = false
	w.commit(&catalog.Change{Source: &resumed})
	w.caughtUp(source)
	w.same("a")
}

func TestRestartInSnapshotAndInStream(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.exec("CREATE TABLE big(id int PRIMARY KEY, v text); INSERT INTO big SELECT g, 'v' || g FROM generate_series(1, 60000) g; " +
		"CREATE TABLE small(id int PRIMARY KEY); INSERT INTO small VALUES (1)")
	// Large enough to be read in two lanes.
	w.exec(`CREATE TABLE wide(id int PRIMARY KEY, pad text); ALTER TABLE wide ALTER pad SET STORAGE PLAIN;
		INSERT INTO wide SELECT g, repeat(g % 10 || 'x', 3500) FROM generate_series(1, 9000) g`)
	source := w.attach()
	w.until("the first rows", func() bool {
		s := w.ingest.Status()
		return len(s) == 1 && len(s[0].Tables) > 0 && s[0].Tables[0].Rows > 0
	})
	w.restart()
	w.live(source)
	w.same("big", "small", "wide")
	if got := w.slots(); got != "1" {
		t.Errorf("slots: got %s, want 1", got)
	}
	for round := range 3 {
		for i := range 12 {
			w.exec(fmt.Sprintf("BEGIN; INSERT INTO small VALUES (%[1]d); UPDATE big SET v = v || '+' WHERE id %% 1000 = %[2]d; COMMIT", 100*round+i+2, i))
			if i == 6 {
				w.restart()
			}
		}
	}
	w.caughtUp(source)
	w.same("big", "small")
}

func TestLargeTransactionAppearsWhole(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.exec("CREATE TABLE l(id int PRIMARY KEY, v text, big text); ALTER TABLE l ALTER big SET STORAGE EXTERNAL; INSERT INTO l SELECT " +
		"g, 'old', repeat('b', 3000) FROM generate_series(1, 200) g; CREATE TABLE o(id int PRIMARY KEY)")
	source := w.attach()
	w.live(source)
	w.exec(`BEGIN; INSERT INTO l SELECT g, repeat('v', 100) || g, NULL FROM generate_series(1001, 80000) g;
		UPDATE l SET v = 'changed' WHERE id <= 100 OR id % 1000 = 1; DELETE FROM l WHERE id % 1000 = 2;
		INSERT INTO o VALUES (1); UPDATE l SET id = -id WHERE id <= 150; COMMIT`)
	w.exec("BEGIN; INSERT INTO l SELECT g, 'rolled back' FROM generate_series(-100000, -1000) g; ROLLBACK; INSERT INTO o VALUES (2)")
	w.caughtUp(source)
	w.same("l", "o")
}

func TestLostSlotIsNotRestarted(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.exec("CREATE TABLE a(id int PRIMARY KEY); INSERT INTO a VALUES (1)")
	source := w.attach()
	w.live(source)
	w.stop()
	w.exec("SELECT pg_drop_replication_slot(slot_name) FROM pg_replication_slots WHERE database = current_database(); INSERT INTO a VALUES (2)")
	w.start()
	w.says(ingest.Lost, "is gone", "drop the source")
	if got := len(w.ours("a")); got != 1 {
		t.Errorf("rows: got %d, want the 1 from before", got)
	}
	if got := w.slots(); got != "0" {
		t.Errorf("slots: got %s, want 0", got)
	}
}

func TestTroubleWithTheSourceIsShownAndTriedAgain(t *testing.T) {
	t.Parallel()
	w := newWorldAlone(t)
	w.exec("CREATE TABLE a(id int PRIMARY KEY); CREATE TABLE b(id int PRIMARY KEY); INSERT INTO a VALUES (1)")
	w.srv.Restart(t, "wal_level=replica")
	source := w.attach()
	w.says(ingest.Failing, "wal_level", "ALTER SYSTEM SET wal_level = 'logical'")
	w.srv.Stop()
	w.says(ingest.Failing, "connect", "pg_isready")
	w.srv.Restart(t, "wal_level=logical")
	w.live(source)
	w.same("a")
	w.srv.Stop()
	w.says(ingest.Failing)
	w.srv.Restart(t)
	w.exec("INSERT INTO a VALUES (2)")
	w.caughtUp(source)
	w.same("a")
	w.says(ingest.Live)
}

func TestBlockedSlotNamesTheTransaction(t *testing.T) {
	w := newWorld(t)
	w.exec("CREATE TABLE a(id int PRIMARY KEY)")
	ctx := context.Background()
	conn, err := pgconn.Connect(ctx, w.srv.URLOf(w.db))
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close(ctx)
	if _, err := conn.Exec(ctx, "BEGIN; INSERT INTO a VALUES (1)").ReadAll(); err != nil {
		t.Fatal(err)
	}
	source := w.attach()
	w.until("the transaction to be named", func() bool {
		_, why := w.status()
		return strings.Contains(why, fmt.Sprintf("pid %d", conn.PID())) && strings.Contains(why, "INSERT INTO a") && strings.Contains(why, "pg_terminate_backend")
	})
	w.stop() // gives up the creation: no slot may be left
	if got := w.slots(); got != "0" {
		t.Errorf("slots after stopping: got %s, want 0", got)
	}
	w.start()
	if _, err := conn.Exec(ctx, "COMMIT").ReadAll(); err != nil {
		t.Fatal(err)
	}
	w.live(source)
	w.same("a")
}

func TestNameClashAndRevokedSelect(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.exec(`CREATE ROLE fred LOGIN REPLICATION; CREATE TABLE a(id int PRIMARY KEY); CREATE TABLE hidden(id int PRIMARY KEY);
		CREATE UNLOGGED TABLE unlogged(id int PRIMARY KEY); GRANT SELECT ON a TO fred;
		CREATE PUBLICATION tailrace FOR TABLE a WITH (publish_via_partition_root = true)`)
	source := w.attach()
	w.says(ingest.Failing, "does not publish", `ADD TABLE "public"."hidden"`)
	conn := *w.cat.Current().Connections[source-1]
	conn.Options = map[string]string{"host": "127.0.0.1", "port": fmt.Sprint(w.srv.Port()), "database": w.db, "user": "fred", "ssl mode": "disable"}
	w.commit(&catalog.Change{Connection: &conn})
	w.live(source)
	w.same("a")
	left := map[string]string{}
	for _, table := range w.ingest.Status()[0].Tables {
		left[table.Name] = table.Hint
	}
	for name, want := range map[string]string{"hidden": "GRANT SELECT ON public.hidden TO fred;", "unlogged": "ALTER TABLE public.unlogged SET LOGGED;", "a": ""} {
		if !strings.Contains(left[name], want) {
			t.Errorf("hint for %s: got %q, want one with %q", name, left[name], want)
		}
	}
	second := *w.cat.Current().Sources[source]
	second.ID, second.Name, second.Options = w.cat.Current().NextID, "again", nil
	w.commit(&catalog.Change{Source: &second})
	w.until("the clash", func() bool {
		s := w.ingest.Status()
		return len(s) == 2 && strings.Contains(s[0].Reason, `relation "public.a" already exists`)
	})
}

func TestDropRemovesWhatWasMade(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.exec("CREATE TABLE a(id int PRIMARY KEY)")
	source := w.attach()
	w.live(source)
	if err := w.ingest.DropUpstream(context.Background(), w.cat.Current(), source); err != nil {
		t.Fatal(err)
	}
	if got := w.slots(); got != "0" {
		t.Errorf("slots: got %s, want 0", got)
	}
	if got := w.query("SELECT count(*) FROM pg_publication")[0][0]; got != "0" {
		t.Errorf("publications: got %s, want 0", got)
	}
	w.commit(&catalog.Change{Drop: source})
	if got := len(w.ingest.Status()); got != 0 {
		t.Errorf("sources: got %d, want 0", got)
	}
}
