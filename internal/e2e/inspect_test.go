package e2e

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// inspected is what is read of `tailrace inspect --json`.
type inspected struct {
	Name    string
	Rows    int64
	Checked bool
	Damage  []string
	Columns []struct {
		Role, Name, Type, SHA256 string
		Key                      bool
		Bytes, Stored            int64
		Nulls                    int64
		Encodings                []string
	}
	Stripes []struct {
		Rows       int
		PageGroups int `json:"page_groups"`
		Chunks     []struct {
			Column, SHA256, Codec string
			Encodings             []string
			EncodingPages         []int  `json:"encoding_pages"`
			MinValue              string `json:"min_value"`
			MaxValue              string `json:"max_value"`
			Sum                   string
			Nulls                 int
		}
	}
	Parts []inspected
}

func inspect(t testing.TB, args ...string) (in inspected, exit int) {
	t.Helper()
	out, msg, exit := tool(t, nil, append([]string{"inspect", "--json"}, args...)...)
	if err := json.Unmarshal([]byte(out), &in); err != nil {
		t.Fatalf("inspect %q: exit %d, %v\n%s%s", args, exit, err, out, msg)
	}
	return in, exit
}

// partFiles are the parts of a data folder.
func partFiles(t testing.TB, dir string) (paths []string) {
	t.Helper()
	err := filepath.WalkDir(filepath.Join(dir, "blob", "part"), func(path string, d os.DirEntry, err error) error {
		if err == nil && !d.IsDir() {
			paths = append(paths, path)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return paths
}

func TestInspectTellsOfEachColumn(t *testing.T) {
	dir := t.TempDir()
	s := startIn(t, dir)
	c := s.connect(t)
	c.run("CREATE TABLE t (id int PRIMARY KEY, name text, price numeric(10,2), day date)")
	var csv strings.Builder
	for i := range 200_000 {
		fmt.Fprintf(&csv, "%d,name %d,%d.50,2020-01-%02d\n", i, i%100, i%1000, 1+i%28)
	}
	s.loads(t, 200_000, strings.NewReader(csv.String()), "-", "--format", "csv", "--table", "t")
	if err := s.stop(); err != nil {
		t.Fatal(err)
	}
	all, exit := inspect(t, dir)
	if exit != 0 || len(all.Damage) != 0 || len(all.Parts) == 0 {
		t.Fatalf("the folder: exit %d, %q, %d parts", exit, all.Damage, len(all.Parts))
	}
	var path string
	for _, p := range partFiles(t, dir) {
		if in, exit := inspect(t, p); exit == 0 && in.Rows == 200_000 {
			path = p
		}
	}
	if path == "" {
		t.Fatalf("no part has all rows: %q", partFiles(t, dir))
	}
	in, _ := inspect(t, path)
	if !in.Checked || len(in.Columns) != 6 || len(in.Stripes) != 2 || in.Stripes[0].Rows != 131_072 || in.Stripes[0].PageGroups != 16 {
		t.Errorf("got checked %v, %d columns, stripes %+v", in.Checked, len(in.Columns), in.Stripes)
	}
	for i, want := range []string{"time time bigint false", "diff diff bigint false", "user id integer true", "user name text false", "user price numeric(10,2) false", "user day date false"} {
		col := in.Columns[i]
		if got := fmt.Sprintln(col.Role, col.Name, col.Type, col.Key); got != want+"\n" || len(col.SHA256) != 64 || len(col.Encodings) == 0 {
			t.Errorf("column %d: got %s %+v, want %s", i, got, col, want)
		}
	}
	for i, want := range []string{"0 0", "1 1", "0 131071", "name 0 name 99", "0.5 999.5", "2020-01-01 2020-01-28"} {
		k := in.Stripes[0].Chunks[i]
		if got := k.MinValue + " " + k.MaxValue; got != want || len(k.SHA256) != 64 || len(k.EncodingPages) != len(k.Encodings) {
			t.Errorf("chunk %s: got bounds %q, want %q, %+v", k.Column, got, want, k)
		}
	}
	if got, want := in.Stripes[0].Chunks[2].Sum, fmt.Sprint(131_072*131_071/2); got != want {
		t.Errorf("sum of id: got %s, want %s", got, want)
	}
	text, _, exit := tool(t, nil, "inspect", path)
	if exit != 0 || !regexp.MustCompile(`(?m)^  id +\d+ +integer +key`).MatchString(text) || !strings.Contains(text, "2020-01-28") || !strings.Contains(text, "stripe 1: 68928 rows in 9 page groups") {
		t.Errorf("for people: exit %d\n%s", exit, text)
	}
}

// TestInspectNamesWhatIsDamaged flips a byte in every page of a column, one after the other.
func TestInspectNamesWhatIsDamaged(t *testing.T) {
	dir := t.TempDir()
	s := startIn(t, dir)
	c := s.connect(t)
	c.run("CREATE TABLE t (id int PRIMARY KEY, name text)")
	c.run("INSERT INTO t SELECT i, md5(i::text) FROM generate_series(1, 20000) i")
	if err := s.stop(); err != nil {
		t.Fatal(err)
	}
	var path string
	for _, p := range partFiles(t, dir) {
		if in, _ := inspect(t, p); in.Rows == 20_000 {
			path = p
		}
	}
	whole := sure(os.ReadFile(path))
	broken := append([]byte{}, whole...)
	broken[len(broken)/2] ^= 1 // md5s are most of the part
	if err := os.WriteFile(path, broken, 0o600); err != nil {
		t.Fatal(err)
	}
	in, exit := inspect(t, path)
	if exit != 1 || len(in.Damage) != 1 || !regexp.MustCompile(`^part `+filepath.Base(path)+`: column "name".*page`).MatchString(in.Damage[0]) {
		t.Errorf("a flipped bit: exit %d, damage %q", exit, in.Damage)
	}
	all, exit := inspect(t, dir)
	if exit != 1 || len(all.Damage) != 1 || !strings.Contains(all.Damage[0], `column "name"`) {
		t.Errorf("the folder of it: exit %d, damage %q", exit, all.Damage)
	}
	if in, exit := inspect(t, dir, "--fast"); exit != 0 || len(in.Damage) != 0 || in.Parts != nil {
		t.Errorf("--fast: exit %d, damage %q, %d parts", exit, in.Damage, len(in.Parts))
	}
	if text, msg, exit := tool(t, nil, "inspect", path); exit != 1 || !strings.Contains(text, "DAMAGE  part") || !strings.Contains(msg, "damaged") {
		t.Errorf("for people: exit %d\n%s%s", exit, text, msg)
	}
	for _, n := range []int{0, 10, len(whole) / 2, len(whole) - 1} {
		if err := os.WriteFile(path, whole[:n], 0o600); err != nil {
			t.Fatal(err)
		}
		if _, msg, exit := tool(t, nil, "inspect", path); exit != 1 || msg == "" {
			t.Errorf("%d of %d bytes: exit %d, %q", n, len(whole), exit, msg)
		}
	}
}
