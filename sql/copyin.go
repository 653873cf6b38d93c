package sql

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"

	pg_query "github.com/pganalyze/pg_query_go/v6"

	"tailrace"
	"tailrace/budget"
	"tailrace/catalog"
	"tailrace/format"
	"tailrace/pool"
)

// CopyIn takes the data of a COPY FROM STDIN. The caller receives into Room and says how much came, then calls Done or Fail; either leaves no task and no
// buffer behind.
//
//	Room, Filled ─▶ splitter ─▶ morsels: parsed by the pool, a few ahead ─▶ in order: checked, written
type CopyIn struct {
	Columns int  // for CopyInResponse
	Binary  bool // likewise

	session  *Session
	in       *inserting
	defaults filling
	types    []tailrace.ResultColumn
	rows     int64

	splitter *format.CopySplitter
	parser   *format.CopyParser
	flight   *pool.Flight
	stop     context.CancelFunc // ends the flight's context
	ahead    []*parsing         // in order
	most     int                // how many of them there may be
	cut      int64              // rows of morsels so far
	grant    budget.Grant       // of the transactions' share: what morsels and batches take beyond copyFloor
}

// copyFrom runs COPY table FROM STDIN up to where the data comes.
func (s *Session) copyFrom(st *statement, n *pg_query.CopyStmt, o *copyOptions) (*Result, error) {
	table, err := s.target(n.Relation, "copy to")
	if err != nil {
		return nil, err
	}
	if n.WhereClause != nil {
		return nil, s.unsupported("COPY FROM with WHERE", "Delete the rows afterwards, in the same transaction.")
	}
	cols, err := copyColumns(table, n.Attlist)
	if err != nil {
		return nil, err
	}
	c := &CopyIn{Columns: len(cols), Binary: o.layout == format.CopyBinary, session: s, in: &inserting{table: table, columns: cols}}
	if c.defaults, err = s.defaults(table); err != nil {
		return nil, err
	}
	ro := format.CopyOptions{
		Layout: o.layout, Copy: o.spelling(), Table: table.Name, HeaderMatch: o.headerMatch,
		ForceNotNull: flags(o.forceNotNull, table, cols), ForceNull: flags(o.forceNull, table, cols),
	}
	var types []tailrace.Type
	for _, i := range cols {
		f := table.Columns.Fields[i]
		types = append(types, f.Type)
		ro.Columns = append(ro.Columns, f.Name)
		c.types = append(c.types, tailrace.ResultColumn{Name: f.Name, Type: f.Type})
	}
	c.splitter, c.parser = format.NewCopySplitter(ro, types), format.NewCopyParser(ro, types, s.copyFormat())
	c.takeOff(types)
	return &Result{CopyIn: c, tag: func(int64) string { return fmt.Sprintf("COPY %d", c.rows) }}, nil
}

// copyFormat is how values are read by tasks: what the session is asked for is as it is now.
func (s *Session) copyFormat() *format.Settings {
	f := *s.format
	f.Now = s.start
	seen := s.txn.catalog
	f.Labels = func(enum tailrace.CollectionID) []string { return labelsIn(seen, enum) }
	return &f
}

// takeOff opens the flight of the parsing. Names of objects are found by the session itself: then nobody else parses.
func (c *CopyIn) takeOff(types []tailrace.Type) {
	workers := c.session.writing.Workers
	if slices.ContainsFunc(types, namesObject) {
		workers = 1
	}
	p := c.session.engine.Pool
	ctx, stop := context.WithCancel(context.Background())
	c.stop, c.flight = stop, p.Flight(ctx, workers)
	if workers == 0 || workers > p.Workers() {
		workers = p.Workers()
	}
	if workers > 1 {
		c.most = aheadOf * workers
	}
	c.grant = c.session.engine.room().Grant()
}

// namesObject tells a type whose values are the OIDs of objects, found by name.
func namesObject(t tailrace.Type) bool {
	kind := t.Kind
	if kind == tailrace.KindArray {
		kind = t.Elem
	}
	return kind >= tailrace.KindRegclass && kind <= tailrace.KindRegrole
}

// flags marks the columns that list names; nil when it names none.
func flags(list []string, table *catalog.Table, cols []int) []bool {
	if len(list) == 0 {
		return nil
	}
	out := make([]bool, len(cols))
	for i, c := range cols {
		out[i] = slices.Contains(list, "*") || slices.Contains(list, table.Columns.Fields[c].Name)
	}
	return out
}

// Room is where the next bytes of the data go, at least one; valid until the next call of another method.
func (c *CopyIn) Room() []byte { return c.splitter.Room() }

// Filled tells that n bytes were put into Room. After an error the COPY is over.
func (c *CopyIn) Filled(ctx context.Context, n int) error {
	c.splitter.Fill(n)
	return userError(ctx, c.pump(ctx))
}

// Write takes a copy of a chunk of the data, cut anywhere. After an error the COPY is over.
func (c *CopyIn) Write(ctx context.Context, chunk []byte) error {
	for len(chunk) > 0 {
		n := copy(c.Room(), chunk)
		if err := c.Filled(ctx, n); err != nil {
			return err
		}
		chunk = chunk[n:]
	}
	return nil
}

// Done tells that all data came, and returns how many rows there were. Then call Result.Finish.
func (c *CopyIn) Done(ctx context.Context) (rows int64, err error) {
	defer c.close()
	c.splitter.Finish()
	err = userError(ctx, c.pump(ctx))
	return c.rows, err
}

// Fail tells that no more comes and what came is not wanted. The rows so far wait in the transaction, which Session.Fail then undoes.
func (c *CopyIn) Fail() { c.close() }

// close waits for the tasks under way and gives up all that the COPY holds. It may be called twice.
func (c *CopyIn) close() {
	c.stop()
	c.flight.Close()
	for _, p := range c.ahead {
		p.morsel.Release()
	}
	c.ahead = nil
	c.splitter.Close()
	c.grant.Free()
}

// pump parses and writes what is complete.
func (c *CopyIn) pump(ctx context.Context) error {
	for {
		m, err := c.splitter.Next()
		switch {
		case m != nil:
			c.parse(m)
			err = c.settle(ctx, c.most)
		case err != nil: // an error of a later row than those that are ahead
			if taken := c.settle(ctx, 0); taken != nil || errors.Is(err, io.EOF) {
				return taken
			}
		default:
			return c.afford(ctx)
		}
		if err != nil {
			return err
		}
	}
}
