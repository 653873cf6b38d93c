package sql

import (
	"context"
	"errors"
	"time"

	pg_query "github.com/pganalyze/pg_query_go/v6"

	"tailrace"
	"tailrace/log"
	"tailrace/parse"
)

// conflictTries is how often a single statement runs when others keep changing what it read, before it gives up with 40001.
const conflictTries = 50

// statement is a statement with its parameters.
type statement struct {
	*parse.Statement
	params *tailrace.Batch // one row, nil when there are none
	types  []tailrace.Type // of params
	keep   *kept           // of the prepared statement that this is; nil when it is none
}

// pos is the character of byte offset loc in the statement's own text, as errors within this package give it: Run moves them to the whole text.
func (st *statement) pos(loc int32) int {
	if p := st.Position(loc); p > 0 {
		return p - st.Lead
	}
	return 0
}

// Run runs one statement of a simple query; last tells that it is the query's last.
func (s *Session) Run(ctx context.Context, st *parse.Statement, last bool) (*Result, error) {
	r, err := s.run(ctx, &statement{Statement: st}, last)
	if err != nil {
		return nil, st.Outer(err)
	}
	return r, nil
}

// run runs st. single tells that it ends its implicit transaction, if it is in one; then what it writes is committed before it returns. While others
// are faster, the first statement of an implicit transaction runs again, from the start.
func (s *Session) run(ctx context.Context, st *statement, single bool) (*Result, error) {
	if s.state == failed && !endsBlock(st.Tree) {
		return nil, failure("25P02", "current transaction is aborted, commands ignored until end of transaction block")
	}
	deadline := s.deadline()
	if !deadline.IsZero() {
		timed, stop := context.WithDeadlineCause(ctx, deadline, errTimeout)
		defer stop()
		ctx = timed
	}
	if t := st.Tree.GetTransactionStmt(); t != nil {
		r, err := s.transaction(ctx, st, t)
		return r, userError(ctx, err)
	}
	first := s.state == idle || s.state == implicit && !s.prior
	alone := single && s.state == idle
	mine := turn{turns: &s.engine.turns}
	defer mine.end()
	for try := 1; ; try++ {
		s.enter()
		t := s.txn
		t.turn = mine.taken
		r, err := s.dispatch(ctx, st)
		s.prior = true
		if err == nil && alone && r.Rows == nil && r.CopyIn == nil {
			err = s.commit(ctx)
		}
		switch {
		case err != nil && first && errors.Is(err, log.ErrConflict) && try < conflictTries && ctx.Err() == nil:
			s.rollback(ctx)
			if err := mine.lost(ctx, t, try); err != nil {
				return nil, userError(ctx, err)
			}
			continue
		case err != nil:
			return nil, userError(ctx, err)
		}
		if r.Rows != nil {
			r.Rows = &within{r.Rows, deadline}
		}
		if single && s.state == implicit {
			r.finish = s.commit
		}
		return r, nil
	}
}

// deadline is when statement_timeout ends a statement that begins now; zero when never.
func (s *Session) deadline() time.Time {
	text := s.get("statement_timeout")
	if text == "0" {
		return time.Time{}
	}
	d, err := parseDuration(text)
	if err != nil || d <= 0 {
		return time.Time{}
	}
	return time.Now().Add(d)
}

// endsBlock tells a statement that a failed block accepts.
func endsBlock(n *pg_query.Node) bool {
	switch n.GetTransactionStmt().GetKind() {
	case pg_query.TransactionStmtKind_TRANS_STMT_COMMIT, pg_query.TransactionStmtKind_TRANS_STMT_ROLLBACK:
		return true
	}
	return false
}

// dispatch runs st in the session's transaction.
func (s *Session) dispatch(ctx context.Context, st *statement) (*Result, error) {
	if st.Tree == nil {
		return s.dispatchOurs(ctx, st)
	}
	if s.readOnly {
		if verb := writes(st.Tree); verb != "" {
			return nil, failure("25006", "cannot execute %s in a read-only transaction", verb)
		}
	}
	switch n := st.Tree.Node.(type) {
	case *pg_query.Node_SelectStmt:
		return s.runSelect(ctx, st, st.Tree)
	case *pg_query.Node_InsertStmt:
		return s.insert(ctx, st, n.InsertStmt)
	case *pg_query.Node_UpdateStmt:
		return s.update(ctx, st, n.UpdateStmt)
	case *pg_query.Node_DeleteStmt:
		return s.deleteRows(ctx, st, n.DeleteStmt)
	case *pg_query.Node_TruncateStmt:
		return s.truncate(ctx, st, n.TruncateStmt)
	case *pg_query.Node_CopyStmt:
		return s.copyTable(ctx, st, n.CopyStmt)
	case *pg_query.Node_CreateStmt:
		return s.createTable(ctx, st, n.CreateStmt)
	case *pg_query.Node_AlterTableStmt:
		return s.alterTable(ctx, st, n.AlterTableStmt)
	case *pg_query.Node_RenameStmt:
		return s.rename(ctx, st, n.RenameStmt)
	case *pg_query.Node_DropStmt:
		return s.dropTables(ctx, st, n.DropStmt)
	}
	return s.dispatchSession(ctx, st)
}

