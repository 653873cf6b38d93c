// Package redo keeps what a changefeed sends in a Blob store, before it is sent, and brings a target to the state it tells.
//
// A feed reads collections, each a span at its own pace. Writer takes the updates and collects those of all spans for a while:
//
//	orders   ──▶ ┐
//	lines    ──▶ ├─▶ segment 7 ──▶ manifest 12: "segment 7; orders are known up to 10:00:03, lines up to 10:00:01"
//	stock    ──▶ ┘
//
// A segment is bytes of updates, a manifest says that they count. Manifests are numbered, and the one that is there is the acknowledgement: what was put without one is
// ignored, and deleted at the next start. docs/format/redo.md gives both byte by byte.
//
//	w, err := redo.Open(ctx, blob, redo.Options{Feed: "orders_copy", Epoch: 4})
//	from := w.Frontiers()                                    where each span goes on
//	go w.Run(ctx)
//	w.Add(ctx, 7, redo.Piece{Kind: redo.Changes, Table: table, Rows: rows, To: redo.Position{Time: 5}})
//
// # One writer
//
// A Blob has no compare-and-set, but a key is written once. Number n+1 follows n, so of two writers that are at n one gets n+1 and the other finds it taken. A writer of
// a later epoch begins with a manifest that says so, its opening; an earlier one, however long it slept, finds exactly that number taken and ends with
// tailrace.ErrSinkFenced. Folded manifests are deleted, but openings never: so what a sleeper finds taken stays taken.
//
// # The redo frontier
//
// A span's frontier is how far it is known: everything at or before it is durable. The lowest of all spans' is the redo frontier. Apply brings a target to the exact state
// at that time: tables, rows, schema changes, in time order over all spans, from the store alone. How far it came is in the target, in the same transactions; so Apply that
// was killed goes on, and one that ran before has nothing left to do.
//
//	span      frontier
//	orders    10:00:03
//	lines     10:00:01   ◀── redo frontier: later updates of orders wait
//	stock     10:00:04
//
// What is in the store is kept until the feed's keys are deleted: nothing is folded but manifests, and nothing is compressed.
package redo
