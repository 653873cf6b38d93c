package e2e

import (
	"crypto/rand"
	"fmt"
	"io/fs"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"tailrace/internal/pgtest"
)

// TestBadInputGetsAClearError: each gets an error that says what to do, and the server goes on.
func TestBadInputGetsAClearError(t *testing.T) {
	s := start(t)
	c := s.connect(t)
	c.run("CREATE TABLE t (a int PRIMARY KEY, b smallint NOT NULL)")
	for _, x := range []struct{ sql, code, text string }{
		{"SELEC 1", "42601", `syntax error at or near "SELEC"`},
		{"SELECT nosuch FROM t", "42703", `column "nosuch" does not exist`},
		{"SELECT * FROM nosuch", "42P01", `relation "nosuch" does not exist`},
		{"INSERT INTO t VALUES (1, 40000)", "22003", "out of range"},
		{"INSERT INTO t VALUES ('x', 1)", "22P02", `invalid input syntax for type integer: "x"`},
		{"INSERT INTO t VALUES (1, NULL)", "23502", `null value in column "b" of relation "t" violates not-null constraint`},
		{"INSERT INTO t VALUES (1, 1), (1, 2)", "23505", `duplicate key value violates unique constraint "t_pkey"`},
		{"SELECT 1/0", "22012", "division by zero"},
		{"CREATE TABLE t (a int)", "42P07", `relation "t" already exists`},
		{"DROP TABLE nosuch", "42P01", "does not exist"},
		{"SET nosuch = 1", "42704", "unrecognized configuration parameter"},
		{"COPY t FROM '/etc/passwd'", "42501", "files of the server is not allowed"},
	} {
		c.fails(x.sql, x.code, x.text)
	}
	if got := c.run("SELECT count(*) FROM t"); got[0] != "0" {
		t.Fatalf("failed statements left %s rows", got[0])
	}
	psql := exec.Command("psql", "-X", s.url, "-c", "COPY t FROM STDIN")
	psql.Stdin = strings.NewReader("1\t1\n2\tx\n3\t3\n")
	out, err := psql.CombinedOutput()
	if err == nil || !strings.Contains(string(out), `invalid input syntax for type smallint: "x"`) || !strings.Contains(string(out), "line 2") {
		t.Fatalf("broken COPY line: %v\n%s", err, out)
	}
	if got := c.run("SELECT count(*) FROM t"); got[0] != "0" {
		t.Fatalf("the failed COPY left %s rows", got[0])
	}
	address := strings.TrimPrefix(s.url, "postgres://")
	address, _, _ = strings.Cut(address, "/")
	for range 50 {
		conn, err := net.Dial("tcp", address)
		if err != nil {
			t.Fatal(err)
		}
		junk := make([]byte, 4096)
		rand.Read(junk)
		conn.Write(junk)
		conn.Close()
	}
	wantRows(t, "after random bytes", s.connect(t).run("SELECT 1"), "1")
}

func TestPasswords(t *testing.T) {
	dir := t.TempDir()
	out, err := exec.Command(binary, "serve", "--data", dir, "--listen", "0.0.0.0:0", "--http", "127.0.0.1:0").CombinedOutput()
	if err == nil || !strings.Contains(string(out), "tailrace user add") {
		t.Fatalf("listening beyond loopback without users: %v\n%s", err, out)
	}
	add := exec.Command(binary, "user", "add", "ann", "--data", dir)
	add.Stdin = strings.NewReader("right\n")
	if out, err := add.CombinedOutput(); err != nil {
		t.Fatalf("user add: %v\n%s", err, out)
	}
	s := startIn(t, dir)
	for _, x := range []struct {
		user, password string
		ok             bool
	}{{"ann", "right", true}, {"ann", "wrong", false}, {"bob", "right", false}} {
		psql := exec.Command("psql", "-X", "-w", "-U", x.user, s.url, "-Atc", "SELECT 1")
		psql.Env = append(os.Environ(), "PGPASSWORD="+x.password)
		out, err := psql.CombinedOutput()
		if (err == nil) != x.ok {
			t.Fatalf("%s with password %q: %v\n%s", x.user, x.password, err, out)
		}
		if !x.ok && !strings.Contains(string(out), fmt.Sprintf("password authentication failed for user %q", x.user)) {
			t.Fatalf("%s: %s", x.user, out)
		}
	}
}

