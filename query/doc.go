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
//	oid, regclass and its like                                          UINTEGER, as stored
//	name, "char"                                                        VARCHAR
//	arrays                                                              BLOB, as stored (array.go of the root)
//	enums                                                               VARCHAR, the label
//
// So whatever passes through a query comes out untouched, to the last digit of a numeric and the last blank of a character(n), and DuckDB's
// own numeric, timestamp and interval types, which hold less than PostgreSQL's, are never used. Where bytes do not compare as the values
// do (1.0 and 1.00 are equal numerics), the query compares a key made of them: tailrace.AppendKey.
//
// Operators and functions come from a table (catalog.go) of PostgreSQL's signatures. Each is either a piece of DuckDB SQL known to give the
// same answer, or Go code. Overloads are picked by PostgreSQL's rules for implicit casts. What is not in the table is refused with 42883
// as an unknown function, and forms of SQL that are not planned with 0A000; nothing is handed to DuckDB in the hope that it means the same.
//
// Arrays know nothing of their elements' type; the planner does. Where DuckDB has to look at elements an array becomes a list of BLOBs, each a stored
// value, and a list becomes an array again (array.go): that is how ARRAY[...], array_agg, unnest, casts and ANY work. Array functions are in a table of
// their own (polymorph.go), whose arguments are "an array" and "an element". A function that returns a set is a list whose items become rows
// (setfunction.go). Enums compare by the number of their label, which is written into the plan; a cast to a domain is its conditions, planned where the
// cast stands. A view's query is planned in its place. Rows are values as far as JSON, count and comparisons go (row.go).
//
// The planner is one pass over the tree with a stack of scopes. An expr is a piece of DuckDB SQL with its PostgreSQL type. The pieces hold
// marks (a zero byte, a letter, a number) for what is known only when the plan runs: parameters, scans, the session. Run writes those in
// and hands the text to the package duckdb.
//
// A condition of WHERE on one column of a table is also handed to that table's scan (filter.go), which may leave out rows that do not meet it; DuckDB filters all
// the same.
//
// The package is larger than its neighbours because PostgreSQL's functions are many; each is a line in a table and a few lines of Go, and the
// planner itself (query, select, from, scope, expr and what they call) is small.
//
// Numerics, pictures and templates of to_char, to_number and to_date, and times follow PostgreSQL's source rule by rule (numpower.go, numprint.go,
// fromchar.go); regular expressions are the package are's. random_test.go compares them with a PostgreSQL on random arguments.
//
// Refused with 0A000 are, among others: rows as columns of a result, their fields, and comparisons of rows not written out, arrays of rows and of
// domains, column definition lists, jsonpath and the json functions that make records, TABLESAMPLE, time with time zone, and collations other than by bytes.
// What is refused, and the little that is said differently, is listed in docs/postgresql-differences.md, which a test reads. Letters have case within
// ASCII only. FOR UPDATE and its like are checked and do nothing, see lock.go.
//
// A grouped SELECT becomes two: the inner one computes group keys and aggregates, the outer one the select list, in which an expression
// equal to a group key stands for it.
package query
