package e2e

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"tailrace/format"
	"tailrace/parquet"
)

// everyType makes a table with a column of each type that files know apart, and rows with values at their edges.
const everyType = `CREATE TYPE mood AS ENUM ('sad', 'ok', 'very ok');
CREATE TABLE every (id int PRIMARY KEY, b bool, i2 smallint, i8 bigint, f4 real, f8 double precision, n numeric, n4 numeric(4,2), n18 numeric(18,6), n38 numeric(38,10), t text,
	v varchar(20), c char(5), y bytea, d date, h time, s timestamp, z timestamptz, iv interval, u uuid, j json, jb jsonb, m mood, ai int[], at text[], an numeric(10,2)[], am mood[]);
INSERT INTO every VALUES
(1, true, -32768, -9223372036854775808, 1.5, 0.1, 1.50, 99.99, -123456789012.123456, 9999999999999999999999999999.9999999999, 'a "b",c', 'x', 'ab', '\x00ff', '2024-02-29', '24:00', '2000-01-01 00:00:00.000001',
	'1969-12-31 23:59:59.999999+00', '1 year -2 days 00:00:01', '00000000-0000-0000-0000-000000000001', '{"a" : 1}', '{"a": 1}', 'very ok', '{1,NULL,3}', '{"",NULL,"a,b"}', '{1.50,-2.00}', '{sad,"very ok"}'),
(2, false, 32767, 9223372036854775807, 'NaN', '-Infinity', 'NaN', -99.99, 0, -1, E'tab\there\nand a line \\ .', '', '', '', 'infinity', '00:00', '-infinity', 'infinity', '0', 'ffffffff-ffff-ffff-ffff-ffffffffffff',
	'[]', 'null', 'sad', '{}', '{}', '{}', '{}'),
(3, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL)`

