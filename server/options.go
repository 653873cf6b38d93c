package server

import (
	"log/slog"
	"runtime"
	"time"

	"golang.org/x/sys/unix"
)

// Options say how a node runs.
type Options struct {
	Data   string // folder, made if need be
	Listen string // address for PostgreSQL clients, for example 127.0.0.1:6875; port 0 takes a free one
	HTTP   string // address for health and metrics
	// Drain is how long sessions may go on after the node was told to stop.
	Drain          time.Duration
	MaxConnections int   // sessions at once; 0 is pgwire.DefaultConnections
	QueryMemory    int64 // bytes that SELECT may use before it spills; 0 is a quarter of the machine's
	Version        string
	Logger         *slog.Logger
	// Ready, when set, is told once that the node serves, and where.
	Ready func(Addresses)
}

// Addresses are where a node listens.
type Addresses struct {
	Postgres string // host:port
	HTTP     string // host:port
}

// Limits of a node.
const (
	// CheckpointBytes of log since the last checkpoint make the next one due.
	CheckpointBytes = 8 << 20
	// CheckpointEvery makes one due when less changed.
	CheckpointEvery = 30 * time.Second
	// MinQueryMemory is the least that SELECT gets, in bytes.
	MinQueryMemory = 128 << 20
)

// withDefaults fills in what is not given.
func (o Options) withDefaults() Options {
	if o.Logger == nil {
		o.Logger = slog.New(slog.DiscardHandler)
	}
	if o.QueryMemory == 0 {
		var info unix.Sysinfo_t
		if unix.Sysinfo(&info) == nil {
			o.QueryMemory = int64(info.Totalram) * int64(info.Unit) / 4
		}
	}
	o.QueryMemory = max(o.QueryMemory, MinQueryMemory)
	if o.Version == "" {
		o.Version = "unknown"
	}
	return o
}

// queryThreads are those that SELECT may use: half the cores, so that the log and the subscriptions have the rest.
func queryThreads() int { return max(1, runtime.NumCPU()/2) }
