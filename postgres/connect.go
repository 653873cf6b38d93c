package postgres

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgproto3"

	"tailrace"
)

// pinned are the settings that decide how values print. They are sent as the session begins, on replication connections too, where
// they win over ALTER ROLE and ALTER DATABASE; so the text of a value does not depend on who asks or on the server's defaults.
var pinned = map[string]string{
	"client_encoding":                     "UTF8",
	"TimeZone":                            "UTC",
	"DateStyle":                           "ISO, MDY",
	"IntervalStyle":                       "postgres",
	"bytea_output":                        "hex",
	"extra_float_digits":                  "3",
	"lc_monetary":                         "C",
	"search_path":                         "pg_catalog",
	"row_security":                        "off", // a policy that hides rows is an error, not a smaller table
	"synchronize_seqscans":                "off", // rows in the order of the table, which often is that of its key
	"statement_timeout":                   "0",
	"lock_timeout":                        "0",
	"idle_in_transaction_session_timeout": "0",
}

// readBuffer is how many bytes are taken from a connection at a time. The server writes 8 KiB at a time; when we are behind, there is more.
const readBuffer = 128 << 10

// connect opens an ordinary connection with the pinned settings.
func (c *Config) connect(ctx context.Context) (*pgconn.PgConn, error) { return c.dial(ctx, "") }

// connectReplication opens a connection that understands replication commands.
func (c *Config) connectReplication(ctx context.Context) (*pgconn.PgConn, error) {
	return c.dial(ctx, "database")
}

func (c *Config) dial(ctx context.Context, replication string) (*pgconn.PgConn, error) {
	pc, err := pgconn.ParseConfig(c.dsn())
	if err != nil {
		return nil, &tailrace.Error{Code: "08001", Message: "the connection's options are wrong: " + err.Error(), Err: err}
	}
	for name, value := range pinned {
		pc.RuntimeParams[name] = value
	}
	if replication != "" {
		pc.RuntimeParams["replication"] = replication
	}
	pc.BuildFrontend = func(r io.Reader, w io.Writer) *pgproto3.Frontend {
		return pgproto3.NewFrontend(bufio.NewReaderSize(r, readBuffer), w)
	}
	conn, err := pgconn.ConnectConfig(ctx, pc)
	if err != nil {
		if ctx.Err() != nil {
			return nil, ctx.Err()
		}
		return nil, c.explain("connect to "+c.address(), err)
	}
	return conn, nil
}

// closeConn ends a connection; the server is given a second to hear of it.
func closeConn(conn *pgconn.PgConn) {
	ctx, cancel := context.WithTimeout(context.Background(), time.Second)
	defer cancel()
	_ = conn.Close(ctx) // the connection is gone either way
}

// query runs one statement with text parameters and returns its rows; NULL is "".
func query(ctx context.Context, conn *pgconn.PgConn, sql string, args ...string) ([][]string, error) {
	params := make([][]byte, len(args))
	for i, a := range args {
		params[i] = []byte(a)
	}
	res := conn.ExecParams(ctx, sql, params, nil, nil, nil).Read()
	if res.Err != nil {
		return nil, res.Err
	}
	out := make([][]string, len(res.Rows))
	for i, row := range res.Rows {
		out[i] = make([]string, len(row))
		for j, v := range row {
			out[i][j] = string(v)
		}
	}
	return out, nil
}

// exec runs statements without parameters.
func exec(ctx context.Context, conn *pgconn.PgConn, sql string) error {
	_, err := conn.Exec(ctx, sql).ReadAll()
	return err
}

// quoteIdent is name as an SQL identifier.
func quoteIdent(name string) string { return `"` + strings.ReplaceAll(name, `"`, `""`) + `"` }

// quoteTable is the table's name as SQL.
func quoteTable(schema, name string) string { return quoteIdent(schema) + "." + quoteIdent(name) }

// quoteLiteral is s as an SQL string constant.
func quoteLiteral(s string) string {
	if strings.Contains(s, `\`) {
		return ` E'` + strings.NewReplacer(`\`, `\\`, `'`, `''`).Replace(s) + `'`
	}
	return `'` + strings.ReplaceAll(s, `'`, `''`) + `'`
}

// plainTable is the table's name as people write it: quoted only where it must be.
func plainTable(schema, name string) string { return plainIdent(schema) + "." + plainIdent(name) }

func plainIdent(name string) string {
	for i, r := range name {
		if !(r >= 'a' && r <= 'z' || r == '_' || i > 0 && r >= '0' && r <= '9') {
			return quoteIdent(name)
		}
	}
	if name == "" {
		return `""`
	}
	return name
}

// explain turns what went wrong while doing something at the source into an error with a hint that mends it.
func (c *Config) explain(doing string, err error) error {
	if own := (*tailrace.Error)(nil); errors.As(err, &own) {
		return err
	}
	e := &tailrace.Error{Code: "58000", Message: doing + ": " + err.Error(), Err: err}
	pg := (*pgconn.PgError)(nil)
	if !errors.As(err, &pg) {
		e.Code = "08001"
		e.Message = fmt.Sprintf("%s: %s", doing, shortNetError(err))
		e.Hint = fmt.Sprintf("Check that PostgreSQL runs and listens: pg_isready -h %s -p %s", c.Host, c.Port)
		return e
	}
	e.Code, e.Message, e.Detail = pg.Code, doing+": "+pg.Message, pg.Detail
	e.Hint = c.hintFor(pg)
	if e.Hint == "" {
		e.Hint = pg.Hint
	}
	return e
}

// hintFor is what to type about an error of the server, "" when nothing is known.
func (c *Config) hintFor(pg *pgconn.PgError) string {
	switch pg.Code {
	case "28P01", "28000":
		if strings.Contains(pg.Message, "pg_hba.conf") {
			return fmt.Sprintf("Add a line to pg_hba.conf and reload: host %s %s <this machine>/32 scram-sha-256", c.Database, c.User)
		}
		if strings.Contains(pg.Message, "does not exist") {
			return fmt.Sprintf("Create it at the source: CREATE ROLE %s LOGIN REPLICATION PASSWORD '...';", plainIdent(c.User))
		}
		return fmt.Sprintf("Check the password of %s; set it at the source with: ALTER ROLE %s PASSWORD '...';", c.User, plainIdent(c.User))
	case "3D000":
		return "List the databases with: psql -l"
	case "42501":
		if strings.Contains(pg.Message, "replication") || strings.Contains(pg.Message, "walsender") {
			return fmt.Sprintf("At the source: ALTER ROLE %s REPLICATION;", plainIdent(c.User))
		}
	case "53400":
		return "At the source: ALTER SYSTEM SET max_replication_slots = 20; then restart it, or drop a slot that nobody uses: " +
			"SELECT pg_drop_replication_slot(slot_name) FROM pg_replication_slots WHERE slot_name = '...';"
	case "53300":
		return "At the source: ALTER SYSTEM SET max_connections = 200; ALTER SYSTEM SET max_wal_senders = 20; then restart it."
	case "55000":
		if strings.Contains(pg.Message, "wal_level") {
			return "At the source: ALTER SYSTEM SET wal_level = 'logical'; then restart it."
		}
	case "08P01":
		if strings.Contains(pg.Message, "startup parameter") {
			return "A connection pooler is in between; give the address of PostgreSQL itself."
		}
	}
	return ""
}

// shortNetError leaves out the connection string that pgconn puts before the cause.
func shortNetError(err error) string {
	var ce *pgconn.ConnectError
	if errors.As(err, &ce) {
		if u := ce.Unwrap(); u != nil {
			return u.Error()
		}
	}
	return err.Error()
}
