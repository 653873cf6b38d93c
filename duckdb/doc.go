// Package duckdb holds the embedded DuckDB: an Engine with one in-memory database that knows no tables of its own.
//
// A query is DuckDB SQL that reads Go scanners and calls Go functions:
//
//	id, free := engine.Serve(source)                    // a Source: column types, and rows when asked
//	rows, err := engine.Query(ctx, "SELECT sum(c0) FROM tr_scan("+id+")")
//	for chunk, err := rows.Next(ctx); ...               // at most 2,048 rows, streamed
//	rows.Close(); free()
//
// DuckDB tells the Source which columns it needs (projection pushdown) and the Source writes them straight into DuckDB's vectors. A result
// streams: the first chunk comes as soon as it is computed, and a reader that stops reading stops the scan. Sorting and hashing may spill
// into the temporary folder, up to a limit.
//
// Scalar functions and aggregates are written in Go and registered once, so that expressions follow PostgreSQL to the last digit. They see
// vectors, not rows: one call into Go costs about a microsecond for 2,048 rows.
//
// The database is locked down: it loads no extensions, reads no files, opens no connections, and its settings cannot be changed by SQL. An engine for
// files (Options.Files), which no SQL of clients reaches, may read and write them: package parquet has one.
//
// A panic in Go code called by DuckDB becomes an error of the query; it must not unwind C++ frames. Everything Go hands to C is a handle
// that C deletes, so nothing leaks when a query fails half way.
//
// The package knows nothing of PostgreSQL: names, types and errors are translated by the packages query and parquet.
package duckdb
