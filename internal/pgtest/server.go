package pgtest

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/jackc/pgx/v5/pgconn"
)

// startTimeout bounds initdb and the server's start together.
const startTimeout = 60 * time.Second

// keeper is the shell that the server runs under. $1 is the folder to remove at the end, the rest the server's command line. A line on
// its standard input stops the server and keeps the folder; the end of the input does away with both. A shell starts what runs in the
// background with INT and QUIT ignored, so until the server has set its own handlers only the TERM before them has an effect.
const keeper = `dir=$1; shift
"$@" & server=$!
if read -r line; then kill -TERM $server; kill -INT $server; wait $server; exit 0; fi
kill -TERM $server; kill -QUIT $server; wait $server; rm -rf "$dir"`

// Server is one running PostgreSQL. Its methods may be called from several goroutines, except Stop and Restart.
type Server struct {
	dir, bin string // dir holds data, the log and the socket
	owner    *syscall.Credential
	settings []string
	port     int
	shell    *exec.Cmd
	stdin    interface {
		Write([]byte) (int, error)
		Close() error
	}
	running bool
}

var (
	sharedOnce sync.Once
	shared     *Server
	errShared  error
)

// Shared returns the server that all tests of this binary share, with default settings. It stops when the test process ends.
func Shared(t testing.TB) *Server {
	t.Helper()
	sharedOnce.Do(func() { shared, errShared = start(nil) })
	if errShared != nil {
		t.Fatal(errShared)
	}
	return shared
}

// Start starts a server with settings such as "wal_level=logical" for the time of the test.
func Start(t testing.TB, settings ...string) *Server {
	t.Helper()
	s, err := start(settings)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(s.remove)
	return s
}

func start(settings []string) (*Server, error) {
	bin, err := binaries()
	if err != nil {
		return nil, err
	}
	owner, err := account()
	if err != nil {
		return nil, err
	}
	dir, err := os.MkdirTemp("", "pgtest-")
	if err != nil {
		return nil, err
	}
	s := &Server{dir: dir, bin: bin, owner: owner, settings: settings}
	if err := s.create(); err != nil {
		s.remove()
		return nil, err
	}
	return s, nil
}

// create makes the data folder and starts the server on a free port.
func (s *Server) create() error {
	if s.owner != nil {
		if err := os.Chown(s.dir, int(s.owner.Uid), int(s.owner.Gid)); err != nil {
			return err
		}
	}
	initdb := s.command(filepath.Join(s.bin, "initdb"), "-D", s.data(), "-U", "postgres", "-A", "trust", "-E", "UTF8", "--locale=C", "--no-sync", "--no-instructions")
	if out, err := initdb.CombinedOutput(); err != nil {
		return fmt.Errorf("initdb: %w\n%s", err, out)
	}
	var err error
	for range 5 { // another process may take the port between our look and the server's listen
		if s.port, err = freePort(); err != nil {
			return err
		}
		if err = s.run(); err == nil {
			return nil
		}
	}
	return err
}

func (s *Server) data() string { return filepath.Join(s.dir, "data") }
func (s *Server) log() string  { return filepath.Join(s.dir, "log") }

// command is a command that runs as the server's user and knows nothing of the caller's PG* variables.
func (s *Server) command(name string, args ...string) *exec.Cmd {
	cmd := exec.Command(name, args...)
	cmd.Dir = s.dir
	cmd.Env = []string{"PATH=" + os.Getenv("PATH"), "LC_ALL=C", "TZ=UTC", "HOME=" + s.dir}
	// Its own process group, so that a Ctrl-C at the terminal reaches the test first.
	cmd.SysProcAttr = &syscall.SysProcAttr{Credential: s.owner, Setpgid: true}
	return cmd
}

// run starts the server on s.port and waits until it answers.
func (s *Server) run() error {
	args := []string{
		"-c", keeper, "sh", s.dir, filepath.Join(s.bin, "postgres"), "-D", s.data(), "-p", fmt.Sprint(s.port), "-k", s.dir,
		"-c", "listen_addresses=127.0.0.1", "-c", "fsync=off", "-c", "full_page_writes=off", "-c", "shared_buffers=64MB", "-c", "timezone=UTC",
	}
	for _, setting := range s.settings {
		args = append(args, "-c", setting)
	}
	out, err := os.Create(s.log())
	if err != nil {
		return err
	}
	defer out.Close()
	s.shell = s.command("/bin/sh", args...)
	s.shell.Stdout, s.shell.Stderr = out, out
	if s.stdin, err = s.shell.StdinPipe(); err != nil {
		return err
	}
	if err := s.shell.Start(); err != nil {
		return fmt.Errorf("start postgres: %w", err)
	}
	s.running = true
	if err := s.ready(); err != nil {
		text, _ := os.ReadFile(s.log()) // best effort: the cause is err
		s.stop()
		return fmt.Errorf("start postgres: %w\n%s", err, text)
	}
	return nil
}

// ready asks the server until it lets us in. Nothing but asking tells: it has no way of its own to say so.
func (s *Server) ready() error {
	ctx, cancel := context.WithTimeout(context.Background(), startTimeout)
	defer cancel()
	again := time.NewTicker(10 * time.Millisecond)
	defer again.Stop()
	for {
		conn, err := pgconn.Connect(ctx, s.URL())
		if err == nil {
			return conn.Close(ctx)
		}
		select {
		case <-ctx.Done():
			return err
		case <-again.C:
		}
		if text, err := os.ReadFile(s.log()); err == nil && gaveUp(string(text)) {
			return errors.New("the server ended")
		}
	}
}

// gaveUp reports whether a server's log has a FATAL line that is not its answer to someone who connects too early.
func gaveUp(log string) bool {
	for line := range strings.Lines(log) {
		if strings.Contains(line, "FATAL:") && !strings.Contains(line, "the database system is ") {
			return true
		}
	}
	return false
}

func freePort() (int, error) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return 0, err
	}
	defer l.Close()
	return l.Addr().(*net.TCPAddr).Port, nil
}

// stop shuts the server down in PostgreSQL's fast mode, waits for it, and keeps the data folder.
func (s *Server) stop() {
	if !s.running {
		return
	}
	s.running = false
	_, _ = s.stdin.Write([]byte("stop\n")) // fails only when the shell is gone already
	_ = s.shell.Wait()                     // its exit code says nothing that the log does not
}

// remove ends the server at once and removes its folder.
func (s *Server) remove() {
	if s.running {
		s.running = false
		_ = s.stdin.Close() // the shell sees the end of its input
		_ = s.shell.Wait()
	}
	_ = os.RemoveAll(s.dir) // the shell has done so already, unless the server was stopped before
}
