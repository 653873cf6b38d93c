package ingest_test

import (
	"fmt"
	"strings"
	"testing"

	"tailrace/catalog"
)

func TestUnchangedToastIsFilledIn(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	identities := map[string]string{"td": "DEFAULT", "ti": "USING INDEX ti_k", "tf": "FULL"}
	for name, identity := range identities {
		w.exec(fmt.Sprintf(`CREATE TABLE %[1]s(id int primary key, k int NOT NULL, small int, big text); ALTER TABLE %[1]s ALTER big SET STORAGE EXTERNAL;
			CREATE UNIQUE INDEX %[1]s_k ON %[1]s(k); ALTER TABLE %[1]s REPLICA IDENTITY %[2]s;
			INSERT INTO %[1]s SELECT g, 100 + g, 0, repeat(chr(96 + g), 20000) FROM generate_series(1, 6) g`, name, identity))
	}
	source := w.attach()
	w.live(source)
	for name := range identities {
		w.same(name)
		w.exec(strings.ReplaceAll(`
			UPDATE t SET small = 1 WHERE id = 1;
			BEGIN; INSERT INTO t VALUES (7, 107, 0, repeat('z', 20000)); UPDATE t SET small = 2 WHERE id = 7; UPDATE t SET small = 3 WHERE id = 7; COMMIT;
			UPDATE t SET big = NULL WHERE id = 2; UPDATE t SET small = 9 WHERE id = 2;
			UPDATE t SET id = 30, k = 130 WHERE id = 3;
			BEGIN; UPDATE t SET id = 40, k = 140 WHERE id = 4; UPDATE t SET small = 4 WHERE id = 40; UPDATE t SET id = 41, k = 141 WHERE id = 40; COMMIT;
			BEGIN; DELETE FROM t WHERE id = 5; INSERT INTO t VALUES (5, 105, 5, repeat('y', 20000)); UPDATE t SET small = 6 WHERE id = 5; COMMIT;
			BEGIN; UPDATE t SET small = 7 WHERE id = 6; SAVEPOINT a; UPDATE t SET big = 'gone' WHERE id = 6; ROLLBACK TO a; COMMIT`, " t ", " "+name+" "))
		w.caughtUp(source)
		w.same(name)
	}
}

func TestKeysMoveAndSwap(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.exec(`CREATE TABLE s(id int PRIMARY KEY DEFERRABLE INITIALLY DEFERRED, v text, big text); ALTER TABLE s REPLICA IDENTITY FULL;
		ALTER TABLE s ALTER big SET STORAGE EXTERNAL;
		INSERT INTO s SELECT g, 'v' || g, repeat(chr(96 + g), 20000) FROM generate_series(1, 6) g;
		CREATE TABLE m(id int PRIMARY KEY, v text); INSERT INTO m SELECT g, 'v' || g FROM generate_series(1, 5) g`)
	source := w.attach()
	w.live(source)
	w.exec(`UPDATE s SET id = 3 - id WHERE id IN (1, 2)`)
	w.exec(`BEGIN; UPDATE s SET id = CASE id WHEN 3 THEN 4 WHEN 4 THEN 5 ELSE 3 END WHERE id IN (3, 4, 5); UPDATE s SET v = v || '!' WHERE id = 4; COMMIT`)
	w.exec(`BEGIN; INSERT INTO s VALUES (6, 'second', 'b'); DELETE FROM s WHERE v = 'v6'; COMMIT`)
	w.exec(`BEGIN; UPDATE m SET id = 10 WHERE id = 1; UPDATE m SET v = 'ten' WHERE id = 10; INSERT INTO m VALUES (1, 'new'); COMMIT;
		UPDATE m SET id = 11 WHERE id = 10`)
	w.exec(`BEGIN; UPDATE m SET id = 99 WHERE id = 2; UPDATE m SET id = 2 WHERE id = 3; UPDATE m SET id = 3 WHERE id = 99; COMMIT`)
	w.caughtUp(source)
	w.same("s", "m")
}

