package bench

import (
	"fmt"
	"os"
	"strconv"
	"strings"
	"syscall"
)

// idleKB is what a process has resident now, in KiB; from here on its peak is counted anew.
func idleKB(pid int) (int, error) {
	if err := os.WriteFile(fmt.Sprintf("/proc/%d/clear_refs", pid), []byte("5"), 0); err != nil {
		return 0, fmt.Errorf("count the server's peak memory anew: %w", err)
	}
	return residentKB(pid)
}

// residentKB is what a process has resident now, in KiB.
func residentKB(pid int) (int, error) { return procKB(pid, "VmRSS") }

// peakKB is the most that a process had resident since idleKB, in KiB.
func peakKB(pid int) (int, error) { return procKB(pid, "VmHWM") }

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
