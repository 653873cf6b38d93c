package postgres

import (
	"context"
	"encoding/binary"
	"fmt"
	"sync/atomic"

	"github.com/jackc/pglogrepl"
	"github.com/jackc/pgx/v5/pgconn"

	"tailrace"
)

// Source is a PostgreSQL database. It is a tailrace.Source.
type Source struct {
	c         Config
	confirmed atomic.Uint64 // LSN up to which everything is durable here
}

var _ tailrace.Source = (*Source)(nil)

// New returns the source; it does not connect.
func New(c Config) *Source { return &Source{c: c.withDefaults()} }

// Tables implements tailrace.Source.
func (s *Source) Tables(ctx context.Context, sel tailrace.Selection) ([]*tailrace.SourceTable, error) {
	conn, err := s.c.connect(ctx)
	if err != nil {
		return nil, err
	}
	defer closeConn(conn)
	rels, missing, err := s.c.describe(ctx, conn, sel)
	if err != nil {
		return nil, err
	}
	if len(missing) > 0 {
		return nil, missingTable(missing[0])
	}
	tables := make([]*tailrace.SourceTable, len(rels))
	for i, r := range rels {
		tables[i] = &r.SourceTable
	}
	return tables, nil
}

// Confirm implements tailrace.Source.
func (s *Source) Confirm(position []byte) {
	lsn, err := decodePosition(position)
	if err != nil {
		panic("a position that Read or Snapshot did not make: " + err.Error())
	}
	for {
		old := s.confirmed.Load()
		if uint64(lsn) <= old || s.confirmed.CompareAndSwap(old, uint64(lsn)) {
			return
		}
	}
}

// Drop implements tailrace.Source.
func (s *Source) Drop(ctx context.Context) error {
	conn, err := s.c.connect(ctx)
	if err != nil {
		return err
	}
	defer closeConn(conn)
	if err := s.c.dropSlot(ctx, conn); err != nil {
		return err
	}
	return s.c.dropPublication(ctx, conn)
}

// requireLogical refuses a server that does not write what logical replication needs.
func (c *Config) requireLogical(ctx context.Context, conn *pgconn.PgConn) error {
	rows, err := query(ctx, conn, "SELECT current_setting('wal_level'), pg_is_in_recovery()")
	if err != nil {
		return c.explain("read the settings of "+c.address(), err)
	}
	if rows[0][1] == "t" {
		return &tailrace.Error{Code: "55000", Message: c.address() + " is a standby", Hint: "Give the address of the primary."}
	}
	if rows[0][0] != "logical" {
		return &tailrace.Error{
			Code: "55000", Message: fmt.Sprintf("wal_level of %s is %s, not logical", c.address(), rows[0][0]),
			Hint: "At the source: ALTER SYSTEM SET wal_level = 'logical'; then restart it.",
		}
	}
	return nil
}

// A position is an LSN, eight bytes, the highest first.
func encodePosition(lsn pglogrepl.LSN) []byte { return binary.BigEndian.AppendUint64(nil, uint64(lsn)) }

func decodePosition(raw []byte) (pglogrepl.LSN, error) {
	if len(raw) != 8 {
		return 0, fmt.Errorf("a position of %d bytes: %w", len(raw), tailrace.ErrCorrupt)
	}
	return pglogrepl.LSN(binary.BigEndian.Uint64(raw)), nil
}

// PositionText is a position as PostgreSQL writes it, for example 0/16B3748.
func PositionText(raw []byte) string {
	lsn, err := decodePosition(raw)
	if err != nil {
		return "?"
	}
	return lsn.String()
}

// PositionText is a position as PostgreSQL writes it; ingest shows it.
func (s *Source) PositionText(raw []byte) string { return PositionText(raw) }
