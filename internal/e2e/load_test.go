package e2e

import (
	"bytes"
	"compress/gzip"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/klauspost/compress/zstd"
)

// tool runs tailrace to its end.
func tool(t testing.TB, stdin io.Reader, args ...string) (stdout, stderr string, exit int) {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	cmd := exec.CommandContext(ctx, binary, args...)
	var out, msg bytes.Buffer
	cmd.Stdin, cmd.Stdout, cmd.Stderr = stdin, &out, &msg
	err := cmd.Run()
	var e *exec.ExitError
	if err != nil && !errors.As(err, &e) {
		t.Fatal(err)
	}
	return out.String(), msg.String(), cmd.ProcessState.ExitCode()
}

// loads runs tailrace load, which must load n rows.
func (s *server) loads(t testing.TB, n int, stdin io.Reader, args ...string) (stderr string) {
	t.Helper()
	out, msg, exit := tool(t, stdin, append([]string{"load", "--url", s.url}, args...)...)
	if exit != 0 || !strings.HasPrefix(out, fmt.Sprintf("loaded %d rows into ", n)) {
		t.Fatalf("load %q: exit %d, %q\n%s", args, exit, out, msg)
	}
	return msg
}

func write(t testing.TB, name string, content []byte) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), name)
	if err := os.WriteFile(path, content, 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

func gzipped(b []byte) []byte {
	var out bytes.Buffer
	z := gzip.NewWriter(&out)
	z.Write(b)
	z.Close()
	return out.Bytes()
}

func zstded(b []byte) []byte { return sure(zstd.NewWriter(nil)).EncodeAll(b, nil) }

func TestLoadTakesEveryForm(t *testing.T) {
	dir := t.TempDir()
	s := start(t, "--files", dir)
	c := s.connect(t)
	c.run("CREATE TABLE t (id int PRIMARY KEY, name text, price numeric(10,2), at timestamptz DEFAULT '2020-01-01+00')")
	csv := []byte("Price,id,NAME\n1.50,1,\"a, b\"\n,2,\n-3,3,\"line\nbreak\"\n")
	want := []string{"1 a, b 1.50", "2 _ _", "3 line\nbreak -3.00"}
	check := func(what string) {
		t.Helper()
		wantRows(t, what, c.run("SELECT id, name, price FROM t ORDER BY id"), want...)
		wantRows(t, what+": defaults", c.run("SELECT DISTINCT at = '2020-01-01+00' FROM t"), "t")
		c.run("DELETE FROM t")
	}
	s.loads(t, 3, nil, write(t, "t.csv", csv), "--table", "t", "--header")
	c.run("COPY t TO 't.bin' (FORMAT binary)")
	c.run("COPY t TO 't.txt'")
	c.run("COPY t TO 't.parquet' (FORMAT parquet)")
	check("csv")
	s.loads(t, 3, nil, write(t, "t.csv.gz", gzipped(csv)), "--table", "t", "--header")
	check("gz")
	s.loads(t, 3, nil, write(t, "t.csv.zst", zstded(csv)), "--table", "public.t", "--header")
	check("zst")
	s.loads(t, 3, bytes.NewReader(csv), "-", "--format", "csv", "--table", "t", "--header")
	check("stdin")
	semi := bytes.ReplaceAll(bytes.ReplaceAll(csv, []byte(", b"), []byte("; b")), []byte(","), []byte(";"))
	s.loads(t, 3, bytes.NewReader(semi[bytes.IndexByte(semi, '\n')+1:]), "-", "--format", "csv", "--table", "t", "--delimiter", ";", "--columns", "price,id,name")
	want[0] = "1 a; b 1.50"
	check("columns and delimiter")
	want[0] = "1 a, b 1.50"
	for _, name := range []string{"t.bin", "t.txt", "t.parquet"} {
		s.loads(t, 3, nil, filepath.Join(dir, name), "--table", "t")
		check(name)
	}
	s.loads(t, 3, nil, filepath.Join(dir, "t.parquet"), "--table", "t", "--columns", "ID,name")
	wantRows(t, "columns of parquet", c.run("SELECT id, name IS NULL, price FROM t ORDER BY id"), "1 f _", "2 t _", "3 f _")
	s.loads(t, 0, nil, write(t, "empty.txt", nil), "--table", "t")
}

func TestLoadMakesTheTable(t *testing.T) {
	s := start(t)
	c := s.connect(t)
	csv := "id,zip,amount,rate,ok,day,at,atz,u,select,Mixed Case,nothing\n" +
		"1,01234,1.50,1e3,true,2020-01-31,2020-01-31 10:00:00,2020-01-31T10:00:00Z,00000000-0000-0000-0000-000000000001,x,y,\n" +
		"9223372036854775807,99999,-2,0.5,f,,2020-01-31,2020-01-31 10:00:00+02:00,,,,\n"
	msg := s.loads(t, 2, nil, write(t, "made.csv", []byte(csv)), "--table", "made", "--header", "--create")
	if !strings.Contains(msg, "CREATE TABLE made") {
		t.Errorf("it does not say what it made: %s", msg)
	}
	wantRows(t, "types", c.run("SELECT attname || ': ' || format_type(atttypid, atttypmod) FROM pg_attribute WHERE attrelid = 'made'::regclass AND attnum > 0 ORDER BY attnum"),
		"id: bigint", "zip: text", "amount: numeric", "rate: double precision", "ok: boolean", "day: date", "at: timestamp without time zone", "atz: timestamp with time zone", "u: uuid",
		"select: text", "Mixed Case: text", "nothing: text")
	wantRows(t, "rows", c.run("SELECT id, zip, amount, rate, ok FROM made ORDER BY id"), "1 01234 1.50 1000 t", "9223372036854775807 99999 -2 0.5 f")

	_, msg, exit := tool(t, nil, "load", "--url", s.url, write(t, "made.csv", []byte(csv)), "--table", "made", "--header", "--create")
	if exit != 1 || !strings.Contains(msg, "already exists") || !strings.Contains(msg, "--create") {
		t.Errorf("a table that is there: exit %d, %s", exit, msg)
	}
	// What is after the sample may be of another type: nothing is left, not even the table.
	long := "a\n" + strings.Repeat("1234567\n", 200_000) + "word\n"
	_, msg, exit = tool(t, nil, "load", "--url", s.url, write(t, "long.csv", []byte(long)), "--table", "long", "--header", "--create")
	if exit != 1 || !strings.Contains(msg, `invalid input syntax for type bigint: "word"`) || !strings.Contains(msg, "line 200002") || !strings.Contains(msg, "guessed") {
		t.Errorf("exit %d, %s", exit, msg)
	}
	c.fails("SELECT * FROM long", "42P01", "")
}

func TestLoadSaysWhatIsWrong(t *testing.T) {
	s := start(t)
	c := s.connect(t)
	c.run("CREATE TABLE t (a int, b text)")
	csv := write(t, "x.csv", []byte("a,b\n1,x\n"))
	for _, e := range []struct {
		what string
		args []string
		exit int
		says []string
	}{
		{"no server", []string{csv, "--table", "t", "--url", "postgres://127.0.0.1:1/postgres"}, 1, []string{"no Tailrace answers at 127.0.0.1:1", "tailrace serve", "--url"}},
		{"no file", []string{"/nowhere.csv", "--table", "t"}, 1, []string{"/nowhere.csv: no such file"}},
		{"no table", []string{csv, "--table", "none", "--header"}, 1, []string{"the server has no table none", "--create", "CREATE TABLE none (\n  a bigint,\n  b text\n);"}},
		{"no column", []string{write(t, "y.csv", []byte("a,c\n1,x\n")), "--table", "t", "--header"}, 1, []string{`table t has no column "c"`, "a, b"}},
		{"a bad row", []string{write(t, "z.csv", []byte("a,b\n1,x\nno,y\n")), "--table", "t", "--header"}, 1, []string{"nothing was loaded: invalid input syntax for type integer", `COPY t, line 3, column a: "no"`}},
		{"no format", []string{write(t, "data", nil), "--table", "t"}, 1, []string{"does not tell what is in it", "--format"}},
		{"parquet from stdin", []string{"-", "--format", "parquet", "--table", "t"}, 1, []string{"read from its end"}},
		{"no parquet", []string{write(t, "bad.parquet", []byte("what is this, if not a Parquet file?")), "--table", "t"}, 1, []string{"no Parquet file"}},
		{"not compressed", []string{write(t, "bad.csv.gz", []byte("a,b\n")), "--table", "t"}, 1, []string{"decompress", "bad.csv.gz"}},
		{"a name that is none", []string{csv, "--table", "t; DROP TABLE t"}, 1, []string{"is no name of a table"}},
		{"no --table", []string{csv}, 80, []string{"--table"}},
		{"create of text", []string{write(t, "x.txt", nil), "--table", "u", "--create"}, 1, []string{"CREATE TABLE"}},
	} {
		args := append([]string{"load"}, e.args...)
		if e.what != "no server" {
			args = append(args, "--url", s.url)
		}
		out, msg, exit := tool(t, nil, args...)
		if exit != e.exit || strings.Contains(out, "loaded") {
			t.Errorf("%s: got exit %d and %q, want %d\n%s", e.what, exit, out, e.exit, msg)
		}
		for _, says := range e.says {
			if !strings.Contains(msg, says) {
				t.Errorf("%s: got %s\nwant %q in it", e.what, msg, says)
			}
		}
	}
	wantRows(t, "nothing came in", c.run("SELECT count(*) FROM t"), "0")
}

func TestLoadShowsHowFarItIs(t *testing.T) {
	s := start(t)
	c := s.connect(t)
	c.run("CREATE TABLE t (a int, b text)")
	csv := bytes.NewBufferString("a,b\n")
	for i := range 200_000 {
		fmt.Fprintf(csv, "%d,some words to fill the line\n", i)
	}
	msg := s.loads(t, 200_000, nil, write(t, "big.csv", csv.Bytes()), "--table", "t", "--header")
	if !strings.Contains(msg, " 200000 rows") {
		t.Errorf("the last line has other rows:\n%s", msg)
	}
	lines := regexp.MustCompile(`(?m)^load +(\d+) %  \d+ rows, [\d.]+ \w+, \d+ rows/s, [\d.]+ MB/s`).FindAllStringSubmatch(msg, -1)
	if len(lines) != 10 || lines[9][1] != "100" {
		t.Errorf("got %d lines, want one for each tenth:\n%s", len(lines), msg)
	}
	// On a terminal it is a bar.
	if _, err := exec.LookPath("script"); err != nil {
		t.Skip(err)
	}
	script := exec.Command("script", "-qec", fmt.Sprintf("stty cols 150 rows 40; %s load --url %s %s --table t --header", binary, s.url, write(t, "big.csv", csv.Bytes())), "/dev/null")
	script.Env = append(os.Environ(), "TERM=xterm")
	if out, err := script.CombinedOutput(); err != nil || !strings.Contains(string(out), "rows/s") || !strings.Contains(string(out), "[=") {
		t.Errorf("got no bar: %v\n%s", err, out)
	}
}

func TestCancelledLoadLeavesNothing(t *testing.T) {
	s := start(t)
	c := s.connect(t)
	c.run("CREATE TABLE t (a int)")
	for _, args := range [][]string{{"-", "--table", "t", "--format", "text"}, {"-", "--table", "u", "--format", "csv", "--create"}} {
		r, w := sure2(os.Pipe())
		cmd := exec.Command(binary, append([]string{"load", "--url", s.url}, args...)...)
		out := &tailBuffer{}
		cmd.Stdin, cmd.Stdout, cmd.Stderr = r, out, out
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		r.Close()
		if _, err := io.WriteString(w, strings.Repeat("1\n", 1_000_000)); err != nil { // most of it was read when this returns
			t.Fatal(err)
		}
		cmd.Process.Signal(os.Interrupt)
		cmd.Wait()
		w.Close()
		if code := cmd.ProcessState.ExitCode(); code != 130 || !strings.Contains(out.String(), "cancelled: nothing was loaded") {
			t.Errorf("%q: got exit %d, %s", args, code, out)
		}
	}
	wantRows(t, "rows", c.run("SELECT count(*) FROM t"), "0")
	c.fails("TABLE u", "42P01", "")
}

func sure2[A, B any](a A, b B, err error) (A, B) {
	if err != nil {
		panic(err)
	}
	return a, b
}

// TestPsqlCopies is \copy of a real psql, both ways, in each format.
func TestPsqlCopies(t *testing.T) {
	s := start(t)
	c := s.connect(t)
	c.run(everyType)
	c.run(strings.Replace(everyType[strings.Index(everyType, "CREATE TABLE"):strings.Index(everyType, "INSERT")], "every", "again", 1))
	want := tableRows(t, c, "SELECT * FROM every ORDER BY id")
	for _, f := range []string{"text", "csv", "binary"} {
		file := filepath.Join(t.TempDir(), "x")
		script := fmt.Sprintf("\\copy every TO '%s' (FORMAT %s)\n\\copy again FROM '%s' (FORMAT %s)\n", file, f, file, f)
		psql := exec.Command("psql", "-X", "-v", "ON_ERROR_STOP=1", s.asTester())
		psql.Stdin = strings.NewReader(script)
		if out, err := psql.CombinedOutput(); err != nil || string(out) != "COPY 3\nCOPY 3\n" {
			t.Fatalf("%s: %v\n%s", f, err, out)
		}
		wantRows(t, f, tableRows(t, c, "SELECT * FROM again ORDER BY id"), want...)
		c.run("DELETE FROM again")
	}
}
