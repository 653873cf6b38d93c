package e2e

import (
	"bufio"
	"bytes"
	"crypto/sha256"
	"encoding/csv"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
)

// exported is export.json.
type exported struct {
	Table   string
	AsOf    uint64 `json:"as_of"`
	Format  string
	Rows    int64
	Columns []struct {
		Name, Type string
		File       string `json:"file_type"`
	}
	Files []struct {
		Name        string
		Rows, Bytes int64
		SHA256      string
	}
}

// readExport reads export.json and checks that the files are as it says.
func readExport(t testing.TB, dir string) (m exported) {
	t.Helper()
	raw, err := os.ReadFile(filepath.Join(dir, "export.json"))
	if err == nil {
		err = json.Unmarshal(raw, &m)
	}
	if err != nil {
		t.Fatal(err)
	}
	names, rows := []string{"export.json"}, int64(0)
	for _, f := range m.Files {
		content := sure(os.ReadFile(filepath.Join(dir, f.Name)))
		sum := sha256.Sum256(content)
		if int64(len(content)) != f.Bytes || hex.EncodeToString(sum[:]) != f.SHA256 {
			t.Errorf("%s: got %d bytes and %x, export.json says %d and %s", f.Name, len(content), sum, f.Bytes, f.SHA256)
		}
		names, rows = append(names, f.Name), rows+f.Rows
	}
	if rows != m.Rows {
		t.Errorf("export.json: files have %d rows, all have %d", rows, m.Rows)
	}
	var there []string
	for _, e := range sure(os.ReadDir(dir)) {
		there = append(there, e.Name())
	}
	slices.Sort(names)
	if !slices.Equal(there, names) {
		t.Errorf("the folder has %q, want %q", there, names)
	}
	return m
}

// export runs tailrace export, which must work.
func (s *server) export(t testing.TB, table, dir string, args ...string) (m exported, stderr string) {
	t.Helper()
	_, msg, exit := tool(t, nil, append([]string{"export", table, "--to", dir, "--url", s.url}, args...)...)
	if exit != 0 {
		t.Fatalf("export %s %q: exit %d\n%s", table, args, exit, msg)
	}
	return readExport(t, dir), msg
}

func TestExportKeepsEveryType(t *testing.T) {
	s := start(t)
	c := s.connect(t)
	c.run("SET TimeZone = 'UTC'")
	c.run(everyType)
	want := tableRows(t, c, "SELECT * FROM every ORDER BY id")
	dir := filepath.Join(t.TempDir(), "out")
	m, _ := s.export(t, "every", dir)
	names, rows := parquetRows(t, filepath.Join(dir, m.Files[0].Name))
	wantRows(t, "rows", rows, want...)
	var types []string
	for _, col := range m.Columns {
		types = append(types, col.Name+" "+col.Type+" "+col.File)
	}
	wantRows(t, "columns", types, "id integer INTEGER", "b boolean BOOLEAN", "i2 smallint SMALLINT", "i8 bigint BIGINT", "f4 real FLOAT", "f8 double precision DOUBLE", "n numeric VARCHAR",
		"n4 numeric(4,2) DECIMAL(4,2)", "n18 numeric(18,6) DECIMAL(18,6)", "n38 numeric(38,10) DECIMAL(38,10)", "t text VARCHAR", "v character varying(20) VARCHAR", "c character(5) VARCHAR",
		"y bytea BLOB", "d date DATE", "h time without time zone TIME", "s timestamp without time zone TIMESTAMP", "z timestamp with time zone TIMESTAMP WITH TIME ZONE", "iv interval VARCHAR",
		"u uuid UUID", "j json JSON", "jb jsonb JSON", "m mood VARCHAR", "ai integer[] INTEGER[]", "at text[] VARCHAR[]", "an numeric(10,2)[] DECIMAL(10,2)[]", "am mood[] VARCHAR[]")
	if len(names) != len(m.Columns) || m.Table != "every" || m.Rows != 3 || m.Format != "parquet" {
		t.Errorf("got %+v", m)
	}
	// And back in, into a table of the same types.
	c.run(strings.Replace(everyType[strings.Index(everyType, "CREATE TABLE"):strings.Index(everyType, "INSERT")], "every", "again", 1))
	s.loads(t, 3, nil, filepath.Join(dir, m.Files[0].Name), "--table", "again")
	wantRows(t, "loaded", tableRows(t, c, "SELECT * FROM again ORDER BY id"), want...)

	dir = filepath.Join(t.TempDir(), "csv")
	m, _ = s.export(t, "every", dir, "--format", "csv")
	s.loads(t, 0, bytes.NewReader(sure(os.ReadFile(filepath.Join(dir, m.Files[0].Name)))[:0]), "-", "--format", "csv", "--table", "again")
	c.run("DELETE FROM again")
	s.loads(t, 3, nil, filepath.Join(dir, m.Files[0].Name), "--table", "again", "--header")
	wantRows(t, "from csv", tableRows(t, c, "SELECT * FROM again ORDER BY id"), want...)
}

