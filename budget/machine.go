package budget

import (
	"math"
	"os"
	"runtime/debug"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"
)

// Half of the machine's memory is a node's when nobody says otherwise: the other half is the operating system's cache of files, which reads need as much.
const half = 2

// Default is the budget when nobody gives one: half of what the machine or the cgroup has, whichever is less, and no more than GOMEMLIMIT.
func Default() int64 {
	have := int64(4 << 30) // when the machine does not tell
	var info unix.Sysinfo_t
	if unix.Sysinfo(&info) == nil {
		have = int64(info.Totalram) * int64(info.Unit)
	}
	for _, file := range []string{"/sys/fs/cgroup/memory.max", "/sys/fs/cgroup/memory/memory.limit_in_bytes"} {
		if limit, ok := readLimit(file); ok {
			have = min(have, limit)
		}
	}
	total := have / half
	if limit := debug.SetMemoryLimit(-1); limit != math.MaxInt64 {
		total = min(total, limit)
	}
	return max(total, Least)
}

// readLimit reads a cgroup's limit, in bytes. A file that is not there, or says "max", has none.
func readLimit(file string) (int64, bool) {
	raw, err := os.ReadFile(file)
	if err != nil {
		return 0, false
	}
	limit, err := strconv.ParseInt(strings.TrimSpace(string(raw)), 10, 64)
	return limit, err == nil && limit > 0
}