func TestKeylessTablesAreMultisets(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.exec(`CREATE TABLE k(a int, b text); ALTER TABLE k REPLICA IDENTITY FULL; INSERT INTO k VALUES (1, 'x'), (1, 'x'), (NULL, NULL), (NULL, NULL), (2, 'y');
		CREATE TABLE nothing(a int PRIMARY KEY); ALTER TABLE nothing REPLICA IDENTITY NOTHING; CREATE TABLE keyless(a int)`)
	source := w.attach()
	w.live(source)
	w.same("k")
	w.exec(`DELETE FROM k WHERE ctid = (SELECT ctid FROM k WHERE a = 1 LIMIT 1); INSERT INTO k VALUES (2, 'y'), (3, repeat('z', 30000));
		UPDATE k SET b = 'u' WHERE ctid = (SELECT ctid FROM k WHERE a = 2 LIMIT 1); UPDATE k SET a = 4 WHERE a = 3;
		DELETE FROM k WHERE ctid = (SELECT ctid FROM k WHERE a IS NULL LIMIT 1)`)
	w.caughtUp(source)
	w.same("k")
	if got := len(w.ours("k")); got != 5 {
		t.Errorf("rows: got %d, want 5", got)
	}
	// The other two are left out and named with what mends them; the user's own updates go on working.
	w.exec("INSERT INTO keyless VALUES (1); UPDATE keyless SET a = 2; DELETE FROM keyless")
	left := map[string]string{}
	for _, table := range w.ingest.Status()[0].Tables {
		if table.ID == 0 {
			left[table.Name] = table.Hint
		}
	}
	for _, name := range []string{"nothing", "keyless"} {
		if want := "ALTER TABLE public." + name + " REPLICA IDENTITY FULL;"; !strings.Contains(left[name], want) {
			t.Errorf("hint for %s: got %q, want one with %q", name, left[name], want)
		}
	}
}

func TestTruncateIsTheDeleteOfEveryRow(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.exec(`CREATE TABLE parent(id int PRIMARY KEY, v text); CREATE TABLE child(id int PRIMARY KEY, p int REFERENCES parent); CREATE TABLE bag(a int);
		ALTER TABLE bag REPLICA IDENTITY FULL;
		INSERT INTO parent SELECT g, 'p' FROM generate_series(1, 20000) g; INSERT INTO child SELECT g, g FROM generate_series(1, 100) g;
		INSERT INTO bag SELECT g % 3 FROM generate_series(1, 10) g`)
	source := w.attach()
	w.live(source)
	w.exec(`BEGIN; INSERT INTO parent VALUES (-1, 'lost'); UPDATE parent SET v = 'lost' WHERE id = 2; INSERT INTO bag VALUES (7);
		TRUNCATE parent CASCADE; TRUNCATE bag;
		INSERT INTO parent VALUES (1, 'p'), (2, 'other'), (30000, 'new'); INSERT INTO child VALUES (5, 1); INSERT INTO bag VALUES (1), (1);
		UPDATE parent SET v = v || '+' WHERE id = 30000; COMMIT`)
	w.caughtUp(source)
	w.same("parent", "child", "bag")
	w.exec("TRUNCATE parent, child RESTART IDENTITY")
	w.caughtUp(source)
	w.same("parent", "child")
}

func TestPartitionsAreOneTable(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.exec(`CREATE TABLE p(id int, v text, PRIMARY KEY (id)) PARTITION BY RANGE (id); CREATE TABLE p1 PARTITION OF p FOR VALUES FROM (0) TO (100);
		CREATE TABLE p2(v text, junk int, id int NOT NULL); ALTER TABLE p2 DROP junk; ALTER TABLE p ATTACH PARTITION p2 FOR VALUES FROM (100) TO (200);
		INSERT INTO p SELECT g, 'v' || g FROM generate_series(0, 199, 10) g`)
	source := w.attach()
	w.live(source)
	w.same("p")
	w.exec(`UPDATE p SET id = 155 + id WHERE id = 10; CREATE TABLE p3 PARTITION OF p FOR VALUES FROM (200) TO (300);
		INSERT INTO p VALUES (205, 'leaf three'), (101, 'two'); UPDATE p SET v = 'x' WHERE id IN (101, 205);
		DELETE FROM p WHERE id = 50; UPDATE p SET id = 250 WHERE id = 101`)
	w.caughtUp(source)
	w.same("p")
	if got := len(w.cat.Current().Tables); got != 1 {
		t.Errorf("tables: got %d, want 1", got)
	}
	w.exec("TRUNCATE p; INSERT INTO p VALUES (1, 'again')")
	w.caughtUp(source)
	w.same("p")
}

