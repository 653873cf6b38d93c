package e2e

import (
	"archive/tar"
	"compress/gzip"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"tailrace/internal/pgtest"
)

// oldFolder is a data folder as the first release's format (commit ec14839) wrote it, and oldRows what that build answered. They were made by
//
//	git worktree add /tmp/old ec14839 && (cd /tmp/old && go build -o /tmp/old/tailrace ./cmd/tailrace)
//	TAILRACE_BINARY=/tmp/old/tailrace TAILRACE_MAKE_FOLDER=1 go test ./internal/e2e -run TestMakeOldFolder
const (
	oldFolder = "testdata/folder-ec14839.tar.gz"
	oldRows   = "testdata/folder-ec14839.json"
)

// oldQueries see all that the folder holds.
var oldQueries = []string{
	"SELECT count(*), sum(id), sum(n), min(v), max(v) FROM big",
	"SELECT * FROM big WHERE id % 997 = 0 ORDER BY id",
	"SELECT * FROM kinds ORDER BY id",
	"SELECT * FROM plain ORDER BY a, b",
	"SELECT * FROM altered ORDER BY id",
	"SELECT * FROM items ORDER BY id",
	"SELECT table_name FROM information_schema.tables WHERE table_schema = 'public' ORDER BY 1",
}

// TestMakeOldFolder makes the folder again; it runs by its own command only.
func TestMakeOldFolder(t *testing.T) {
	if os.Getenv("TAILRACE_MAKE_FOLDER") == "" {
		t.Skip("it makes a golden file: see oldFolder")
	}
	src := pgtest.Start(t, "wal_level=logical")
	src.Exec(t, "CREATE TABLE items (id int PRIMARY KEY, v text, n numeric(8,2)); INSERT INTO items SELECT i, 'item ' || i, i / 4.0 FROM generate_series(1, 50) g(i)")
	s := start(t)
	c := s.connect(t)
	c.run("CREATE TABLE big (id int PRIMARY KEY, v text, n numeric(10,2)); INSERT INTO big SELECT i, 'row ' || i % 100, i * 1.25 FROM generate_series(1, 40000) g(i)")
	c.run("UPDATE big SET v = 'changed' WHERE id % 1000 = 1; DELETE FROM big WHERE id % 1000 = 2")
	c.run(`CREATE TABLE kinds (id int PRIMARY KEY, b boolean, s smallint, l bigint, r real, d double precision, n numeric, t text, c char(5), vc varchar(9), j json, jb jsonb,
		y bytea, da date, ti time, ts timestamp, tz timestamptz, iv interval, u uuid)`)
	c.run(`INSERT INTO kinds VALUES (1, true, -7, 9000000000, 1.5, 2.25, 12345678901234567890.000001, 'text', 'ch', 'varchar', '{"a": 1}', '{"b": [1,2]}', '\x00ff',
		'2024-02-29', '23:59:59.5', '2024-02-29 12:00:00', '2024-02-29 12:00:00+02', '1 year 2 mons 3 days 04:05:06', '00112233-4455-6677-8899-aabbccddeeff'),
		(2, NULL, NULL, NULL, NULL, NULL, 'NaN', NULL, NULL, NULL, NULL, NULL, NULL, 'infinity', NULL, NULL, NULL, NULL, NULL)`)
	c.run("CREATE TABLE plain (a int, b text); INSERT INTO plain VALUES (1, 'twice'), (1, 'twice'), (2, NULL); ALTER TABLE plain SET (RETAIN HISTORY FOR '1 day')")
	for _, statement := range []string{
		"CREATE TABLE altered (id int PRIMARY KEY)", "INSERT INTO altered VALUES (1)", "ALTER TABLE altered ADD COLUMN later text DEFAULT 'was there'",
		"INSERT INTO altered VALUES (2, 'new')", "CREATE TABLE gone (a int)", "INSERT INTO gone VALUES (1)", "DROP TABLE gone",
	} {
		c.run(statement)
	}
	c.run("CREATE SECRET pw AS 'golden secret'")
	c.run(fmt.Sprintf("CREATE CONNECTION shop TO POSTGRES (HOST '127.0.0.1', PORT %d, DATABASE 'postgres', USER 'postgres', PASSWORD SECRET pw)", src.Port()))
	c.run("CREATE SOURCE shop FROM POSTGRES CONNECTION shop FOR TABLES (public.items)")
	c.until("SELECT table_name, state FROM mz_internal.mz_source_tables", "items live")
	src.Exec(t, "UPDATE items SET v = 'moved on' WHERE id = 7")
	c.until("SELECT v FROM items WHERE id = 7", "moved on")
	for range 1200 { // the checkpoint, each 30 s
		if there, _ := filepath.Glob(filepath.Join(s.dir, "blob", "checkpoint", "*")); len(there) > 0 {
			break
		}
		<-time.After(50 * time.Millisecond)
	}
	c.run("INSERT INTO plain VALUES (3, 'after the checkpoint'); UPDATE kinds SET t = 'after the checkpoint' WHERE id = 2; DELETE FROM big WHERE id = 3; ALTER SOURCE shop PAUSE")
	answers := map[string][]string{}
	for _, q := range oldQueries {
		answers[q] = c.run(q)
	}
	if err := s.stop(); err != nil {
		t.Fatal(err)
	}
	add := exec.Command(binary, "user", "add", "ann", "--data", s.dir)
	add.Env = append(os.Environ(), "TAILRACE_PASSWORD=golden password")
	if out, err := add.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	raw, err := json.MarshalIndent(answers, "", " ")
	if err == nil {
		err = os.WriteFile(oldRows, append(raw, '\n'), 0o644)
	}
	if err == nil {
		err = pack(oldFolder, s.dir)
	}
	if err != nil {
		t.Fatal(err)
	}
}

