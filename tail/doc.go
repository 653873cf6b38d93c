// Package tail serves subscriptions: a snapshot of a collection, then every change, to any number of readers, straight from storage.
//
// Each log entry is applied here once. Its updates go into a window of recent batches per collection, kept encoded until
// somebody reads them and decoded at most once for all who do. A subscription is only a position:
//
//	as_of 100, snapshot ──▶ after 100 ──▶ after 250 ──▶ ...        "everything at or before this time was given out"
//	     pieces by key        window, or history when the window has moved on
//
// There is no queue and no goroutine per subscription. Who reads one (a connection) asks for the next batch; if there is none it
// waits for the collection's wake-up. So a reader that stops costs its position, and slows nobody. When it comes back and
// the window has gone, it reads what it missed from the shard's history; when that is gone too (RETAIN HISTORY), it is told 53200 and where it was.
//
//	log entry ─▶ window ─┐
//	shard snapshot ──────┼─▶ fold (per time: sort, sum equal rows) ─▶ shape (envelope, columns) ─▶ batch of output rows
//	shard history ───────┘
//
// Rows leave as columns; encoding them for a wire is the format room's work. Frames shared between subscribers, and one snapshot for many of them, are
// not here yet.
package tail
