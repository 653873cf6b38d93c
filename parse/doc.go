// Package parse turns SQL text into statements.
//
// Most statements are PostgreSQL's own: its grammar (through pg_query) reads them, and Statement.Tree is its parse tree. A few are
// ours: SUBSCRIBE, and the statements about sources, which PostgreSQL's grammar does not know. For those a thin front parser walks over the
// tokens of PostgreSQL's own scanner, so that names, quoting, comments and numbers follow the same rules in both.
//
//	text ─▶ scan ─▶ split at ';' ─┬─ begins with one of our words ─▶ front parser ──┐
//	                              └─ anything else ─▶ PostgreSQL's grammar ─────────┴─▶ []*Statement
//
// The select of a SUBSCRIBE, and the expression of an AS OF, go to PostgreSQL's grammar with everything before them blanked out, so that
// a position in them is a position in the statement. Two clauses live inside PostgreSQL's statements: RETAIN HISTORY, and AS OF at the end of
// a SELECT; they are cut out of the text (blanked) before PostgreSQL's grammar reads the rest.
//
// Positions: a location in a Tree is a byte offset in Statement.Text; Statement.Position turns it into the character of the whole text
// that an error names. The package resolves no names and evaluates nothing.
package parse
