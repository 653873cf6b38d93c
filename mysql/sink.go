package mysql

import (
	"context"
	"database/sql"
	"strings"
	"sync"

	driver "github.com/go-sql-driver/mysql"

	"tailrace"
)

const (
	feedsTable = "CREATE TABLE IF NOT EXISTS tailrace.feeds (feed VARCHAR(255) CHARACTER SET utf8mb4 COLLATE utf8mb4_bin PRIMARY KEY, " +
		"epoch BIGINT UNSIGNED NOT NULL) ENGINE=InnoDB"
	progressTable = "CREATE TABLE IF NOT EXISTS tailrace.progress (feed VARCHAR(255) CHARACTER SET utf8mb4 COLLATE utf8mb4_bin, span BIGINT UNSIGNED, lane INT, " +
		"time BIGINT UNSIGNED NOT NULL, ordinal BIGINT UNSIGNED NOT NULL, epoch BIGINT UNSIGNED NOT NULL, note LONGTEXT CHARACTER SET utf8mb4 COLLATE utf8mb4_bin NOT NULL, " +
		"PRIMARY KEY (feed, span, lane)) ENGINE=InnoDB"
)

// statementRows is how many rows of a statement are worth it: more are hardly faster each.
const statementRows = 512

// statementBytes is the most that a statement carries, however much more the server takes.
const statementBytes = 16 << 20

// packetSlack is left of max_allowed_packet for the protocol.
const packetSlack = 1 << 10

// sink is a MariaDB or MySQL as a target.
type sink struct {
	db       *sql.DB
	database string // of the URL: where the schema public is
	user     string
	options  tailrace.SinkOptions
	seen     tailrace.SinkSeen

	mu    sync.Mutex
	feed  string
	epoch uint64
	bytes int    // of a statement
	bin   string // the collation that compares by bytes, without padding
}

// OpenSink returns the MariaDB or MySQL at a mysql:// URL (parseURL) as a target. It does not connect yet.
func OpenSink(rawURL string, options tailrace.SinkOptions) (tailrace.Sink, error) {
	c, err := parseURL(rawURL, options)
	if err != nil {
		return nil, err
	}
	connector, err := driver.NewConnector(c)
	if err != nil {
		return nil, &tailrace.Error{Code: "08001", Message: "the target's address: " + err.Error(), Err: err}
	}
	s := &sink{db: sql.OpenDB(connector), database: c.DBName, user: c.User, options: options, bytes: 1 << 20}
	s.db.SetMaxIdleConns(-1) // who closes a connection means it: its transaction ends there
	return s, nil
}

