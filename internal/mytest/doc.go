// Package mytest starts real MariaDB servers for tests.
//
// A test asks for a server and gets one that is its own, in a temporary folder, listening on a free port of 127.0.0.1:
//
//	srv := mytest.Start(t, "max_allowed_packet=1M")
//	srv.Exec(t, "CREATE TABLE shop.t (a int)")
//	db, err := sql.Open("mysql", "feed:secret@tcp("+srv.Addr()+")/shop")
//
// Each has a database shop and a user feed with the password secret, who may do everything. Starting takes about two seconds, so tests that need no
// settings of their own share one per test binary: Shared(t).
//
// Under root the server runs as the user mysql, which Debian's package makes; else as whoever runs the test. It lives under a small shell that waits for the
// end of its standard input, a pipe that the test process holds: however the test process ends, the server is stopped and its folder removed.
//
// The servers hardly sync their files: they are for what MariaDB says, not for what it keeps through a power cut.
package mytest