// dispatchSession runs the statements that concern the session itself.
func (s *Session) dispatchSession(ctx context.Context, st *statement) (*Result, error) {
	switch n := st.Tree.Node.(type) {
	case *pg_query.Node_VariableSetStmt:
		return s.setVariable(st, n.VariableSetStmt)
	case *pg_query.Node_VariableShowStmt:
		return s.show(n.VariableShowStmt)
	case *pg_query.Node_DiscardStmt:
		return s.discard(n.DiscardStmt)
	case *pg_query.Node_PrepareStmt:
		return s.prepareStatement(ctx, st, n.PrepareStmt)
	case *pg_query.Node_ExecuteStmt:
		return s.executeStatement(ctx, st, n.ExecuteStmt)
	case *pg_query.Node_DeallocateStmt:
		return s.deallocate(n.DeallocateStmt)
	case *pg_query.Node_DeclareCursorStmt:
		return s.declare(ctx, st, n.DeclareCursorStmt)
	case *pg_query.Node_ClosePortalStmt:
		return s.closeCursor(n.ClosePortalStmt)
	case *pg_query.Node_ExplainStmt:
		return s.explain(ctx, st, n.ExplainStmt)
	case *pg_query.Node_LockStmt:
		return done("LOCK TABLE"), nil // transactions are serializable without locks
	case *pg_query.Node_VacuumStmt:
		return done(map[bool]string{true: "VACUUM", false: "ANALYZE"}[n.VacuumStmt.IsVacuumcmd]), nil // merges go on by themselves
	case *pg_query.Node_ListenStmt, *pg_query.Node_NotifyStmt, *pg_query.Node_UnlistenStmt:
		return nil, s.unsupported("LISTEN / NOTIFY", "SUBSCRIBE to a table to be told of its changes.")
	case *pg_query.Node_IndexStmt:
		return nil, s.unsupported("CREATE INDEX", "Rows are kept sorted by the primary key; choose that.")
	case *pg_query.Node_ViewStmt:
		return nil, s.unsupported("CREATE VIEW", "Write the query where the view would be used.")
	case *pg_query.Node_CreateTableAsStmt:
		return nil, s.unsupported("CREATE TABLE AS", "Use CREATE TABLE, then INSERT INTO ... SELECT.")
	}
	return nil, s.unsupported("this statement", "")
}

// dispatchOurs runs the statements that PostgreSQL does not have.
func (s *Session) dispatchOurs(ctx context.Context, st *statement) (*Result, error) {
	switch {
	case st.Subscribe != nil:
		return s.subscribe(ctx, st, st.Subscribe)
	case st.CopySubscribe != nil:
		return s.copySubscribe(ctx, st)
	case st.DeclareSubscribe != nil:
		return s.declareSubscribe(ctx, st)
	case st.ExplainSubscribe != nil:
		return s.explainSubscribe(ctx, st)
	case st.Fetch != nil:
		return s.fetch(ctx, st, st.Fetch)
	}
	if s.readOnly {
		return nil, failure("25006", "cannot execute DDL in a read-only transaction")
	}
	switch {
	case st.Retain != nil:
		return s.alterRetain(ctx, st)
	case st.CreateSecret != nil:
		return s.createSecret(ctx, st)
	case st.CreateConnection != nil:
		return s.createConnection(ctx, st)
	case st.CreateSource != nil:
		return s.createSource(ctx, st)
	case st.AlterSource != nil:
		return s.alterSource(ctx, st)
	}
	return s.dropObjects(ctx, st)
}

// writes names the statement if it writes, as PostgreSQL does in the error of a read-only transaction.
func writes(n *pg_query.Node) string {
	switch n := n.Node.(type) {
	case *pg_query.Node_InsertStmt:
		return "INSERT"
	case *pg_query.Node_UpdateStmt:
		return "UPDATE"
	case *pg_query.Node_DeleteStmt:
		return "DELETE"
	case *pg_query.Node_TruncateStmt:
		return "TRUNCATE TABLE"
	case *pg_query.Node_CopyStmt:
		if n.CopyStmt.IsFrom {
			return "COPY FROM"
		}
	case *pg_query.Node_CreateStmt:
		return "CREATE TABLE"
	case *pg_query.Node_AlterTableStmt, *pg_query.Node_RenameStmt:
		return "ALTER TABLE"
	case *pg_query.Node_DropStmt:
		return "DROP TABLE"
	}
	return ""
}
