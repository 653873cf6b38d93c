package sql

import (
	"context"
	"maps"
	"slices"

	pg_query "github.com/pganalyze/pg_query_go/v6"

	"tailrace"
	"tailrace/catalog"
)

// savepoint is what ROLLBACK TO goes back to. Rows are not in it: those written later are in layers of their own (layer.go). What the transaction read stays
// read: it may have decided by it.
type savepoint struct {
	name           string
	catalog        *catalog.Catalog // nil when the transaction had not read yet
	changes, after int
	session, local map[string]string // settings
	readOnly       bool
}

// savepointsLimit is how many savepoints of a transaction may stand at a time. Each may have a layer of every table.
const savepointsLimit = 100_000

// savepoint runs SAVEPOINT name.
func (s *Session) savepoint(name string) (*Result, error) {
	t := s.txn
	if len(t.points) >= savepointsLimit {
		return nil, &tailrace.Error{Code: "53400", Message: "too many savepoints", Hint: "RELEASE those that are no longer needed."}
	}
	t.points = append(t.points, &savepoint{
		name: name, catalog: t.catalog, changes: len(t.changes), after: len(t.after), readOnly: s.readOnly,
		session: maps.Clone(s.values.session), local: maps.Clone(s.values.local),
	})
	return done("SAVEPOINT"), nil
}

// point is the place of the newest savepoint called name: it hides older ones of that name.
func (s *Session) point(name string) (int, error) {
	if s.txn != nil {
		for i, p := range slices.Backward(s.txn.points) {
			if p.name == name {
				return i, nil
			}
		}
	}
	return 0, failure("3B001", "savepoint \"%s\" does not exist", name)
}

// releaseSavepoint runs RELEASE name: it and those after it are gone, what was done since stays.
func (s *Session) releaseSavepoint(ctx context.Context, name string) (*Result, error) {
	i, err := s.point(name)
	if err != nil {
		return nil, err
	}
	for _, id := range slices.Sorted(maps.Keys(s.txn.tables)) {
		if err := s.txn.tables[id].release(ctx, i); err != nil {
			return nil, err
		}
	}
	for _, c := range s.cursors {
		c.level = min(c.level, i)
	}
	s.txn.points = s.txn.points[:i]
	return done("RELEASE"), nil
}

// rollbackTo runs ROLLBACK TO name: what was done since is undone, the savepoint stands, and a block that failed goes on.
func (s *Session) rollbackTo(ctx context.Context, name string) (*Result, error) {
	i, err := s.point(name)
	if err != nil {
		return nil, err
	}
	t, p := s.txn, s.txn.points[i]
	s.closeCursorsAbove(i)
	for _, id := range slices.Sorted(maps.Keys(t.tables)) {
		if t.tables[id].rollback(ctx, i) {
			delete(t.tables, id)
		}
	}
	t.changes, t.after = t.changes[:p.changes], t.after[:p.after]
	if t.catalog = p.catalog; t.catalog == nil {
		t.catalog = t.base
	}
	for id, w := range t.tables {
		if table := t.catalog.Tables[id]; table != nil {
			w.become(table)
		}
	}
	t.points = t.points[:i+1]
	s.values.restore(p.session, p.local)
	s.readOnly = p.readOnly
	s.state = open
	s.settingsChanged()
	return done("ROLLBACK"), nil
}

// closeCursorsAbove closes the cursors that were declared since the savepoint at place level.
func (s *Session) closeCursorsAbove(level int) {
	for name, c := range s.cursors {
		if c.level > level {
			c.close()
			delete(s.cursors, name)
		}
	}
}

// subtransaction runs SAVEPOINT, RELEASE and ROLLBACK TO.
func (s *Session) subtransaction(ctx context.Context, n *pg_query.TransactionStmt) (*Result, error) {
	what := map[pg_query.TransactionStmtKind]string{
		pg_query.TransactionStmtKind_TRANS_STMT_SAVEPOINT:   "SAVEPOINT",
		pg_query.TransactionStmtKind_TRANS_STMT_RELEASE:     "RELEASE SAVEPOINT",
		pg_query.TransactionStmtKind_TRANS_STMT_ROLLBACK_TO: "ROLLBACK TO SAVEPOINT",
	}[n.Kind]
	if s.state != open && s.state != failed {
		return nil, failure("25P01", "%s can only be used in transaction blocks", what)
	}
	switch n.Kind {
	case pg_query.TransactionStmtKind_TRANS_STMT_SAVEPOINT:
		return s.savepoint(n.SavepointName)
	case pg_query.TransactionStmtKind_TRANS_STMT_RELEASE:
		return s.releaseSavepoint(ctx, n.SavepointName)
	}
	return s.rollbackTo(ctx, n.SavepointName)
}
