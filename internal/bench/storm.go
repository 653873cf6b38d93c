package bench

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/url"
	"os"
	"os/exec"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"
)

const (
	// stormProcesses is how many processes the clients are in.
	stormProcesses = 8
	// stormBody is what a row has besides its id and its tenant, in bytes: about 64 with them.
	stormBody = 52
)

// The goals of a storm, on the storage path.
const (
	goalStormCPU       = 2.0
	goalStormP95       = 1.5
	goalStormMemory    = 256 << 20 // bytes, and
	goalStormPerClient = 32 << 10
)

// Storm is `tailrace bench storm`: many clients that subscribe to one table at the same moment, beside a bare loop that writes the same bytes to as many sockets.
type Storm struct {
	Clients   []int    // numbers of them; a scenario is run with each
	Scenarios []string // names; none: all
	Rows      int
	Rounds    int // interleaved; medians are reported
	WriteRate int // rows a second in the scenario writes
}

// StormScenarios are the names of the scenarios, and what each is.
var StormScenarios = [][2]string{
	{"storage", "the whole table, from storage"},
	{"dataflow", "the whole table, on the dataflow path; up to 1,024 clients"},
	{"writes", "the whole table, while rows are written"},
	{"kill", "the whole table, by everybody at once after the server was killed and started again"},
	{"tenants", "each client the rows of a tenant of its own"},
}

// storming is a Storm under way.
type storming struct {
	Storm
	r    *Report
	log  io.Writer
	t    *Target
	self string
}

// Run measures on t, a server that the benchmark started, and tells progress to log.
func (b Storm) Run(ctx context.Context, t *Target, log io.Writer) (*Report, error) {
	self, err := os.Executable()
	if err != nil {
		return nil, fmt.Errorf("find this binary: %w", err)
	}
	s := &storming{Storm: b, log: log, t: t, self: self}
	s.r = &Report{Name: "storm", Settings: fmt.Sprintf("%d rows, clients %v, %d rounds, scenarios %s", b.Rows, b.Clients, b.Rounds, strings.Join(b.names(), " "))}
	if err := raiseFiles(); err != nil {
		return nil, err
	}
	if err := t.exec(ctx, "CREATE TABLE storm (id int PRIMARY KEY, tenant int, body text)", "CREATE TABLE storm_beside (id int PRIMARY KEY)"); err != nil {
		return nil, err
	}
	for _, n := range b.Clients {
		if err := t.exec(ctx, "DELETE FROM storm", fmt.Sprintf("INSERT INTO storm SELECT g, g %% %d, repeat('x', %d) FROM generate_series(1, %d) g", n, stormBody, b.Rows)); err != nil {
			return nil, err
		}
		for range b.Rounds {
			for _, name := range b.names() {
				if name == "dataflow" && n > 1024 {
					continue // each client holds the whole table there
				}
				if err := s.round(ctx, name, n); err != nil {
					return nil, fmt.Errorf("%s, %d clients: %w", name, n, err)
				}
			}
		}
		for _, name := range b.names() {
			s.conclude(name, n)
		}
	}
	return s.r, nil
}

func (b Storm) names() []string {
	if len(b.Scenarios) > 0 {
		return b.Scenarios
	}
	var out []string
	for _, s := range StormScenarios {
		out = append(out, s[0])
	}
	return out
}

// raiseFiles lets this process and those it starts open as many files as the machine allows.
func raiseFiles() error {
	var limit syscall.Rlimit
	if err := syscall.Getrlimit(syscall.RLIMIT_NOFILE, &limit); err != nil {
		return fmt.Errorf("read the limit of open files: %w", err)
	}
	limit.Cur = limit.Max
	if err := syscall.Setrlimit(syscall.RLIMIT_NOFILE, &limit); err != nil {
		return fmt.Errorf("raise the limit of open files: %w", err)
	}
	return nil
}