func TestColumnsAreAddedDroppedAndRenamed(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.exec(`CREATE TABLE c(id int PRIMARY KEY, a text, b text, h int, hin int GENERATED ALWAYS AS (h / 2) STORED, z text);
		INSERT INTO c(id, a, b, h, z) SELECT g, 'a' || g, 'b' || g, g, 'z' FROM generate_series(1, 5) g`)
	source := w.attach()
	w.live(source)
	w.same("c")
	steps := []string{
		"ALTER TABLE c ADD n text; UPDATE c SET n = 'n' WHERE id = 1",
		"ALTER TABLE c ADD d text DEFAULT 'it''s, \"d\"'; ALTER TABLE c ADD i int DEFAULT 7; INSERT INTO c(id, h) VALUES (6, 1)",
		"ALTER TABLE c RENAME b TO bee; UPDATE c SET bee = 'renamed' WHERE id = 2",
		"ALTER TABLE c DROP a; DELETE FROM c WHERE id = 3",
		"ALTER TABLE c DROP n; ALTER TABLE c ADD n text; UPDATE c SET h = 10 WHERE id = 4",
		"BEGIN; UPDATE c SET z = 'before' WHERE id = 1; ALTER TABLE c ADD late int; UPDATE c SET late = 1 WHERE id = 2; ALTER TABLE c RENAME z TO zed; " +
			"INSERT INTO c(id, zed) VALUES (9, 'after'); COMMIT",
	}
	for _, step := range steps {
		w.exec(step)
		w.caughtUp(source)
		w.same("c")
	}
	// The same while we are stopped: the source's catalog is far ahead of the changes then.
	w.exec("INSERT INTO c(id, n) VALUES (20, 'old n'), (21, 'old n')")
	w.caughtUp(source)
	w.stop()
	w.exec("UPDATE c SET bee = 'stopped' WHERE id = 20")
	w.exec("ALTER TABLE c DROP n")
	w.exec("ALTER TABLE c ADD n text")
	w.exec("UPDATE c SET n = 'new n' WHERE id = 21")
	w.exec("ALTER TABLE c RENAME zed TO zz; ALTER TABLE c RENAME bee TO zed; ALTER TABLE c ADD temporary text; UPDATE c SET temporary = 't'; " +
		"ALTER TABLE c DROP temporary; INSERT INTO c(id) VALUES (22)")
	w.start()
	w.caughtUp(source)
	w.same("c")
	w.state("c", catalog.StateLive)
	w.exec("INSERT INTO c(id) VALUES (23)")
	w.caughtUp(source)
	w.same("c")
}

func TestOneTablesTroubleStopsNoOther(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.exec(`CREATE TABLE good(id int PRIMARY KEY, v text); CREATE TABLE retyped(id int PRIMARY KEY, v int); CREATE TABLE rekeyed(id int PRIMARY KEY, v int NOT NULL);
		CREATE TABLE bare(a int); ALTER TABLE bare REPLICA IDENTITY FULL; CREATE TABLE volatile(id int PRIMARY KEY); INSERT INTO volatile VALUES (1);
		INSERT INTO rekeyed VALUES (1, 1); INSERT INTO bare VALUES (1)`)
	source := w.attach()
	w.live(source)
	w.exec(`INSERT INTO retyped VALUES (1, 1); INSERT INTO good VALUES (1, 'a')`)
	w.caughtUp(source)
	w.exec(`ALTER TABLE retyped ALTER v TYPE bigint; BEGIN; INSERT INTO good VALUES (2, 'b'); INSERT INTO retyped VALUES (2, 2); COMMIT;
		ALTER TABLE rekeyed DROP CONSTRAINT rekeyed_pkey; ALTER TABLE rekeyed ADD PRIMARY KEY (v); UPDATE rekeyed SET v = 2;
		ALTER TABLE bare REPLICA IDENTITY NOTHING; INSERT INTO bare VALUES (2); ALTER TABLE volatile ADD r float DEFAULT random();
		INSERT INTO volatile VALUES (2); INSERT INTO good VALUES (3, 'c')`)
	w.caughtUp(source)
	w.same("good")
	for _, name := range []string{"retyped", "rekeyed", "bare", "volatile"} {
		t.Logf("%s: %s", name, w.state(name, catalog.StateError))
	}
	if got, want := len(w.ours("retyped")), 1; got != want {
		t.Errorf("rows of retyped: got %d, want %d, those from before", got, want)
	}
	w.state("good", catalog.StateLive)
	w.restart()
	w.exec(`INSERT INTO good VALUES (4, 'd'); INSERT INTO retyped VALUES (3, 3)`)
	w.caughtUp(source)
	w.same("good")
	w.state("retyped", catalog.StateError)
}
