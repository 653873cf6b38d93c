// Package system holds the relations that the server makes up when they are read: pg_catalog and information_schema, through which PostgreSQL's
// tools and drivers see what there is, and mz_internal, where Tailrace says how it is doing.
//
// A relation is a list of columns and a function of a World: what one session sees at one moment.
//
//	World (catalog, user, search path, settings, ...) ──▶ relation's rows ──▶ tailrace.Batch ──▶ query, as any table
//
// Nothing is stored. The columns are those of PostgreSQL 15, in columns.txt; a test compares them with a real one. A row is written as a map
// from column to value, and says only what is not obvious: a column that it leaves out is zero, false or empty, or NULL where the column may
// be. Relations that are always empty here (there are no triggers, policies, publications) are a line in columns.txt and no code.
//
// Objects have OIDs because clients join the relations by them:
//
//	tables, views, enums, domains, ...   tailrace.UserOID of the ID in the catalog
//	what such an object brings along     a range for each kind, plus the ID (oid.go): a table's key, its row type, a view's rule
//	types and relations of PostgreSQL's  PostgreSQL's own OIDs
//
// So an OID is the same on every node, in every session and after every restart, without being kept anywhere.
//
// A World also answers the functions that go with the relations: names to OIDs and back (it is a format.Names), definitions, comments.
//
// The package does not plan SQL and knows no session: package sql makes the World and hands the batch on.
package system
