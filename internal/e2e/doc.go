// Package e2e holds the tests that run the real binary: real sockets, real files, a real PostgreSQL as a source, kill -9.
//
//	harness_test.go     builds the binary once, starts and kills it, speaks to it with pgx
//	subscribe_*_test.go every case of SUBSCRIBE, as a client sees it
//	kill_test.go        kill -9 at random points under writes
//	source_test.go      a PostgreSQL source under load, killed and compared
//	differential_test.go statements of testdata/differential here and on a PostgreSQL, but for docs/postgresql-differences.md
//	huge_test.go        results of millions of rows, in bounded memory
//	clients_test.go     psql and psycopg with their default settings
//	psql_test.go        what psql's backslash commands print, beside a PostgreSQL with the same objects
//	completion_test.go  psql at a terminal: what a tab makes of the beginning of a statement
//	introspection_test.go  what libraries ask of pg_catalog and information_schema, beside PostgreSQL
//	drivers_test.go     psycopg 2 and 3, pgx, node-postgres, JDBC and SQLAlchemy, with programs of their own
//
// TAILRACE_LONG=1 runs the long forms.
package e2e