// pack writes a folder as a tar.
func pack(to, dir string) (err error) {
	f, err := os.Create(to)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	z, err := gzip.NewWriterLevel(f, gzip.BestCompression)
	if err != nil {
		return err
	}
	w := tar.NewWriter(z)
	if err := w.AddFS(os.DirFS(dir)); err != nil {
		return err
	}
	return errors.Join(w.Close(), z.Close())
}

// unpack is a fresh copy of the folder in a tar.
func unpack(t *testing.T, from string) string {
	t.Helper()
	f, err := os.Open(from)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	z, err := gzip.NewReader(f)
	if err != nil {
		t.Fatal(err)
	}
	dir := filepath.Join(t.TempDir(), "data")
	for r := tar.NewReader(z); ; {
		h, err := r.Next()
		if errors.Is(err, io.EOF) {
			return dir
		}
		if err != nil {
			t.Fatal(err)
		}
		path := filepath.Join(dir, filepath.FromSlash(h.Name))
		if h.FileInfo().IsDir() {
			err = os.MkdirAll(path, 0o700)
		} else {
			var raw []byte
			if raw, err = io.ReadAll(r); err == nil {
				err = errors.Join(os.MkdirAll(filepath.Dir(path), 0o700), os.WriteFile(path, raw, 0o600))
			}
		}
		if err != nil {
			t.Fatal(err)
		}
	}
}

// connectAs is a connection of a user with a password.
func (s *server) connectAs(t testing.TB, user, password string) *client {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), 20*time.Second)
	defer cancel()
	cfg, err := pgx.ParseConfig(s.url)
	if err != nil {
		t.Fatal(err)
	}
	cfg.User, cfg.Password = user, password
	conn, err := pgx.ConnectConfig(ctx, cfg)
	if err != nil {
		t.Fatalf("connect as %s: %v\n%s", user, err, s.log)
	}
	cl := &client{t: t, c: conn}
	t.Cleanup(cl.close)
	return cl
}

// tailrace runs a command of the binary and returns what it printed.
func tailrace(t testing.TB, args ...string) (stdout, stderr string, err error) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	cmd := exec.CommandContext(ctx, binary, args...)
	var out, errs strings.Builder
	cmd.Stdout, cmd.Stderr = &out, &errs
	err = cmd.Run()
	return out.String(), errs.String(), err
}

