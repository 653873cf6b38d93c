package postgres

import (
	"context"
	"errors"
	"fmt"

	"github.com/jackc/pglogrepl"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgproto3"

	"tailrace"
)

// pieceBytes is about what the changes of a piece take; a larger transaction is delivered in several.
const pieceBytes = 4 << 20

// Read implements tailrace.Source.
func (s *Source) Read(ctx context.Context, position []byte, tables []*tailrace.SourceTable, deliver func(*tailrace.SourcePiece) error) error {
	after, err := decodePosition(position)
	if err != nil {
		return err
	}
	if err := s.checkPosition(ctx, after); err != nil {
		return err
	}
	s.Confirm(position)
	repl, err := s.c.connectReplication(ctx)
	if err != nil {
		return err
	}
	args := []string{"proto_version '1'", "publication_names " + quoteLiteral(quoteIdent(s.c.Publication))}
	if err := pglogrepl.StartReplication(ctx, repl, quoteIdent(s.c.Slot), after, pglogrepl.StartReplicationOptions{PluginArgs: args}); err != nil {
		closeConn(repl)
		return s.c.explain("start replication from slot "+s.c.Slot, err)
	}
	hijacked, err := repl.Hijack()
	if err != nil {
		closeConn(repl)
		return err
	}
	r := &reader{
		s: s, front: hijacked.Frontend, link: &link{conn: hijacked.Conn, asked: make(chan struct{}, 1)},
		after: after, last: after, tables: map[uint32]*followed{}, deliver: deliver,
	}
	for _, t := range tables {
		r.tables[t.Rel] = &followed{table: t}
	}
	return r.run(ctx)
}

// checkPosition makes sure that the source still has everything after position, before anything is read.
func (s *Source) checkPosition(ctx context.Context, after pglogrepl.LSN) error {
	conn, err := s.c.connect(ctx)
	if err != nil {
		return err
	}
	defer closeConn(conn)
	if err := s.c.requireLogical(ctx, conn); err != nil {
		return err
	}
	sl, err := s.c.readSlot(ctx, conn)
	if err != nil {
		return err
	}
	lost := func(format string, args ...any) error {
		return &tailrace.Error{
			Code: "55000", Message: fmt.Sprintf(format, args...), Err: tailrace.ErrLost,
			Hint: "Changes may be missing, so nothing is read on; what is here can still be read. Copy it again: drop the source here and create it again.",
		}
	}
	rows, err := query(ctx, conn, "SELECT pg_current_wal_insert_lsn()::text")
	if err != nil {
		return s.c.explain("read the position of "+s.c.address(), err)
	}
	head, err := pglogrepl.ParseLSN(rows[0][0])
	switch {
	case err != nil:
		return fmt.Errorf("read the position of %s: %w", s.c.address(), err)
	case !sl.exists:
		return lost("the replication slot %s is gone from %s", s.c.Slot, s.c.address())
	case sl.lost:
		return lost("the source has removed the log that slot %s still needed (max_slot_wal_keep_size)", s.c.Slot)
	case sl.plugin != "pgoutput" || sl.database != s.c.Database:
		return lost("the replication slot %s is now another's (plugin %s, database %s)", s.c.Slot, sl.plugin, sl.database)
	case sl.confirmed > after:
		return lost("the replication slot %s was moved to %s, past %s where this copy is", s.c.Slot, sl.confirmed, after)
	case head < after:
		return lost("the source's log ends at %s, before %s where this copy is: it was restored to an earlier state", head, after)
	}
	return nil
}

// followed is a table of the stream.
type followed struct {
	table   *tailrace.SourceTable // as it is known so far
	ready   bool                  // a Relation message of this stream has described it
	failed  bool                  // not followed any more
	changes *tailrace.SourceChanges
}

// reader turns the messages of one stream into pieces.
type reader struct {
	s       *Source
	front   *pgproto3.Frontend
	link    *link
	catalog *pgconn.PgConn // for questions about columns; opened when there is one

	after   pglogrepl.LSN // transactions that end at or before it are done already
	last    pglogrepl.LSN // newest position delivered
	head    pglogrepl.LSN // newest position known at the source
	tables  map[uint32]*followed
	deliver func(*tailrace.SourcePiece) error

	inTxn bool
	skip  bool // this transaction is done already
	xid   uint32
	piece *tailrace.SourcePiece
}

// run reads until ctx is done or something is wrong.
func (r *reader) run(ctx context.Context) error {
	done := make(chan struct{})
	reporting, stop := context.WithCancel(ctx)
	go func() {
		defer close(done)
		r.link.report(reporting, &r.s.confirmed, r.s.c.StatusInterval, r.s.c.DeadAfter)
	}()
	unwatch := context.AfterFunc(ctx, func() { _ = r.link.conn.Close() })
	err := r.loop(ctx)
	stop()
	<-done
	unwatch()
	_ = r.link.conn.Close()
	if r.catalog != nil {
		closeConn(r.catalog)
	}
	switch {
	case ctx.Err() != nil:
		return ctx.Err()
	case r.link.dead.Load():
		return &tailrace.Error{
			Code: "08006", Message: fmt.Sprintf("%s has been silent for %s", r.s.c.address(), r.s.c.DeadAfter), Err: err,
			Hint: "The connection is made again by itself; check the network and the server.",
		}
	}
	return err
}

