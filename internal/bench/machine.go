package bench

import (
	"bufio"
	"os"
	"runtime"
	"strconv"
	"strings"
)

// Machine is what a benchmark ran on.
type Machine struct {
	Cores  int    `json:"cores"`
	Memory int64  `json:"memory_bytes"` // 0: not known
	Go     string `json:"go"`
	System string `json:"system"`
}

// ThisMachine describes the one that it runs on.
func ThisMachine() Machine {
	return Machine{Cores: runtime.GOMAXPROCS(0), Memory: memory(), Go: runtime.Version(), System: runtime.GOOS + "/" + runtime.GOARCH}
}

// memory is the machine's memory in bytes, 0 when the system does not tell.
func memory() int64 {
	file, err := os.Open("/proc/meminfo")
	if err != nil {
		return 0
	}
	defer file.Close()
	for lines := bufio.NewScanner(file); lines.Scan(); {
		if rest, ok := strings.CutPrefix(lines.Text(), "MemTotal:"); ok {
			kib, err := strconv.ParseInt(strings.TrimSuffix(strings.TrimSpace(rest), " kB"), 10, 64)
			if err != nil {
				return 0
			}
			return kib << 10
		}
	}
	return 0
}
