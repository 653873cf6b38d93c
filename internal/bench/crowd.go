package bench

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/exec"
	"syscall"
	"time"
)

// crowdProcesses is how many processes the clients are in.
const crowdProcesses = 8

// crowd is clients in processes of their own, all connected and waiting for the start.
//
//	gather ─▶ [away] ─▶ run ─▶ end
type crowd struct {
	processes []*process
	clients   int
}

// outcome is what came of a crowd.
type outcome struct {
	done  stormDone
	whole time.Duration // from the start until the last client was through
}

// gather starts the processes and returns when all clients are connected, and have their snapshot or follow, if that is their job. The caller ends the crowd.
func gather(ctx context.Context, self string, job stormJob, clients int) (*crowd, error) {
	c := &crowd{clients: clients}
	first := 0
	for i := range crowdProcesses {
		job.First, job.Clients = first, clients*(i+1)/crowdProcesses-first
		first += job.Clients
		p, err := startProcess(ctx, self, "storm-clients", job)
		if err != nil {
			c.end()
			return nil, err
		}
		c.processes = append(c.processes, p)
	}
	if err := c.ready(); err != nil {
		c.end()
		return nil, err
	}
	return c, nil
}

func (c *crowd) ready() error {
	for _, p := range c.processes {
		if line, err := p.out.ReadString('\n'); line != "ready\n" {
			return fmt.Errorf("a process of clients said %q: %w", line, err)
		}
	}
	return nil
}

// back lets clients whose server was killed connect to it again, and returns when all are.
func (c *crowd) back(to stormResume) error {
	for _, p := range c.processes {
		if err := json.NewEncoder(p.in).Encode(to); err != nil {
			return err
		}
	}
	return c.ready()
}

// run starts all clients at once and waits for the last.
func (c *crowd) run() (*outcome, error) {
	began := time.Now()
	for _, p := range c.processes {
		fmt.Fprintln(p.in, "go")
	}
	o := &outcome{}
	for _, p := range c.processes {
		var done stormDone
		if err := json.NewDecoder(p.out).Decode(&done); err != nil {
			return nil, fmt.Errorf("what the clients measured: %w", err)
		}
		o.done.Millis = append(o.done.Millis, done.Millis...)
		o.done.DueMillis = append(o.done.DueMillis, done.DueMillis...)
		o.done.Errors = append(o.done.Errors, done.Errors...)
	}
	o.whole = time.Since(began)
	return o, nil
}

// end lets the clients go.
func (c *crowd) end() {
	for _, p := range c.processes {
		p.end()
	}
}

// kill ends clients that wait for what will not come: run returns.
func (c *crowd) kill() {
	for _, p := range c.processes {
		p.kill()
	}
}

// process is this binary with a hidden command of the benchmark.
type process struct {
	cmd *exec.Cmd
	in  io.WriteCloser
	out *bufio.Reader
}

// startProcess starts one and gives it its job. The caller ends it.
func startProcess(ctx context.Context, self, command string, job any) (*process, error) {
	cmd := exec.CommandContext(ctx, self, "bench", command)
	cmd.Stderr = os.Stderr
	cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
	in, err := cmd.StdinPipe()
	if err != nil {
		return nil, err
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	if err := cmd.Start(); err != nil {
		return nil, fmt.Errorf("start %s: %w", command, err)
	}
	p := &process{cmd, in, bufio.NewReader(out)}
	if err := json.NewEncoder(in).Encode(job); err != nil {
		p.end()
		return nil, err
	}
	return p, nil
}

// end ends the process, wherever it is.
func (p *process) end() {
	p.kill()
	_ = p.cmd.Wait() // it says that the process was killed
}

func (p *process) kill() {
	_ = p.cmd.Process.Kill() // unless it has ended by itself
}
