package sql

import (
	"context"
	"fmt"
	"slices"

	pg_query "github.com/pganalyze/pg_query_go/v6"

	"tailrace"
	"tailrace/catalog"
)

// addConstraint runs ADD PRIMARY KEY on out. The rows follow in remake.
func (s *Session) addConstraint(st *statement, out *catalog.Table, c *pg_query.Constraint) error {
	if c.Contype != pg_query.ConstrType_CONSTR_PRIMARY {
		return at(s.refuseConstraint(c), st.pos(c.Location))
	}
	if len(out.Columns.Key) > 0 {
		return twoKeys(out.Name)
	}
	if c.Indexname != "" {
		return at(s.unsupported("ADD PRIMARY KEY USING INDEX", "Name the columns: ADD PRIMARY KEY (a, b)."), st.pos(c.Location))
	}
	names, err := s.tableConstraint(st, c)
	if err != nil {
		return err
	}
	for _, name := range names {
		if out.Columns.ByName(name) < 0 {
			return noColumn(name, out)
		}
	}
	return setKey(out, names)
}

// remake puts out, which has a primary key, in the place of t, which has none, as a table of its own with all rows copied: what t's history holds has no key, so nothing
// could be looked up in it. AS OF a time before is refused from then on, and who follows t is told that it was dropped.
func (s *Session) remake(ctx context.Context, t, out *catalog.Table) error {
	if views := viewsOf(s.txn.catalog, t.ID); len(views) > 0 {
		return s.unsupported("ADD PRIMARY KEY to a table that views use", fmt.Sprintf("DROP VIEW %s, and create it again afterwards.", quoteName(views[0].Name)))
	}
	rows, err := s.scan(ctx, t.ID, t.Columns, nil)
	if err != nil {
		return err
	}
	s.txn.change(catalog.Change{Drop: t.ID})
	out.ID = s.txn.newID()
	s.txn.change(catalog.Change{Table: out})
	w, seen := s.txn.write(out), s.txn.newKeys()
	err = drain(ctx, rows, func(b *tailrace.Batch) error {
		if b.N == 0 {
			return nil
		}
		old := *b
		old.Times, old.IDs = nil, tailrace.NewBatch(t.Columns, 0).IDs
		whole := old.Project(out.Columns)
		if err := s.fitRows(ctx, out, whole, &seen); err != nil {
			return err
		}
		return w.append(ctx, whole)
	})
	w.top().keys.Free()
	w.top().keys = seen
	return err
}

// fit checks that the rows of t meet what out demands.
func (s *Session) fit(ctx context.Context, t, out *catalog.Table) error {
	rows, err := s.scan(ctx, t.ID, t.Columns, nil)
	if err != nil {
		return err
	}
	return drain(ctx, rows, func(b *tailrace.Batch) error {
		if b.N == 0 {
			return nil
		}
		old := *b
		old.Times, old.IDs = nil, tailrace.NewBatch(t.Columns, 0).IDs
		return s.fitRows(ctx, out, old.Project(out.Columns), nil)
	})
}

// dropConstraint runs DROP CONSTRAINT on out: of a CHECK, or of the primary key, whose columns stay NOT NULL, as in PostgreSQL.
func (s *Session) dropConstraint(t, out *catalog.Table, c *pg_query.AlterTableCmd) error {
	if slices.ContainsFunc(t.Checks, func(k catalog.Check) bool { return k.Name == c.Name }) {
		return nil // keepChecks leaves it out
	}
	if len(out.Columns.Key) == 0 || c.Name != out.Name+"_pkey" {
		if c.MissingOk {
			s.notice("NOTICE", "00000", fmt.Sprintf("constraint \"%s\" of relation \"%s\" does not exist, skipping", c.Name, out.Name))
			return nil
		}
		return failure("42704", "constraint \"%s\" of relation \"%s\" does not exist", c.Name, out.Name)
	}
	out.Columns.Key = nil
	return nil
}

// setNotNull runs SET NOT NULL on out, a copy of t.
func (s *Session) setNotNull(ctx context.Context, t, out *catalog.Table, column string) error {
	i := out.Columns.ByName(column)
	if i < 0 {
		return noColumn(column, t)
	}
	if out.Columns.Fields[i].NotNull {
		return nil
	}
	out.Columns.Fields[i].NotNull = true
	return s.fit(ctx, t, out)
}

// rekeyed tells that the transaction changed the primary key of a table whose rows are in a shard: it then finds no row by its key there.
func (t *txn) rekeyed(table *catalog.Table) bool {
	base := t.base.Tables[table.ID]
	return base != nil && !sameKey(base.Columns, table.Columns)
}

// lookupRekeyed finds keys by reading all rows of the table.
func (s *Session) lookupRekeyed(ctx context.Context, table *catalog.Table, keys *tailrace.Batch) (*tailrace.Batch, []int32, error) {
	wanted := map[uint64][]int{}
	places := make([]int32, keys.N)
	for i, h := range hashesOf(table.Columns, keys.Cols, keys.N) {
		wanted[h], places[i] = append(wanted[h], i), -1
	}
	rows, err := s.scan(ctx, table.ID, table.Columns, nil)
	if err != nil {
		return nil, nil, err
	}
	found := tailrace.NewBatch(table.Columns, 0)
	return found, places, drain(ctx, rows, func(b *tailrace.Batch) error {
		for i, h := range hashesOfRows(table.Columns, b) {
			if len(wanted[h]) == 0 {
				continue
			}
			for _, k := range wanted[h] {
				places[k] = int32(found.N)
			}
			found.AppendUpdate(b, i, b.Diff(i))
		}
		return nil
	})
}
