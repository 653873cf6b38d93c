package e2e

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"syscall"
	"testing"

	"github.com/jackc/pgx/v5"
)

// backupWriters keep a server busy until stop is called: transfers in one table, rows that become parts in another, tables that come and go.
func backupWriters(t *testing.T, s *server) (stop func()) {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	var group sync.WaitGroup
	work := func(statements ...string) {
		conn, err := pgx.Connect(ctx, s.url)
		if err != nil {
			t.Fatal(err)
		}
		group.Go(func() {
			defer conn.Close(context.Background())
			for i := 0; ctx.Err() == nil; i++ {
				for _, statement := range statements {
					if _, err := conn.PgConn().Exec(ctx, strings.ReplaceAll(statement, "$i", fmt.Sprint(i))).ReadAll(); err != nil && ctx.Err() == nil {
						t.Errorf("%s: %v", statement, err)
						return
					}
				}
			}
		})
	}
	work("UPDATE ledger SET n = n - 1 WHERE id = $i % 100", "BEGIN; UPDATE ledger SET n = n + 5 WHERE id = $i % 7; UPDATE ledger SET n = n - 5 WHERE id = 50 + $i % 7; COMMIT")
	work("INSERT INTO big SELECT $i * 20000 + g, 'row ' || g FROM generate_series(1, 20000) t(g)", "DELETE FROM big WHERE id < $i * 20000 - 60000")
	work("CREATE TABLE passing$i (a int)", "INSERT INTO passing$i SELECT g FROM generate_series(1, 10000) t(g)", "DROP TABLE passing$i")
	return func() {
		cancel()
		group.Wait()
	}
}

var backupTables = []string{"SELECT * FROM ledger%s ORDER BY id", "SELECT count(*), sum(id), min(id), max(id) FROM big%s", "SELECT * FROM kinds%s ORDER BY 1"}

// TestBackupWhileWritersWork: a backup taken while the server is written to, restored, has exactly the rows that the server had at the backup's time.
func TestBackupWhileWritersWork(t *testing.T) {
	s := start(t)
	c := s.connect(t)
	c.run("CREATE TABLE ledger (id int PRIMARY KEY, n int); INSERT INTO ledger SELECT g, 1000 FROM generate_series(0, 99) t(g); CREATE TABLE big (id int PRIMARY KEY, v text)")
	c.run("CREATE TYPE mood AS ENUM ('sad', 'glad'); CREATE TABLE kinds (id int PRIMARY KEY, m mood, tags text[]); INSERT INTO kinds VALUES (1, 'glad', '{a,NULL}')")
	c.run("CREATE SECRET pw AS 'a secret'; CREATE CONNECTION shop TO POSTGRES (HOST '127.0.0.1', PORT 1); CREATE SOURCE shop FROM POSTGRES CONNECTION shop FOR TABLES (nowhere)")
	stop := backupWriters(t, s)
	c.until("SELECT count(*) > 50000 FROM big", "t")
	base := t.TempDir()
	var dirs, asOf []string
	for i := range 3 {
		dir := filepath.Join(base, fmt.Sprint("backup", i))
		out, errs, err := tailrace(t, "backup", "--url", s.url, "--to", dir)
		if err != nil {
			t.Fatalf("backup: %v\n%s%s", err, out, errs)
		}
		dirs, asOf = append(dirs, dir), append(asOf, regexp.MustCompile(`as of (\d+) in`).FindStringSubmatch(out)[1])
	}
	for range 5 { // beside the writers
		out, errs, err := tailrace(t, "inspect", s.dir, "--json")
		var in struct {
			Catalog struct{ Tables []struct{ Name string } }
			Damage  []string
		}
		if err == nil {
			err = json.Unmarshal([]byte(out), &in)
		}
		if err != nil || len(in.Damage) > 0 || len(in.Catalog.Tables) < 3 {
			t.Fatalf("inspect of the folder in use: %v, %+v\n%s", err, in, errs)
		}
	}
	stop()
	for i, dir := range dirs {
		if out, errs, err := tailrace(t, "inspect", dir, "--parts"); err != nil {
			t.Fatalf("inspect backup: %v\n%s%s", err, out, errs)
		}
		data := filepath.Join(base, fmt.Sprint("data", i))
		out, errs, err := tailrace(t, "restore", "--from", dir, "--data", data)
		if err != nil || !strings.Contains(out, `source shop is paused: ALTER SOURCE "shop" RESUME`) {
			t.Fatalf("restore: %v\n%s%s", err, out, errs)
		}
		restored := startIn(t, data)
		rc := restored.connect(t)
		for _, q := range backupTables {
			wantRows(t, fmt.Sprintf("%s, restored, against the server as of %s", q, asOf[i]), rc.run(fmt.Sprintf(q, "")), c.run(fmt.Sprintf(q, "")+" AS OF "+asOf[i])...)
		}
		rc.run("INSERT INTO ledger VALUES (1000, 1); UPDATE ledger SET n = 0 WHERE id = 3")
		wantRows(t, "writing goes on", rc.run("SELECT id, n FROM ledger WHERE id IN (3, 1000) ORDER BY id"), "3 0", "1000 1")
		if out, _, _ := tailrace(t, "inspect", data); !strings.Contains(out, "1 open") {
			t.Errorf("sessions of a restored server: the old ones should have ended:\n%s", out)
		}
		restored.kill()
	}
}

