package postgres

import (
	"context"
	"errors"
	"fmt"
	"sync"

	"github.com/jackc/pgx/v5/pgconn"
	"golang.org/x/sync/errgroup"

	"tailrace"
)

// Snapshot implements tailrace.Source.
func (s *Source) Snapshot(ctx context.Context, tables []*tailrace.SourceTable, to tailrace.SnapshotTo) error {
	stretches, err := s.prepare(ctx, tables)
	if err != nil {
		return err
	}
	repl, err := s.c.connectReplication(ctx)
	if err != nil {
		return err
	}
	defer closeConn(repl) // ends the exported snapshot
	lsn, snapshot, err := s.c.createSlot(ctx, repl, to.Waiting)
	if err != nil {
		return err
	}
	if err := to.Begin(encodePosition(lsn)); err != nil {
		return err
	}
	r := &snapshotReader{s: s, tables: tables, name: snapshot, to: to, stretches: stretches, copies: make([]copied, len(tables))}
	for _, st := range stretches {
		r.copies[st.table].left++
	}
	return r.run(ctx)
}

// prepare makes the publication, removes the slot of an earlier attempt, and plans the reading.
func (s *Source) prepare(ctx context.Context, tables []*tailrace.SourceTable) ([]stretch, error) {
	conn, err := s.c.connect(ctx)
	if err != nil {
		return nil, err
	}
	defer closeConn(conn)
	if err := s.c.requireLogical(ctx, conn); err != nil {
		return nil, err
	}
	if err := s.c.ensurePublication(ctx, conn, tables); err != nil {
		return nil, err
	}
	if err := s.c.dropSlot(ctx, conn); err != nil {
		return nil, err
	}
	return s.c.planStretches(ctx, conn, tables)
}

// snapshotReader reads tables inside an exported snapshot, on several connections.
type snapshotReader struct {
	s      *Source
	tables []*tailrace.SourceTable
	name   string // of the exported snapshot
	to     tailrace.SnapshotTo

	mu        sync.Mutex // for memory only
	stretches []stretch  // not begun yet
	copies    []copied   // of each table
}

// copied is how far a table is.
type copied struct {
	left   int // stretches not finished
	failed *tailrace.Error
}

// run reads all stretches, each connection the next one that nobody has begun.
func (r *snapshotReader) run(ctx context.Context) error {
	g, ctx := errgroup.WithContext(ctx)
	for range min(lanes, len(r.stretches)) {
		g.Go(func() error { return r.read(ctx) })
	}
	return g.Wait()
}

func (r *snapshotReader) read(ctx context.Context) error {
	conn, err := r.s.c.connect(ctx)
	if err != nil {
		return err
	}
	defer closeConn(conn)
	for {
		st, skip, ok := r.next()
		if !ok {
			return nil
		}
		var own *tailrace.Error
		if !skip {
			deliver := func(b *tailrace.Batch) error { return r.to.Rows(ctx, st.table, st.lane, b) }
			err := r.s.copyStretch(ctx, conn, r.tables[st.table], st, r.name, deliver)
			if ctx.Err() != nil || err != nil && (conn.IsClosed() || !errors.As(err, &own)) {
				return errors.Join(ctx.Err(), err)
			}
		}
		if done, why := r.finished(st, own); done {
			if err := r.to.Done(ctx, st.table, why); err != nil {
				return err
			}
		}
	}
}

// next takes a stretch; skip tells that its table has failed meanwhile.
func (r *snapshotReader) next() (st stretch, skip, ok bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if len(r.stretches) == 0 {
		return stretch{}, false, false
	}
	st, r.stretches = r.stretches[0], r.stretches[1:]
	return st, r.copies[st.table].failed != nil, true
}

// finished notes that a stretch was read, or why its table cannot be; done is true for the table's last one.
func (r *snapshotReader) finished(st stretch, failed *tailrace.Error) (done bool, why *tailrace.Error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	c := &r.copies[st.table]
	if c.left--; c.failed == nil {
		c.failed = failed
	}
	return c.left == 0, c.failed
}

// copyStretch reads a stretch of a table. An *Error on a connection that still works concerns this table alone.
func (s *Source) copyStretch(ctx context.Context, conn *pgconn.PgConn, t *tailrace.SourceTable, st stretch, snapshot string,
	deliver func(*tailrace.Batch) error,
) error {
	begin := "BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY; SET TRANSACTION SNAPSHOT " + quoteLiteral(snapshot)
	if err := exec(ctx, conn, begin); err != nil {
		return errors.Join(errors.New("use the exported snapshot"), err)
	}
	p := newPipe(deliver)
	err := s.copyRows(ctx, conn, t, st, &copyWriter{text: newCopyText(t, s.c.Parse), pipe: p})
	ended := p.close()
	switch {
	case conn.IsClosed() || ctx.Err() != nil:
		return errors.Join(ctx.Err(), ended, err)
	case ended != nil:
		return ended
	}
	if end := exec(ctx, conn, "ROLLBACK"); end != nil && err == nil {
		return errors.Join(errors.New("end the snapshot's transaction"), end)
	}
	return err
}

// copyRows runs the COPY of a stretch of t into w.
func (s *Source) copyRows(ctx context.Context, conn *pgconn.PgConn, t *tailrace.SourceTable, st stretch, w *copyWriter) error {
	parted, err := s.checkUnchanged(ctx, conn, t)
	if err != nil {
		return err
	}
	if _, err := conn.CopyTo(ctx, w, copyStatement(t, parted, st)); err != nil {
		err = s.c.explain("read the table "+plainTable(t.Schema, t.Name), err)
		if e := (*tailrace.Error)(nil); errors.As(err, &e) && e.Hint == "" && e.Code == "42501" {
			name := plainTable(t.Schema, t.Name)
			e.Hint = fmt.Sprintf("At the source: GRANT SELECT ON %s TO %s; then drop the source here and create it again.", name, plainIdent(s.c.User))
		}
		return err
	}
	if w.failed != nil {
		return w.failed
	}
	return w.flush()
}

// checkUnchanged makes sure, inside the snapshot, that t's columns are still those that it was described with, and tells whether it is a
// partitioned root. A difference is no fault of the table: the snapshot is to be begun anew.
func (s *Source) checkUnchanged(ctx context.Context, conn *pgconn.PgConn, t *tailrace.SourceTable) (parted bool, err error) {
	doing := "describe the table " + plainTable(t.Schema, t.Name)
	cols, _, err := s.c.columns(ctx, conn, t.Rel)
	if err != nil {
		return false, s.c.explain(doing, err)
	}
	rows, err := query(ctx, conn, "SELECT relkind = 'p' FROM pg_class WHERE oid = $1::oid", fmt.Sprint(t.Rel))
	if err != nil {
		return false, s.c.explain(doing, err)
	}
	same := len(rows) == 1 && len(cols) == len(t.Columns)
	for i := 0; same && i < len(cols); i++ {
		a, b := &cols[i], &t.Columns[i]
		same = a.Num == b.Num && a.Name == b.Name && a.TypeID == b.TypeID && a.Mod == b.Mod
	}
	if !same {
		return false, fmt.Errorf("table %s was altered as its snapshot began", plainTable(t.Schema, t.Name))
	}
	return rows[0][0] == "t", nil
}
