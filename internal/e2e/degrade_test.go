package e2e

import (
	"bytes"
	"context"
	"encoding/base64"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math/rand/v2"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/jackc/pgx/v5/pgconn"

	"tailrace/file"
)

// randomRows are n rows for a table (a int, b text), in no order of a, with texts that no codec makes shorter than 48 bytes: a stripe's worth is a part of 7 MB.
func randomRows(first, n int) []byte {
	rng := rand.NewChaCha8([32]byte{byte(first >> 16)})
	raw, out := make([]byte, 48), make([]byte, 0, n*80)
	for i := range n {
		rng.Read(raw)
		out = strconv.AppendInt(out, int64(first+(i*7919)%n), 10)
		out = append(base64.StdEncoding.AppendEncode(append(out, '\t'), raw), '\n')
	}
	return out
}

// copyFrom runs COPY t FROM STDIN.
func (s *server) copyFrom(t testing.TB, data io.Reader) (int64, error) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	c, err := pgconn.Connect(ctx, s.url)
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close(context.Background())
	tag, err := c.CopyFrom(ctx, data, "COPY t FROM STDIN")
	return tag.RowsAffected(), err
}

// blobFiles are the files below the blob folder that begin with one of the prefixes, in order.
func blobFiles(t testing.TB, dir string, prefixes ...string) (names []string) {
	t.Helper()
	root := filepath.Join(dir, "blob")
	err := filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		if errors.Is(err, fs.ErrNotExist) {
			return nil // the server deleted it meanwhile
		}
		name := strings.TrimPrefix(path, root+"/")
		if err == nil && !d.IsDir() && slices.ContainsFunc(prefixes, func(p string) bool { return strings.HasPrefix(name, p) }) {
			names = append(names, name)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return names
}

// named are the parts that the manifests of a data folder name, in order.
func named(t testing.TB, dir string) (names []string) {
	t.Helper()
	all, exit := inspect(t, dir)
	if exit != 0 || len(all.Damage) > 0 {
		t.Fatalf("inspect: exit %d, damage %q", exit, all.Damage)
	}
	for _, p := range all.Parts {
		names = append(names, p.Name)
	}
	slices.Sort(names)
	return names
}

// untilTrue waits for what a server does by itself.
func untilTrue(t testing.TB, what string, is func() bool) {
	t.Helper()
	for deadline := time.After(20 * time.Second); !is(); {
		select {
		case <-deadline:
			t.Fatalf("waited 20 s until %s", what)
		case <-time.After(50 * time.Millisecond):
		}
	}
}

// killer reads data, and kills the server once it has put parts that it had not.
type killer struct {
	t    testing.TB
	s    *server
	data io.Reader
	had  int
}

func (k *killer) Read(p []byte) (int, error) {
	if len(blobFiles(k.t, k.s.dir, "part/")) > k.had {
		k.s.kill()
	}
	return k.data.Read(p[:min(len(p), 256<<10)])
}

// TestKillInMidCopyLeavesNothing kills the server when a COPY has put its first part: the next start has none of its rows, and deletes what no manifest names.
func TestKillInMidCopyLeavesNothing(t *testing.T) {
	rounds := 2
	if long {
		rounds = 20
	}
	dir := t.TempDir()
	s := startIn(t, dir)
	s.connect(t).run("CREATE TABLE t (a int PRIMARY KEY, b text)")
	if n, err := s.copyFrom(t, bytes.NewReader(randomRows(0, 140_000))); err != nil || n != 140_000 {
		t.Fatalf("got %d rows, %v", n, err)
	}
	lost := randomRows(1_000_000, 600_000)
	for round := range rounds {
		had := blobFiles(t, dir, "part/")
		n, err := s.copyFrom(t, &killer{t, s, bytes.NewReader(lost), len(had)})
		if err == nil {
			t.Fatalf("round %d: %d rows were loaded before the server was killed", round, n)
		}
		if now := blobFiles(t, dir, "part/"); len(now) <= len(had) {
			t.Fatalf("round %d: the COPY left no part that could be swept", round)
		}
		s = startIn(t, dir)
		c := s.connect(t)
		wantRows(t, "rows", c.run("SELECT count(*), sum(a) FROM t"), "140000 9799930000")
		untilTrue(t, "the parts are those that manifests name", func() bool { return slices.Equal(blobFiles(t, dir, "part/"), named(t, dir)) })
		if aside := blobFiles(t, dir, "TMP/"); len(aside) != 0 {
			t.Errorf("round %d: %q are left", round, aside)
		}
	}
	if n, err := s.copyFrom(t, bytes.NewReader(lost[:bytes.IndexByte(lost[1<<20:], '\n')+1<<20+1])); err != nil || n == 0 {
		t.Errorf("a COPY of the same rows: %d rows, %v", n, err)
	}
}

// TestFullDiskInMidCopy loads more than a small file system takes: 53100 with a hint after the first part, nothing is left, reads go on, and what fits goes in.
func TestFullDiskInMidCopy(t *testing.T) {
	dir := t.TempDir()
	if err := syscall.Mount("tailrace", dir, "tmpfs", 0, "size=310m"); err != nil {
		t.Skipf("mounting a small file system needs root: %v", err)
	}
	s := startIn(t, dir)
	t.Cleanup(func() { s.kill(); syscall.Unmount(dir, 0) })
	c := s.connect(t)
	c.run("CREATE TABLE t (a int PRIMARY KEY, b text); INSERT INTO t VALUES (-1, 'kept')")
	var st syscall.Statfs_t
	if err := syscall.Statfs(dir, &st); err != nil {
		t.Fatal(err)
	}
	if ballast := int64(st.Bavail)*st.Bsize - file.MinFree - 20<<20; ballast > 0 { // room for two parts
		if err := os.WriteFile(filepath.Join(dir, "ballast"), make([]byte, ballast), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	before := blobFiles(t, dir, "part/", "TMP/")
	large := randomRows(0, 700_000)
	put := 0
	for range 2 {
		n, err := s.copyFrom(t, readFunc(func() { put = max(put, len(blobFiles(t, dir, "part/"))) }, bytes.NewReader(large)))
		var e *pgconn.PgError
		if !errors.As(err, &e) || e.Code != "53100" || e.Hint == "" {
			t.Fatalf("got %d rows, %v, want 53100 with a hint", n, describe(err))
		}
		untilTrue(t, "the parts are gone", func() bool { return slices.Equal(blobFiles(t, dir, "part/", "TMP/"), before) })
		wantRows(t, "rows", c.run("SELECT a, b FROM t"), "-1 kept")
	}
	if put == len(before) {
		t.Error("the disk was full before the COPY had put a part")
	}
	if n, err := s.copyFrom(t, bytes.NewReader(randomRows(0, 20_000))); err != nil || n != 20_000 {
		t.Errorf("what fits: got %d rows, %v", n, describe(err))
	}
	wantRows(t, "rows", c.run("SELECT count(*), sum(a) FROM t"), "20001 199989999")
}

// readFunc calls before ahead of each Read.
func readFunc(before func(), r io.Reader) io.Reader { return &hooked{before, r} }

type hooked struct {
	before func()
	r      io.Reader
}

func (h *hooked) Read(p []byte) (int, error) {
	h.before()
	return h.r.Read(p[:min(len(p), 1<<20)])
}

// metric is a counter of the server.
func (s *server) metric(t testing.TB, name string) float64 {
	t.Helper()
	resp, err := http.Get(s.http + "/metrics")
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	body := sure(io.ReadAll(resp.Body))
	m := regexp.MustCompile("(?m)^" + regexp.QuoteMeta(name) + " (.*)$").FindSubmatch(body)
	if m == nil {
		t.Fatalf("no metric %s", name)
	}
	return sure(strconv.ParseFloat(string(m[1]), 64))
}

// TestOldPartsAreMerged: parts of the format before this one are merged with those of this one. Stripes that nothing meets are copied as they are, and every row stays.
func TestOldPartsAreMerged(t *testing.T) {
	dir := unpack(t, oldFolder)
	old := map[string]bool{}
	for _, path := range blobFiles(t, dir, "part/") {
		old[path] = true
	}
	s := startIn(t, dir)
	c := s.connectAs(t, "ann", "golden password")
	was := c.run("SELECT * FROM big ORDER BY id")
	rows := len(was)
	c.run("INSERT INTO big SELECT 1000000 + i, 'row ' || i, i FROM generate_series(1, 150000) g(i)")
	untilTrue(t, "no old part is left", func() bool {
		return s.metric(t, "tailrace_stripes_copied_total") > 0 && !slices.ContainsFunc(bigParts(t, dir), func(name string) bool { return old[name] })
	})
	wantRows(t, "rows", c.run("SELECT count(*) FROM big"), fmt.Sprint(rows+150_000))
	wantRows(t, "old rows", c.run("SELECT * FROM big WHERE id < 1000000 ORDER BY id"), was...)
	if err := s.stop(); err != nil {
		t.Fatal(err)
	}
	if all, exit := inspect(t, dir); exit != 0 || len(all.Damage) > 0 {
		t.Errorf("inspect: exit %d, damage %q", exit, all.Damage)
	}
}

// bigParts are the parts of more than 30,000 rows that manifests name.
func bigParts(t testing.TB, dir string) (names []string) {
	t.Helper()
	all, _ := inspect(t, dir)
	for _, p := range all.Parts {
		if p.Rows > 30_000 {
			names = append(names, p.Name)
		}
	}
	return names
}