// round runs a scenario once, and then the bare loop with the bytes and the writes that it took.
func (s *storming) round(ctx context.Context, name string, clients int) error {
	job := stormJob{Statement: "COPY (SUBSCRIBE storm WITH (PROGRESS)) TO STDOUT"}
	switch name {
	case "dataflow":
		job.Settings = "SET subscribe_path = dataflow"
	case "tenants":
		job.Statement = "COPY (SUBSCRIBE (SELECT id, tenant, body FROM storm WHERE tenant = %d) WITH (PROGRESS)) TO STDOUT"
	case "kill":
		if err := s.restart(); err != nil {
			return err
		}
	}
	at, err := url.Parse(s.t.URL)
	if err != nil {
		return err
	}
	job.Address = at.Host
	idle, err := idleKB(s.t.PID)
	if err != nil {
		return err
	}
	before, err := s.state(ctx)
	if err != nil {
		return err
	}
	stopWriting := func() error { return nil }
	if name == "writes" {
		if stopWriting, err = s.write(ctx); err != nil {
			return err
		}
	}
	o, err := s.clients(ctx, job, clients, func() error {
		before, err = s.state(ctx)
		return err
	})
	err = errors.Join(err, stopWriting())
	if err != nil {
		return err
	}
	peak, err := procKB(s.t.PID, "VmHWM")
	if err != nil {
		return err
	}
	after := o.after
	prefix := fmt.Sprintf("%s_%d_", name, clients)
	s.file(prefix, ours, o.done, o.whole, (after.cpu - before.cpu).Seconds())
	s.r.add(prefix+"memory_mib", ours, float64(peak-idle)/1024, false)
	bytes, writes := int(after.bytes-before.bytes)/clients, max(1, int(after.writes-before.writes+float64(clients)/2)/clients)
	s.r.add(prefix+"bytes_a_client", ours, float64(bytes), false)
	s.r.add(prefix+"writes_a_client", ours, float64(writes), false)
	if err := s.bare(ctx, prefix, clients, bytes, writes); err != nil {
		return fmt.Errorf("the bare loop: %w", err)
	}
	fmt.Fprintf(s.log, "%s, %d clients: p50 %.0f ms, p95 %.0f ms, whole %.2f s, CPU %.2f s (bare loop: p95 %.0f ms, CPU %.2f s), %.0f MiB\n", name, clients,
		last(s.r, prefix+"p50_ms", ours), last(s.r, prefix+"p95_ms", ours), o.whole.Seconds(), (after.cpu - before.cpu).Seconds(),
		last(s.r, prefix+"p95_ms", bareName), last(s.r, prefix+"cpu_s", bareName), float64(peak-idle)/1024)
	return nil
}

// bareName is the bare loop in a report.
const bareName = "bare"

func last(r *Report, name, target string) float64 {
	v := r.figure(name).values[target]
	return v[len(v)-1]
}

func (s *storming) file(prefix, target string, d *stormDone, whole time.Duration, cpu float64) {
	slices.Sort(d.Millis)
	s.r.add(prefix+"p50_ms", target, d.Millis[len(d.Millis)/2], false)
	s.r.add(prefix+"p95_ms", target, d.Millis[len(d.Millis)*95/100], false)
	s.r.add(prefix+"whole_s", target, whole.Seconds(), false)
	s.r.add(prefix+"cpu_s", target, cpu, false)
}

// restart kills the server and starts it again on its folder.
func (s *storming) restart() error {
	if err := s.t.kill(); err != nil {
		return err
	}
	again, err := serve(s.self, s.t.Data)
	if err != nil {
		return err
	}
	*s.t = *again
	return nil
}

// serverState is what a server has used so far.
type serverState struct {
	cpu           time.Duration
	bytes, writes float64
}

func (s *storming) state(ctx context.Context) (st serverState, err error) {
	if st.cpu, err = cpuOf(s.t.PID); err != nil {
		return st, err
	}
	if st.bytes, err = s.t.metric(ctx, "tailrace_client_sent_bytes_total"); err != nil {
		return st, err
	}
	st.writes, err = s.t.metric(ctx, "tailrace_client_writes_total")
	return st, err
}

// idleKB is what a process has resident now, in KiB; from here on its peak is counted anew.
func idleKB(pid int) (int, error) {
	if err := os.WriteFile(fmt.Sprintf("/proc/%d/clear_refs", pid), []byte("5"), 0); err != nil {
		return 0, fmt.Errorf("count the server's peak memory anew: %w", err)
	}
	return procKB(pid, "VmRSS")
}

// procKB is a line of a process's status, in KiB.
func procKB(pid int, name string) (int, error) {
	raw, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
	if err != nil {
		return 0, err
	}
	for line := range strings.Lines(string(raw)) {
		if rest, ok := strings.CutPrefix(line, name+":"); ok {
			return strconv.Atoi(strings.TrimSuffix(strings.TrimSpace(rest), " kB"))
		}
	}
	return 0, fmt.Errorf("no %s of process %d", name, pid)
}

// write writes rows beside the storm, one a transaction, until the function that it returns is called.
func (s *storming) write(ctx context.Context) (stop func() error, err error) {
	c, err := s.t.connect(ctx)
	if err != nil {
		return nil, err
	}
	ctx, cancel := context.WithCancel(ctx)
	ended := make(chan error, 1)
	go func() {
		tick := time.NewTicker(10 * time.Millisecond)
		defer tick.Stop()
		for id := 1_000_000; ; {
			select {
			case <-ctx.Done():
				ended <- nil
				return
			case <-tick.C:
			}
			for range max(1, s.WriteRate/100) {
				if _, err := c.Exec(context.WithoutCancel(ctx), "UPDATE storm SET body = $1 WHERE id = $2", fmt.Sprint(id), id%s.Rows+1); err != nil {
					ended <- err
					return
				}
				id++
			}
		}
	}()
	return func() error {
		cancel()
		return errors.Join(<-ended, c.Close(context.Background()))
	}, nil
}

