package mytest

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"os/user"
	"path/filepath"
	"strconv"
	"sync"
	"syscall"
	"testing"
	"time"

	driver "github.com/go-sql-driver/mysql"
)

// startTimeout bounds the making of the data folder and the server's start together.
const startTimeout = 60 * time.Second

// The user that every server has.
const (
	User     = "feed"
	Password = "secret"
)

// keeper is the shell that the server runs under. $1 is the folder to remove at the end, the rest the server's command line. A line on its standard input
// stops the server and keeps the folder; the end of the input does away with both.
const keeper = `dir=$1; shift
"$@" & server=$!
if read -r line; then kill -TERM $server; wait $server; exit 0; fi
kill -KILL $server; wait $server; rm -rf "$dir"`

// setup makes what a test expects to be there. Privileges are read first: a server with an init file has not done so yet.
const setup = `CREATE DATABASE IF NOT EXISTS shop;
FLUSH PRIVILEGES;
CREATE USER IF NOT EXISTS 'feed'@'%' IDENTIFIED BY 'secret';
GRANT ALL ON *.* TO 'feed'@'%' WITH GRANT OPTION;
`

// Server is one running MariaDB. Its methods may be called from several goroutines, except Stop and Restart.
type Server struct {
	dir      string // holds data, the log and the socket
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

// Start starts a server with settings such as "max_allowed_packet=1M" for the time of the test.
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
	for _, name := range []string{"mariadbd", "mariadb-install-db"} {
		if _, err := exec.LookPath(name); err != nil {
			return nil, errors.New("no MariaDB server found on PATH: install mariadb-server (make test does)")
		}
	}
	owner, err := account()
	if err != nil {
		return nil, err
	}
	dir, err := os.MkdirTemp("", "mytest-")
	if err != nil {
		return nil, err
	}
	s := &Server{dir: dir, owner: owner, settings: settings}
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
	install := s.command("mariadb-install-db", "--no-defaults", "--datadir="+s.data(), "--auth-root-authentication-method=normal", "--skip-test-db",
		"--innodb-log-file-size=32M", "--innodb-flush-log-at-trx-commit=0")
	if out, err := install.CombinedOutput(); err != nil {
		return fmt.Errorf("mariadb-install-db: %w\n%s", err, out)
	}
	if err := os.WriteFile(filepath.Join(s.dir, "setup.sql"), []byte(setup), 0o644); err != nil {
		return err
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

// command is a command that runs as the server's user.
func (s *Server) command(name string, args ...string) *exec.Cmd {
	cmd := exec.Command(name, args...)
	cmd.Dir = s.dir
	cmd.Env = []string{"PATH=" + os.Getenv("PATH"), "LC_ALL=C", "TZ=UTC", "HOME=" + s.dir, "TMPDIR=" + s.dir}
	// Its own process group, so that a Ctrl-C at the terminal reaches the test first.
	cmd.SysProcAttr = &syscall.SysProcAttr{Credential: s.owner, Setpgid: true}
	return cmd
}

// run starts the server on s.port and waits until it answers.
func (s *Server) run() error {
	args := []string{
		"-c", keeper, "sh", s.dir, "mariadbd", "--no-defaults", "--datadir=" + s.data(), "--port=" + strconv.Itoa(s.port), "--socket=" + filepath.Join(s.dir, "socket"),
		"--bind-address=127.0.0.1", "--pid-file=" + filepath.Join(s.dir, "pid"), "--init-file=" + filepath.Join(s.dir, "setup.sql"), "--skip-name-resolve",
		"--innodb-buffer-pool-size=64M", "--innodb-log-file-size=32M", "--innodb-flush-log-at-trx-commit=0", "--innodb-use-native-aio=0",
	}
	for _, setting := range s.settings {
		args = append(args, "--"+setting)
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
		return fmt.Errorf("start mariadbd: %w", err)
	}
	s.running = true
	if err := s.ready(); err != nil {
		text, _ := os.ReadFile(s.log()) // best effort: the cause is err
		s.Stop()
		return fmt.Errorf("start mariadbd: %w\n%s", err, text)
	}
	return nil
}

// ready asks the server until it lets us in, or until it has no process any more.
func (s *Server) ready() error {
	ctx, cancel := context.WithTimeout(context.Background(), startTimeout)
	defer cancel()
	db, err := s.open()
	if err != nil {
		return err
	}
	defer db.Close()
	again := time.NewTicker(20 * time.Millisecond)
	defer again.Stop()
	for {
		if err = db.PingContext(ctx); err == nil {
			return nil
		}
		select {
		case <-ctx.Done():
			return err
		case <-again.C:
		}
		if text, readErr := os.ReadFile(s.log()); readErr == nil && aborted(string(text)) {
			return errors.New("the server ended")
		}
	}
}

func (s *Server) open() (*sql.DB, error) {
	c := driver.NewConfig()
	c.User, c.Passwd, c.Net, c.Addr, c.DBName, c.MultiStatements = User, Password, "tcp", s.Addr(), "shop", true
	c.TLSConfig, c.AllowFallbackToPlaintext = "preferred", true
	c.Logger = &driver.NopLogger{} // it would tell of every early try
	connector, err := driver.NewConnector(c)
	if err != nil {
		return nil, err
	}
	return sql.OpenDB(connector), nil
}

// Stop shuts the server down, waits for it, and keeps the data for Restart.
func (s *Server) Stop() {
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

// account is whom the server runs as; nil means the user of the test.
func account() (*syscall.Credential, error) {
	if os.Geteuid() != 0 {
		return nil, nil
	}
	u, err := user.Lookup("mysql")
	if err != nil {
		return nil, errors.New("MariaDB does not run as root and there is no user mysql: install mariadb-server (make test does)")
	}
	uid, err := strconv.ParseUint(u.Uid, 10, 32)
	if err != nil {
		return nil, err
	}
	gid, err := strconv.ParseUint(u.Gid, 10, 32)
	if err != nil {
		return nil, err
	}
	return &syscall.Credential{Uid: uint32(uid), Gid: uint32(gid)}, nil
}

func freePort() (int, error) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return 0, err
	}
	defer l.Close()
	return l.Addr().(*net.TCPAddr).Port, nil
}