func TestConfiguration(t *testing.T) {
	dir := t.TempDir()
	config := filepath.Join(dir, "tailrace.toml")
	if err := os.WriteFile(config, []byte("listen = \"127.0.0.1:0\"\nlisen = \"x\"\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	out, err := exec.Command(binary, "serve", "--data", filepath.Join(dir, "d"), "--config", config).CombinedOutput()
	if err == nil || !strings.Contains(string(out), "lisen") {
		t.Fatalf("unknown key: %v\n%s", err, out)
	}
	s := start(t)
	out, err = exec.Command(binary, "serve", "--data", s.dir, "--listen", "127.0.0.1:0", "--http", "127.0.0.1:0").CombinedOutput()
	if err == nil || !strings.Contains(string(out), "in use") {
		t.Fatalf("second server on one folder: %v\n%s", err, out)
	}
	if err := s.stop(); err != nil {
		t.Fatalf("SIGTERM: %v", err)
	}
}

func TestMisconfiguredSourceIsExplained(t *testing.T) {
	s := start(t)
	out, err := s.attach(t, "postgres://postgres@127.0.0.1:1/postgres")
	if err == nil || !strings.Contains(out, "127.0.0.1:1") {
		t.Fatalf("unreachable: %v\n%s", err, out)
	}
	plain := pgtest.Start(t)
	plain.Exec(t, "CREATE TABLE t (a int PRIMARY KEY)")
	out, err = s.attach(t, plain.URL())
	if err == nil || !strings.Contains(out, "ALTER SYSTEM SET wal_level") {
		t.Fatalf("wal_level: %v\n%s", err, out)
	}
	src := pgtest.Start(t, "wal_level=logical", "max_replication_slots=1")
	src.Exec(t, "CREATE TABLE t (a int PRIMARY KEY); CREATE ROLE reader LOGIN; SELECT pg_create_physical_replication_slot('taken')")
	out, err = s.attach(t, strings.Replace(src.URL(), "postgres@", "reader@", 1))
	if err == nil || !strings.Contains(out, "REPLICATION") || !strings.Contains(out, "GRANT SELECT") {
		t.Fatalf("privileges: %v\n%s", err, out)
	}
	out, err = s.attach(t, src.URL())
	if err == nil || !strings.Contains(out, "max_replication_slots") {
		t.Fatalf("slots exhausted: %v\n%s", err, out)
	}
	wantRows(t, "the server goes on", s.connect(t).run("SELECT 1"), "1")
}

// TestFullDisk serves from a small file system: writes are refused with 53100 before anything breaks, reads go on.
func TestFullDisk(t *testing.T) {
	dir := t.TempDir()
	if err := syscall.Mount("tailrace", dir, "tmpfs", 0, "size=300m"); err != nil {
		t.Skipf("mounting a small file system needs root: %v", err)
	}
	s := startIn(t, dir)
	t.Cleanup(func() { s.kill(); syscall.Unmount(dir, 0) })
	c := s.connect(t)
	c.run("CREATE TABLE t (a text); INSERT INTO t VALUES ('kept')")
	if err := os.WriteFile(filepath.Join(dir, "ballast"), make([]byte, 100<<20), 0o600); err != nil {
		t.Fatal(err)
	}
	for range 100 { // free space may be looked at a moment ago
		if _, _, err := c.try("INSERT INTO t VALUES ('refused?')"); err != nil {
			break
		}
		<-time.After(20 * time.Millisecond)
	}
	if e := c.fails("INSERT INTO t VALUES ('refused')", "53100", ""); e.Hint == "" {
		t.Error("53100 without a hint")
	}
	if got := c.run("SELECT count(*) FROM t WHERE a = 'refused'"); got[0] != "0" {
		t.Fatal("a refused row is there")
	}
	if err := os.Remove(filepath.Join(dir, "ballast")); err != nil {
		t.Fatal(err)
	}
	for i := 0; ; i++ {
		if _, _, err := c.try("INSERT INTO t VALUES ('again')"); err == nil {
			return
		}
		if i > 100 {
			t.Fatal("writes are still refused 2 s after space was made")
		}
		<-time.After(20 * time.Millisecond)
	}
}

// TestCorruptPageIsNamed flips bytes in a part: reads that need it fail and name it, the rest goes on.
func TestCorruptPageIsNamed(t *testing.T) {
	s := start(t)
	c := s.connect(t)
	c.run("CREATE TABLE good (a int); INSERT INTO good VALUES (1); CREATE TABLE bad (a int, b text)")
	c.run("INSERT INTO bad SELECT g, 'some text of row ' || g FROM generate_series(1, 100000) g")
	if err := s.stop(); err != nil {
		t.Fatal(err)
	}
	flipped := 0
	err := filepath.WalkDir(s.dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || !strings.Contains(path, "part") {
			return err
		}
		raw, err := os.ReadFile(path)
		if err != nil || len(raw) < 10_000 {
			return err
		}
		for i := len(raw) / 3; i < len(raw)/3+64; i++ {
			raw[i] ^= 0x55
		}
		flipped++
		return os.WriteFile(path, raw, 0o600)
	})
	if err != nil || flipped == 0 {
		t.Fatalf("found no part to damage: %v", err)
	}
	s = startIn(t, s.dir)
	c = s.connect(t)
	c.fails("SELECT * FROM bad", "XX001", "part")
	wantRows(t, "the other table", c.run("SELECT a FROM good"), "1")
}
