// Package e2e holds the tests that run the real binary: real sockets, real files, a real PostgreSQL as a source, kill -9.
//
//	harness_test.go     builds the binary once, starts and kills it, speaks to it with pgx
//	subscribe_*_test.go every case of SUBSCRIBE, as a client sees it
//	kill_test.go        kill -9 at random points under writes
//	source_test.go      a PostgreSQL source under load, killed and compared
//	clients_test.go     psql and psycopg with their default settings
//
// TAILRACE_LONG=1 runs the long forms.
package e2e
