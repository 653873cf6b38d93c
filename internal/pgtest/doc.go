// Package pgtest starts real PostgreSQL servers for tests.
//
// A test asks for a server and gets one that is its own, in a temporary folder, listening on a free port of 127.0.0.1 and trusting
// everybody:
//
//	srv := pgtest.Start(t, "wal_level=logical")
//	srv.Exec(t, "CREATE TABLE t (a int)")
//	conn, err := pgx.Connect(ctx, srv.URL())
//
// Starting takes about two seconds, so tests that need no settings of their own share one per test binary: Shared(t).
//
// PostgreSQL refuses to run as root. Under root the server runs as the user postgres, which Debian's package makes; else as whoever runs the
// test. It lives under a small shell that waits for the end of its standard input, a pipe that the test process holds: however the test
// process ends, by a panic or by kill -9, the server is stopped and its folder removed.
//
// The servers do not fsync: they are for what PostgreSQL says, not for what it keeps through a power cut.
package pgtest
