package postgres

import (
	"context"
	"strconv"
	"sync"

	"github.com/jackc/pgx/v5/pgconn"

	"tailrace"
)

// A PostgreSQL as a target keeps what changefeeds remember in a schema of its own:
//
//	tailrace.feeds     (feed, epoch)                                     who holds a feed
//	tailrace.progress  (feed, span, lane, time, ordinal, epoch, note)    how far each lane came
//
// Every transaction of a lane first takes the feed's advisory lock, shared, and reads the epoch; Prepare takes the same lock alone when it writes a new epoch.
// So when Prepare returns, no transaction of an older epoch is under way, and none can begin that would commit. The lock costs nothing on disk, which a row
// lock would at every transaction.
const (
	sinkSchema = `CREATE SCHEMA IF NOT EXISTS tailrace`
	sinkFeeds  = `CREATE TABLE IF NOT EXISTS tailrace.feeds (feed text COLLATE "C" PRIMARY KEY, epoch numeric(20) NOT NULL)`
	sinkLanes  = `CREATE TABLE IF NOT EXISTS tailrace.progress (feed text COLLATE "C", span numeric(20), lane integer, time numeric(20) NOT NULL, ` +
		`ordinal numeric(20) NOT NULL, epoch numeric(20) NOT NULL, note text NOT NULL, PRIMARY KEY (feed, span, lane))`
	sinkAlone  = `SELECT pg_advisory_xact_lock(hashtextextended('tailrace.' || $1::text, 0))`
	sinkShared = `SELECT pg_advisory_xact_lock_shared(hashtextextended('tailrace.' || $1::text, 0))`
)

// sinkStatementBytes is how much one statement may carry: well below the gigabyte that PostgreSQL takes, and what a node can spare.
const sinkStatementBytes = 64 << 20

// sinkStatementRows is how many rows of a statement are worth it: more are hardly faster each.
const sinkStatementRows = 1024

// sink is a PostgreSQL as a target.
type sink struct {
	config  Config
	options tailrace.SinkOptions
	seen    tailrace.SinkSeen

	mu    sync.Mutex
	feed  string
	epoch uint64
}

// OpenSink returns the PostgreSQL at a postgres:// URL as a target. It does not connect yet. TLS is asked for as psql does: sslmode=verify-full, sslrootcert=FILE.
func OpenSink(rawURL string, options tailrace.SinkOptions) (tailrace.Sink, error) {
	c, err := FromURL(rawURL)
	if err != nil {
		return nil, err
	}
	if options.Password != "" {
		c.Password = options.Password
	}
	return &sink{config: c.withDefaults(), options: options}, nil
}

