// Package ingest fills tables from sources: it takes a source's rows and then its transactions, and commits them to our log.
//
// A source goes through two phases. Which one it is in is told by the catalog alone, so a process that was killed goes on where the last
// commit left off:
//
//	no position     create the tables (state snapshot), read all rows at position P, then commit
//	                rows + tables live + P                       a table appears at one time, with all of its rows
//	position P      read transactions after P, commit each as
//	                updates + schema changes + its own end       so a transaction is applied once, whole, at one time
//
// The position is in the same commit as the rows it stands for; only after the commit is durable is it confirmed to the source. A kill
// before the commit means that the source sends the transaction again; a kill after it, that the source is asked for what follows.
//
// A source's change names a row and gives its new value, sometimes not all of it. The old row always comes from our own shard:
//
//	source: update id=7 set small=2      (big unchanged, not sent)
//	shard:  (7, 1, 'xxx…')               looked up, together with all keys of the group
//	commit: -(7, 1, 'xxx…') +(7, 2, 'xxx…')
//
// Changes are folded by key first (fold.go), so that a row that was inserted, changed and moved to another key within a transaction costs
// one lookup and at most one row out and one in.
//
// Transactions that arrive while a commit is under way form the next group: one lookup serves them all, and each is still a transaction
// with its own time. A large transaction is not grouped; its pieces go to shard writers as they come, and enter the log by reference.
//
// A table that cannot be followed is put into state error and left there; the others and the source's log go on. So is one whose source changes a row
// that is not here: the copy is not the source's table any more, and going on would hide it.
//
// Of several nodes one follows a source: the one that has its claim in the log ("source/12"), under which all of its commits are made. The others stand by. When
// its session ends, or it gives the claim up, another takes it and goes on at the position committed last; what the first still sends is refused.
//
// The package knows no database: that is behind tailrace.Source.
package ingest