func TestExportWritesAsTextWhatDoesNotFit(t *testing.T) {
	s := start(t)
	c := s.connect(t)
	c.run("CREATE TABLE t (id int PRIMARY KEY, n numeric(10,2), a int[], f float8); INSERT INTO t VALUES (1, 1.5, '{1}', 0), (2, 'NaN', '{{1},{2}}', '-0')")
	dir := filepath.Join(t.TempDir(), "out")
	m, msg := s.export(t, "t", dir)
	_, rows := parquetRows(t, filepath.Join(dir, m.Files[0].Name))
	wantRows(t, "rows", rows, "1\t1.50\t{1}\t0", "2\tNaN\t{{1},{2}}\t-0")
	if m.Columns[1].File != "VARCHAR" || m.Columns[2].File != "VARCHAR" || m.Columns[3].File != "DOUBLE" || !strings.Contains(msg, `column "n" holds NaN`) {
		t.Errorf("got %+v\n%s", m.Columns, msg)
	}
	m, _ = s.export(t, "t", filepath.Join(t.TempDir(), "text"), "--text", "id")
	if m.Columns[0].File != "VARCHAR" {
		t.Errorf("--text id: got %+v", m.Columns[0])
	}
}

// TestExportIsOfOneTime exports while others write: the sum over all rows is the same at every time, and no key is missing or there twice.
func TestExportIsOfOneTime(t *testing.T) {
	const rows = 400_000
	s := start(t)
	c := s.connect(t)
	c.run(fmt.Sprintf("CREATE TABLE t (id int PRIMARY KEY, n bigint, w text); INSERT INTO t SELECT i, 1000, md5(i::text) FROM generate_series(1, %d) i", rows))
	old := c.one("SELECT mz_now()")
	stop := make(chan struct{})
	var writers sync.WaitGroup
	for w := range 2 {
		writer := s.connect(t)
		writers.Go(func() {
			for i := 0; ; i++ {
				select {
				case <-stop:
					return
				default:
				}
				from, to := (i*7919+w)%rows+1, (i*104729+13)%rows+1
				writer.try(fmt.Sprintf("BEGIN; UPDATE t SET n = n - 1 WHERE id = %d; UPDATE t SET n = n + 1 WHERE id = %d; COMMIT", from, to))
				writer.try("ROLLBACK")
			}
		})
	}
	check := func(what string, dir string, m exported) (moved int) {
		t.Helper()
		seen := map[string]bool{}
		sum := 0
		for _, f := range m.Files {
			_, lines := parquetRows(t, filepath.Join(dir, f.Name))
			if int64(len(lines)) != f.Rows {
				t.Errorf("%s: %s has %d rows, export.json says %d", what, f.Name, len(lines), f.Rows)
			}
			for _, line := range lines {
				id, rest, _ := strings.Cut(line, "\t")
				if seen[id] {
					t.Fatalf("%s: row %s is there twice", what, id)
				}
				seen[id] = true
				n := 0
				fmt.Sscan(rest, &n)
				sum += n
				if n != 1000 {
					moved++
				}
			}
		}
		if len(seen) != rows || m.Rows != rows || sum != 1000*rows {
			t.Errorf("%s: got %d rows (%d in export.json) and the sum %d, want %d and %d", what, len(seen), m.Rows, sum, rows, 1000*rows)
		}
		return moved
	}
	dir := filepath.Join(t.TempDir(), "now")
	m, _ := s.export(t, "t", dir, "--workers", "3")
	if len(m.Files) != 3 {
		t.Errorf("got %d files, want 3", len(m.Files))
	}
	check("now", dir, m)
	dir = filepath.Join(t.TempDir(), "old")
	m, _ = s.export(t, "public.t", dir, "--as-of", old)
	close(stop)
	writers.Wait()
	if moved := check("as of", dir, m); moved != 0 || fmt.Sprint(m.AsOf) != old {
		t.Errorf("as of %s: got %d rows of later, as_of %d", old, moved, m.AsOf)
	}
}

