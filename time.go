package tailrace

// Time is a moment in microseconds since the Unix epoch. The log gives every committed transaction one of its own, and
// never goes back, so a Time also names a transaction. The zero Time is before everything.
type Time uint64

// MaxTime is the frontier of a collection that will never change again.
const MaxTime = Time(1<<64 - 1)

// Diff is a change of a row's multiplicity: +1 an insert, -1 a delete. Sums of diffs may exceed 1.
type Diff int64

// SeqNo is a place in a Consensus key's history: 1 is the first value ever written, 0 means "nothing yet".
type SeqNo uint64

// CollectionID names a collection for its whole life, across renames. 0 is the catalog itself.
type CollectionID uint64

// ColumnID names a column within its collection for its whole life, across renames. IDs are never reused and start at 1.
type ColumnID uint32
