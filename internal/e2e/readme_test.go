package e2e

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"

	"tailrace/internal/pgtest"
)

// TestReadme runs every command of the README: sh blocks but those that make runs, and sql blocks through psql.
func TestReadme(t *testing.T) {
	raw, err := os.ReadFile("../../README.md")
	if err != nil {
		t.Fatal(err)
	}
	src := pgtest.Start(t, "wal_level=logical")
	src.Exec(t, "CREATE DATABASE shop")
	src.Exec(t, "CREATE DATABASE standby")
	shop := exec.Command("psql", "-X", src.URLOf("shop"), "-c", "CREATE TABLE orders (id int PRIMARY KEY, item text); INSERT INTO orders VALUES (1, 'bolt')")
	if out, err := shop.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	s := start(t)
	port := s.url[strings.LastIndex(s.url, ":")+1:]
	port, _, _ = strings.Cut(port, "/")
	copies := t.TempDir()
	t.Setenv("TAILRACE_SERVER", s.url)
	local := strings.NewReplacer(
		"bin/tailrace attach", binary+" attach --server "+s.url, "bin/tailrace", binary, "./data", s.dir, "./monday", filepath.Join(copies, "monday"), "./restored", filepath.Join(copies, "restored"),
		"localhost:5432", "127.0.0.1:"+strconv.Itoa(src.Port()), "localhost:6875", "127.0.0.1:"+port,
	)
	ran := 0
	for _, block := range regexp.MustCompile("(?s)```(sh|sql)\n(.*?)```").FindAllStringSubmatch(string(raw), -1) {
		if block[1] == "sql" {
			psql := exec.Command("psql", "-X", "-v", "ON_ERROR_STOP=1", s.url)
			psql.Stdin = strings.NewReader(block[2])
			if out, err := psql.CombinedOutput(); err != nil {
				t.Fatalf("%s\n%v\n%s", block[2], err, out)
			}
			ran++
			continue
		}
		for line := range strings.Lines(block[2]) {
			line = strings.TrimSpace(line)
			switch {
			case strings.HasPrefix(line, "make "), strings.HasPrefix(line, "bin/tailrace serve"):
				continue // TestDemo and every other test run these
			case strings.Contains(line, "SUBSCRIBE"):
				line = "timeout -s INT 2 stdbuf -oL " + line + " || test $? = 124 -o $? = 130"
			}
			sh := exec.Command("sh", "-c", local.Replace(line))
			sh.Dir = copies
			out, err := sh.CombinedOutput()
			if err != nil || strings.Contains(line, "SUBSCRIBE") && !strings.Contains(string(out), "bolt") {
				t.Fatalf("%s: %v\n%s", line, err, out)
			}
			ran++
		}
	}
	wantRows(t, "what was loaded and exported", s.connect(t).run("SELECT item, n FROM parts UNION ALL SELECT item, n FROM more ORDER BY 1"), "screw 40", "screw 40", "washer 30", "washer 30")
	if ran < 10 {
		t.Fatalf("only %d commands of the README were run", ran)
	}
}

// TestDemo runs what `make demo` runs and ends it with Ctrl-C.
func TestDemo(t *testing.T) {
	tmp := t.TempDir()
	cmd := exec.Command(binary, "demo", "--listen", "127.0.0.1:0", "--http", "127.0.0.1:0")
	cmd.Env = append(os.Environ(), "TMPDIR="+tmp)
	out := &tailBuffer{}
	cmd.Stdout, cmd.Stderr = out, out
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	done := make(chan error, 1)
	go func() { done <- cmd.Wait() }()
	for i := 0; !strings.Contains(out.String(), "SUBSCRIBE"); i++ {
		select {
		case err := <-done:
			t.Fatalf("demo ended: %v\n%s", err, out)
		case <-time.After(50 * time.Millisecond):
		}
		if i > 400 {
			cmd.Process.Kill()
			t.Fatalf("no psql line to try in 20 s:\n%s", out)
		}
	}
	line := regexp.MustCompile(`(?m)psql .*SELECT.*$`).FindString(out.String())
	if got, err := exec.Command("sh", "-c", line).CombinedOutput(); err != nil {
		t.Errorf("%s: %v\n%s", line, err, got)
	}
	cmd.Process.Signal(os.Interrupt)
	if err := <-done; err != nil {
		t.Errorf("Ctrl-C: %v\n%s", err, out)
	}
	if left, _ := os.ReadDir(tmp); len(left) > 0 {
		t.Errorf("demo left %v behind", left)
	}
}
