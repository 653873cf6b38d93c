package bench

import (
	"bufio"
	"context"
	"fmt"
	"net/http"
	"os"
	"strconv"
	"strings"
	"time"
)

// clockTicks is how many there are in a second of /proc's CPU times, on every Linux that Go runs on.
const clockTicks = 100

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
