package e2e

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
)

// long says that the long forms are asked for.
var long = os.Getenv("TAILRACE_LONG") != ""

var binary string

func TestMain(m *testing.M) {
	dir, err := os.MkdirTemp("", "tailrace-e2e-")
	if err != nil {
		panic(err)
	}
	binary = filepath.Join(dir, "tailrace")
	if b := os.Getenv("TAILRACE_BINARY"); b != "" {
		binary = b
	} else if out, err := exec.Command("go", "build", "-o", binary, "tailrace/cmd/tailrace").CombinedOutput(); err != nil {
		fmt.Fprintf(os.Stderr, "build tailrace: %v\n%s", err, out)
		os.Exit(1)
	}
	code := m.Run()
	os.RemoveAll(dir)
	os.Exit(code)
}

// server is a running tailrace process.
type server struct {
	t    testing.TB
	path string // subscribe_path of connections; "" leaves it
	dir  string
	cmd  *exec.Cmd
	url  string // postgres://...
	http string
	log  *tailBuffer
	done chan struct{} // closed when the process has ended
	err  error
}

// tailBuffer keeps the last output of a process, to be shown when a test fails.
type tailBuffer struct {
	mu  sync.Mutex
	buf []byte
}

func (b *tailBuffer) Write(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.buf = append(b.buf, p...)
	if len(b.buf) > 64<<10 {
		b.buf = b.buf[len(b.buf)-64<<10:]
	}
	return len(p), nil
}

func (b *tailBuffer) String() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return string(b.buf)
}

// start runs `tailrace serve` on a fresh folder until the test ends.
func start(t testing.TB, args ...string) *server {
	t.Helper()
	return startIn(t, t.TempDir(), args...)
}

// startIn runs `tailrace serve` on dir and waits for its ready line.
func startIn(t testing.TB, dir string, args ...string) *server {
	t.Helper()
	s := &server{t: t, dir: dir, log: &tailBuffer{}, done: make(chan struct{})}
	s.cmd = exec.Command(binary, append([]string{"serve", "--data", dir, "--listen", "127.0.0.1:0", "--http", "127.0.0.1:0"}, args...)...)
	s.cmd.Stderr = s.log
	s.cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
	out, err := s.cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := s.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	lines := bufio.NewReader(out)
	line, err := lines.ReadString('\n')
	go func() {
		io.Copy(io.Discard, lines)
		s.err = s.cmd.Wait()
		close(s.done)
	}()
	t.Cleanup(func() {
		s.kill()
		if t.Failed() {
			t.Logf("server log:\n%s", s.log)
		}
	})
	words := strings.Fields(line)
	if err != nil || len(words) != 3 || words[0] != "ready" {
		t.Fatalf("ready line: got %q, %v\n%s", line, err, s.log)
	}
	s.url, s.http = words[1], words[2]
	return s
}

// kill ends the process with SIGKILL and waits for it.
func (s *server) kill() {
	s.cmd.Process.Kill()
	<-s.done
}

// stop ends the process with SIGTERM and reports how it ended.
func (s *server) stop() error {
	if err := s.cmd.Process.Signal(syscall.SIGTERM); err != nil {
		return err
	}
	select {
	case <-s.done:
		return s.err
	case <-time.After(30 * time.Second):
		return errors.New("still running 30 s after SIGTERM")
	}
}

// client is a connection that speaks the simple protocol and sees everything as text.
type client struct {
	t       testing.TB
	c       *pgx.Conn
	notices []string
}

func (s *server) connect(t testing.TB) *client {
	t.Helper()
	cl := &client{t: t}
	cfg, err := pgx.ParseConfig(s.url + "?user=tester&sslmode=prefer")
	if err != nil {
		t.Fatal(err)
	}
	s.choosePath(cfg)
	cfg.OnNotice = func(_ *pgconn.PgConn, n *pgconn.Notice) {
		cl.notices = append(cl.notices, n.Severity+" "+n.Code+" "+n.Message)
	}
	ctx, cancel := context.WithTimeout(context.Background(), 20*time.Second)
	defer cancel()
	if cl.c, err = pgx.ConnectConfig(ctx, cfg); err != nil {
		t.Fatalf("connect: %v\n%s", err, s.log)
	}
	t.Cleanup(func() { cl.close() })
	return cl
}

