package tailrace

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"
)

// ErrSinkFenced is returned (wrapped) by SinkConn when another holder of the feed, with a later epoch, has taken the target: nothing was changed.
var ErrSinkFenced = errors.New("the feed has another holder")

// ErrSinkMoved is returned (wrapped) by SinkConn when the target's progress is not what this Sink last knew: a transaction whose outcome was unknown is in the
// target after all. Nothing was changed. Prepare again and go on after the progress that it tells.
var ErrSinkMoved = errors.New("the target is further than was known")

// Sink is a database that a changefeed keeps equal to chosen collections.
//
//	Prepare   makes what progress needs at the target, takes the target for an epoch, says how far each lane came
//	Table     makes a table or checks the one that is there
//	Connect   a connection: transactions of changes, each of which moves its lanes' progress and is refused under an old epoch
//
// A transaction of a lane is applied once: its progress is in the target's own transaction, so a lane that resumes skips what it covers.
// All may be called by any goroutine, a SinkConn's methods by one at a time. Errors are *SinkError where the kind matters, *Error inside where a user can mend them.
type Sink interface {
	// Prepare begins work for a feed. From when it returns, transactions under earlier epochs fail with ErrSinkFenced.
	Prepare(ctx context.Context, feed string, epoch uint64) ([]SinkProgress, error)
	// Limits are the target's, known after Prepare.
	Limits() SinkLimits
	// Table finds the target's table for t, and makes it if it is missing and create is set. An existing one is checked column by column: a type that cannot hold
	// t's values is a *SinkError of SinkTableFault that names the column and what would do. It is asked after Prepare.
	Table(ctx context.Context, t *SinkTable, create bool) (*SinkTarget, error)
	// Connect opens a connection for the feed of Prepare. The caller closes it.
	Connect(ctx context.Context) (SinkConn, error)
	// Forget removes the feed's progress, and what Prepare made if no other feed uses it.
	Forget(ctx context.Context, feed string) error
	// Close gives up everything; connections are closed by who opened them.
	Close() error
}

// SinkConn is one connection of a Sink.
type SinkConn interface {
	// Apply runs txn as one transaction of the target, progress included. After an error nothing of it is there, unless the connection was lost while it committed:
	// then Prepare, or ErrSinkMoved at the lane's next transaction, tells.
	Apply(ctx context.Context, txn *SinkTxn) error
	// Begin opens a transaction that steps are streamed into: for one that is larger than memory. Only Add, Commit and Rollback may follow it; after an error of Add only
	// Rollback. What is left open is rolled back by the next Begin, Apply or Alter, and by Close.
	Begin(ctx context.Context) error
	Add(ctx context.Context, step *SinkStep) error
	Commit(ctx context.Context, progress []SinkProgress) error
	Rollback() error
	// Load adds rows to a table by the target's fastest way, in one transaction with progress. Rows of a key that is there already are replaced.
	Load(ctx context.Context, t *SinkTarget, rows *Batch, progress []SinkProgress) error
	// Alter carries a schema change over. It is asked again after a crash, so it first looks whether the target has the change already.
	Alter(ctx context.Context, change *SinkAlter) error
	// Rows reads the target's rows in key order after the key of last (nil: from the start), about limit of them, as a batch with t's columns: for RESYNC.
	Rows(ctx context.Context, t *SinkTarget, last *Batch, limit int) (*Batch, error)
	Close() error
}

// SinkTable is a collection as a feed sends it.
type SinkTable struct {
	Collection   CollectionID
	Schema, Name string // here; public.t arrives as t in the URL's database or in its default schema, s.t in database or schema s
	Columns      *Schema
	Unique       [][]int // unique keys besides Columns.Key, as indexes into Columns.Fields
	// Labels gives the labels of the enum types that columns have, in order.
	Labels map[CollectionID][]string
}

// SinkTarget is a table as the target has it. It is immutable.
type SinkTarget struct {
	Table *SinkTable
	Name  string // quoted, for messages: `shop`.`orders`
	// Unique are the unique keys that the target's table has besides the primary one, Foreign its references to tables of the same feed or others: both make
	// changes of different keys conflict. They are indexes into Table.Columns.Fields; keys over other columns are not listed.
	Unique  [][]int
	Foreign []SinkForeign
	Loaded  bool // it had rows when it was found
	Handle  any  // the adapter's own
}

