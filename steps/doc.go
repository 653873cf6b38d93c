// Package steps turns updates into what a transaction of a target does: upserts and deletes of rows.
//
// Inside one transaction of the target nobody sees what is between its steps. So of a row that changed several times only the last version is sent, and
// the steps may be in the order that no constraint minds:
//
//	updates at 10   -(1, a@x) +(1, b@x)   -(2, b@x) +(2, a@x)        e-mail is unique at the target
//	updates at 11   +(3, c@x)
//	updates at 12   -(3, c@x) +(3, d@x)
//	steps           delete 1, 2           which take over a unique value
//	                upsert (3, d@x)
//	                upsert (1, b@x), (2, a@x)
//
// All deletes come before all upserts; of tables that refer to each other children are deleted first and parents upserted first.
package steps
