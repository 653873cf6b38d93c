// Package server is one node: it opens a data folder, joins the rooms together, and owns every goroutine that outlives a request.
//
//	DIR/FORMAT which format the folder has, and who opened it last
//	DIR/LOCK   held while a process uses the folder; says whose it is
//	DIR/log    Consensus, a pebble store
//	DIR/blob   Blob, a directory of write-once files
//	DIR/index  copies of rows by key, for lookups; made anew when it is missing
//	DIR/tmp    what queries spill; emptied at start-up
//
// The heart is one loop (log.Apply; who commits alone takes its turn at it). It applies each entry of the log to the folds, always in the same order, so that
// whoever is told of an entry finds everything below it already there:
//
//	catalog ─▶ shards (schemas, then rows) ─▶ tail (wakes subscribers) ─▶ log.Applied (wakes committers and strict readers)
//
// At start-up the folds are restored from the newest checkpoint; entries below it that the log still has refill the tail's windows only, entries above
// it are applied in full. Checkpoints are taken by the same loop, between two entries, and written by another goroutine.
//
// A node starts from the inside out (log and loop, then sources and upkeep, then listeners) and stops from the outside in: listeners close, subscriptions end
// with their resume point, sessions finish within the drain time, sources stop, and last the log, after every commit in flight is decided.
//
// Nodes can share stores (Stores). Then one of them keeps house (keeper.go), a node that lost its place in the log starts again from the checkpoint, and one whose
// session was ended says so and stops.
//
// A backup (backup.go) is the fold of one entry and the parts that it names, which nobody deletes meanwhile; Restore makes a folder of it, whose log begins there. Inspect does
// what a start does to the folds, on a copy of the log.
//
// What the package does not do: it knows no SQL, no protocol and no format.
package server
