package tailrace

import (
	"context"
	"errors"
)

// ErrLost is returned (wrapped) by Source.Read when the source no longer has what came after the position: its slot is gone, or its log
// went back. Reading on would miss changes, so only a new snapshot helps.
var ErrLost = errors.New("position lost")

// Source is a database whose tables are copied: what they look like, their rows at one moment, and every change after it.
//
//	Tables    what could be copied, and why a table cannot be
//	Snapshot  the rows at a position            rows ────────▶ here, then position P is committed with them
//	Read      every transaction after P         transactions ▶ here, each committed with the position it ends at
//	Confirm   P is durable here                 the source may forget its log up to P
//	Drop      what was made at the source goes
//
// A position is opaque bytes that only the source reads. A value is the same bytes whether Snapshot or Read delivers it.
// One goroutine calls Tables, Snapshot, Read and Drop, one at a time; Confirm may be called by any.
// Errors are *Error where a user can mend them.
type Source interface {
	// Tables describes the tables that sel selects, in order of schema and name. A table that cannot be copied has Err set.
	Tables(ctx context.Context, sel Selection) ([]*SourceTable, error)
	// Snapshot makes what following needs at the source (what an earlier attempt left half-made is removed first), delivers all rows of
	// tables as they were at one position to to, and returns when they are all delivered. A table that fails is told to to and does not
	// end the others.
	Snapshot(ctx context.Context, tables []*SourceTable, to SnapshotTo) error
	// Read delivers every transaction after position, in commit order, until ctx is done or an error. tables are the tables as they were
	// when position was committed; transactions that touch none of them are not delivered. deliver may block: that is back-pressure, and
	// the source is kept alive meanwhile. The first piece has position itself and no changes: the source is being read. An error of deliver
	// ends Read and is returned.
	Read(ctx context.Context, position []byte, tables []*SourceTable, deliver func(*SourcePiece) error) error
	// Confirm tells that everything up to position is durable here.
	Confirm(position []byte)
	// Drop removes what Snapshot made at the source. Things that are not there are fine.
	Drop(ctx context.Context) error
}

// Selection says which tables of a source are meant: the union of its fields.
type Selection struct {
	All     bool
	Schemas []string
	Tables  []string // "schema.name"; "name" is in schema public
}

// SourceTable is a table as its source describes it at one moment. It is immutable.
type SourceTable struct {
	Rel     uint32 // the source's identity of the table, kept across renames
	Schema  string
	Name    string
	Columns []SourceColumn // those that are copied, in the source's order
	// Key lists the key columns as indexes into Columns, in key order; empty when the rows are a multiset.
	Key []int
	// LooseKey says that a key may be there twice inside a transaction (a deferrable constraint); else it never is.
	LooseKey bool
	// Rows is the source's own estimate of the number of rows, -1 when it has none.
	Rows int64
	// Err says why the table cannot be followed, with a hint that mends it; nil when it can.
	Err *Error
}

// SourceColumn is a column of a source's table.
type SourceColumn struct {
	Num    int // the source's identity of the column, kept across renames and never reused
	Name   string
	TypeID uint32 // the source's identity of the type
	Mod    int32  // the type's modifier at the source
	Type   Type   // what values of it are stored as here
	// Missing is the stored value that rows written before the column was added have; nil is NULL.
	Missing []byte
	// MissingUnknown says that older rows have values that the source's log does not tell.
	MissingUnknown bool
}

// SnapshotTo is where a snapshot goes. Its functions are called by several goroutines; Rows, for one table and lane, by one at a time.
type SnapshotTo struct {
	// Waiting tells why the snapshot cannot begin yet and what would help; nil clears it.
	Waiting func(why *Error)
	// Begin is called once, before any row, with the position that the rows are at.
	Begin func(position []byte) error
	// Rows delivers rows of tables[table], with its columns in order and IDs nil. A large table is read in several lanes at a time, numbered from
	// 0; the rows of each are in the order that the table has them. The callee may keep b.
	Rows func(ctx context.Context, table, lane int, b *Batch) error
	// Done tells that tables[table] is complete in all lanes, or (err set) cannot be read.
	Done func(ctx context.Context, table int, err *Error) error
}

// SourcePiece is a transaction of the source, or a part of a large one: the pieces of a transaction follow each other.
// Changes of one table keep their order; changes of different tables need none.
type SourcePiece struct {
	Changes []*SourceChanges
	// End is set on the last piece of a transaction.
	End bool
	// Position, set with End, is where reading goes on after the transaction. A piece with a position and no changes means that nothing of
	// interest came up to there.
	Position []byte
	// Lag is how far the position is behind the newest one known at the source, in bytes of its log.
	Lag int64
	// Bytes is about what the piece takes in memory.
	Bytes int
}

// ChangeKind says what a SourceChange does.
type ChangeKind uint8

// The kinds of changes.
const (
	ChangeInsert   ChangeKind = 1
	ChangeUpdate   ChangeKind = 2
	ChangeDelete   ChangeKind = 3
	ChangeTruncate ChangeKind = 4
)

// SourceChanges is a list of changes of one table, by column.
type SourceChanges struct {
	Table *SourceTable // as it was when the changes were made
	List  []SourceChange
	New   *Batch // the new rows of inserts and updates; columns as Table.Columns, IDs nil
	Old   *Batch // the old rows, of which at least the key columns are known; the others are NULL unless OldFull. Without columns when there are none
	// Unchanged names the cells of New that an update left as they were and whose value the source did not send, ordered by row. They are
	// NULL in New.
	Unchanged []SourceCell
	// Err, when set, says that the table cannot be followed from here on. List is empty then.
	Err *Error
}

// SourceChange is one change.
type SourceChange struct {
	Kind    ChangeKind
	OldFull bool  // row Old of Old is the whole row
	New     int32 // row of New, -1 when there is none
	Old     int32 // row of Old, -1 when there is none: the key is the one in New
}

// SourceCell is a place in a batch.
type SourceCell struct{ Row, Col int32 }
