// Package pgwire speaks PostgreSQL's wire protocol to clients: psql, drivers, anything that knows the protocol's version 3.
//
// A connection is two goroutines. One owns the socket's read side and does nothing but move bytes into a small buffer, so that a client that
// goes away is noticed while a statement streams. The other is the session: it takes messages out of that buffer one by one, runs them on a
// sql.Session, and is the only one that writes.
//
//	socket ─▶ reader ─▶ inbox (64 KiB) ─▶ session ─▶ sql.Session
//	                                         │
//	socket ◀── one Write for each batch ── outbox
//
// A connection begins with a startup packet (SSL and GSS requests are answered N, a cancel request ends there), then authentication (none
// while no user exists, else SCRAM-SHA-256), then messages:
//
//	simple     Query                                   one text, several statements, one implicit transaction
//	extended   Parse Bind Describe Execute Close ... Sync   an error skips to Sync; a portal hands its rows out in parts
//	copy       CopyData ... CopyDone | CopyFail        inside a statement that asked for it
//
// Rows are encoded straight from the columns of a tailrace.Batch into the outbox by format.Encoder, without a value per row. The outbox is
// written when it holds WriteBytes, when the client has to answer, and after each batch of a statement that streams (SUBSCRIBE).
//
// A client may be slow for ever: the session waits in Write and nobody else notices. A client is dead when its kernel has not acknowledged
// anything for DeadAfter; TCP_USER_TIMEOUT would also end slow ones, since Linux counts a closed window, so the session asks TCP_INFO itself.
//
// The package knows no SQL: what a statement means, when a transaction commits, and how errors are worded is sql's. It does not encrypt.
package pgwire
