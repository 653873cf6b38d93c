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
	last   bool            // nothing follows in its implicit transaction

	columns []tailrace.ResultColumn // that a client was told of; nil when it was not
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

// run is attempt, noted for pg_stat_activity and the history.
func (s *Session) run(ctx context.Context, st *statement, single bool) (*Result, error) {
	s.record(st.Statement)
	r, err := s.attempt(ctx, st, single)
	if err == nil {
		r.session = s
	}
	return r, err
}

// attempt runs st. single tells that it ends its implicit transaction, if it is in one; then what it writes is committed before it returns. While others
// are faster, the first statement of an implicit transaction runs again, from the start.
func (s *Session) attempt(ctx context.Context, st *statement, single bool) (*Result, error) {
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
	alone := (single || st.last) && s.state == idle
	mine := turn{turns: &s.engine.turns}
	defer mine.end()
	for try := 1; ; try++ {
		s.enter()
		t := s.txn
		t.turn = mine.taken
		r, err := s.dispatch(ctx, st)
		s.prior = true
		if err == nil && alone && (r.Rows == nil || r.complete) && r.CopyIn == nil {
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
	case pg_query.TransactionStmtKind_TRANS_STMT_COMMIT, pg_query.TransactionStmtKind_TRANS_STMT_ROLLBACK, pg_query.TransactionStmtKind_TRANS_STMT_ROLLBACK_TO:
		return true
	}
	return false
}

// dispatch runs st in the session's transaction.
func (s *Session) dispatch(ctx context.Context, st *statement) (*Result, error) {
	if err := strayParameter(st); err != nil {
		return nil, err
	}
	if st.Tree == nil {
		return s.dispatchOurs(ctx, st)
	}
	if st.AsOf != nil && st.Tree.GetPrepareStmt() == nil {
		return s.dispatchAsOf(ctx, st)
	}
	if s.readOnly {
		if verb := writes(st.Tree); verb != "" {
			return nil, failure("25006", "cannot execute %s in a read-only transaction", verb)
		}
	}
	switch n := st.Tree.Node.(type) {
	case *pg_query.Node_SelectStmt:
		if n.SelectStmt.IntoClause != nil {
			return s.selectInto(ctx, st, n.SelectStmt)
		}
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
		return s.rename(ctx, n.RenameStmt)
	case *pg_query.Node_DropStmt:
		return s.drop(ctx, n.DropStmt)
	}
	if r, ours, err := s.dispatchObjects(ctx, st); ours {
		return r, err
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
	case *pg_query.Node_CreateTableAsStmt:
		return s.createTableAs(ctx, st, n.CreateTableAsStmt)
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
	if st.Backup != nil {
		return s.backup(ctx, st.Backup)
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
	case st.CreateSink != nil:
		return s.createSink(ctx, st)
	case st.AlterSink != nil:
		return s.alterSink(ctx, st)
	}
	return s.dropObjects(ctx, st)
}

// dispatchObjects runs the statements about schemas, views and types; ours is false for another one.
func (s *Session) dispatchObjects(ctx context.Context, st *statement) (r *Result, ours bool, err error) {
	switch n := st.Tree.Node.(type) {
	case *pg_query.Node_CreateSchemaStmt:
		r, err = s.createSchema(ctx, n.CreateSchemaStmt)
	case *pg_query.Node_AlterObjectSchemaStmt:
		r, err = s.setSchema(ctx, n.AlterObjectSchemaStmt)
	case *pg_query.Node_ViewStmt:
		r, err = s.createView(ctx, st, n.ViewStmt)
	case *pg_query.Node_CreateEnumStmt:
		r, err = s.createEnum(ctx, n.CreateEnumStmt)
	case *pg_query.Node_AlterEnumStmt:
		r, err = s.alterEnum(ctx, n.AlterEnumStmt)
	case *pg_query.Node_CreateDomainStmt:
		r, err = s.createDomain(ctx, st, n.CreateDomainStmt)
	case *pg_query.Node_AlterDomainStmt:
		return nil, true, s.unsupported("ALTER DOMAIN", "CREATE DOMAIN with another name, and ALTER TABLE ... ALTER COLUMN ... TYPE to it.")
	case *pg_query.Node_CompositeTypeStmt, *pg_query.Node_CreateRangeStmt:
		return nil, true, s.unsupported("a type that is no enum and no domain", "Use columns, or jsonb.")
	case *pg_query.Node_CreateSeqStmt, *pg_query.Node_AlterSeqStmt:
		return nil, true, s.unsupported("a sequence", "Use uuid DEFAULT gen_random_uuid(), or give the values yourself.")
	case *pg_query.Node_CreateFunctionStmt, *pg_query.Node_CreateTrigStmt:
		return nil, true, s.unsupported("a function or trigger of one's own", "Compute in the query, or SUBSCRIBE and act on what comes.")
	case *pg_query.Node_GrantStmt, *pg_query.Node_GrantRoleStmt:
		return nil, true, s.unsupported("GRANT and REVOKE", "Every user may do everything.")
	case *pg_query.Node_CommentStmt:
		r, err = s.comment(ctx, n.CommentStmt)
	case *pg_query.Node_CreateRoleStmt:
		r, err = s.createUser(ctx, n.CreateRoleStmt)
	case *pg_query.Node_AlterRoleStmt:
		r, err = s.alterUser(ctx, n.AlterRoleStmt)
	case *pg_query.Node_DropRoleStmt:
		r, err = s.dropUser(ctx, n.DropRoleStmt)
	default:
		return nil, false, nil
	}
	return r, true, err
}

// changesObjects names a statement that changes the catalog, "" for any other.
func changesObjects(n *pg_query.Node) string {
	switch n := n.Node.(type) {
	case *pg_query.Node_CreateRoleStmt:
		return "CREATE ROLE"
	case *pg_query.Node_AlterRoleStmt:
		return "ALTER ROLE"
	case *pg_query.Node_DropRoleStmt:
		return "DROP ROLE"
	case *pg_query.Node_AlterTableStmt:
		return "ALTER TABLE"
	case *pg_query.Node_RenameStmt:
		return "ALTER " + objectWord(n.RenameStmt.RenameType)
	case *pg_query.Node_AlterObjectSchemaStmt:
		return "ALTER " + objectWord(n.AlterObjectSchemaStmt.ObjectType)
	case *pg_query.Node_DropStmt:
		return "DROP " + objectWord(n.DropStmt.RemoveType)
	case *pg_query.Node_CreateSchemaStmt:
		return "CREATE SCHEMA"
	case *pg_query.Node_ViewStmt:
		return "CREATE VIEW"
	case *pg_query.Node_CreateEnumStmt:
		return "CREATE TYPE"
	case *pg_query.Node_AlterEnumStmt:
		return "ALTER TYPE"
	case *pg_query.Node_CreateDomainStmt:
		return "CREATE DOMAIN"
	case *pg_query.Node_AlterDomainStmt:
		return "ALTER DOMAIN"
	case *pg_query.Node_CommentStmt:
		return "COMMENT"
	}
	return ""
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
	case *pg_query.Node_CreateTableAsStmt:
		return "CREATE TABLE AS"
	case *pg_query.Node_SelectStmt:
		if n.SelectStmt.IntoClause != nil {
			return "SELECT INTO"
		}
	}
	return changesObjects(n)
}
