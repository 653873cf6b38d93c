package bench

import (
	"bufio"
	"context"
	"fmt"
	"net/http"
	"os"
	"runtime"
	"strconv"
	"strings"
	"syscall"
	"time"
)

// clockTicks is how many there are in a second of /proc's CPU times, on every Linux that Go runs on.
const clockTicks = 100

// took is what a piece of work took in this process.
type took struct{ wall, cpu time.Duration }

// timed measures work, with the garbage of what was before collected.
func timed(work func() error) (t took, err error) {
	runtime.GC()
	before, began := cpuUsed(), time.Now()
	err = work()
	return took{wall: time.Since(began), cpu: cpuUsed() - before}, err
}

// cpuUsed is how long this process has used a CPU, to the microsecond; cpuOf knows others, to clockTicks.
func cpuUsed() time.Duration { return used(syscall.RUSAGE_SELF) }

// threadCPU is how long the calling thread has, to the microsecond. The caller has locked itself to it.
func threadCPU() time.Duration {
	const rusageThread = 1 // Linux's RUSAGE_THREAD
	return used(rusageThread)
}

func used(whose int) time.Duration {
	var u syscall.Rusage
	if syscall.Getrusage(whose, &u) != nil {
		return 0
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

// cpuOf is how long a process, 0 for this one, has used a CPU.
func cpuOf(pid int) (time.Duration, error) {
	name := "/proc/self/stat"
	if pid > 0 {
		name = fmt.Sprintf("/proc/%d/stat", pid)
	}
	raw, err := os.ReadFile(name)
	if err != nil {
		return 0, fmt.Errorf("read CPU time: %w", err)
	}
	_, rest, _ := strings.Cut(string(raw), ") ") // the name before may hold anything
	fields := strings.Fields(rest)
	if len(fields) < 13 {
		return 0, fmt.Errorf("read CPU time: %s has %d fields", name, len(fields))
	}
	user, err1 := strconv.ParseInt(fields[11], 10, 64)
	system, err2 := strconv.ParseInt(fields[12], 10, 64)
	if err1 != nil || err2 != nil {
		return 0, fmt.Errorf("read CPU time: %s says %q and %q", name, fields[11], fields[12])
	}
	return time.Duration(user+system) * time.Second / clockTicks, nil
}

// metric reads one value of a server's metrics.
func (t *Target) metric(ctx context.Context, name string) (float64, error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, t.Metrics, nil)
	if err != nil {
		return 0, err
	}
	answer, err := http.DefaultClient.Do(req)
	if err != nil {
		return 0, fmt.Errorf("read metrics: %w", err)
	}
	defer answer.Body.Close()
	lines := bufio.NewScanner(answer.Body)
	for lines.Scan() {
		if value, ok := strings.CutPrefix(lines.Text(), name+" "); ok {
			return strconv.ParseFloat(value, 64)
		}
	}
	return 0, fmt.Errorf("the server has no metric %s", name)
}
