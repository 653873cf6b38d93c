package sql

import (
	"context"
	"errors"
	"fmt"
	"io"

	pg_query "github.com/pganalyze/pg_query_go/v6"

	"tailrace"
	"tailrace/catalog"
	"tailrace/expr"
	"tailrace/log"
	"tailrace/query"
	"tailrace/shard"
)

// resolver finds the relations that a statement reads, as the session's transaction sees them.
type resolver struct {
	s       *Session
	st      *statement       // whose parameters filters may have; nil: scans read all rows
	waiting []*catalog.Table // source tables whose snapshot is not there yet
}

// Resolve is query.Resolver.
func (r *resolver) Resolve(schema, name string) (*query.Table, error) {
	if t := r.s.systemTable(schema, name); t != nil {
		return t, nil
	}
	o := r.s.named(schema, name)
	switch {
	case o.none():
		return nil, noRelation(schema, name)
	case o.view != nil:
		return r.s.viewTable(o.view)
	}
	t := o.table
	if t.Upstream != nil && t.Upstream.State == catalog.StateSnapshot {
		r.waiting = append(r.waiting, t)
	}
	if r.s.at != nil {
		return r.s.tableAt(t, *r.s.at)
	}
	id, columns := t.ID, t.Columns
	table := &query.Table{ID: id, Columns: columns, Scan: func(ctx context.Context, cols []int) (tailrace.Rows, error) {
		return r.s.scan(ctx, id, columns, cols)
	}}
	if r.st != nil {
		table.Within = func(ctx context.Context, cols []int, filters []query.Filter) (tailrace.Rows, error) {
			return r.s.scanWithin(ctx, id, columns, cols, r.s.ranges(r.st, columns, filters))
		}
	}
	return table, nil
}

// Type is query.Resolver.
func (r *resolver) Type(schema, name string) *tailrace.NamedType { return r.s.namedType(schema, name) }

// Labels is query.Resolver.
func (r *resolver) Labels(enum tailrace.CollectionID) []string { return r.s.labels(enum) }

// scan reads a table in the session's transaction, whichever that is when the plan runs.
func (s *Session) scan(ctx context.Context, id catalog.ID, schema *tailrace.Schema, cols []int) (tailrace.Rows, error) {
	return s.scanWithin(ctx, id, schema, cols, nil)
}

// scanWithin is scan, but may leave out rows that ranges do not want.
func (s *Session) scanWithin(ctx context.Context, id catalog.ID, schema *tailrace.Schema, cols []int, ranges []shard.Range) (tailrace.Rows, error) {
	t := s.txn
	t.readWhole(id)
	opts := shard.SnapshotOptions{AsOf: t.time, Schema: schema, Columns: cols, Pending: t.writers(id), Ranges: ranges, Stats: s.reading.of(id)}
	sh := t.engine.Shards.Shard(id)
	if t.isNew(id) || sh == nil {
		return t.engine.Shards.Own(ctx, id, opts)
	}
	if err := t.hold(id); err != nil {
		return nil, err
	}
	return sh.Snapshot(ctx, opts)
}

// pick is b with the columns that cols lists; nil lists all.
func pick(b *tailrace.Batch, cols []int) *tailrace.Batch {
	if cols == nil {
		return b
	}
	out := &tailrace.Batch{N: b.N, Diffs: b.Diffs}
	for _, c := range cols {
		out.Cols = append(out.Cols, b.Cols[c])
		if b.IDs != nil {
			out.IDs = append(out.IDs, b.IDs[c])
		}
	}
	return out
}

// plan plans a SELECT. A table that a source has not copied yet is waited for, with a notice.
func (s *Session) plan(ctx context.Context, st *statement, tree *pg_query.Node, opts ...query.Option) (*query.Plan, error) {
	if s.engine.Query == nil {
		return nil, s.unsupported("a query like this", "Start the server with its query engine.")
	}
	for {
		r := &resolver{s: s, st: st}
		p, err := s.engine.Query.Plan(ctx, tree, st.Text, r, st.types, opts...)
		if err != nil || len(r.waiting) == 0 {
			return p, err
		}
		if err := s.waitLive(ctx, r.waiting[0]); err != nil {
			return nil, err
		}
	}
}

