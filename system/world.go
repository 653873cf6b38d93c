package system

import (
	"time"

	"tailrace"
	"tailrace/catalog"
)

// World is what one session sees at one moment. Its functions may be nil: then there is nothing of that kind. It is used by one goroutine.
type World struct {
	Catalog    *catalog.Catalog
	User       string
	Database   string
	SearchPath []string // schemas in which names without one are looked for, pg_catalog not among them
	Now        time.Time

	Settings      func() []Setting
	Activity      func() []Activity
	History       func() []Statement
	Subscriptions func() []Subscription
	Memory        func() []MemoryShare
	// Status is how a source (table 0) or a table of it does.
	Status func(source, table catalog.ID) Status
	// Sinks is how the sinks that run here do.
	Sinks    func() []Sink
	Prepared func() []Prepared
	Cursors  func() []Cursor
	// Bytes is what a table takes in the store, Rows about how many rows it has; -1 when that is not known.
	Bytes func(table catalog.ID) int64
	Rows  func(table catalog.ID) int64
}

// Setting is a row of pg_settings.
type Setting struct {
	Name, Value, Reset string
	Fixed              bool // it cannot be changed
}

// Activity is a row of pg_stat_activity: one connection.
type Activity struct {
	PID                                       int32
	Session, User, Application, Client        string
	Began, XactStart, QueryStart, StateChange time.Time // zero: NULL
	State                                     string    // "active", "idle", "idle in transaction", "idle in transaction (aborted)"
	Query                                     string
}

// Statement is a row of mz_internal.mz_statement_history.
type Statement struct {
	ID           uint64
	Session, SQL string
	Began, Ended time.Time // Ended zero: it runs
	Status       string    // "running", "success", "error", "canceled"
	Rows         int64
	Path         string // which way it was run
	Error, Code  string // "" when it did not fail
}

// Subscription is a row of mz_internal.mz_subscriptions.
type Subscription struct {
	ID, Session string
	Created     time.Time
	Tables      []catalog.ID
	Path, State string
	Position    tailrace.Time
	Lag         time.Duration
}

// Status is how a source or a source's table does.
type Status struct {
	State, Reason, Hint              string
	RowsDone, RowsEstimate, LagBytes int64
	Position                         string
}

// Sink is how a sink does.
type Sink struct {
	ID                  catalog.ID
	State, Reason, Hint string
	Checkpoint, Redo    tailrace.Time // 0: there is none yet
	Lag                 time.Duration
	Resident, Memory    int64 // bytes of updates on their way, and the most there may be
	Spans               []SinkSpan
}

// SinkSpan is how a table of a sink does.
type SinkSpan struct {
	Table               catalog.ID
	State, Reason, Hint string
	Checkpoint          tailrace.Time
	Lag                 time.Duration
	Received, Sent      tailrace.Time // frontiers: known here, and given to the target
	Resident, Credit    int64         // bytes
	Waiting             string        // what it waits for
	WaitingSince        time.Time     // zero: it does not
	Rows, Bytes         int64         // sent since the node started
	RowsPerSecond       float64
	BytesPerSecond      float64
	DeadLetters         int64
}

// Prepared is a row of pg_prepared_statements.
type Prepared struct {
	Name, SQL string
	At        time.Time
	Types     []tailrace.Type
	FromSQL   bool // PREPARE made it, not the protocol
}

// Cursor is a row of pg_cursors.
type Cursor struct {
	Name, SQL string
	At        time.Time
}