func TestExportSaysWhatIsWrong(t *testing.T) {
	s := start(t)
	c := s.connect(t)
	c.run("CREATE TABLE t (a int)")
	full := t.TempDir()
	os.WriteFile(filepath.Join(full, "x"), nil, 0o600)
	for _, e := range []struct {
		what string
		args []string
		says string
	}{
		{"no table", []string{"none", "--to", filepath.Join(t.TempDir(), "x")}, "the server has no table none"},
		{"a folder with something in it", []string{"t", "--to", full}, "is not empty"},
		{"a time before everything", []string{"t", "--to", filepath.Join(t.TempDir(), "x"), "--as-of", "1"}, "could not find a valid timestamp"},
		{"a time that is none", []string{"t", "--to", filepath.Join(t.TempDir(), "x"), "--as-of", "2020-13-01"}, "out of range"},
		{"no column", []string{"t", "--to", filepath.Join(t.TempDir(), "x"), "--text", "b"}, `no column "b"`},
		{"no parent", []string{"t", "--to", filepath.Join(t.TempDir(), "x", "y")}, "no such file or directory"},
	} {
		_, msg, exit := tool(t, nil, append([]string{"export", "--url", s.url}, e.args...)...)
		if exit != 1 || !strings.Contains(msg, e.says) {
			t.Errorf("%s: exit %d, %s\nwant %q in it", e.what, exit, msg, e.says)
		}
		to := e.args[2]
		if left, _ := os.ReadDir(filepath.Dir(to)); to != full && len(left) > 0 {
			t.Errorf("%s: left %v", e.what, left)
		}
	}
	m, _ := s.export(t, "t", t.TempDir()) // an empty folder, and an empty table
	if m.Rows != 0 || len(m.Files) != 1 {
		t.Errorf("an empty table: got %+v", m)
	}
}

// TestKilledExportLeavesNoFolder ends exports in the middle: by Ctrl-C, by SIGKILL, by a file that would be too large.
func TestKilledExportLeavesNoFolder(t *testing.T) {
	s := start(t)
	c := s.connect(t)
	c.run("CREATE TABLE t (id int PRIMARY KEY, w text); INSERT INTO t SELECT i, md5(i::text) || md5((i + 1)::text) FROM generate_series(1, 600000) i")
	for _, how := range []os.Signal{os.Interrupt, syscall.SIGKILL} {
		parent := t.TempDir()
		dir := filepath.Join(parent, "out")
		cmd := exec.Command(binary, "export", "t", "--to", dir, "--url", s.url)
		stderr := sure(cmd.StderrPipe())
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		out := &tailBuffer{}
		for lines := bufio.NewScanner(stderr); lines.Scan(); { // the next tenths are still to come when this one is read
			fmt.Fprintln(out, lines.Text())
			if strings.Contains(lines.Text(), " 20 %") {
				cmd.Process.Signal(how)
			}
		}
		cmd.Wait()
		if _, err := os.Stat(dir); err == nil {
			t.Errorf("%v: the folder is there", how)
		}
		left := sure(os.ReadDir(parent))
		switch {
		case how == os.Interrupt && (len(left) > 0 || cmd.ProcessState.ExitCode() != 130 || !strings.Contains(out.String(), "cancelled: nothing was exported")):
			t.Errorf("Ctrl-C: exit %d, left %v\n%s", cmd.ProcessState.ExitCode(), left, out)
		case how == syscall.SIGKILL && (len(left) != 1 || !strings.HasPrefix(left[0].Name(), ".out.incomplete-")):
			t.Errorf("SIGKILL: left %v", left)
		}
	}
	for _, form := range []string{"parquet", "csv"} {
		dir := filepath.Join(t.TempDir(), "out")
		sh := exec.Command("prlimit", "--fsize=1048576", binary, "export", "t", "--to", dir, "--url", s.url, "--format", form)
		out, err := sh.CombinedOutput()
		if err == nil || !strings.Contains(string(out), "no room for the files of "+dir) || strings.Contains(string(out), "SIGXFSZ") {
			t.Errorf("%s: a file too large: %v\n%s", form, err, out)
		}
		if left := sure(os.ReadDir(filepath.Dir(dir))); len(left) > 0 {
			t.Errorf("%s: left %v", form, left)
		}
	}
}

func TestExportCSVIsPlain(t *testing.T) {
	s := start(t)
	s.connect(t).run(`CREATE TABLE "Odd Name" (id int, "a,b" text); INSERT INTO "Odd Name" VALUES (1, 'x"y'), (2, NULL)`)
	dir := filepath.Join(t.TempDir(), "out")
	m, _ := s.export(t, `"Odd Name"`, dir, "--format", "csv")
	r := csv.NewReader(bytes.NewReader(sure(os.ReadFile(filepath.Join(dir, m.Files[0].Name)))))
	got := fmt.Sprint(sure(r.ReadAll()))
	if m.Files[0].Name != "Odd Name-1.csv" || got != `[[id a,b] [1 x"y] [2 ]]` || m.Rows != 2 {
		t.Errorf("got %+v: %s", m, got)
	}
}