// RefersToItself says that rows of the table refer to others of it.
func (t *SinkTarget) RefersToItself() bool {
	return slices.ContainsFunc(t.Foreign, func(f SinkForeign) bool { return f.Parent == t.Name })
}

// SinkForeign is a foreign key: Columns, as indexes into the table's fields, refer to the columns To of the target's table called Parent (as SinkTarget.Name).
type SinkForeign struct {
	Columns []int
	Parent  string
	To      []string
}

// SinkTxn is what one transaction of the target does: steps in order, then progress.
type SinkTxn struct {
	Steps    []SinkStep
	Progress []SinkProgress
}

// SinkStepKind says what a step does with its rows.
type SinkStepKind uint8

// The kinds of steps.
const (
	SinkUpsert  SinkStepKind = 1 // insert rows of a keyed table, or make those with the same key equal to them; no key is there twice
	SinkInsert  SinkStepKind = 2 // insert rows, each as often as its diff says; a key that is there already is an error of the row
	SinkDelete  SinkStepKind = 3 // delete the rows: by key, or of a keyless table as many equal ones as the diff (above 0) says
	SinkReplace SinkStepKind = 4 // for an update that moves nobody else: set the columns of the row with that key; one that is not there is an error of the row
)

// SinkStep is rows of one table that one statement, or a few, change.
type SinkStep struct {
	Kind   SinkStepKind
	Target *SinkTarget
	Rows   *Batch // columns of Target.Table.Columns, in order
}

// SinkProgress says how far a lane of a span came: everything at or before (Time, Ordinal) is in the target. Span 0 and lane -1 are of the whole feed.
type SinkProgress struct {
	Span    CollectionID
	Lane    int
	Time    Time
	Ordinal uint64
	Note    string // "snapshot <key, hex>", "lanes 16", sync points: opaque to the target
}

// SinkLimits are what a target takes.
type SinkLimits struct {
	StatementBytes int // of one statement (max_allowed_packet); 0: no limit
	Rows           int // rows of one statement that are worth it
	Connections    int // that the target will give; 0: unknown
}

// SinkAlterKind says what changes.
type SinkAlterKind uint8

// The kinds of schema changes.
const (
	SinkAddColumn    SinkAlterKind = 1
	SinkDropColumn   SinkAlterKind = 2
	SinkRenameColumn SinkAlterKind = 3
	SinkRetypeColumn SinkAlterKind = 4
	SinkTruncate     SinkAlterKind = 5
	SinkRenameTable  SinkAlterKind = 6
	SinkDropTable    SinkAlterKind = 7
)

// SinkAlter is one schema change of a table, from Before to After. Column is the column's ID, which both have as far as it is in them; a retyped column may be another
// one of the same name, and is then in After only.
type SinkAlter struct {
	Kind          SinkAlterKind
	Before, After *SinkTable
	Column        ColumnID
}

// SinkFault says whose fault an error is, and so what a feed does next.
type SinkFault uint8

// The faults.
const (
	SinkRetry      SinkFault = 1 // lost connection, deadlock, timeout, restart, read-only for now: try again later, with patience
	SinkRowFault   SinkFault = 2 // the target refuses a row: too narrow, CHECK, too large, duplicate key, foreign key
	SinkTableFault SinkFault = 3 // a table: missing, a column missing or too narrow, no privilege on it
	SinkDown       SinkFault = 4 // the target as a whole: wrong password, unknown database, no privilege
)

// SinkError is an error of a target with what a feed needs to go on.
type SinkError struct {
	Fault SinkFault
	Table string        // as in SinkTarget.Name; may be empty
	Step  int           // of the transaction; -1 unknown
	Row   int           // of the step; -1 unknown: halve the rows to find it
	Key   string        // of the row, as text
	After time.Duration // the target asks to wait that long; 0: it says nothing
	Err   *Error        // with code and hint
}

func (e *SinkError) Error() string {
	if e.Table == "" {
		return e.Err.Error()
	}
	return fmt.Sprintf("%s: %s", e.Table, e.Err.Error())
}

func (e *SinkError) Unwrap() error { return e.Err }
