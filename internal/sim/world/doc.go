// Package world simulates whole environments: real nodes, from the wire down to the stores' seams, in fake time, while everything goes wrong that a seed plans.
//
// Run builds the world of a seed inside a synctest bubble. A minute of it takes a tenth of a second.
//
//	writers, reader ──┐ net.Pipe                                        ┌─ alive    the process: it may be stopped, or dead
//	subscribers ──────┼────────── node 1 (server.Run) ──┐               ├─ faulty   calls lost, late, slow, done and not answered
//	upstream ─────────┘           node 2 (server.Run) ──┴─ its stores ──┼─ disk     the witness: keeps every entry of the log it sees
//	                                                                    └─ sim      Consensus and Blob, what is synced and what is not
//
// Everything above the stores, the sockets and the source's database is the product's own code. Only SELECT's engine is left out: its threads are native, and no
// fake clock sees them. Statements on whole keys, COPY, DDL and SUBSCRIBE do without.
//
// # Who lives there
//
// Three writers send transactions (writer.go, intent.go): rows of several tables, ON CONFLICT, RETURNING, savepoints, COPY of what goes to parts, columns that come and
// go, a table that another takes the place of, one that gets another name. Each leaves a mark, its name, in a row that it writes, so that the log shows where it was committed, if it
// was. A reader reads keys strictly. Subscribers follow tables fast, slowly, with connections that die, with new snapshots, by cursors, by COPY; they resume at their
// last progress, after a while that is longer than one table keeps its history. The upstream is a database of a source that remembers what was confirmed and forgets it. A machine starts its node again whenever it ends.
//
// Of the plan (plan.go): a node is killed, stopped for less or more than its lease, its clock jumps, it leaves in order; the power of the stores fails; stores storm,
// or crawl; clients lose connections; writers nap until windows and the log's rest have moved on. The shards' limits are so small that flushes, merges, history and
// checkpoints come all the time.
//
// # What is checked
//
// The truth is the log as the witness saw it, of which only marks and positions are believed; what a transaction does to the rows is folded from what its writer sent
// into plain maps (model.go, history.go), never from what the node stored.
//
//	order     a subscriber's times never go back, a promise of progress is kept and not made too early; what was acknowledged before another was sent is before it in
//	          the log; a strict read shows what was so between question and answer
//	complete  no subscriber is refused what is kept; what was acknowledged is in the log, whatever was cut off after it; a subscriber's updates below each progress time sum up to the model at that time;
//	          command tags and rows that a transaction was shown are those of its place in the order
//	once      nothing is in the log twice, nothing that was refused is there, an upstream transaction is there whole, at one time; nothing is confirmed upstream
//	          before it is in the log
//
// Who is refused because history has gone must be told what it asked for and what is gone, and begins anew.
//
// After the last trouble all must come to rest: the source catches up, every subscriber passes the end, new ones see the same, nodes leave in order.
//
// Who watches the validators: a Bug (bug.go) breaks something at a seam of each node, such as a store that acknowledges before it syncs, a node that does not hear that
// others have its claim, a promise to readers that is not kept, a row that is sent twice. TestPlantedBugsAreFound demands that each is found, and as what it is.
//
// # Replay
//
//	go test ./internal/sim/world -run TestWorld -seed 17          -trace prints what happens
//
// A seed does the same again, to the nanosecond; TestSeedReplays demands it. What it takes:
//
//	one thing at a time   GOMAXPROCS is 1, no garbage is collected in a world, and whoever could go on together is made to do so one after the other: each store call
//	                      (sim.NewCallPlan), each message of a client (door.go) and each group of commits (life.yield) takes a time of its own, in nanoseconds
//	chances of their own  what an actor does depends on the seed and its name; how long a store call takes on what is called, and how often it was before
//	in order              where the product walks a map and what it does there is seen outside, it does so in order; where two things are ready, one goes first
//
// What is left is the machine: when it stops the process for more than ten milliseconds, Go's runtime lets another goroutine go on. One in some hundred runs parts.
//
// It does not test SELECT beyond keys, sockets, files, or memory limits; other tests do.
package world
