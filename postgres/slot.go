package postgres

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/jackc/pglogrepl"
	"github.com/jackc/pgx/v5/pgconn"

	"tailrace"
)

const (
	// blockedAfter is how long the creation of a slot may take before what it waits for is looked up.
	blockedAfter = 2 * time.Second
	// slotBusyFor is how long a slot that a dying connection still holds is waited for.
	slotBusyFor = 20 * time.Second
)

// slot is a replication slot as pg_replication_slots has it.
type slot struct {
	exists    bool
	plugin    string
	database  string
	active    string // pid of who reads it, "" when nobody does
	lost      bool   // its WAL is gone
	confirmed pglogrepl.LSN
}

func (c *Config) readSlot(ctx context.Context, conn *pgconn.PgConn) (slot, error) {
	rows, err := query(ctx, conn, `SELECT plugin, database, active_pid::text, coalesce(wal_status, '') = 'lost', confirmed_flush_lsn::text
		FROM pg_replication_slots WHERE slot_name = $1`, c.Slot)
	if err != nil {
		return slot{}, c.explain("read the replication slot "+c.Slot, err)
	}
	if len(rows) == 0 {
		return slot{}, nil
	}
	r := rows[0]
	s := slot{exists: true, plugin: r[0], database: r[1], active: r[2], lost: r[3] == "t"}
	if r[4] != "" {
		if s.confirmed, err = pglogrepl.ParseLSN(r[4]); err != nil {
			return slot{}, fmt.Errorf("read the replication slot %s: %w", c.Slot, err)
		}
	}
	return s, nil
}

// dropSlot drops our slot if it is there, waiting for a connection that just ended to let go of it.
func (c *Config) dropSlot(ctx context.Context, conn *pgconn.PgConn) error {
	deadline := time.Now().Add(slotBusyFor)
	for {
		_, err := query(ctx, conn, "SELECT pg_drop_replication_slot(slot_name) FROM pg_replication_slots WHERE slot_name = $1", c.Slot)
		if err == nil {
			return nil
		}
		var pg *pgconn.PgError
		if errors.As(err, &pg) && pg.Code == "42704" { // undefined_object: gone meanwhile
			return nil
		}
		if !errors.As(err, &pg) || pg.Code != "55006" || time.Now().After(deadline) { // object_in_use
			return c.explain("drop the replication slot "+c.Slot, err)
		}
		if err := wait(ctx, 100*time.Millisecond); err != nil {
			return err
		}
	}
}

// createSlot creates our slot on the replication connection conn and returns its first position and the name of the snapshot that shows
// the rows at it. The snapshot lives until conn runs another command or ends. A transaction that the creation waits for is named to
// waiting; when ctx ends meanwhile the creation is cancelled, so that no slot is left.
func (c *Config) createSlot(ctx context.Context, conn *pgconn.PgConn, waiting func(*tailrace.Error)) (pglogrepl.LSN, string, error) {
	watch, stop := context.WithCancel(ctx)
	done := make(chan struct{})
	go func() {
		defer close(done)
		c.watchBlocked(watch, conn.PID(), waiting)
	}()
	defer func() { stop(); <-done; waiting(nil) }()

	// The command itself runs without ctx: ending it by closing the connection would leave the server creating the slot. A cancel
	// request makes the server give up, and then it removes the slot itself.
	cancelled := make(chan struct{})
	unwatch := context.AfterFunc(ctx, func() {
		defer close(cancelled)
		short, end := context.WithTimeout(context.Background(), 5*time.Second)
		defer end()
		_ = conn.CancelRequest(short) // when it does not arrive, the slot is dropped at the next start
	})
	res, err := pglogrepl.CreateReplicationSlot(context.WithoutCancel(ctx), conn, c.Slot, "pgoutput", pglogrepl.CreateReplicationSlotOptions{
		Mode: pglogrepl.LogicalReplication, SnapshotAction: "EXPORT_SNAPSHOT",
	})
	if !unwatch() {
		<-cancelled
	}
	if ctx.Err() != nil {
		return 0, "", ctx.Err()
	}
	if err != nil {
		return 0, "", c.explain("create the replication slot "+c.Slot, err)
	}
	lsn, err := pglogrepl.ParseLSN(res.ConsistentPoint)
	if err != nil {
		return 0, "", fmt.Errorf("create the replication slot %s: %w", c.Slot, err)
	}
	return lsn, res.SnapshotName, nil
}

// watchBlocked names, every few seconds until ctx ends, the transaction that backend pid waits for.
func (c *Config) watchBlocked(ctx context.Context, pid uint32, waiting func(*tailrace.Error)) {
	if wait(ctx, blockedAfter) != nil {
		return
	}
	conn, err := c.connect(ctx)
	if err != nil {
		return // the creation itself will say what is wrong
	}
	defer closeConn(conn)
	for {
		rows, err := query(ctx, conn, `SELECT a.pid, date_trunc('second', now() - a.xact_start)::text, a.state, left(a.query, 200)
			FROM unnest(pg_blocking_pids($1::int)) b(pid) JOIN pg_stat_activity a ON a.pid = b.pid ORDER BY a.xact_start LIMIT 1`, fmt.Sprint(pid))
		if err != nil {
			return
		}
		if len(rows) == 1 {
			r := rows[0]
			waiting(&tailrace.Error{
				Code:    "55006",
				Message: fmt.Sprintf("waiting for a transaction at the source that is open since %s: pid %s, %s, %s", r[1], r[0], r[2], r[3]),
				Hint:    fmt.Sprintf("Let it end, or at the source: SELECT pg_terminate_backend(%s);", r[0]),
			})
		}
		if wait(ctx, blockedAfter) != nil {
			return
		}
	}
}

// wait returns nil after d, or ctx's error.
func wait(ctx context.Context, d time.Duration) error {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-t.C:
		return nil
	}
}