// Prepare makes the schema tailrace if it is missing and takes the feed.
func (s *sink) Prepare(ctx context.Context, feed string, epoch uint64) ([]tailrace.SinkProgress, error) {
	conn, err := s.config.connect(ctx)
	if err != nil {
		return nil, sinkFault("", err)
	}
	defer closeConn(conn)
	all, err := s.take(ctx, conn, feed, epoch)
	if err != nil {
		return nil, sinkWhole(s.config.explain("prepare "+s.config.address(), err), err)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.feed, s.epoch = feed, epoch
	s.seen.Reset(all)
	return all, nil
}

// take writes the epoch and reads the progress in one transaction.
func (s *sink) take(ctx context.Context, conn *pgconn.PgConn, feed string, epoch uint64) ([]tailrace.SinkProgress, error) {
	if err := exec(ctx, conn, "BEGIN; SET LOCAL lock_timeout = '20s'"); err != nil {
		return nil, err
	}
	if _, err := query(ctx, conn, sinkAlone, ""); err != nil { // makers of the schema, one at a time
		return nil, err
	}
	there, err := query(ctx, conn, `SELECT 1 WHERE to_regclass('tailrace.feeds') IS NOT NULL AND to_regclass('tailrace.progress') IS NOT NULL`)
	if err != nil {
		return nil, err
	}
	if len(there) == 0 {
		if err := exec(ctx, conn, sinkSchema+";"+sinkFeeds+";"+sinkLanes); err != nil {
			return nil, err
		}
	}
	if _, err := query(ctx, conn, sinkAlone, feed); err != nil {
		return nil, err
	}
	taken, err := query(ctx, conn, `INSERT INTO tailrace.feeds AS f VALUES ($1, $2) ON CONFLICT (feed) DO UPDATE SET epoch = excluded.epoch `+
		`WHERE f.epoch <= excluded.epoch RETURNING 1`, feed, strconv.FormatUint(epoch, 10))
	if err != nil {
		return nil, err
	}
	if len(taken) == 0 {
		return nil, tailrace.ErrSinkFenced
	}
	rows, err := query(ctx, conn, `SELECT span, lane, time, ordinal, note FROM tailrace.progress WHERE feed = $1 ORDER BY span, lane`, feed)
	if err != nil {
		return nil, err
	}
	return readProgress(rows), exec(ctx, conn, "COMMIT")
}

// readProgress reads what only this package writes.
func readProgress(rows [][]string) []tailrace.SinkProgress {
	number := func(s string) uint64 {
		n, _ := strconv.ParseUint(s, 10, 64) // the column is numeric(20), and only uint64s are put there
		return n
	}
	var all []tailrace.SinkProgress
	for _, r := range rows {
		lane, _ := strconv.Atoi(r[1]) // the column is integer
		all = append(all, tailrace.SinkProgress{
			Span: tailrace.CollectionID(number(r[0])), Lane: lane, Time: tailrace.Time(number(r[2])), Ordinal: number(r[3]), Note: r[4],
		})
	}
	return all
}

// Limits are the same for every PostgreSQL.
func (s *sink) Limits() tailrace.SinkLimits {
	return tailrace.SinkLimits{StatementBytes: sinkStatementBytes, Rows: sinkStatementRows}
}

// Connect opens a connection for the feed.
func (s *sink) Connect(ctx context.Context) (tailrace.SinkConn, error) {
	conn, err := s.config.connect(ctx)
	if err != nil {
		return nil, sinkFault("", err)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	return &sinkConn{sink: s, conn: conn, feed: s.feed, epoch: s.epoch}, nil
}

// Forget removes the feed's rows, and the schema with its last feed.
func (s *sink) Forget(ctx context.Context, feed string) error {
	conn, err := s.config.connect(ctx)
	if err != nil {
		return sinkFault("", err)
	}
	defer closeConn(conn)
	forget := func() error {
		if there, err := query(ctx, conn, `SELECT 1 WHERE to_regclass('tailrace.feeds') IS NOT NULL`); err != nil || len(there) == 0 {
			return err
		}
		if err := exec(ctx, conn, "BEGIN; SET LOCAL lock_timeout = '20s'"); err != nil {
			return err
		}
		for _, sql := range []string{sinkAlone, `DELETE FROM tailrace.progress WHERE feed = $1`, `DELETE FROM tailrace.feeds WHERE feed = $1`} {
			if _, err := query(ctx, conn, sql, feed); err != nil {
				return err
			}
		}
		if _, err := query(ctx, conn, sinkAlone, ""); err != nil {
			return err
		}
		if left, err := query(ctx, conn, `SELECT 1 FROM tailrace.feeds LIMIT 1`); err != nil {
			return err
		} else if len(left) == 0 {
			if err := exec(ctx, conn, `DROP TABLE tailrace.progress, tailrace.feeds; DROP SCHEMA tailrace`); err != nil {
				return err
			}
		}
		return exec(ctx, conn, "COMMIT")
	}
	if err := forget(); err != nil {
		return sinkWhole(s.config.explain("forget "+feed, err), err)
	}
	return nil
}

// Close has nothing to give up: connections are closed by who opened them.
func (s *sink) Close() error { return nil }
