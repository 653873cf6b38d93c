// Package index keeps the rows of collections by their primary key in files of this node: a copy that makes looking up a key cheap where
// the columns do not fit in memory. It is never the truth. Whatever is wrong with it, it is thrown away and made again from the log and the shards.
//
// What a collection's rows stand for is kept beside them, as a State: every update at or before Low is in the rows, none after High is, and
// of those between some may be. A writer that brings the rows from time 20 to 30 says (20, 30) with its first batch and (30, 30) with its last:
//
//	state (20, 20)    ann 1   bob 2
//	state (20, 30)    ann 1   bob 3          the first batch: bob changed at 24
//	state (30, 30)    ann 9   bob 3          the last: ann changed at 30
//
// So a reader at a time t >= High takes from elsewhere the updates in (Low, t], which decide for their keys, and for every other key the row here
// is right, wherever the writer is. And a crash between two batches leaves nothing to mend.
//
// A collection is a memtable and runs. What was written last is in the memtable, a hash table that is read without a lock. A full one is written as a
// run: tables, files that are never changed, of rows in key order. Of each key the newest row counts, or that it was deleted; merges make many runs few:
//
//	memtable          bob 3
//	run               ann 9            carl deleted
//	run (oldest)      ann 1   bob 2    carl 5     dora 8        a load writes one like this
//
//	Get(ann)          not in the memtable; in the newer run: 9
//	Get(dora)         the filter of the newer run says that it is not there; one read of a block in the oldest: 8
//
// A table is blocks of about 4 KiB, read straight from the file: the operating system's cache is the only one, because a second copy would cost a random
// key more than the read does. In memory are a table's directory, the first key of each block, and its filter.
//
// What there is stands in one small file, the manifest, which is replaced in one step after the tables that it names are on disk. There is no write-ahead
// log: a crash loses the memtables, and leaves rows and States as they were together when those were last written.
//
// A copy may be of the wrong past: of another environment, or of a future that a restored backup never had. A node start takes the store
// over in two steps (adopt.go): it must find in the environment's Consensus the token that the store was given last, and no State of a
// log entry that the log does not have.
//
// The package knows nothing of rows' values, schemas or shards, and starts no goroutine. docs/design/0003-lookup-index.md and 0007-index-of-tables.md tell why it is as it is.
package index
