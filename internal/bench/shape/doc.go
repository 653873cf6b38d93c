// Package shape makes the tables that loads are measured with: seeded rows as CSV, the same bytes on every machine.
//
//	wide      41 columns x 500,000    orders: a little of every type, some NULLs (179 MB)
//	text       6 columns x 300,000    addresses, comments, user agents, JSON (126 MB)
//	ints      41 columns x 500,000    integers of many spreads
//	narrow     3 columns x 1,000,000  64 bytes a row
//	shuffled  wide, its rows in a random order
//
// A row is a pure function of its number, so a longer table begins with the rows of a shorter one, a shuffled table has the same rows, and nothing is kept in
// memory. Only integer arithmetic decides a value, so that no processor rounds differently.
package shape
