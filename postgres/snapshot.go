package postgres

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/jackc/pgx/v5/pgconn"
	"golang.org/x/sync/errgroup"

	"tailrace"
)

const (
	// snapshotConnections is how many tables are read at a time: one per core of a small machine, so that the source keeps most of its own.
	snapshotConnections = 2
	// snapshotBatchBytes and snapshotBatchRows bound the batches that rows are delivered in.
	snapshotBatchBytes = 1 << 20
	snapshotBatchRows  = 16384
)

// Snapshot implements tailrace.Source.
func (s *Source) Snapshot(ctx context.Context, tables []*tailrace.SourceTable, to tailrace.SnapshotTo) error {
	if err := s.prepare(ctx, tables); err != nil {
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
	return s.copyTables(ctx, tables, snapshot, to)
}

// prepare makes the publication and removes the slot of an earlier attempt.
func (s *Source) prepare(ctx context.Context, tables []*tailrace.SourceTable) error {
	conn, err := s.c.connect(ctx)
	if err != nil {
		return err
	}
	defer closeConn(conn)
	if err := s.c.requireLogical(ctx, conn); err != nil {
		return err
	}
	if err := s.c.ensurePublication(ctx, conn, tables); err != nil {
		return err
	}
	return s.c.dropSlot(ctx, conn)
}

// copyTables reads all tables inside the exported snapshot, the largest first.
func (s *Source) copyTables(ctx context.Context, tables []*tailrace.SourceTable, snapshot string, to tailrace.SnapshotTo) error {
	g, ctx := errgroup.WithContext(ctx)
	next := make(chan int)
	g.Go(func() error {
		defer close(next)
		for _, i := range largestFirst(tables) {
			select {
			case next <- i:
			case <-ctx.Done():
				return ctx.Err()
			}
		}
		return nil
	})
	for range min(snapshotConnections, len(tables)) {
		g.Go(func() error {
			conn, err := s.c.connect(ctx)
			if err != nil {
				return err
			}
			defer closeConn(conn)
			for i := range next {
				err := s.copyTable(ctx, conn, tables[i], snapshot, func(b *tailrace.Batch) error { return to.Rows(ctx, i, b) })
				var own *tailrace.Error
				if ctx.Err() != nil || err != nil && (conn.IsClosed() || !errors.As(err, &own)) {
					return errors.Join(ctx.Err(), err)
				}
				if err := to.Done(ctx, i, own); err != nil {
					return err
				}
			}
			return nil
		})
	}
	return g.Wait()
}

// copyTable reads one table. An *Error on a connection that still works concerns this table alone.
func (s *Source) copyTable(ctx context.Context, conn *pgconn.PgConn, t *tailrace.SourceTable, snapshot string, deliver func(*tailrace.Batch) error) error {
	begin := "BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY; SET TRANSACTION SNAPSHOT " + quoteLiteral(snapshot)
	if err := exec(ctx, conn, begin); err != nil {
		return errors.Join(errors.New("use the exported snapshot"), err)
	}
	w := &copyWriter{text: newCopyText(t, s.c.Parse), deliver: deliver}
	err := s.copyRows(ctx, conn, t, w)
	switch {
	case conn.IsClosed() || ctx.Err() != nil:
		return errors.Join(ctx.Err(), w.ended, err)
	case w.ended != nil:
		return w.ended
	}
	if end := exec(ctx, conn, "ROLLBACK"); end != nil && err == nil {
		return errors.Join(errors.New("end the snapshot's transaction"), end)
	}
	return err
}

// copyRows runs the COPY of t into w.
func (s *Source) copyRows(ctx context.Context, conn *pgconn.PgConn, t *tailrace.SourceTable, w *copyWriter) error {
	parted, err := s.checkUnchanged(ctx, conn, t)
	if err != nil {
		return err
	}
	if _, err := conn.CopyTo(ctx, w, copyStatement(t, parted)); err != nil {
		err = s.c.explain("read the table "+plainTable(t.Schema, t.Name), err)
		if e := (*tailrace.Error)(nil); errors.As(err, &e) && e.Hint == "" && e.Code == "42501" {
			e.Hint = fmt.Sprintf("At the source: GRANT SELECT ON %s TO %s; then drop the source here and create it again.", plainTable(t.Schema, t.Name), plainIdent(s.c.User))
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

// copyStatement is the COPY that reads t's columns.
func copyStatement(t *tailrace.SourceTable, parted bool) string {
	names := make([]string, len(t.Columns))
	for i, c := range t.Columns {
		names[i] = quoteIdent(c.Name)
	}
	from := " FROM ONLY " // tables that inherit from it are tables of their own
	if parted {
		from = " FROM "
	}
	return "COPY (SELECT " + strings.Join(names, ", ") + from + quoteTable(t.Schema, t.Name) + ") TO STDOUT"
}

// largestFirst lists the indexes of tables by size, so that the last one to end is a small one.
func largestFirst(tables []*tailrace.SourceTable) []int {
	order := make([]int, len(tables))
	for i := range order {
		order[i] = i
	}
	for i := range order { // few tables: an insertion sort that keeps equal ones in order
		for j := i; j > 0 && tables[order[j]].Rows > tables[order[j-1]].Rows; j-- {
			order[j], order[j-1] = order[j-1], order[j]
		}
	}
	return order
}

// copyWriter takes the messages of a COPY, each one line, and delivers batches. What is wrong with a value is kept in failed and the rest of the
// table is read past, so that the connection stays usable.
type copyWriter struct {
	text    *copyText
	deliver func(*tailrace.Batch) error
	bytes   int
	failed  error
	ended   error // of deliver: the snapshot as a whole ends
}

func (w *copyWriter) Write(line []byte) (int, error) {
	if w.failed != nil {
		return len(line), nil
	}
	if err := w.text.line(line); err != nil {
		w.failed = err
		return len(line), nil
	}
	w.bytes += len(line)
	if w.bytes >= snapshotBatchBytes || w.text.batch.N >= snapshotBatchRows {
		return len(line), w.flush()
	}
	return len(line), nil
}

func (w *copyWriter) flush() error {
	w.bytes = 0
	if w.failed != nil || w.text.batch.N == 0 {
		return nil
	}
	w.ended = w.deliver(w.text.take())
	return w.ended
}
