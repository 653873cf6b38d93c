package postgres

import (
	"context"
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
