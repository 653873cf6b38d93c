package server

import (
	"log/slog"
	"runtime"
	"time"

	"tailrace"
	"tailrace/pool"
)

// Options say how a node runs.
type Options struct {
	Data   string // folder, made if need be; not used when Stores are given
	Listen string // address for PostgreSQL clients, for example 127.0.0.1:6875; port 0 takes a free one
	HTTP   string // address for health and metrics; "" with given Stores: none
	// Drain is how long sessions may go on after the node was told to stop.
	Drain          time.Duration
	MaxConnections int   // sessions at once; 0 is pgwire.DefaultConnections
	Memory         int64 // bytes that the node may use, cut into shares (package budget); 0 is budget.Default
	QueryMemory    int64 // bytes that SELECT may use before it spills, in place of its share; 0 is the share
	// SubscribeSpill is bytes of disk that subscriptions may use for rows that must be together; 0 is the default of package budget.
	SubscribeSpill int64
	// Files is the folder below which COPY may read and write files; "" is none. It must exist.
	Files string
	// Shares are sizes, in bytes, in place of those that Memory is cut into, by name: for tests.
	Shares map[string]int64
	// TLSCert and TLSKey are PEM files: the certificate, with what leads to its root, to show to PostgreSQL clients, and its key. Both or neither.
	TLSCert, TLSKey string
	RequireTLS      bool // refuse sessions in the clear
	Version         string
	Logger          *slog.Logger
	// Reload, when set, brings the options as they are read again while the node runs. What can change does: see live.
	Reload <-chan Options
	// Pool, when set, does the tasks of loads, flushes and merges, and whoever gives it runs it or not: for tests. nil: the node has one of a worker for each core.
	Pool *pool.Pool
	// OpenTarget returns the adapter for a target of changefeeds; nil: that of the product (OpenTarget of this package).
	OpenTarget func(kind, url, password string) (tailrace.Sink, error)
	// Stores, when set, are what the node runs on instead of a data folder.
	Stores *Stores
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
	// MinQueryMemory is the least that QueryMemory gives SELECT, in bytes.
	MinQueryMemory = 128 << 20
)

// withDefaults fills in what is not given.
func (o Options) withDefaults() Options {
	if o.Logger == nil {
		o.Logger = slog.New(slog.DiscardHandler)
	}
	if o.QueryMemory > 0 {
		o.QueryMemory = max(o.QueryMemory, MinQueryMemory)
	}
	if o.Version == "" {
		o.Version = "unknown"
	}
	return o
}

// queryThreads are those that SELECT may use: half the cores, so that the log and the subscriptions have the rest.
func queryThreads() int { return max(1, runtime.NumCPU()/2) }
