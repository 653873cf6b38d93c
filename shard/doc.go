// Package shard keeps one durable, time-varying collection per table and reads it back at any readable time.
//
// A collection is known by its updates (row, time, diff). They reach the shard through the log, one entry at a time, and then live in
// three places, newest first:
//
//	memtable   updates as they came, encoded until somebody reads them                    times [flushed, upper)
//	history    runs: updates sorted by row key, then time; kept until since passes them   times (since, flushed)
//	state      runs whose sum is the rows as of the time folded                           no times
//
// A run is a list of parts (objects in Blob, package stripe) with disjoint key ranges. Two kinds of work reorganize without changing what
// any reader sees: flush turns the memtable into a history run, merge folds history into the state. History that was folded stays for
// Listen and for old times until since passes it, so
//
//	snapshot(as_of) = state + history in (folded, as_of]    when as_of >= folded
//	                = state - history in (as_of, folded]    when as_of <  folded
//
// and a snapshot of a small table that changes all day reads the small table. For example, with folded = 20:
//
//	state    {ann:1, bob:1}          history  10 +ann   20 +bob   30 -ann +anna
//	as of 30 {anna, bob}             adds what happened at 30
//	as of 10 {ann}                   takes back what happened at 20
//
// A Set holds the collections of a node. Apply folds log entries in; flush, merge, since and hold are log records too, so every node and
// every restart comes to the same manifest: the immutable list of runs and memtable batches that a reader pins. Reorganizing makes a new
// manifest and never disturbs a reader of the old one; parts are deleted once no pinned manifest names them.
//
// Rows are ordered by tailrace.AppendRowKey over Schema.SortOrder, ties by stored bytes. A run remembers the columns it was sorted by. After
// an ALTER they may differ from what a reader asks for; such a run is sorted again while it is read, group by group of the columns that
// both orders begin with, in memory up to SortBytes, until a merge writes it anew: in slices, so whatever its size.
//
// A snapshot may be told which values its reader wants (Range): page groups that hold none are passed over, by the bounds that parts keep of each page.
//
// History that is folded stays for a while, and small neighbours are merged with each other, times kept (compact.go).
//
// Lookup reads the newest updates of a key; where the state does not fit in memory it reads the node's local index of rows by key instead
// (package index; rowindex.go says how the two stay in step, keep.go what writes it).
//
// The decisions (flushPlan, mergePlan, compactPlan, sincePlan) are pure functions of a manifest; the loops in maintain.go only carry them out.
//
// The package does not check constraints, know about SQL, or decide commits. docs/format/shard.md gives what it stores, byte by byte.
package shard