// TestOldFolderOpens: the folder of the format before this one has all of its rows, tables, sources and users, and writing goes on.
func TestOldFolderOpens(t *testing.T) {
	want := map[string][]string{}
	raw, err := os.ReadFile(oldRows)
	if err == nil {
		err = json.Unmarshal(raw, &want)
	}
	if err != nil {
		t.Fatal(err)
	}
	dir := unpack(t, oldFolder)
	out, errs, err := tailrace(t, "inspect", dir, "--parts")
	if err != nil || !strings.Contains(out, "of before there was a FORMAT file") || !strings.Contains(out, "public.kinds") {
		t.Fatalf("inspect: %v\n%s%s", err, out, errs)
	}
	for _, written := range []string{"", "4 by this build"} {
		s := startIn(t, dir)
		c := s.connectAs(t, "ann", "golden password")
		for _, q := range oldQueries {
			rows := want[q]
			if written != "" && strings.Contains(q, "plain") {
				rows = append(rows, written)
			}
			wantRows(t, q, c.run(q), rows...)
		}
		wantRows(t, "source", c.run("SELECT name, state FROM mz_internal.mz_sources"), "shop paused")
		wantRows(t, "source's tables", c.run("SELECT table_name FROM mz_internal.mz_source_tables"), "items")
		wantRows(t, "secrets", c.run("SELECT name FROM mz_internal.mz_secrets"), "pw")
		wantRows(t, "connections", c.run("SELECT name FROM mz_internal.mz_connections"), "shop")
		if written == "" {
			c.run("INSERT INTO plain VALUES (4, 'by this build'); CREATE SCHEMA app; CREATE TABLE app.later (tags text[]); INSERT INTO app.later VALUES ('{a,b}')")
		} else {
			wantRows(t, "a new table", c.run("SELECT * FROM app.later"), "{a,b}")
		}
		if err := s.stop(); err != nil {
			t.Fatal(err)
		}
	}
	if out, _, err = tailrace(t, "inspect", dir); err != nil || !strings.Contains(out, "format       1.1") {
		t.Errorf("inspect after it was opened: %v\n%s", err, out)
	}
}

// TestLaterFolderIsRefused: a folder of a format to come is refused with a message that says whose it is and what to do, and not changed.
func TestLaterFolderIsRefused(t *testing.T) {
	dir := t.TempDir()
	s := startIn(t, dir)
	s.connect(t).run("CREATE TABLE t (a int)")
	if err := s.stop(); err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(dir, "FORMAT")
	for _, c := range []struct{ format, want string }{
		{`{"major": 2, "minor": 1, "environment": "00", "written_by": "v9.9.9"}`, "has format 2.1, written by tailrace v9.9.9; this build reads formats up to 1.x: use that version or a later one"},
		{`{"major": 1, "minor": 7, "required": ["tiering"], "written_by": "v9.9.9"}`, "was written by tailrace v9.9.9 and needs what this build does not know: tiering"},
		{`{"major": 1,`, "it is damaged"},
		{`{"major": 1, "minor": 0, "required": ["unfinished-restore"]}`, "holds a restore that was cut off"},
	} {
		if err := os.WriteFile(path, []byte(c.format), 0o600); err != nil {
			t.Fatal(err)
		}
		for _, command := range [][]string{{"serve", "--listen", "127.0.0.1:0", "--http", "127.0.0.1:0", "--data", dir}, {"user", "list", "--data", dir}, {"inspect", dir}} {
			out, errs, err := tailrace(t, command...)
			if err == nil || !strings.Contains(errs, c.want) {
				t.Errorf("%s with FORMAT %s: got %v %q %q, want %q", command[0], c.format, err, out, errs, c.want)
			}
		}
		if raw, _ := os.ReadFile(path); string(raw) != c.format {
			t.Errorf("FORMAT was changed to %s", raw)
		}
	}
	if err := os.WriteFile(path, []byte(`{"major": 1, "minor": 7, "environment": "00112233aabbccdd", "written_by": "v1.7"}`), 0o600); err != nil {
		t.Fatal(err)
	}
	wantRows(t, "a later minor", startIn(t, dir).connect(t).run("SELECT * FROM t"))
	raw, err := fs.ReadFile(os.DirFS(dir), "FORMAT")
	if err != nil || !strings.Contains(string(raw), "00112233aabbccdd") || !strings.Contains(string(raw), `"minor": 7`) {
		t.Errorf("FORMAT of a later minor: got %s, %v; its minor and environment must stay", raw, err)
	}
}
