// Package parquet writes rows to Parquet files and reads them back, through an embedded DuckDB, without changing a value.
//
//	e, err := parquet.Open(parquet.Options{Threads: 2})
//	w, err := e.Write(ctx, columns, open, files, told)    // one stream of rows into n files, at once
//	r, err := e.Read(ctx, file)                            // r.Columns, r.Next, r.Close
//	e.Close()
//
// DuckDB encodes, compresses (zstd) and decodes; what a value is stays ours. Each column goes as the Parquet type that holds every value of it, else as text:
//
//	boolean, smallint, integer, bigint, real, double precision    the same: BOOLEAN, INT32 (INT(16)), INT32, INT64, FLOAT, DOUBLE, bit by bit
//	numeric(p,s), p up to 38 and s from 0 to p                     DECIMAL(p,s)
//	numeric otherwise                                              STRING, as PostgreSQL prints it
//	text, varchar, char(n), name, enums, types of sources          STRING; char(n) with its blanks, an enum by its label
//	bytea                                                          BYTE_ARRAY
//	date, time                                                     DATE, TIME(MICROS)
//	timestamp, timestamptz                                         TIMESTAMP(MICROS), not adjusted and adjusted to UTC
//	interval                                                       STRING: Parquet's interval has no microseconds and no signs
//	uuid                                                           UUID
//	json, jsonb                                                    JSON, the text
//	oid, regclass and its like                                     INT(32, unsigned), the number
//	arrays                                                         LIST of the element's type
//	int2vector, oidvector                                          STRING
//
// Some values do not fit the type of their column: NaN in DECIMAL, a timestamp after the year 294247 (microseconds since 1970 end there), an array that has two dimensions or
// does not begin at 1, json with half of a surrogate pair. Then all is written once more with that column as text. Infinity of dates and timestamps is the largest value and
// the smallest but one, which DuckDB reads as infinity.
//
// Reading goes the other way, by what the file says; a type that none of ours is (a struct, a map, a list of lists) comes as json. What is read is checked as a
// client's input is.
//
// Files are given as open files, so that who may open what is decided elsewhere: DuckDB opens them anew under their name in /proc/self/fd.
//
// What the package does not do: it knows no table. Casts to the types of columns are for whoever reads.
package parquet