func (r *reader) loop(ctx context.Context) error {
	r.piece = &tailrace.SourcePiece{}
	if err := r.hand(&tailrace.SourcePiece{End: true, Position: encodePosition(r.after)}); err != nil {
		return err
	}
	for {
		msg, err := r.front.Receive()
		if err != nil {
			return r.s.c.explain("read the stream of "+r.s.c.address(), err)
		}
		r.link.heard.Add(1)
		switch m := msg.(type) {
		case *pgproto3.CopyData:
			if err := r.message(ctx, m.Data); err != nil {
				return err
			}
		case *pgproto3.ErrorResponse:
			return r.s.c.explain("read the stream of "+r.s.c.address(), pgconn.ErrorResponseToPgError(m))
		case *pgproto3.CopyDone, *pgproto3.CommandComplete, *pgproto3.ReadyForQuery:
			return &tailrace.Error{Code: "57P01", Message: r.s.c.address() + " ended the stream: it shuts down", Hint: "The connection is made again by itself."}
		}
	}
}

// message reads one message of the streaming replication protocol.
func (r *reader) message(ctx context.Context, b []byte) error {
	w := wire{b: b}
	switch w.u8() {
	case 'k': // keepalive: the source's position, and whether it wants an answer
		end := pglogrepl.LSN(w.u64())
		w.u64()
		if w.u8() == 1 {
			r.link.ask()
		}
		if w.bad {
			return w.err("keepalive")
		}
		return r.idle(end)
	case 'w':
		w.u64()
		r.head = max(r.head, pglogrepl.LSN(w.u64()))
		w.u64()
		if len(w.b) == 0 {
			w.bad = true
		}
		if w.bad {
			return w.err("XLogData")
		}
		return r.output(ctx, w.b)
	}
	return nil
}

// idle takes note that everything before end has been sent.
func (r *reader) idle(end pglogrepl.LSN) error {
	r.head = max(r.head, end)
	if r.inTxn || end <= r.last {
		return nil
	}
	r.last = end
	return r.hand(&tailrace.SourcePiece{End: true, Position: encodePosition(end)})
}

// output reads one message of pgoutput.
func (r *reader) output(ctx context.Context, b []byte) error {
	w := wire{b: b[1:]}
	switch b[0] {
	case msgBegin:
		// The LSN of the commit record: below where we are means that the transaction is done already and sent again after a restart.
		r.skip = pglogrepl.LSN(w.u64()) < r.after
		w.u64()
		r.xid, r.inTxn = w.u32(), true
		return w.err("Begin")
	case msgCommit:
		w.u8()
		w.u64()
		end := pglogrepl.LSN(w.u64())
		if w.bad {
			return w.err("Commit")
		}
		return r.commit(end)
	case msgRelation:
		m, err := readRelation(b[1:])
		if err != nil {
			return err
		}
		return r.relation(ctx, m)
	case msgInsert, msgUpdate, msgDelete:
		return r.change(b)
	case msgTruncate:
		n := int(w.u32())
		w.u8()
		for range n {
			rel := w.u32()
			if w.bad {
				break
			}
			r.truncate(rel)
		}
		return w.err("Truncate")
	}
	return nil // types, origins, messages: nothing about rows
}

func (r *reader) commit(end pglogrepl.LSN) error {
	r.inTxn = false
	p := r.take()
	if r.skip {
		return nil
	}
	r.last = max(r.last, end)
	p.End, p.Position = true, encodePosition(end)
	return r.hand(p)
}

// take returns the piece so far and begins another.
func (r *reader) take() *tailrace.SourcePiece {
	p := r.piece
	r.piece = &tailrace.SourcePiece{}
	for _, c := range p.Changes {
		if f := r.tables[c.Table.Rel]; f != nil && f.changes == c {
			f.changes = nil
		}
	}
	return p
}

func (r *reader) hand(p *tailrace.SourcePiece) error {
	p.Lag = max(0, int64(r.head)-int64(r.last))
	r.link.delivering.Store(true)
	defer r.link.delivering.Store(false)
	return r.deliver(p)
}

// relation takes a table as it is from here on.
func (r *reader) relation(ctx context.Context, m *wireRelation) error {
	f := r.tables[m.rel]
	if f == nil || f.failed {
		return nil
	}
	if r.catalog == nil || r.catalog.IsClosed() {
		conn, err := r.s.c.connect(ctx)
		if err != nil {
			return err
		}
		r.catalog = conn
	}
	t, err := r.s.c.resolve(ctx, r.catalog, m, f.table, r.xid)
	if err != nil {
		return err
	}
	f.table, f.ready, f.changes = t, true, nil
	if t.Err != nil {
		r.fail(f, t.Err)
	}
	return nil
}

