package duckdb

import (
	"errors"
	"fmt"
	"strconv"
	"sync"
	"sync/atomic"

	capi "github.com/duckdb/duckdb-go-bindings"
)

// Options bound what an Engine may use.
type Options struct {
	MemoryBytes int64  // memory of all queries together; 0 is 512 MiB
	Threads     int    // threads of all queries together; 0 is 1
	TempDir     string // where sorts and joins spill; empty: nowhere, and a query beyond MemoryBytes fails
	TempBytes   int64  // most bytes spilled; 0 is 8 GiB
	// Files lets statements read and write every file that the process may: for an engine that runs statements of ours only.
	Files bool
}

const (
	defaultMemoryBytes = 512 << 20
	defaultTempBytes   = 8 << 30
	// idleConnections are kept for the next query. A connection takes some tens of KiB.
	idleConnections = 8
)

// ErrClosed is the answer of an Engine after Close.
var ErrClosed = errors.New("the query engine is closed")

// Engine is one in-memory DuckDB. Its methods may be called from several goroutines.
type Engine struct {
	db      capi.Database
	next    atomic.Int64
	sources sync.Map // int64 to Source

	mu     sync.Mutex
	idle   []capi.Connection
	open   int // connections of queries under way
	closed bool
	empty  chan struct{} // closed when the last query of a closed engine ended
}

// Open starts a database.
func Open(opts Options) (*Engine, error) {
	if opts.MemoryBytes == 0 {
		opts.MemoryBytes = defaultMemoryBytes
	}
	if opts.TempBytes == 0 {
		opts.TempBytes = defaultTempBytes
	}
	opts.Threads = max(1, opts.Threads)
	var config capi.Config
	if capi.CreateConfig(&config) == capi.StateError {
		return nil, errors.New("opening DuckDB: no memory for its configuration")
	}
	defer capi.DestroyConfig(&config)
	for _, kv := range settings(opts) {
		if capi.SetConfig(config, kv[0], kv[1]) == capi.StateError {
			return nil, fmt.Errorf("opening DuckDB: it refused the setting %s = %s", kv[0], kv[1])
		}
	}
	e := &Engine{empty: make(chan struct{})}
	var message string
	if capi.OpenExt(":memory:", &e.db, config, &message) == capi.StateError {
		return nil, fmt.Errorf("opening DuckDB: %s", message)
	}
	if err := e.prepare(opts); err != nil {
		capi.Close(&e.db)
		return nil, err
	}
	return e, nil
}

func settings(opts Options) [][2]string {
	return [][2]string{
		{"memory_limit", strconv.FormatInt(opts.MemoryBytes, 10) + "B"},
		{"threads", strconv.Itoa(opts.Threads)},
		{"temp_directory", opts.TempDir},
		{"enable_external_access", strconv.FormatBool(opts.Files)},
		{"autoinstall_known_extensions", "false"},
		{"autoload_known_extensions", "false"},
		{"allow_community_extensions", "false"},
		{"default_null_order", "nulls_last_on_asc_first_on_desc"},
		{"integer_division", "true"},
		// Statistics are kept in prepared plans after the data changed.
		{"disabled_optimizers", "statistics_propagation"},
		{"scalar_subquery_error_on_multiple_rows", "true"},
	}
}

// prepare registers what every query needs and locks the settings. The size of temporary files is set here: given with the others, before there is a
// database, DuckDB shows it and does not keep to it.
func (e *Engine) prepare(opts Options) error {
	if err := e.registerScan(); err != nil {
		return err
	}
	return e.register("lock", func(c capi.Connection) capi.State {
		var r capi.Result
		defer capi.DestroyResult(&r)
		size := strconv.FormatInt(opts.TempBytes, 10)
		return capi.Query(c, "SET max_temp_directory_size = '"+size+"B'; SET lock_configuration = true", &r)
	})
}

func (e *Engine) connect() (capi.Connection, error) {
	var c capi.Connection
	if capi.Connect(e.db, &c) == capi.StateError {
		return c, errors.New("connecting to DuckDB: it has no connection to give")
	}
	return c, nil
}

func (e *Engine) acquire() (capi.Connection, error) {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.closed {
		return capi.Connection{}, ErrClosed
	}
	e.open++
	if n := len(e.idle); n > 0 {
		c := e.idle[n-1]
		e.idle = e.idle[:n-1]
		return c, nil
	}
	c, err := e.connect()
	if err != nil {
		e.open--
	}
	return c, err
}

// release takes a connection back. One whose query did not come to its end is closed, which ends the query's scans.
func (e *Engine) release(c capi.Connection, ended bool) {
	if !ended {
		capi.Disconnect(&c)
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	switch {
	case !ended:
	case !e.closed && len(e.idle) < idleConnections:
		e.idle = append(e.idle, c)
	default:
		capi.Disconnect(&c)
	}
	e.open--
	if e.closed && e.open == 0 {
		close(e.empty)
	}
}

// Close waits for the queries under way, which their readers must close, and frees the database.
func (e *Engine) Close() error {
	e.mu.Lock()
	if e.closed {
		e.mu.Unlock()
		<-e.empty
		return nil
	}
	e.closed = true
	for _, c := range e.idle {
		capi.Disconnect(&c)
	}
	e.idle = nil
	if e.open == 0 {
		close(e.empty)
	}
	e.mu.Unlock()
	<-e.empty
	capi.Close(&e.db)
	return nil
}
