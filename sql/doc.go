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
// What a block writes to a table lies in layers (layer.go): a savepoint begins one, and so does an ALTER of the columns, whose rows keep the columns that they were
// written with. ROLLBACK TO drops layers and goes back to an older catalog; COMMIT hands over all that are left as one log entry, at one time. INSERT ... ON CONFLICT
// looks the keys up first (conflict.go, upsert.go); RETURNING is worked out to its end before the client sees a row (returning.go), since a statement may run again.
//
// A SELECT ... AS OF t reads what was at t (asof.go), and changes('t', from, to) the updates in between (changes.go). Neither is in conflict with anyone.
//
// Rows are always taken from our own storage: the query engine says which rows and computes new values; a column that is not
// assigned never passes through its types.
//
// A name without a schema is looked for along search_path (path.go). Tables, views, enums and domains are objects (object.go) that a DROP follows from one
// to the next (drop.go). A view is its query as text with every name in full; what it reads is planned in its place, and when that is renamed or altered the
// text is rewritten in the same transaction (viewquery.go, pin.go), so that the view goes on to mean what it did:
//
//	CREATE VIEW v AS SELECT * FROM t     kept as SELECT * FROM public.t
//	ALTER TABLE t RENAME TO u            kept as SELECT * FROM public.u t
//	ALTER TABLE u ADD COLUMN z           kept as SELECT * FROM (SELECT a AS a FROM ONLY public.u) t
//
// What WHERE asks of single columns goes down to the shard with a scan, which passes over page groups that hold no such row (prune.go); EXPLAIN tells how
// many. Each session shows others what it runs (activity.go), and statements that ended are kept, without secrets, in a bounded history (history.go).
//
// The package does not speak the protocol (pgwire) and does not follow subscriptions itself (tail).
package sql