// stormOutcome is what came of all processes of clients.
type stormOutcome struct {
	done  *stormDone
	whole time.Duration
	after serverState // at the moment that the last client was through
}

// clients runs the clients in their processes; start is called when all are connected.
func (s *storming) clients(ctx context.Context, job stormJob, clients int, start func() error) (*stormOutcome, error) {
	var all []*process
	defer func() {
		for _, p := range all {
			p.end()
		}
	}()
	first := 0
	for i := range stormProcesses {
		job.First, job.Clients = first, clients*(i+1)/stormProcesses-first
		first += job.Clients
		p, err := s.process(ctx, "storm-clients", job)
		if err != nil {
			return nil, err
		}
		all = append(all, p)
	}
	for _, p := range all {
		if line, err := p.out.ReadString('\n'); line != "ready\n" {
			return nil, fmt.Errorf("a process of clients said %q: %w", line, err)
		}
	}
	if err := start(); err != nil {
		return nil, err
	}
	began := time.Now()
	for _, p := range all {
		fmt.Fprintln(p.in, "go")
	}
	o := &stormOutcome{done: &stormDone{}}
	for _, p := range all {
		var done stormDone
		if err := json.NewDecoder(p.out).Decode(&done); err != nil {
			return nil, fmt.Errorf("what the clients measured: %w", err)
		}
		o.done.Millis = append(o.done.Millis, done.Millis...)
		o.done.Errors = append(o.done.Errors, done.Errors...)
	}
	o.whole = time.Since(began)
	if n := len(o.done.Errors); n > 0 {
		return nil, fmt.Errorf("%d of %d clients failed, the first with: %s", n, clients, o.done.Errors[0])
	}
	if job.Bare > 0 {
		return o, nil
	}
	var err error
	o.after, err = s.state(ctx)
	return o, err
}

// bare runs the bare loop and files what it took.
func (s *storming) bare(ctx context.Context, prefix string, clients, bytes, writes int) error {
	return s.bareLoop(ctx, bareJob{Clients: clients, Bytes: bytes, Writes: writes}, func(o *stormOutcome, cpu float64) { s.file(prefix, bareName, o.done, o.whole, cpu) })
}

// bareLoop runs the bare loop and as many clients of it.
func (s *storming) bareLoop(ctx context.Context, job bareJob, took func(o *stormOutcome, cpu float64)) error {
	p, err := s.process(ctx, "bare-writes", job)
	if err != nil {
		return err
	}
	defer p.end()
	at, err := p.out.ReadString('\n')
	if err != nil {
		return err
	}
	o, err := s.clients(ctx, stormJob{Address: strings.TrimSpace(at), Bare: job.Bytes}, job.Clients, func() error { return nil })
	if err != nil {
		return err
	}
	var done bareDone
	if err := json.NewDecoder(p.out).Decode(&done); err != nil {
		return err
	}
	took(o, done.CPUSeconds)
	return nil
}

// process is this binary with a hidden command of the benchmark.
type process struct {
	cmd *exec.Cmd
	in  io.WriteCloser
	out *bufio.Reader
}

// process starts one and gives it its job. The caller ends it.
func (s *storming) process(ctx context.Context, command string, job any) (*process, error) {
	cmd := exec.CommandContext(ctx, s.self, "bench", command)
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

// end lets the process go.
func (p *process) end() {
	p.in.Close()
	_ = p.cmd.Wait() // it may have been told to end at any point
}

// conclude sets what the medians of a scenario come to.
func (s *storming) conclude(name string, clients int) {
	prefix := fmt.Sprintf("%s_%d_", name, clients)
	if s.r.figure(prefix+"p50_ms") == nil {
		return
	}
	s.r.set(prefix+"cpu", s.r.vs(prefix+"cpu_s", ours, bareName))
	s.r.set(prefix+"p95", s.r.vs(prefix+"p95_ms", ours, bareName))
	s.r.set(prefix+"memory", s.r.median(prefix+"memory_mib", ours)*(1<<20)/float64(goalStormMemory+clients*goalStormPerClient))
	if name == "dataflow" {
		return // it is for comparison
	}
	s.r.atMost(prefix+"cpu", goalStormCPU)
	s.r.atMost(prefix+"p95", goalStormP95)
	s.r.atMost(prefix+"memory", 1)
}
