package sql

import (
	"context"
	"errors"
	"fmt"

	"tailrace"
	"tailrace/catalog"
	"tailrace/query"
	"tailrace/shard"
)

// AS OF t at the end of a statement makes all that it reads be as it was at t: tables, those of views and subqueries too, and mz_now(). Names
// resolve in the catalog of today, and rows come with today's columns: one that was added later has its default, one that was dropped is not there.
//
// What was is never changed by anyone, so such a read is in no conflict, and a transaction's own writes are not in it: they have no time yet.

// dispatchAsOf runs st at the time it asks for. One that is still to come is waited for.
func (s *Session) dispatchAsOf(ctx context.Context, st *statement) (*Result, error) {
	if err := s.txn.open(ctx, false); err != nil {
		return nil, err
	}
	at, err := s.timestamp(st, st.AsOf, s.txn.time)
	if e := (*tailrace.Error)(nil); errors.As(err, &e) && e.Message == "invalid timestamp for SUBSCRIBE" {
		named := *e
		named.Message = "invalid timestamp for AS OF"
		return nil, &named
	}
	if err != nil {
		return nil, err
	}
	if err := s.engine.Log.WaitTime(ctx, *at); err != nil {
		return nil, err
	}
	defer func(was *tailrace.Time) { s.at = was }(s.at)
	s.at = at
	inner, plain := *st, *st.Statement
	plain.AsOf, inner.Statement = nil, &plain
	return s.dispatch(ctx, &inner)
}

// readTime is the time that the statement reads at.
func (s *Session) readTime() tailrace.Time {
	if s.at != nil {
		return *s.at
	}
	return s.txn.time
}

// historyOf is the shard with a table's history. It is 22023 when that does not reach back to at; the history is then held until the transaction ends.
func (s *Session) historyOf(table *catalog.Table, at tailrace.Time) (*shard.Shard, error) {
	sh := s.engine.Shards.Shard(table.ID)
	if s.txn.isNew(table.ID) || sh == nil {
		return nil, &tailrace.Error{
			Code: "22023", Message: "could not find a valid timestamp for the query", Detail: fmt.Sprintf("Table \"%s\" is created by this transaction and has no history.", table.Name),
			Hint: "COMMIT first.",
		}
	}
	return sh, s.txn.holdAt(table.ID, at)
}

// tableAt is a table as of at, for the planner.
func (s *Session) tableAt(table *catalog.Table, at tailrace.Time) (*query.Table, error) {
	sh, err := s.historyOf(table, at)
	if err != nil {
		return nil, err
	}
	return &query.Table{ID: table.ID, Columns: table.Columns, Scan: func(ctx context.Context, cols []int) (tailrace.Rows, error) {
		return sh.Snapshot(ctx, shard.SnapshotOptions{AsOf: at, Schema: table.Columns, Columns: cols})
	}}, nil
}

// lookupAt finds the rows with the given keys as of at.
func (s *Session) lookupAt(ctx context.Context, table *catalog.Table, keys *tailrace.Batch, at tailrace.Time) (*tailrace.Batch, []int32, error) {
	sh, err := s.historyOf(table, at)
	if err != nil {
		return nil, nil, err
	}
	rows, places, err := sh.Lookup(ctx, keys, at, nil)
	if err != nil || rows == nil {
		return rows, places, err
	}
	return rows.Project(table.Columns), places, nil
}
