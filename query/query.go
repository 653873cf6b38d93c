package query

import (
	"context"
	"sync"
	"sync/atomic"
	"time"

	pg_query "github.com/pganalyze/pg_query_go/v6"

	"tailrace"
	"tailrace/duckdb"
	"tailrace/format"
)

// Table is a relation that a statement may read.
type Table struct {
	Columns *tailrace.Schema
	ID      tailrace.CollectionID
	OID     uint32 // of a relation that is no collection; of others it follows from ID
	// Scan returns all rows with the columns that cols lists (indexes of Columns.Fields, in that order). A row's multiplicity may be in
	// Diffs. It may be called more than once for one statement, and the scans be read at the same time.
	Scan func(ctx context.Context, cols []int) (tailrace.Rows, error)
	// Within is Scan, but may leave out rows that do not meet all filters. nil: Scan is called.
	Within func(ctx context.Context, cols []int, filters []Filter) (tailrace.Rows, error)
	// View is set instead of Scan when the relation is a view: the query to plan in its place. Columns has the view's column names.
	View *View
}

// View is the query of a view, and the text it was parsed from.
type View struct {
	Tree *pg_query.Node
	Text string
}

// Resolver finds tables by name. schema is empty when the statement gives none. The error says what is wrong, for example 42P01; the
// planner adds where.
type Resolver interface {
	Resolve(schema, name string) (*Table, error)
	// Type finds an enum or a domain, nil when there is none. schema is empty when the statement gives none.
	Type(schema, name string) *tailrace.NamedType
	// Labels are those of an enum, in order.
	Labels(enum tailrace.CollectionID) []string
}

// Env is what a statement's expressions may ask about their session. The zero value answers with empty strings and the Unix epoch.
type Env struct {
	Now      time.Time     // now(): when the transaction began
	Logical  tailrace.Time // mz_now(): the time that the statement reads at
	User     string
	Database string
	PID      int32
	Setting  func(name string) (value string, ok bool)            // current_setting; nil: none is known
	Set      func(name, value string, local bool) (string, error) // set_config; nil refuses it
	Objects  Objects                                              // nil: there are none
	Started  time.Time                                            // pg_postmaster_start_time
	// Cancel is pg_cancel_backend and pg_terminate_backend: it reports whether there is a session with that PID. nil: there is none.
	Cancel func(pid int32, terminate bool) (bool, error)
}

// Option changes how a statement is planned.
type Option uint8

// RowRef makes the first output column an int8 called tr_row: the number, from 0, of the row in the scan of the statement's only table, so
// that the caller can take old rows from its own snapshot. A row of multiplicity n counts once and comes n times.
const RowRef Option = 1

// Returning makes the statement the list of a RETURNING: aggregates, window functions and series are refused in it with PostgreSQL's words.
const Returning Option = 2

// Options bound what an Engine may use; zero values are duckdb.Options' defaults.
type Options struct {
	MemoryBytes int64  // of all queries together
	Threads     int    // of all queries together
	TempDir     string // where sorts and joins spill; empty: they do not
	TempBytes   int64  // most bytes spilled
}

// Engine plans and runs queries. Its methods may be called from several goroutines.
type Engine struct {
	db   *duckdb.Engine
	next atomic.Int64
	runs sync.Map // int64 to *run: the queries under way, for functions that ask about their session
}

// NewEngine starts the embedded database.
func NewEngine(opts Options) (*Engine, error) {
	db, err := duckdb.Open(duckdb.Options{MemoryBytes: opts.MemoryBytes, Threads: opts.Threads, TempDir: opts.TempDir, TempBytes: opts.TempBytes})
	if err != nil {
		return nil, err
	}
	e := &Engine{db: db}
	if err := e.register(); err != nil {
		_ = db.Close() // it never ran a query
		return nil, err
	}
	return e, nil
}

// Close waits until all results are closed and frees the embedded database.
func (e *Engine) Close() error { return e.db.Close() }

// Usage is what all queries take now: bytes of memory, and of temporary files. 0 when the engine does not tell.
func (e *Engine) Usage(ctx context.Context) (memory, temp int64) {
	u, err := e.db.Usage(ctx)
	if err != nil { // it is being closed
		return 0, 0
	}
	return u.Memory, u.Temp
}

// Plan is a statement ready to run, any number of times. It is immutable.
type Plan struct {
	e       *Engine
	pieces  []string // DuckDB SQL, cut at the marks: text, mark, text, ...
	columns []tailrace.ResultColumn
	params  []tailrace.Type
	scans   []scanRef
}

// scanRef is one reference to a table. Each has a scan of its own.
type scanRef struct {
	table  *Table
	numbed bool // with a row number behind the columns
	// filters are what WHERE asks of the rows of this scan.
	filters []Filter
}

// Plan plans a SELECT, VALUES or set operation. text is what tree was parsed from, for positions in errors. paramTypes are the types that
// the client gave its parameters; KindNone, or a missing entry, leaves it to the context. All errors are *tailrace.Error.
func (e *Engine) Plan(_ context.Context, tree *pg_query.Node, text string, r Resolver, paramTypes []tailrace.Type, opts ...Option) (*Plan, error) {
	p := &planner{text: text, resolver: r, params: append([]tailrace.Type(nil), paramTypes...)}
	for _, o := range opts {
		p.rowRef = p.rowRef || o == RowRef
		p.returning = p.returning || o == Returning
	}
	s := tree.GetSelectStmt()
	if s == nil {
		return nil, p.refuse(-1, "a statement that is not a SELECT here")
	}
	q, err := p.query(s, nil)
	if err != nil {
		return nil, err
	}
	q = p.settle(q)
	plan := &Plan{e: e, pieces: cutMarks(p.writeLabels(q.sql)), params: p.params, scans: p.scans, columns: []tailrace.ResultColumn{}} // SELECT alone has rows of no columns
	for _, c := range q.columns {
		plan.columns = append(plan.columns, tailrace.ResultColumn{Name: c.name, Type: c.typ, Table: c.table, Attr: c.attr})
	}
	for i, t := range plan.params {
		if t.Kind == kUnknown {
			return nil, p.fail(-1, codeIndeterminate, "could not determine data type of parameter $%d", i+1)
		}
	}
	return plan, nil
}

// Columns describes the result.
func (p *Plan) Columns() []tailrace.ResultColumn { return p.columns }

// Filters are the conditions that the plan's scans of a table may use, one list for each scan.
func (p *Plan) Filters(id tailrace.CollectionID) [][]Filter {
	var out [][]Filter
	for _, s := range p.scans {
		if s.table.ID == id {
			out = append(out, s.filters)
		}
	}
	return out
}

// Scans is how often the plan reads a table.
func (p *Plan) Scans() int { return len(p.scans) }

// Params is the type of each parameter, given or inferred.
func (p *Plan) Params() []tailrace.Type { return p.params }

// Tables lists the collections that the plan reads, each once.
func (p *Plan) Tables() []tailrace.CollectionID {
	var ids []tailrace.CollectionID
	seen := map[tailrace.CollectionID]bool{}
	for _, s := range p.scans {
		if !seen[s.table.ID] {
			seen[s.table.ID] = true
			ids = append(ids, s.table.ID)
		}
	}
	return ids
}

// Run starts the plan. params has one row with a column for each parameter, of its type; nil when there are none. settings and env are
// read while the rows are; ctx bounds the call, and each Next has its own. The Rows must be closed.
func (p *Plan) Run(ctx context.Context, params *tailrace.Batch, settings *format.Settings, env *Env) (tailrace.Rows, error) {
	return p.start(ctx, params, settings, env)
}
