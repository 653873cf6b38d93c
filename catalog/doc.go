// Package catalog is what exists: schemas, tables, views, types, secrets, connections, sources and users, as a fold over the log.
//
// A change is one record that puts an object, whole, or drops one; so ALTER TABLE puts the table with its next Schema. The fold
// needs no rules: who commits a change has checked it against the catalog it read, and the log refuses the commit if the catalog
// changed in between.
//
//	CREATE TABLE t (a int)        put {id 7, table public.t, schema v1}
//	ALTER TABLE t ADD COLUMN b    put {id 7, table public.t, schema v2}
//	DROP TABLE t                  drop 7
//
// A source's position changes with every transaction it delivers, so it has a record kind of its own.
//
// The package does not check SQL rules, touch rows, or talk to sources.
package catalog