// parquetRows reads a Parquet file with DuckDB and returns its rows as PostgreSQL prints them, NULL as \N, columns separated by tabs.
func parquetRows(t testing.TB, path string) (names []string, rows []string) {
	t.Helper()
	e, err := parquet.Open(parquet.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer e.Close()
	f, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	ctx := context.Background()
	r, err := e.Read(ctx, f)
	if err != nil {
		t.Fatalf("%v: %v", err, errors.Unwrap(err))
	}
	defer r.Close()
	for _, c := range r.Columns {
		names = append(names, c.Name+" "+c.Type.String())
	}
	for {
		b, err := r.Next(ctx)
		if errors.Is(err, io.EOF) {
			return names, rows
		}
		if err != nil {
			t.Fatal(err)
		}
		for i := range b.N {
			var cells []string
			for c := range b.Cols {
				if b.Cols[c].IsNull(i) {
					cells = append(cells, `\N`)
				} else {
					cells = append(cells, string(format.AppendText(nil, r.Columns[c].Type, &b.Cols[c], i, format.Default())))
				}
			}
			rows = append(rows, strings.Join(cells, "\t"))
		}
	}
}

// tableRows are a query's rows in the same form.
func tableRows(t testing.TB, c *client, sql string) (rows []string) {
	t.Helper()
	ctx := context.Background()
	results, err := c.c.PgConn().Exec(ctx, sql).ReadAll()
	if err != nil {
		t.Fatalf("%s: %v", sql, describe(err))
	}
	for _, row := range results[len(results)-1].Rows {
		var cells []string
		for _, v := range row {
			if v == nil {
				cells = append(cells, `\N`)
			} else {
				cells = append(cells, string(v))
			}
		}
		rows = append(rows, strings.Join(cells, "\t"))
	}
	return rows
}

func TestCopyFilesInEveryFormat(t *testing.T) {
	dir := t.TempDir()
	s := start(t, "--files", dir)
	c := s.connect(t)
	c.run("SET TimeZone = 'UTC'; SET DateStyle = 'ISO'")
	c.run(everyType)
	want := tableRows(t, c, "SELECT * FROM every ORDER BY id")
	for _, f := range []string{"text", "csv", "binary", "parquet"} {
		if _, tag, err := c.try(fmt.Sprintf("COPY every TO 'every.%s' (FORMAT %s)", f, f)); err != nil || tag != "COPY 3" {
			t.Fatalf("%s: got %q, %v", f, tag, describe(err))
		}
		c.run("CREATE TABLE again (LIKE every)")
		c.run("DROP TABLE again")
		c.run(strings.Replace(everyType[strings.Index(everyType, "CREATE TABLE"):strings.Index(everyType, "INSERT")], "every", "again", 1))
		if _, tag, err := c.try(fmt.Sprintf("COPY again FROM '%s/every.%s' WITH (FORMAT %s)", dir, f, f)); err != nil || tag != "COPY 3" {
			t.Fatalf("%s: got %q, %v", f, tag, describe(err))
		}
		wantRows(t, f, tableRows(t, c, "SELECT * FROM again ORDER BY id"), want...)
		c.run("DROP TABLE again")
	}
	names, rows := parquetRows(t, filepath.Join(dir, "every.parquet"))
	wantRows(t, "read by DuckDB", rows, want...)
	if got := strings.Join(names, ", "); !strings.Contains(got, "n18 numeric(18,6), n38 numeric(38,10)") || !strings.Contains(got, "z timestamp with time zone") || !strings.Contains(got, "an numeric(10,2)[]") {
		t.Errorf("types in the file: %s", got)
	}
	if _, tag, err := c.try("COPY (SELECT id, t AS words FROM every WHERE id > 1 ORDER BY id DESC) TO 'sub.parquet' (FORMAT parquet)"); err != nil || tag != "COPY 2" {
		t.Fatalf("got %q, %v", tag, describe(err))
	}
	if names, rows := parquetRows(t, filepath.Join(dir, "sub.parquet")); len(rows) != 2 || rows[0] != "3\t\\N" || strings.Join(names, ",") != "id integer,words text" {
		t.Errorf("got %q of %q", rows, names)
	}
	c.run("CREATE TABLE few (words text, id bigint, more int DEFAULT 7)")
	c.run("COPY few FROM 'sub.parquet' (FORMAT parquet)")
	wantRows(t, "by name, with a default", c.run("SELECT id, more FROM few ORDER BY id"), "2 7", "3 7")
	c.run("COPY few (id) FROM 'sub.parquet' (FORMAT parquet)")
	wantRows(t, "some columns", c.run("SELECT count(*), count(words) FROM few"), "4 1")
	c.fails("COPY every FROM 'sub.parquet' (FORMAT parquet)", "42703", `column "words" of the file does not exist in relation "every"`)
	c.run("CREATE TABLE wrong (id date)")
	c.fails("COPY wrong (id) FROM 'sub.parquet' (FORMAT parquet)", "22007", "")
	c.fails("COPY every FROM 'every.csv' (FORMAT parquet)", "22P04", "no Parquet file")
	c.fails("COPY every TO STDOUT (FORMAT parquet)", "0A000", "needs a file")
	c.fails("COPY every TO 'x' (FORMAT parquet, HEADER)", "0A000", "header")
	for _, e := range sure(os.ReadDir(dir)) {
		if strings.HasPrefix(e.Name(), ".") {
			t.Errorf("%s is left behind", e.Name())
		}
	}
}

func sure[T any](v T, err error) T {
	if err != nil {
		panic(err)
	}
	return v
}

func TestCopyAsOfToFile(t *testing.T) {
	dir := t.TempDir()
	c := start(t, "--files", dir).connect(t)
	c.run("CREATE TABLE t (id int PRIMARY KEY, v text); INSERT INTO t VALUES (1, 'old')")
	at := c.one("SELECT mz_now()")
	c.run("UPDATE t SET v = 'new'; INSERT INTO t VALUES (2, 'more')")
	for _, q := range []string{"TABLE t", "SELECT * FROM t", "SELECT id, v FROM t"} {
		c.run(fmt.Sprintf("COPY (%s AS OF %s) TO 'asof.csv' (FORMAT csv)", q, at))
		if got := string(sure(os.ReadFile(filepath.Join(dir, "asof.csv")))); got != "1,old\n" {
			t.Errorf("%s AS OF: got %q", q, got)
		}
	}
	c.run("COPY (TABLE t) TO 'asof.csv' (FORMAT csv, HEADER)")
	if got := string(sure(os.ReadFile(filepath.Join(dir, "asof.csv")))); got != "id,v\n1,new\n2,more\n" {
		t.Errorf("now: got %q", got)
	}
}

func TestFilesOutsideTheFolderAreRefused(t *testing.T) {
	c := start(t).connect(t)
	c.run("CREATE TABLE t (a text)")
	for _, sql := range []string{"COPY t TO '/tmp/x'", "COPY t FROM '/etc/passwd'", "COPY t TO 'x' (FORMAT parquet)", "COPY (SELECT 1) TO 'x'"} {
		if e := c.fails(sql, "42501", "not allowed"); !strings.Contains(e.Hint, "--files DIR") {
			t.Errorf("%s: the hint is %q", sql, e.Hint)
		}
	}
	c.fails("COPY t FROM PROGRAM 'cat /etc/passwd'", "0A000", "program")

	out, dir := t.TempDir(), t.TempDir()
	os.WriteFile(filepath.Join(out, "secret"), []byte("secret\n"), 0o600)
	os.Symlink(filepath.Join(out, "secret"), filepath.Join(dir, "link"))
	os.Symlink(out, filepath.Join(dir, "away"))
	os.Symlink("inside", filepath.Join(dir, "near"))
	os.WriteFile(filepath.Join(dir, "inside"), []byte("fine\n"), 0o600)
	os.Mkdir(filepath.Join(dir, "sub"), 0o700)
	syscall.Mkfifo(filepath.Join(dir, "pipe"), 0o600)
	c = start(t, "--files", dir).connect(t)
	c.run("CREATE TABLE t (a text)")
	for _, name := range []string{"/etc/passwd", "../x", "sub/../../x", filepath.Join(dir, "..", "x"), "link", "away/secret", "away/x", "/proc/self/environ", dir + "x"} {
		for _, sql := range []string{"COPY t FROM '%s'", "COPY t TO '%s'", "COPY t FROM '%s' (FORMAT parquet)", "COPY t TO '%s' (FORMAT parquet)"} {
			if name == "link" && strings.Contains(sql, "TO") {
				continue // below
			}
			if e := c.fails(fmt.Sprintf(sql, name), "42501", "not below the folder"); !strings.Contains(e.Hint, dir) {
				t.Errorf("%s %s: the hint is %q", sql, name, e.Hint)
			}
		}
	}
	c.fails("COPY t TO 'link'", "42501", "not below")
	if got := string(sure(os.ReadFile(filepath.Join(out, "secret")))); got != "secret\n" {
		t.Errorf("a file outside was changed to %q", got)
	}
	c.run("COPY t FROM 'near'")
	wantRows(t, "a link within", c.run("SELECT * FROM t"), "fine")
	if e := c.fails("COPY t FROM 'none'", "58P01", `could not open file "none" for reading: No such file or directory`); !strings.Contains(e.Hint, "\\copy") {
		t.Errorf("the hint is %q", e.Hint)
	}
	c.fails("COPY t TO 'none/x'", "58P01", `could not open file "none/x" for writing: No such file or directory`)
	c.fails("COPY t FROM 'sub'", "42809", "is a directory")
	c.fails("COPY t TO 'sub'", "42809", "is a directory")
	c.fails("COPY t FROM 'pipe'", "42809", "not a regular file")
	c.fails("COPY t TO 'pipe'", "42809", "not a regular file")
	if err := exec.Command(binary, "serve", "--data", t.TempDir(), "--listen", "127.0.0.1:0", "--http", "127.0.0.1:0", "--files", filepath.Join(dir, "none")).Run(); err == nil {
		t.Error("a server with a folder of files that is not there started")
	}
}

// TestFailedCopyLeavesTheOldFile copies what fails in the middle over a file that is there.
func TestFailedCopyLeavesTheOldFile(t *testing.T) {
	dir := t.TempDir()
	c := start(t, "--files", dir).connect(t)
	c.run("CREATE TABLE t (a int); INSERT INTO t SELECT * FROM generate_series(1, 100000)")
	for _, f := range []string{"csv", "parquet"} {
		name := filepath.Join(dir, f)
		os.WriteFile(name, []byte("old"), 0o600)
		c.fails(fmt.Sprintf("COPY (SELECT 1 / (99999 - a) FROM t) TO '%s' (FORMAT %s)", f, f), "22012", "division by zero")
		if got := string(sure(os.ReadFile(name))); got != "old" {
			t.Errorf("%s: got %q", f, got)
		}
	}
	if left := sure(os.ReadDir(dir)); len(left) != 2 {
		t.Errorf("got %v, want the two files alone", left)
	}
}

// TestFullDiskOnCopyTo lets the server write files of 1 MiB only.
func TestFullDiskOnCopyTo(t *testing.T) {
	dir := t.TempDir()
	s := start(t, "--files", dir)
	c := s.connect(t)
	c.run("CREATE TABLE t (a text); INSERT INTO t SELECT md5(i::text) || md5((7 * i)::text) || md5((i + 11)::text) FROM generate_series(1, 50000) i")
	limit := fmt.Sprintf("--fsize=%d:%d", 1<<20, 1<<20)
	if out, err := exec.Command("prlimit", "--pid", fmt.Sprint(s.cmd.Process.Pid), limit).CombinedOutput(); err != nil {
		t.Skipf("prlimit: %v\n%s", err, out)
	}
	for _, f := range []string{"csv", "parquet"} {
		c.fails(fmt.Sprintf("COPY t TO 'big.%s' (FORMAT %s)", f, f), "53100", "")
	}
	if left := sure(os.ReadDir(dir)); len(left) != 0 {
		t.Errorf("got %v, want nothing", left)
	}
	wantRows(t, "the server goes on", c.run("SELECT count(*) FROM t"), "50000")
}
