package sql

import (
	pg_query "github.com/pganalyze/pg_query_go/v6"

	"tailrace/catalog"
	"tailrace/expr"
	"tailrace/format"
)

// kept is what the last run of a prepared statement worked out before it looked at a row. It serves the next run when names and literals mean the same then: the
// same definition of the table, which is immutable, and the same settings, which are too. Otherwise the statement is resolved anew, as it is each
// time in a simple query.
type kept struct {
	table  *catalog.Table
	format *format.Settings
	insert *keptInsert
	change *keptChange
}

// keptInsert is an INSERT of VALUES.
type keptInsert struct {
	in    *inserting
	fills []filling
}

// keptChange is an UPDATE or DELETE of rows that are found by key.
type keptChange struct {
	changing *changing
	path     *keyPath
	values   []*expr.Expr // of what an UPDATE assigns
}

// kept is what st's last run keeps, if it serves.
func (s *Session) kept(st *statement, rel *pg_query.RangeVar) (k kept, ok bool) {
	if st.keep == nil || st.keep.table == nil || st.keep.format != s.format || isSystem(rel.Schemaname) {
		return kept{}, false
	}
	return *st.keep, s.find(rel.Schemaname, rel.Relname) == st.keep.table
}

// keep keeps k for the next run of a prepared statement.
func (s *Session) keep(st *statement, k kept) {
	if st.keep != nil {
		k.format = s.format
		*st.keep = k
	}
}