// TestBackupIsRefused names the folders that a backup is not written to, and the backups that are not restored.
func TestBackupIsRefused(t *testing.T) {
	s := start(t)
	c := s.connect(t)
	c.run("CREATE TABLE t (a int); INSERT INTO t SELECT g FROM generate_series(1, 30000) x(g)")
	base := t.TempDir()
	full := filepath.Join(base, "full")
	if err := os.MkdirAll(filepath.Join(full, "x"), 0o700); err != nil {
		t.Fatal(err)
	}
	c.fails("BACKUP TO 'here'", "42602", "relative path not allowed")
	c.fails("BACKUP TO '"+full+"'", "58P02", "exists but is not empty")
	c.fails("BACKUP TO '"+filepath.Join(s.dir, "b")+"'", "22023", "is in the data folder")
	c.fails("BACKUP TO '/proc/b'", "58030", "")
	c.fails("BACKUP", "42601", "syntax error")
	c.fails("BEGIN; BACKUP TO '"+filepath.Join(base, "b")+"'", "25001", "cannot run inside a transaction block")
	c.run("ROLLBACK")
	if _, errs, err := tailrace(t, "backup", "--data", s.dir, "--to", filepath.Join(base, "b")); err == nil || !strings.Contains(errs, "tailrace backup --url") {
		t.Errorf("backup of a folder in use: got %v %q, want the command to type", err, errs)
	}
	dir := filepath.Join(base, "backup")
	if out, errs, err := tailrace(t, "backup", "--url", s.url, "--to", dir); err != nil {
		t.Fatalf("%v %s%s", err, out, errs)
	}
	restore := func(want string) {
		t.Helper()
		data := filepath.Join(t.TempDir(), "data")
		if _, errs, err := tailrace(t, "restore", "--from", dir, "--data", data); err == nil || !strings.Contains(errs, want) {
			t.Errorf("restore: got %v %q, want %q", err, errs, want)
		}
		if _, err := os.Stat(data); err != nil {
			return // nothing was begun
		}
		if _, errs, err := tailrace(t, "serve", "--data", data, "--listen", "127.0.0.1:0", "--http", "127.0.0.1:0"); err == nil || !strings.Contains(errs, "restore that was cut off") {
			t.Errorf("serve after %q: got %v %q", want, err, errs)
		}
	}
	if _, errs, err := tailrace(t, "restore", "--from", dir, "--data", full); err == nil || !strings.Contains(errs, "not empty") {
		t.Errorf("restore into a folder that is not empty: got %v %q", err, errs)
	}
	manifest := filepath.Join(dir, "BACKUP.json")
	var m struct{ Parts []struct{ Name string } }
	raw, err := os.ReadFile(manifest)
	if err == nil {
		err = json.Unmarshal(raw, &m)
	}
	if err != nil || len(m.Parts) == 0 {
		t.Fatalf("manifest: %v, %d parts", err, len(m.Parts))
	}
	for _, name := range []string{"checkpoint", filepath.Join("blob", m.Parts[0].Name)} {
		damage(t, filepath.Join(dir, name), func() {
			restore("is not as it was backed up")
			out, _, err := tailrace(t, "inspect", dir, "--parts")
			if err == nil || !strings.Contains(out, "DAMAGE") || !strings.Contains(out, filepath.Base(name)) {
				t.Errorf("inspect of a damaged %s: %v\n%s", name, err, out)
			}
		})
	}
	if err := os.Rename(filepath.Join(dir, "blob", m.Parts[0].Name), filepath.Join(base, "part")); err != nil {
		t.Fatal(err)
	}
	restore("not found")
	if err := os.Rename(manifest, filepath.Join(dir, "INCOMPLETE")); err != nil {
		t.Fatal(err)
	}
	restore("incomplete")
	if err := os.RemoveAll(dir); err != nil {
		t.Fatal(err)
	}
	restore("no backup")
}

// damage flips a bit in the middle of a file of its own, which may be a link, while fn runs.
func damage(t *testing.T, path string, fn func()) {
	t.Helper()
	raw, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	put := func(raw []byte) {
		if err := os.Remove(path); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, raw, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	bad := append([]byte{}, raw...)
	bad[len(bad)/2] ^= 4
	put(bad)
	fn()
	put(raw)
}

// TestBackupOfAStoppedFolder: --data makes a backup without a server, and one that was cut off by a client leaves nothing.
func TestBackupOfAStoppedFolder(t *testing.T) {
	s := start(t)
	s.connect(t).run("CREATE TABLE t (a int); INSERT INTO t VALUES (1), (2)")
	s.cmd.Process.Signal(syscall.SIGKILL)
	<-s.done
	base := t.TempDir()
	if _, errs, err := tailrace(t, "backup", "--data", filepath.Join(base, "typo"), "--to", filepath.Join(base, "b")); err == nil || !strings.Contains(errs, "no data folder") {
		t.Errorf("backup of nothing: got %v %q", err, errs)
	}
	for _, args := range [][]string{{"backup", "--data", s.dir, "--to", filepath.Join(base, "b")}, {"restore", "--from", filepath.Join(base, "b"), "--data", filepath.Join(base, "d")}} {
		if out, errs, err := tailrace(t, args...); err != nil {
			t.Fatalf("%v: %v\n%s%s", args, err, out, errs)
		}
	}
	wantRows(t, "restored", startIn(t, filepath.Join(base, "d")).connect(t).run("SELECT a FROM t ORDER BY a"), "1", "2")
	wantRows(t, "the first folder", startIn(t, s.dir).connect(t).run("SELECT a FROM t ORDER BY a"), "1", "2")
}
