// Package tail serves subscriptions: a snapshot of a collection, then every change, to any number of readers, straight from storage.
//
// Each log entry is applied here once. Its updates go into a window of recent batches per collection, kept encoded until
// somebody reads them and decoded at most once for all who do. A subscription is only a position:
//
//	as_of 100, snapshot ──▶ after 100 ──▶ after 250 ──▶ ...        "everything at or before this time was given out"
//	     pieces by key        window, or history when the window has moved on
//
// There is no queue and no goroutine of its own per subscription. Who reads one (a connection) asks for the next batch; if there is none it
// waits for the collection's wake-up. So a reader that stops costs its position, and slows nobody. When it comes back and
// the window has gone, it reads what it missed from the shard's history; when that is gone too (RETAIN HISTORY), it is told 53200 and where it was.
//
//	log entry ─▶ window ─┐
//	shard snapshot ──────┼─▶ fold (per time: sort, sum equal rows) ─▶ shape (envelope, columns) ─▶ batch of output rows
//	shard history ───────┘
//
// Rows leave in one of two ways. Next and Fetch give columns, which the caller encodes. After Encode, NextEncoded gives frames wherever it can: bytes of whole wire
// messages, made once for all subscribers with the same wire, that is the same columns, envelope, order, format and settings that change text.
//
//	                  ┌─ frame of wire A ──▶ subscribers of A, each from its own position
//	item of a window ─┤
//	                  └─ frame of wire B ──▶ subscribers of B
//
// The first who wants a frame makes it and the others wait for it. Frames are kept within a quarter of the node's share for them and go oldest first; one
// that is gone is made again. Progress rows say how far a subscriber is, so they are encoded for it alone, behind the frames. What has no room as a frame,
// and rows that must be together to be ordered or judged go out as columns.
//
// Who has everything is parked (park.go), and what comes is pushed to it: one write a client by one of the few who push (Push), while the goroutine that reads for it
// sleeps on. Who does not take it at once, and what is large or ends the subscription, is left to that goroutine. Who catches up in the window takes blocks of changes,
// a frame each (block.go).
//
// Snapshots depart together. Who comes while another's snapshot is being sent, and the collection has not changed since its time, takes that time; both have one
// hold (a departure). Who comes after a change while it is being read waits a little, and departs with all who do. Those of one wire share its reading too (a bus): whoever is first at a piece reads and encodes it, others take the frame by the key that
// it follows. Who is so late that the piece is gone reads alone from its own position.
//
// Who is behind the window shares as well: history is read once for all who are near each other, in pieces by time, and a piece is encoded once a wire (a
// catchup). Who finds no piece at its place reads the next one while others wait for it.
//
// Rows of one time that must be together are sorted in memory and, beyond a part of the share, in files without a name (a sorter).
package tail
