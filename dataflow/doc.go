// Package dataflow serves a SUBSCRIBE to a query that is more than a part of one table: expressions, several tables by UNION ALL, views of these, constants.
//
// A query is a tree of operators. Each takes updates and gives updates, and knows nothing of times or of other rows:
//
//	Scan t ──▶ Filter a > 3 ──▶ Project b, a + 1 ──┐
//	                                              Union ──▶ updates of the query
//	Constant (1, 2) ───────────────────────────────┘
//
// All of them are linear: what comes out for some updates together is what comes out for each of them, added up. So a change of a table at a time goes through the
// tree by itself, and nothing is kept between two times. What needs to see other rows (joins, aggregates, DISTINCT) is not here.
//
// A Subscription reads for itself: the snapshot of each table from shard, then their changes, time by time, and adds equal rows up. All rows of a time are in
// memory together, within MaxHeldBytes. It is the plain twin of a subscription of package tail, with which it shares nothing above the shard: for what both can serve,
// they give the same rows.
package dataflow
