package postgres

import (
	"context"
	"fmt"

	"github.com/jackc/pglogrepl"

	"tailrace"
)

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
