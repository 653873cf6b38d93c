// Package postgres reads a PostgreSQL database as a source: its tables as they are at one moment, then every transaction after it.
//
// PostgreSQL tells its changes through logical replication. Three things are made at the source:
//
//	publication  the list of tables whose changes are told
//	slot         keeps PostgreSQL's log (WAL) from the last confirmed position (LSN) on
//	snapshot     exported when the slot is created: the rows exactly at the slot's first position
//
// So a copy is: create the slot, COPY every table inside the exported snapshot, then apply what the slot tells from there.
//
//	CREATE_REPLICATION_SLOT ──▶ LSN 0/1A2B, snapshot 00000003-1
//	   2 connections: SET TRANSACTION SNAPSHOT; COPY ... TO STDOUT             rows at 0/1A2B; a large table's two halves side by side
//	START_REPLICATION 0/1A2B ──▶ Begin, Relation, Insert, Update, ..., Commit  changes after 0/1A2B
//
// Both paths deliver text that PostgreSQL's output functions made under the same pinned settings (pinned), and one function (Config.Parse)
// turns it into stored values. That is why a value is the same bytes whichever way it came.
//
// What a change does not tell is marked, not guessed: a TOASTed column that an UPDATE left alone, the other columns of an old key.
// Relation messages give names and types but not which column is which; relation.go finds that out from pg_attribute, so that a rename
// is a rename and a column dropped and added again is a new one.
//
// The source writes nothing here and decides nothing about transactions; that is ingest. It keeps no position: Read is told where to begin.
//
// A PostgreSQL can be the target of changefeeds, too: OpenSink, in the files that begin with sink. A transaction there checks the feed's epoch, changes rows, a whole
// array of them by one statement, and moves the feed's progress.
package postgres
