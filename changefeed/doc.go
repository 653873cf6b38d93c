// Package changefeed keeps tables of other databases equal to collections here: a snapshot, then every change, each once.
//
// A feed is what runs a sink of the catalog, on the one node that has its claim. Its collections are cut into spans: one for each collection, or one for several whose
// rows the target ties together by foreign keys (or CONSISTENCY 'transaction'). What happens to one span never holds up another:
//
//	                 schedule                          connections
//	tail, shard ──▶ slices ──▶ span's queue ──▶ lanes ──▶ transactions of the target, with the lanes' progress
//	                 │              │ waits: a conflict, a schema change, a sync point, redo
//	                 └─ bytes ◀─────┴───────── returned when all of a slice is in the target
//
// A slice is a bounded stretch of a span's updates, in time order (span.go, reader.go). It is cut into items: the updates of one key at one time. An item goes to the
// lane of its key, so that the versions of a key stay in order; where the target has other unique keys or foreign keys, it first waits for what it conflicts with in
// other lanes (lock.go). A connection pulls when it is free: it takes from the lanes of one span what is there, up to the target's limits (batch.go), makes steps of it
// (package steps), and applies them in one transaction that moves the lanes' progress too. So after a crash each lane says what it has, and skips that.
//
// What is in the target for good, up to a frontier, goes into the log about once a second (checkpoint.go), with holds that keep the history after it. A feed that stopped goes
// on from there.
//
// Snapshots, comparisons with what the target has, schema changes, and transactions too large for memory are jobs: they have a span to themselves (load.go, alter.go).
//
// A redo log is a branch of its own (redo.go): it reads for itself, and what it has not made durable does not go to the target. Nothing of the target's holds it up.
//
// The scheduler decides who reads (package schedule); who writes is decided by who is free.
package changefeed
