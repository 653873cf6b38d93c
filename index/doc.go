// Package index keeps the rows of collections by their primary key in a pebble store of this node: a copy that makes looking up a key cheap where
// the columns do not fit in memory. It is never the truth. Whatever is wrong with it, it is thrown away and made again from the log and the shards.
//
// What a collection's rows stand for is in the store beside them, as a State: every update at or before Low is in the rows, none after High is, and
// of those between some may be. A writer that brings the rows from time 20 to 30 says (20, 30) with its first batch and (30, 30) with its last:
//
//	state (20, 20)    ann 1   bob 2
//	state (20, 30)    ann 1   bob 3          the first batch: bob changed at 24
//	state (30, 30)    ann 9   bob 3          the last: ann changed at 30
//
// So a reader at a time t >= High takes from elsewhere the updates in (Low, t], which decide for their keys, and for every other key the row here
// is right, wherever the writer is. And a crash between two batches leaves nothing to mend.
//
// In pebble, a collection's keys follow one another, its State first, so that a load replaces them all in one step:
//
//	00                      root: the token of its last adoption
//	01 | id u64 | 00        State
//	01 | id u64 | 01 | key  row
//
// There is no write-ahead log. Pebble writes its memtables to disk in the order they were filled and a batch is never cut, so a crash leaves the
// state after some earlier batch: rows and State as they were together. Only a load, which goes past the memtables, could overtake: pebble
// flushes those that it overlaps first, and a collection's batches all overlap its load.
//
// A copy may be of the wrong past: of another environment, or of a future that a restored backup never had. A node start takes the store
// over in two steps (adopt.go): it must find in the environment's Consensus the token that the store was given last, and no State of a
// log entry that the log does not have.
//
// The package knows nothing of rows' values, schemas or shards. docs/design/0003-lookup-index.md tells why it is as it is.
package index
