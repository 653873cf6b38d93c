// Package sql runs statements for sessions.
//
// A Session is one client's: its settings, its transaction, its cursors. A statement goes through the same steps whoever sent it:
//
//	parse.Statement ─▶ dispatch ─┬─ rows by whole key, VALUES, DEFAULT ──▶ expr over shard.Lookup ──┐
//	                             ├─ anything else that reads ──▶ query (DuckDB) over shard.Snapshot ─┴─▶ Result
//	                             ├─ INSERT UPDATE DELETE COPY ──▶ shard.Writer ─┐
//	                             ├─ CREATE ALTER DROP ──▶ catalog.Change ───────┴─▶ one log.Txn at COMMIT
//	                             └─ SUBSCRIBE ──▶ tail
//
// A transaction reads at one time: the newest committed when its first statement began, learned strictly (log.Sync). What it writes waits in one
// shard.Writer per table, laid over what it reads. What it read is its footprint: keys where a statement named whole keys, else whole tables.
// COMMIT hands all of it to the log, which refuses it if anyone changed the footprint in between. Then a single statement runs again and a
// block gets 40001. There are no locks; only a statement that keeps losing takes a turn (turn.go), and commits that would make it lose again wait for it.
//
//	BEGIN; UPDATE t SET n = n + 1 WHERE id = 1   reads at 100, footprint {t: key 1}, writes (1, 5) -1, (1, 6) +1
//	COMMIT                                        refused if key 1 of t changed after 100
//
// Rows are always taken from our own storage: the query engine says which rows and computes new values; a column that is not
// assigned never passes through its types.
//
// The package does not speak the protocol (pgwire) and does not follow subscriptions itself (tail).
package sql