// waitLive waits until a source's table can be read. Then the statement has to run again in a transaction of a later time, which log.ErrConflict says; a
// block that already reads at a time cannot: the table did not exist then.
func (s *Session) waitLive(ctx context.Context, table *catalog.Table) error {
	if table.Upstream.State != catalog.StateSnapshot {
		return nil
	}
	if !s.alone() {
		return &tailrace.Error{
			Code: "55000", Message: fmt.Sprintf("table \"%s\" is still being copied from its source", table.Name), Hint: "Run the transaction again when it is live: SELECT * FROM mz_internal.mz_source_tables.",
		}
	}
	s.notice("NOTICE", "00000", fmt.Sprintf("table \"%s\" is still being copied from its source: waiting until it is complete", table.Name))
	at := s.txn.time
	for {
		now := s.engine.Catalog.Current().Tables[table.ID]
		if now == nil {
			return noRelation(table.Schema, table.Name)
		}
		if now.Upstream.State == catalog.StateError {
			return &tailrace.Error{Code: "55000", Message: fmt.Sprintf("table \"%s\" could not be copied: %s", table.Name, now.Upstream.Reason), Hint: now.Upstream.Hint}
		}
		if now.Upstream.State != catalog.StateSnapshot {
			break
		}
		if err := s.engine.Log.WaitTime(ctx, at+1); err != nil {
			return err
		}
		at = s.engine.Log.Newest()
	}
	return fmt.Errorf("wait for table %s: %w", table.Name, log.ErrConflict) // the statement runs again, at a time when the table is there
}

// env is what a query's functions may ask about the session.
func (s *Session) env() *query.Env {
	return &query.Env{
		Now: s.start, Logical: s.readTime(), User: s.options.User, Database: database, PID: s.options.ID, Objects: s.world(), Started: s.engine.Started, Cancel: s.signal,
		Setting: func(name string) (string, bool) { return s.values.get(name) },
		Set: func(name, value string, local bool) (string, error) {
			v, err := s.check(name, value)
			if err != nil {
				return "", err
			}
			s.values.set(name, v, local)
			s.settingsChanged()
			return v, nil
		},
	}
}

// runPlan starts a plan with the statement's parameters.
func (s *Session) runPlan(ctx context.Context, p *query.Plan, st *statement) (tailrace.Rows, error) {
	s.way = "query"
	f := *s.format
	f.Now, f.Names = s.start, s.world()
	return p.Run(ctx, st.params, &f, s.env())
}

// runSelect runs SELECT, VALUES, TABLE and set operations.
func (s *Session) runSelect(ctx context.Context, st *statement, tree *pg_query.Node) (*Result, error) {
	columns, rows, err := s.selectRows(ctx, st, tree)
	if err != nil {
		return nil, err
	}
	return rowsOf("SELECT", columns, rows), nil
}

// selectRows starts a SELECT: by key or constant where that is all it takes, else through the query engine.
func (s *Session) selectRows(ctx context.Context, st *statement, tree *pg_query.Node) ([]tailrace.ResultColumn, tailrace.Rows, error) {
	if err := s.readable(tree); err != nil {
		return nil, nil, err
	}
	if err := s.txn.open(ctx, false); err != nil {
		return nil, nil, err
	}
	p, err := s.planShort(ctx, st, tree.GetSelectStmt())
	if err == nil {
		rows, err := p.run(ctx, st)
		return p.columns, rows, err
	}
	if !errors.Is(err, expr.ErrUnsupported) {
		return nil, nil, err
	}
	plan, err := s.plan(ctx, st, tree)
	if err != nil {
		return nil, nil, err
	}
	rows, err := s.runPlan(ctx, plan, st)
	return plan.Columns(), rows, err
}

// readable refuses a SELECT in a transaction that has a SUBSCRIBE, and forms that lock or write.
func (s *Session) readable(tree *pg_query.Node) error {
	sel := tree.GetSelectStmt()
	if s.txn.subscribes {
		return errOnlyRead
	}
	if sel.GetIntoClause() != nil {
		return s.unsupported("SELECT INTO within a statement", "Use CREATE TABLE ... AS.")
	}
	s.txn.selects = true
	return nil
}

var errOnlyRead = &tailrace.Error{
	Code: "25000", Message: "SUBSCRIBE in transactions must be the only read statement",
	Hint: "End the transaction with COMMIT, then read in another one.",
}

// drain reads rows to their end, handing each batch to f.
func drain(ctx context.Context, rows tailrace.Rows, f func(*tailrace.Batch) error) error {
	defer rows.Close()
	for {
		b, err := rows.Next(ctx)
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
		if err := f(b); err != nil {
			return err
		}
	}
}