// choosePath sets the path of the connection's subscriptions, if the test wants one.
func (s *server) choosePath(cfg *pgx.ConnConfig) {
	if s.path != "" {
		cfg.RuntimeParams["subscribe_path"] = s.path
	}
}

// onBothPaths runs a test of SUBSCRIBE against a server for each path that serves it.
func onBothPaths(t *testing.T, test func(t *testing.T, s *server)) {
	for _, path := range []string{"storage", "dataflow"} {
		t.Run(path, func(t *testing.T) {
			s := start(t)
			s.path = path
			test(t, s)
		})
	}
}

func (c *client) close() {
	ctx, cancel := context.WithTimeout(context.Background(), 2*time.Second)
	defer cancel()
	c.c.Close(ctx)
}

// try runs sql through the simple protocol and returns the rows of its last result that had columns.
func (c *client) try(sql string) (rows []string, tag string, err error) {
	ctx, cancel := context.WithTimeout(context.Background(), 30*time.Second)
	defer cancel()
	results, err := c.c.PgConn().Exec(ctx, sql).ReadAll()
	for _, r := range results {
		tag = r.CommandTag.String()
		if len(r.FieldDescriptions) == 0 {
			continue
		}
		rows = nil
		for _, row := range r.Rows {
			var cells []string
			for _, v := range row {
				if v == nil {
					cells = append(cells, "_")
				} else {
					cells = append(cells, string(v))
				}
			}
			rows = append(rows, strings.Join(cells, " "))
		}
	}
	return rows, tag, err
}

// run is try for what must work.
func (c *client) run(sql string) []string {
	c.t.Helper()
	rows, _, err := c.try(sql)
	if err != nil {
		c.t.Fatalf("%s: %v", sql, describe(err))
	}
	return rows
}

// one is run for one row of one column.
func (c *client) one(sql string) string {
	c.t.Helper()
	rows := c.run(sql)
	if len(rows) != 1 {
		c.t.Fatalf("%s: got %d rows, want 1: %q", sql, len(rows), rows)
	}
	return rows[0]
}

// fails runs sql, which must fail with code and a message that contains text.
func (c *client) fails(sql, code, text string) *pgconn.PgError {
	c.t.Helper()
	rows, _, err := c.try(sql)
	var e *pgconn.PgError
	if !errors.As(err, &e) {
		c.t.Fatalf("%s: got %q, %v, want error %s", sql, rows, err, code)
	}
	if e.Code != code || !strings.Contains(e.Message, text) {
		c.t.Fatalf("%s: got %s, want %s with %q", sql, describe(err), code, text)
	}
	return e
}

func describe(err error) string {
	var e *pgconn.PgError
	if errors.As(err, &e) {
		return fmt.Sprintf("%s %s (detail %q, hint %q, position %d)", e.Code, e.Message, e.Detail, e.Hint, e.Position)
	}
	return fmt.Sprint(err)
}

// fetch runs FETCH until it has n rows in all, or a fetch brings none.
func (c *client) fetch(n int) []string {
	c.t.Helper()
	var rows []string
	for len(rows) < n {
		got := c.run(fmt.Sprintf("FETCH %d c", n-len(rows)))
		if len(got) == 0 {
			break
		}
		rows = append(rows, got...)
	}
	return rows
}

// declare opens cursor c for a subscribe in a transaction of its own.
func (c *client) declare(subscribe string) {
	c.t.Helper()
	c.run("ROLLBACK")
	c.run("BEGIN; DECLARE c CURSOR FOR " + subscribe)
}

// times splits the timestamps (first column) from rows and returns them with the rest of each row.
func times(rows []string) (ts, rest []string) {
	for _, r := range rows {
		t, others, _ := strings.Cut(r, " ")
		ts, rest = append(ts, t), append(rest, others)
	}
	return ts, rest
}

func wantRows(t testing.TB, what string, got []string, want ...string) {
	t.Helper()
	if len(got) == 0 && len(want) == 0 {
		return
	}
	if strings.Join(got, "\n") != strings.Join(want, "\n") {
		t.Fatalf("%s:\ngot  %q\nwant %q", what, got, want)
	}
}
