package sql

import (
	"context"

	pg_query "github.com/pganalyze/pg_query_go/v6"

	"tailrace"
)

// strict tells whether transactions see everything acknowledged before them.
func (s *Session) strict() bool { return s.get("transaction_isolation") != "serializable" }

// enter starts a transaction if none is there.
func (s *Session) enter() {
	if s.txn != nil {
		return
	}
	s.start = s.engine.now()
	s.values.session["transaction_isolation"] = s.get("default_transaction_isolation") // not reported, not undone: it is the transaction's
	s.readOnly = s.get("default_transaction_read_only") == "on"
	s.txn = s.engine.begin(s.strict())
	s.txn.writing = s.writing
	s.presence.inTransaction(s.start)
	s.prior = false
	if s.state == idle {
		s.state = implicit
	}
}

// commit ends the transaction, whichever kind it is.
func (s *Session) commit(ctx context.Context) error {
	t := s.txn
	s.closeCursors()
	s.txn, s.state, s.again = nil, idle, nil
	var err error
	if t != nil {
		err = t.commit(ctx)
	}
	s.values.end(err == nil)
	s.settingsChanged()
	return err
}

// rollback ends the transaction and leaves nothing of it.
func (s *Session) rollback(ctx context.Context) {
	s.closeCursors()
	if s.txn != nil {
		s.txn.abort(ctx)
	}
	s.txn, s.state, s.again = nil, idle, nil
	s.values.end(false)
	s.settingsChanged()
}

// Fail tells that an error was sent to the client: an open block is then a failed one, an implicit transaction is undone.
func (s *Session) Fail(err error) {
	defer s.recorded(err)
	if tailrace.Code(err) == "XX000" {
		s.engine.logger().Error("statement failed with an internal error", "session", s.uuid, "error", err)
	}
	switch s.state {
	case implicit, idle:
		s.rollback(context.Background())
	case open:
		if s.txn != nil && len(s.txn.points) > 0 { // ROLLBACK TO may come
			s.closeCursorsAbove(len(s.txn.points) - 1)
			s.state, s.again = failed, nil
			return
		}
		s.closeCursors()
		if s.txn != nil {
			s.txn.abort(context.Background())
		}
		s.txn, s.state, s.again = nil, failed, nil
	}
}

// Sync ends an extended-protocol cycle: it commits the implicit transaction.
func (s *Session) Sync(ctx context.Context) error {
	if s.state != implicit {
		return nil
	}
	err := s.commitAgain(ctx)
	if err != nil {
		s.rollback(ctx)
		return userError(ctx, err)
	}
	s.recorded(nil)
	return nil
}

// transaction runs BEGIN, COMMIT, ROLLBACK and their kin.
func (s *Session) transaction(ctx context.Context, st *statement, n *pg_query.TransactionStmt) (*Result, error) {
	switch n.Kind {
	case pg_query.TransactionStmtKind_TRANS_STMT_BEGIN, pg_query.TransactionStmtKind_TRANS_STMT_START:
		return s.begin(st, n)
	case pg_query.TransactionStmtKind_TRANS_STMT_COMMIT:
		return s.endBlock(ctx, true, n.Chain)
	case pg_query.TransactionStmtKind_TRANS_STMT_ROLLBACK:
		return s.endBlock(ctx, false, n.Chain)
	case pg_query.TransactionStmtKind_TRANS_STMT_SAVEPOINT, pg_query.TransactionStmtKind_TRANS_STMT_RELEASE, pg_query.TransactionStmtKind_TRANS_STMT_ROLLBACK_TO:
		return s.subtransaction(ctx, n)
	}
	return nil, s.unsupported("two-phase commit", "Use COMMIT.")
}

// begin opens a block. In a multi-statement query the statements before it become part of the block.
func (s *Session) begin(st *statement, n *pg_query.TransactionStmt) (*Result, error) {
	if s.state == open {
		s.notice("WARNING", "25001", "there is already a transaction in progress")
		return done("BEGIN"), nil
	}
	s.enter()
	s.state = open
	for _, o := range n.Options {
		d := o.GetDefElem()
		value := optionText(d.GetArg())
		if d.GetArg().GetAConst() != nil && d.Defname != "transaction_isolation" {
			value = map[bool]string{true: "on", false: "off"}[value == "1" || value == "on" || value == "true"]
		}
		if err := s.setTransaction(d.Defname, value); err != nil {
			return nil, at(err, st.pos(d.Location))
		}
	}
	if n.Kind == pg_query.TransactionStmtKind_TRANS_STMT_START {
		return done("START TRANSACTION"), nil
	}
	return done("BEGIN"), nil
}

// setTransaction sets a property of the current transaction.
func (s *Session) setTransaction(name, value string) error {
	switch name {
	case "transaction_isolation":
		v, err := s.check(name, value)
		switch {
		case err != nil:
			return err
		case v == s.get(name):
		case s.txn.catalog != nil:
			return failure("25001", "SET TRANSACTION ISOLATION LEVEL must be called before any query")
		case len(s.txn.points) > 0:
			return failure("25001", "SET TRANSACTION ISOLATION LEVEL must not be called in a subtransaction")
		}
		s.values.local[name] = v
		s.txn.strict = v != "serializable"
	case "transaction_read_only":
		s.readOnly = value == "on"
	}
	return nil
}

// endBlock runs COMMIT and ROLLBACK; chain is AND CHAIN: the next block begins at once, with the same properties.
func (s *Session) endBlock(ctx context.Context, commit, chain bool) (*Result, error) {
	block := s.state == open || s.state == failed
	if !block && chain {
		return nil, failure("25P01", "%s AND CHAIN can only be used in transaction blocks", map[bool]string{true: "COMMIT", false: "ROLLBACK"}[commit])
	}
	if !block {
		s.notice("WARNING", "25P01", "there is no transaction in progress")
	}
	isolation, readOnly := s.get("transaction_isolation"), s.readOnly
	tag := "ROLLBACK"
	if commit && s.state != failed {
		if err := s.commit(ctx); err != nil {
			return nil, err
		}
		tag = "COMMIT"
	} else {
		s.rollback(ctx)
	}
	if chain {
		s.enter()
		s.state, s.readOnly = open, readOnly
		return done(tag), s.setTransaction("transaction_isolation", isolation)
	}
	return done(tag), nil
}
