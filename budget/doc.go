// Package budget divides the memory of a node into named shares, in bytes, so that no client, source or table decides how much of it is used.
//
// A node has one budget (tailrace serve --memory). It is cut once, when the node starts, by the table in shares.go:
//
//	512 MiB ─┬─ memtables      40 MiB   updates that are not flushed       writers wait for a flush
//	         ├─ windows        30 MiB   recent batches for subscribers     the oldest are evicted
//	         ├─ query         164 MiB   DuckDB                             spills to disk
//	         └─ ...
//
// Whoever is about to hold memory that somebody outside has a say in takes it from a share first and gives it back after. What happens when the share has
// no more differs, and is the decision of the room that takes; there are four ways, and shares.go says which share goes which:
//
//	wait     Acquire blocks until others give back. Only where every holder gives back without waiting for a client or for another share.
//	spill    TryAcquire says no, and the taker puts what it has on disk.
//	evict    TryAcquire says no, and the taker drops something that can be read again.
//	refuse   TryAcquire says no, and the statement fails with 53200; Share.Full is that error.
//
// The first rule keeps it free of deadlocks: a slow client that holds some of a share could block for ever everybody who waits for it, so what is held
// across a write to a client is never of a share that others wait for.
//
// A size is an estimate of what values take: the bytes of columns, without Go's overhead of some tens of bytes for each batch. The shares of Go memory come
// to about six tenths of the budget; the garbage collector has the rest to work in, see Node.GoLimit.
//
// A nil *Share has no limit and counts nothing, so that a room can be used without a node.
package budget