// Prepare makes the database tailrace if it is missing and takes the feed.
func (s *sink) Prepare(ctx context.Context, feed string, epoch uint64) ([]tailrace.SinkProgress, error) {
	conn, err := s.connect(ctx)
	if err != nil {
		return nil, whole(fault("", err))
	}
	defer conn.Close()
	var packet int
	var version string
	if err := conn.QueryRowContext(ctx, "SELECT @@max_allowed_packet, VERSION()").Scan(&packet, &version); err != nil {
		return nil, whole(fault("", err))
	}
	all, err := take(ctx, conn, feed, epoch)
	if err != nil {
		return nil, whole(fault("", err))
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.feed, s.epoch, s.bytes = feed, epoch, min(packet-packetSlack, statementBytes)
	s.bin = "utf8mb4_0900_bin"
	if strings.Contains(version, "MariaDB") {
		s.bin = "utf8mb4_nopad_bin"
	}
	s.seen.Reset(all)
	return all, nil
}

// take writes the epoch and reads the progress in one transaction. The row of the feed is locked from the first statement on.
func take(ctx context.Context, conn *sql.Conn, feed string, epoch uint64) ([]tailrace.SinkProgress, error) {
	var tables int
	if err := conn.QueryRowContext(ctx, "SELECT COUNT(*) FROM information_schema.tables WHERE table_schema = 'tailrace' AND table_name IN ('feeds', 'progress')").Scan(&tables); err != nil {
		return nil, err
	}
	if tables < 2 {
		for _, ddl := range []string{"CREATE DATABASE IF NOT EXISTS tailrace", feedsTable, progressTable} {
			if _, err := conn.ExecContext(ctx, ddl); err != nil {
				return nil, err
			}
		}
	}
	if _, err := conn.ExecContext(ctx, "START TRANSACTION"); err != nil {
		return nil, err
	}
	_, err := conn.ExecContext(ctx, "INSERT INTO tailrace.feeds VALUES (?, ?) ON DUPLICATE KEY UPDATE epoch = GREATEST(epoch, VALUES(epoch))", feed, epoch)
	if err != nil {
		return nil, err
	}
	var held uint64
	if err := conn.QueryRowContext(ctx, "SELECT epoch FROM tailrace.feeds WHERE feed = ?", feed).Scan(&held); err != nil {
		return nil, err
	}
	if held > epoch {
		return nil, tailrace.ErrSinkFenced // closing the connection rolls back
	}
	rows, err := conn.QueryContext(ctx, "SELECT span, lane, time, ordinal, note FROM tailrace.progress WHERE feed = ? ORDER BY span, lane", feed)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	var all []tailrace.SinkProgress
	for rows.Next() {
		var p tailrace.SinkProgress
		if err := rows.Scan(&p.Span, &p.Lane, &p.Time, &p.Ordinal, &p.Note); err != nil {
			return nil, err
		}
		all = append(all, p)
	}
	if err := rows.Err(); err != nil {
		return nil, err
	}
	_, err = conn.ExecContext(ctx, "COMMIT")
	return all, err
}

// Limits are the server's, as Prepare found them.
func (s *sink) Limits() tailrace.SinkLimits {
	s.mu.Lock()
	defer s.mu.Unlock()
	return tailrace.SinkLimits{StatementBytes: s.bytes, Rows: statementRows}
}

// connect opens a connection whose transactions see what was committed before each of their statements, and lock no gaps.
func (s *sink) connect(ctx context.Context) (*sql.Conn, error) {
	conn, err := s.db.Conn(ctx)
	if err != nil {
		return nil, err
	}
	if _, err := conn.ExecContext(ctx, "SET SESSION TRANSACTION ISOLATION LEVEL READ COMMITTED"); err != nil {
		_ = conn.Close() // the cause is err
		return nil, err
	}
	return conn, nil
}

// Connect opens a connection for the feed.
func (s *sink) Connect(ctx context.Context) (tailrace.SinkConn, error) {
	conn, err := s.connect(ctx)
	if err != nil {
		return nil, whole(fault("", err))
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	return &sinkConn{sink: s, conn: conn, feed: s.feed, epoch: s.epoch, bytes: s.bytes}, nil
}

// Forget removes the feed's rows, and the database tailrace with its last feed.
func (s *sink) Forget(ctx context.Context, feed string) error {
	conn, err := s.connect(ctx)
	if err != nil {
		return whole(fault("", err))
	}
	defer conn.Close()
	var tables, left int
	if err := conn.QueryRowContext(ctx, "SELECT COUNT(*) FROM information_schema.tables WHERE table_schema = 'tailrace' AND table_name IN ('feeds', 'progress')").Scan(&tables); err != nil || tables < 2 {
		return whole(fault("", err))
	}
	for _, table := range []string{"progress", "feeds"} {
		if _, err := conn.ExecContext(ctx, "DELETE FROM tailrace."+table+" WHERE feed = ?", feed); err != nil {
			return whole(fault("", err))
		}
	}
	if err := conn.QueryRowContext(ctx, "SELECT COUNT(*) FROM tailrace.feeds").Scan(&left); err != nil || left > 0 {
		return whole(fault("", err))
	}
	_, err = conn.ExecContext(ctx, "DROP DATABASE tailrace")
	return whole(fault("", err))
}

// Close gives up the pool.
func (s *sink) Close() error { return s.db.Close() }