// fail ends the following of a table.
func (r *reader) fail(f *followed, why *tailrace.Error) {
	f.failed = true
	if f.changes != nil { // a row may be half in it
		f.changes.List, f.changes.New, f.changes.Old, f.changes.Unchanged, f.changes.Err = nil, nil, nil, nil, why
		return
	}
	r.piece.Changes = append(r.piece.Changes, &tailrace.SourceChanges{Table: f.table, Err: why})
}

// changesOf is where changes of f go.
func (r *reader) changesOf(f *followed) *tailrace.SourceChanges {
	if f.changes == nil {
		f.changes = &tailrace.SourceChanges{Table: f.table, New: emptyBatch(f.table), Old: emptyBatch(f.table)}
		r.piece.Changes = append(r.piece.Changes, f.changes)
	}
	return f.changes
}

func (r *reader) truncate(rel uint32) {
	f := r.tables[rel]
	if f == nil || f.failed || r.skip {
		return
	}
	c := r.changesOf(f)
	c.List = append(c.List, tailrace.SourceChange{Kind: tailrace.ChangeTruncate, New: -1, Old: -1})
}

// change adds an insert, update or delete to the piece.
func (r *reader) change(b []byte) error {
	m, err := readChange(b)
	if err != nil {
		return err
	}
	f := r.tables[m.rel]
	if f == nil || f.failed || r.skip {
		return nil
	}
	if !f.ready {
		return fmt.Errorf("a change of table %d, which no Relation message described: %w", m.rel, tailrace.ErrCorrupt)
	}
	if err := r.addChange(r.changesOf(f), f.table, &m); err != nil {
		var own *tailrace.Error
		if !errors.As(err, &own) {
			return err
		}
		own.Message = "table " + plainTable(f.table.Schema, f.table.Name) + ": " + own.Message
		own.Table = f.table.Name
		r.fail(f, own)
		return nil
	}
	r.piece.Bytes += len(b)
	if r.piece.Bytes >= pieceBytes {
		return r.hand(r.take())
	}
	return nil
}

// addChange adds m to c. An *Error concerns the table alone.
func (r *reader) addChange(c *tailrace.SourceChanges, t *tailrace.SourceTable, m *wireChange) error {
	ch := tailrace.SourceChange{Kind: tailrace.ChangeInsert, New: -1, Old: -1}
	switch m.kind {
	case msgUpdate:
		ch.Kind = tailrace.ChangeUpdate
	case msgDelete:
		ch.Kind = tailrace.ChangeDelete
	}
	if m.oldKind != 0 {
		if m.oldKind != 'O' && len(t.Key) == 0 {
			return alteredError(t, "no longer sends whole old rows, which a table without a key needs")
		}
		ch.Old, ch.OldFull = int32(c.Old.N), m.oldKind == 'O'
		if err := r.addRow(c, t, c.Old, &m.old, -1); err != nil {
			return err
		}
	} else if ch.Kind == tailrace.ChangeUpdate && len(t.Key) == 0 {
		return alteredError(t, "no longer sends whole old rows, which a table without a key needs")
	}
	if m.kind != msgDelete {
		ch.New = int32(c.New.N)
		from := int32(-1)
		if ch.OldFull {
			from = ch.Old
		}
		if err := r.addRow(c, t, c.New, &m.new, from); err != nil {
			return err
		}
	}
	c.List = append(c.List, ch)
	return nil
}

// addRow adds a row to b, which is c.New or c.Old. Cells that were not sent come from row old of c.Old when it is >= 0, else they are noted.
func (r *reader) addRow(c *tailrace.SourceChanges, t *tailrace.SourceTable, b *tailrace.Batch, row *tuple, old int32) error {
	if row.n != len(t.Columns) {
		return fmt.Errorf("a row of %d columns in table %s of %d: %w", row.n, t.Name, len(t.Columns), tailrace.ErrCorrupt)
	}
	for i := range t.Columns {
		kind, text := row.cell()
		switch {
		case kind == 't':
			if err := appendValue(r.s.c.Parse, &t.Columns[i], &b.Cols[i], text); err != nil {
				return err
			}
		case kind == 'u' && old >= 0:
			b.Cols[i].AppendFrom(&c.Old.Cols[i], int(old))
		case kind == 'u' && b == c.New:
			b.Cols[i].AppendNull()
			c.Unchanged = append(c.Unchanged, tailrace.SourceCell{Row: int32(b.N), Col: int32(i)})
		case kind == 'n' || kind == 'u':
			b.Cols[i].AppendNull()
		default:
			return fmt.Errorf("a cell of kind %q in table %s: %w", kind, t.Name, tailrace.ErrCorrupt)
		}
	}
	b.N++
	return nil
}
