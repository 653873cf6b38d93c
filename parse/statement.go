package parse

import (
	"errors"
	"unicode/utf8"

	pg_query "github.com/pganalyze/pg_query_go/v6"

	"tailrace"
)

// Statement is one statement. Exactly one of Tree and the pointers to our own statements is set, except that RETAIN HISTORY
// and AS OF accompany a Tree. It is immutable and may be shared.
type Statement struct {
	Text   string // the statement's own text, without the semicolon
	Offset int    // bytes before it in the whole text
	Lead   int    // characters before it in the whole text

	Tree   *pg_query.Node
	Retain *Retain // of a CREATE TABLE or ALTER TABLE
	// AsOf is the expression of AS OF at the end of a SELECT, or of a statement that ends with one; nil for none.
	AsOf *pg_query.Node

	Subscribe        *Subscribe
	CopySubscribe    *CopySubscribe
	DeclareSubscribe *DeclareSubscribe
	ExplainSubscribe *Subscribe
	Fetch            *Fetch // every FETCH, with or without WITH (...)
	CreateSecret     *CreateSecret
	CreateConnection *CreateConnection
	CreateSource     *CreateSource
	AlterSource      *AlterSource
	CreateSink       *CreateSink
	AlterSink        *AlterSink
	Drop             *Drop
	Backup           *Backup
}

// Position is the 1-based character in the whole text of byte offset loc in Text, 0 (unknown) when loc is negative.
func (st *Statement) Position(loc int32) int {
	if loc < 0 || int(loc) > len(st.Text) {
		return 0
	}
	return st.Lead + utf8.RuneCountInString(st.Text[:loc]) + 1
}

// Outer returns err, whose position if any counts in Text, with the position counting in the whole text.
func (st *Statement) Outer(err error) error {
	var e *tailrace.Error
	if st.Lead == 0 || !errors.As(err, &e) || e.Position == 0 {
		return err
	}
	moved := *e
	moved.Position += st.Lead
	return &moved
}

// Name is a possibly qualified name as written, unquoted words in lower case.
type Name struct {
	Schema string // "" when not given
	Name   string
	Loc    int32 // byte offset in Statement.Text
}

// String is the name as messages print it.
func (n *Name) String() string {
	if n.Schema != "" {
		return n.Schema + "." + n.Name
	}
	return n.Name
}

// Envelope is the shape in which a SUBSCRIBE presents changes.
type Envelope uint8

// The envelopes.
const (
	EnvelopeNone Envelope = iota
	EnvelopeUpsert
	EnvelopeDebezium
)

// Subscribe is SUBSCRIBE [TO] object | (select) and its clauses.
type Subscribe struct {
	Object    *Name          // nil when Query is set
	Query     *pg_query.Node // a SelectStmt; its locations are byte offsets in Statement.Text
	QueryText string         // the text of Query, blanks before it so that those locations hold in it too
	Envelope  Envelope
	Key       []KeyColumn
	OrderBy   []OrderTerm
	Snapshot  bool // WITH (SNAPSHOT), true unless turned off
	Progress  bool
	AsOf      *pg_query.Node // an expression, nil for none
	AtLeast   bool
	UpTo      *pg_query.Node
}

// KeyColumn is one column of KEY (...).
type KeyColumn struct {
	Name string
	Loc  int32
}

// OrderTerm is one term of WITHIN TIMESTAMP ORDER BY. Exactly one of Column and Number is set, neither for an expression, which is
// refused when the statement runs.
type OrderTerm struct {
	Column     string // "mz_diff" or a column
	Number     int    // a position, 1 is mz_diff
	Desc       bool
	NullsFirst bool // as asked for, else PostgreSQL's default: last for ASC, first for DESC
	Loc        int32
}

// CopySubscribe is COPY (SUBSCRIBE ...) TO STDOUT.
type CopySubscribe struct {
	Subscribe *Subscribe
	Options   []*pg_query.Node // DefElem, as in a PostgreSQL CopyStmt
}

// DeclareSubscribe is DECLARE name CURSOR FOR SUBSCRIBE ....
type DeclareSubscribe struct {
	Cursor    string
	Hold      bool // WITH HOLD, which is refused when the statement runs
	Binary    bool
	Subscribe *Subscribe
}

// Fetch is FETCH [FORWARD] [n | ALL | NEXT] [FROM | IN] cursor [WITH (TIMEOUT = ...)].
type Fetch struct {
	Cursor  string
	Count   int64 // of rows; All when there is no bound
	Timeout string
	// HasTimeout tells that WITH (TIMEOUT = ...) was given; Timeout is its text, a bare number as written.
	HasTimeout bool
	TimeoutLoc int32
	// Move tells that it is a MOVE; Backward that it asks for rows that were already passed, which no cursor here has.
	Move, Backward bool
}

// All is the Count of FETCH ALL.
const All = int64(-1)

// Retain is RETAIN HISTORY FOR '...', or its RESET.
type Retain struct {
	For   string
	Reset bool
	// Only tells that the statement does nothing else: ALTER TABLE name SET/RESET (RETAIN HISTORY ...). Table then names it and Tree is nil.
	Only     bool
	Source   bool // ALTER SOURCE rather than ALTER TABLE
	IfExists bool
	Table    *Name
	Loc      int32
}

// CreateSecret is CREATE SECRET name AS 'value'.
type CreateSecret struct {
	Name        Name
	IfNotExists bool
	Value       string
}

// CreateConnection is CREATE CONNECTION name TO kind (option value, ...).
type CreateConnection struct {
	Name        Name
	IfNotExists bool
	Kind        string // lower case
	Options     map[string]string
	Secrets     map[string]string // options given as SECRET name
}

// CreateSource is CREATE SOURCE name FROM kind CONNECTION connection (options) FOR ....
type CreateSource struct {
	Name        Name
	IfNotExists bool
	Kind        string // lower case
	Connection  Name
	Options     map[string]string // of the parentheses: publication
	All         bool
	Tables      []Name
	Schemas     []string
	Retain      *Retain
}

// AlterSource is ALTER SOURCE name PAUSE | RESUME [TABLE t].
type AlterSource struct {
	Name  Name
	Verb  string // "pause", "resume", "skip", "resync"
	Table *Name  // nil for the whole source
}

// Drop is DROP SINK | SOURCE | CONNECTION | SECRET [IF EXISTS] name, ....
type Drop struct {
	Kind     string // "sink", "source", "connection", "secret"
	IfExists bool
	Names    []Name
	Cascade  bool
}
