package bench

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"syscall"

	"github.com/jackc/pgx/v5"
)

// Target is a server under test.
type Target struct {
	Name      string // "tailrace" or "postgres"
	URL       string
	Subscribe bool   // it has SUBSCRIBE
	Metrics   string // URL, "" for none
	Data      string // folder, of a server that the benchmark started
	PID       int    // of a server that the benchmark started
	stop      func() error
	kill      func() error
}

// StartTailrace runs this binary's `serve` on a fresh temporary folder, with more in its environment. The caller stops it.
func StartTailrace(env ...string) (*Target, error) {
	self, err := os.Executable()
	if err != nil {
		return nil, fmt.Errorf("find this binary: %w", err)
	}
	dir, err := os.MkdirTemp("", "tailrace-bench-")
	if err != nil {
		return nil, err
	}
	t, err := serve(self, dir, env...)
	if err != nil {
		return nil, errors.Join(err, os.RemoveAll(dir))
	}
	return t, nil
}

// serve runs the binary's `serve` on a folder.
func serve(self, dir string, env ...string) (*Target, error) {
	cmd := exec.Command(self, "serve", "--data", dir, "--listen", "127.0.0.1:0", "--http", "127.0.0.1:0")
	cmd.Env = append(os.Environ(), env...)
	cmd.Stderr = os.Stderr
	cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
	out, err := cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	if err := cmd.Start(); err != nil {
		return nil, fmt.Errorf("start the server: %w", err)
	}
	line, err := bufio.NewReader(out).ReadString('\n')
	words := strings.Fields(line)
	if err != nil || len(words) != 3 {
		err = errors.Join(err, cmd.Process.Kill(), cmd.Wait())
		return nil, fmt.Errorf("the server's ready line was %q: %w", line, err)
	}
	stop := func() error { return errors.Join(cmd.Process.Signal(syscall.SIGTERM), cmd.Wait()) }
	kill := func() error {
		err := cmd.Process.Kill()
		_ = cmd.Wait() // it says that the process was killed
		return err
	}
	return &Target{
		Name: "tailrace", URL: words[1], Metrics: words[2] + "/metrics", Subscribe: true, Data: dir, PID: cmd.Process.Pid, stop: stop, kill: kill,
	}, nil
}

// Restart stops a server that the benchmark started, calls between, and starts it again on its folder.
func (t *Target) Restart(between func(dir string) error) error {
	self, err := os.Executable()
	if err != nil {
		return fmt.Errorf("find this binary: %w", err)
	}
	if err := errors.Join(t.stop(), between(t.Data)); err != nil {
		return err
	}
	again, err := serve(self, t.Data)
	if err != nil {
		t.stop = func() error { return nil }
		return err
	}
	*t = *again
	return nil
}

// Stop ends a server that the benchmark started, and removes its folder.
func (t *Target) Stop() error {
	if t.stop == nil {
		return nil
	}
	return errors.Join(t.stop(), os.RemoveAll(t.Data))
}

func (t *Target) connect(ctx context.Context) (*pgx.Conn, error) {
	c, err := pgx.Connect(ctx, t.URL)
	if err != nil {
		return nil, fmt.Errorf("connect to %s: %w", t.Name, err)
	}
	return c, nil
}

func (t *Target) exec(ctx context.Context, statements ...string) error {
	c, err := t.connect(ctx)
	if err != nil {
		return err
	}
	defer c.Close(context.WithoutCancel(ctx))
	for _, sql := range statements {
		if _, err := c.Exec(ctx, sql); err != nil {
			return fmt.Errorf("%s: %s: %w", t.Name, sql, err)
		}
	}
	return nil
}
