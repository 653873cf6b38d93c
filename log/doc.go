// Package log is the one ordered log of an environment: the truth that everything else is folded from.
//
// A transaction becomes durable and gets its place in time in one step, when the entry it is in is appended. An entry is a group
// commit: the transactions that were waiting while the entry before it was being written.
//
//	          waiting                in flight                    durable                       applied
//	Commit ─▶ txn txn txn ─ plan ─▶ [entry 18] ─ compare&set ─▶ ... 15 16 17 ─ Apply ──▶ catalog, shard, tail ─ Applied ─▶ Commit returns
//	                        │                                        ▲
//	                        └ validate, give times, pack             └ Consensus key "log": slot n holds entry n
//
// The append is a compare-and-set that expects the head this node has folded, so what was validated against everything up to the head is
// still valid if the append succeeds. If it fails, another's entry came between: fold it and plan again. If nobody knows whether it
// succeeded, the same bytes are sent again at the same head until the slot is filled; then the slot shows whose it is.
//
// Validation is optimistic. A transaction says what it read and when (Txn); it is refused with ErrConflict if a later one changed that.
// The log remembers recent changes only, as hashes, within a budget; what it no longer remembers it must assume to have changed.
//
// Times are microseconds, strictly increasing: max(clock, last+1). The clock is the wall's as long as that runs evenly with the
// monotonic one; a jump is not followed.
//
// Several nodes may share the stores (Options.Shared). Each learns of the others' entries by asking or watching, folds them, and appends after them:
//
//	node A   Commit ─▶ append 18 ─────────────────▶ Head, Watch ─▶ fold 19 ─▶ append 20
//	node B             append 18 lost ─▶ fold 18 ─▶ append 19
//
// A node's session is a lease. Every entry says whose it is, which renews it; one that was silent for LeaseTime is ended in the log by another, and finds
// that out at its next append, whose slot is taken: so a process that was stopped and wakes up commits nothing. A Claim is the right to do work that
// runs once; its transactions carry the epoch in which it was taken and are refused when it has moved on. Strict reads ask for the head (Sync).
//
// A checkpoint is the folded state after some entry, in Blob, named by the Consensus key "checkpoint". The log is cut off below it, but
// for a rest that lets readers resume. A node starts from the checkpoint and follows from there, so that starting does not take longer
// the older an environment gets.
//
// Use it like this; each line that runs on has its own goroutine, which the caller waits for:
//
//	l, checkpoint, err := log.Open(ctx, opts)      // restore the folds from checkpoint
//	l.Apply(ctx, seq, func(e *log.Entry) error {   // the apply loop: fold e into everything, then
//		l.Applied(e)
//		return nil
//	})
//	l.Run(ctx)                                     // commits
//	l.Commit(ctx, txn)                             // from any number of goroutines
//
// The package does not look into payloads but those of its own two kinds, sessions and claims, knows no tables, and has no state on disk beyond the two seams.
package log
