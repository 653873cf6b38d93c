// Package query plans and runs SELECT as PostgreSQL would, on the embedded DuckDB.
//
// DuckDB picks rows: it scans, filters, joins, groups, sorts, and spills. What values are and what expressions mean is ours. A statement
// goes through three steps:
//
//	PostgreSQL's parse tree ──▶ names and types resolved here, ──▶ DuckDB SQL with ──▶ rows, converted back
//	                            as PostgreSQL resolves them         every type written out    to tailrace.Batch
//
// Values cross into DuckDB as the bytes we store, in a DuckDB type that can hold all of them:
//
//	smallint, integer, bigint, real, double precision, boolean, text    the same type there
//	date, time, timestamp, timestamptz                                  INTEGER and BIGINT, as stored
//	numeric, interval, uuid, bytea                                      BLOB, as stored
//	varchar, char, json, jsonb, source types                            VARCHAR, as stored
//
// So whatever passes through a query comes out untouched, to the last digit of a numeric and the last blank of a character(n), and DuckDB's
// own numeric, timestamp and interval types, which hold less than PostgreSQL's, are never used. Where bytes do not compare as the values
// do (1.0 and 1.00 are equal numerics), the query compares a key made of them: tailrace.AppendKey.
//
// Operators and functions come from a table (catalog.go) of PostgreSQL's signatures. Each is either a piece of DuckDB SQL known to give the
// same answer, or Go code. Overloads are picked by PostgreSQL's rules for implicit casts. What is not in the table is refused with 42883
// as an unknown function, and forms of SQL that are not planned with 0A000; nothing is handed to DuckDB in the hope that it means the same.
//
// The planner is one pass over the tree with a stack of scopes. An expr is a piece of DuckDB SQL with its PostgreSQL type. The pieces hold
// marks (a zero byte, a letter, a number) for what is known only when the plan runs: parameters, scans, the session. Run writes those in
// and hands the text to the package duckdb.
//
// The package is larger than its neighbours because PostgreSQL's functions are many; each is a line in a table and a few lines of Go, and the
// planner itself (query, select, from, scope, expr and what they call) is small.
//
// Refused with 0A000 are: arrays and rows as values, powers and logarithms of numeric, GROUPING SETS, WITHIN GROUP, an order of jsonb,
// SIMILAR TO, TABLESAMPLE, row locks, time with time zone, and collations other than by bytes. Letters have case within ASCII only.
//
// A grouped SELECT becomes two: the inner one computes group keys and aggregates, the outer one the select list, in which an expression
// equal to a group key stands for it.
package query
