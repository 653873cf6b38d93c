package sql

import (
	"context"
	"log/slog"
	"sync"
	"time"

	"tailrace"
	"tailrace/budget"
	"tailrace/catalog"
	"tailrace/dataflow"
	"tailrace/log"
	"tailrace/parse"
	"tailrace/pool"
	"tailrace/query"
	"tailrace/shard"
	"tailrace/system"
	"tailrace/tail"
)

// Engine is what all sessions of a node share. The server fills it in and keeps it for the life of the process.
type Engine struct {
	Log     *log.Log
	Catalog *catalog.Fold
	Shards  *shard.Set
	Tail    *tail.Tail
	Query   *query.Engine
	Sources Sources          // nil where no source can run
	Sinks   Sinks            // nil where no sink can run
	Backup  StartBackup      // nil where none can be made
	Logger  *slog.Logger     // told of internal errors; nil: slog.Default
	Now     func() time.Time // nil: time.Now
	Started time.Time        // when the node started, for pg_postmaster_start_time
	Budget  *budget.Node     // nil: no limit to what transactions hold
	Files   *Files           // that COPY may read and write; nil: none
	Pool    *pool.Pool       // parses for COPY; the one of Shards. nil: each session by itself

	texts                                parse.Cache
	turns                                turns
	sessions                             roster
	history                              history
	flowsOnce                            sync.Once
	flows                                dataflow.Turns
	changeBytes, moveBytes, overlayBytes int // instead of the constants, when not 0
}

// Sources is the hook to ingest, which this package cannot import: both are of one level.
type Sources interface {
	// Wake tells that the catalog's sources changed.
	Wake()
	// DropUpstream removes at the source's database what was made there for source: its slot, and its publication if we made it.
	DropUpstream(ctx context.Context, source catalog.ID) error
	// Status tells how every source and table stands, for mz_internal.mz_sources and mz_source_tables.
	Status() []SourceStatus
}

// SourceStatus is a row of mz_internal.mz_source_tables, or with Table 0 of mz_internal.mz_sources.
type SourceStatus struct {
	Source       catalog.ID
	Table        catalog.ID
	State        string
	Reason, Hint string
	RowsDone     int64 // of the snapshot
	RowsEstimate int64
	LagBytes     int64
	Position     string
}

// Sinks is the hook to changefeed, which this package cannot import: both are of one level.
type Sinks interface {
	// Wake tells that the catalog's sinks changed.
	Wake()
	// Check looks at an address of a target without connecting.
	Check(kind, url string) error
	// Forget ends the feed of a sink that was dropped and removes its progress from the target.
	Forget(ctx context.Context, sink *catalog.Sink) error
	// Status tells how every sink and span does, for mz_internal.mz_sinks and mz_sink_spans.
	Status() []system.Sink
}

// SessionOptions is what a client's startup message says, and where a session sends what belongs to no result.
type SessionOptions struct {
	User, Database string
	Params         map[string]string
	ID             int32
	Notice         func(*tailrace.Error)    // NOTICE and WARNING messages, sent before the result goes on
	Report         func(name, value string) // ParameterStatus
	// Deallocate forgets a statement that the protocol prepared, all of them for "", and reports whether there was one. nil: there is none.
	Deallocate func(name string) bool
	// Client is the client's address, as pg_stat_activity shows it.
	Client string
	// Cancel ends the statement that runs, Terminate the session: pg_cancel_backend and pg_terminate_backend, from the goroutine of another
	// session or this one. nil: the session cannot be reached so.
	Cancel, Terminate func()
}

func (e *Engine) logger() *slog.Logger {
	if e.Logger != nil {
		return e.Logger
	}
	return slog.Default()
}

func (e *Engine) now() time.Time {
	if e.Now != nil {
		return e.Now()
	}
	return time.Now()
}
