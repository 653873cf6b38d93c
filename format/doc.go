// Package format turns stored values into PostgreSQL's text and binary forms and back.
//
// A value lives in a tailrace.Column as a few bytes whose meaning its type gives (tailrace.Kind lists them). Users see another form of it,
// which depends on the session:
//
//	stored              text                            binary (as PostgreSQL sends it)
//	02 00 04 ce         12.30                           00 02 00 00 00 00 00 02 00 0c 0b b8
//	0 (a timestamp)     2000-01-01 00:00:00 (ISO)       00 00 00 00 00 00 00 00
//	                    Sat Jan 01 00:00:00 2000 (Postgres)
//
// The text is byte for byte what PostgreSQL 15 prints, and what it accepts is accepted here, with the same errors: the tests run both
// and compare. Settings hold what a session may change (time zone, date style, ...).
//
// An array is read and printed by the functions of its elements' type, inside braces:
//
//	02 02 | 00 | 05 01 00 00 00     [0:1]={NULL,1}
//
// What the bytes alone cannot say comes from the Settings: an enum's labels, to check what is read, and the names of the objects whose OIDs regclass and its
// kin hold.
//
// There are three layers:
//
//   - one value: AppendText, AppendBinary, ParseText, ParseBinary, ApplyMod;
//   - rows out: an Encoder appends whole wire messages (DataRow, or CopyData with a text, CSV or binary row) from a batch's columns. It decides
//     once per column how values of its type are written, and then allocates nothing per row;
//   - COPY in: a CopyReader takes the client's bytes as they come, cut anywhere, and gives batches.
//
// Where the code follows PostgreSQL's own (dates are read by the rules of its datetime.c, which no standard gives), the order of the checks is
// part of the behaviour: it decides which of two errors a user sees.
//
// The package does no I/O except that time zones are loaded by name, from the system or from the copy that the binary carries.
package format
