package postgres

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/jackc/pgx/v5/pgconn"

	"tailrace"
)

// Severity says what a finding means for following the source.
type Severity string

// The severities.
const (
	Blocks  Severity = "blocks"    // nothing can be followed until it is mended
	LeftOut Severity = "left out"  // the table named is not followed until it is mended
	Note    Severity = "note"      // good to know
	Made    Severity = "will make" // attach does it
)

// Finding is one thing that Check found.
type Finding struct {
	Severity Severity
	Subject  string // a table, or what of the server is meant
	Message  string
	Fix      string // the statement or line that mends it, "" when there is nothing to mend
}

// Report is what Check found, and the tables that would be followed.
type Report struct {
	Findings []Finding
	Tables   []*tailrace.SourceTable
}

// Blocked reports whether a finding keeps everything from being followed.
func (r *Report) Blocked() bool {
	for _, f := range r.Findings {
		if f.Severity == Blocks {
			return true
		}
	}
	return len(r.Tables) == 0
}

func (r *Report) add(s Severity, subject, message, fix string) {
	r.Findings = append(r.Findings, Finding{Severity: s, Subject: subject, Message: message, Fix: fix})
}

// Check finds what would keep the tables that sel selects from being followed, with the exact statement that mends each. It changes nothing. A source that
// cannot be reached is one finding; the error is for what could not be looked up.
func Check(ctx context.Context, c Config, sel tailrace.Selection) (*Report, error) {
	c = c.withDefaults()
	r := &Report{}
	conn, err := c.connect(ctx)
	if err != nil {
		var e *tailrace.Error
		if !errors.As(err, &e) {
			return nil, err
		}
		r.add(Blocks, "connection", e.Message, e.Hint)
		return r, nil
	}
	defer closeConn(conn)
	if err := c.checkServer(ctx, conn, r); err != nil {
		return nil, err
	}
	if err := c.checkTables(ctx, conn, sel, r); err != nil {
		return nil, err
	}
	return r, c.checkPublication(ctx, conn, r)
}

// serverQuery reads what following needs of the server and the role. $1 is our slot.
const serverQuery = `SELECT current_setting('server_version_num')::int, current_setting('wal_level'), pg_is_in_recovery(),
  current_setting('max_replication_slots')::int, (SELECT count(*) FROM pg_replication_slots),
  EXISTS (SELECT FROM pg_replication_slots WHERE slot_name = $1),
  current_setting('max_wal_senders')::int, (SELECT count(*) FROM pg_stat_activity WHERE backend_type = 'walsender'),
  rolreplication OR rolsuper, current_setting('server_version'), current_setting('max_slot_wal_keep_size')
  FROM pg_roles WHERE rolname = current_user`

// checkServer looks at settings that concern every table.
func (c *Config) checkServer(ctx context.Context, conn *pgconn.PgConn, r *Report) error {
	rows, err := query(ctx, conn, serverQuery, c.Slot)
	if err != nil {
		return c.explain("read the settings of "+c.address(), err)
	}
	row := rows[0]
	if parseInt64(row[0], 0) < 130000 {
		r.add(Blocks, "version", "PostgreSQL "+row[9]+" is too old: publishing partitioned tables by their root begins with 13",
			"Upgrade the source to PostgreSQL 13 or later.")
	}
	if row[2] == "t" {
		r.add(Blocks, "standby", c.address()+" is a standby", "Give the address of the primary.")
	}
	if row[1] != "logical" {
		r.add(Blocks, "wal_level", "wal_level is "+row[1]+", not logical", "ALTER SYSTEM SET wal_level = 'logical'; -- then restart PostgreSQL")
	}
	if most, used := parseInt64(row[3], 0), parseInt64(row[4], 0); used >= most && row[5] != "t" {
		r.add(Blocks, "max_replication_slots", fmt.Sprintf("all %d replication slots are used", most),
			fmt.Sprintf("ALTER SYSTEM SET max_replication_slots = %d; -- then restart PostgreSQL", most+10))
	}
	if most, used := parseInt64(row[6], 0), parseInt64(row[7], 0); used >= most {
		r.add(Blocks, "max_wal_senders", fmt.Sprintf("all %d WAL senders are used", most),
			fmt.Sprintf("ALTER SYSTEM SET max_wal_senders = %d; -- then restart PostgreSQL", most+10))
	}
	if row[8] != "t" {
		r.add(Blocks, "privilege", c.User+" lacks the attribute REPLICATION", fmt.Sprintf("ALTER ROLE %s REPLICATION;", plainIdent(c.User)))
	}
	if row[10] == "-1" {
		r.add(Note, "max_slot_wal_keep_size", "a copy that is stopped for long keeps the source's log without limit",
			"ALTER SYSTEM SET max_slot_wal_keep_size = '50GB'; SELECT pg_reload_conf();")
	}
	return c.checkPooler(ctx, conn, r)
}

// checkPooler finds out whether something that shares connections is in between: settings of a session would then not be ours.
func (c *Config) checkPooler(ctx context.Context, conn *pgconn.PgConn, r *Report) error {
	rows, err := query(ctx, conn, `SELECT pg_backend_pid()::text, current_setting('TimeZone')`)
	if err != nil {
		return c.explain("read the session of "+c.address(), err)
	}
	if rows[0][0] != fmt.Sprint(conn.PID()) || rows[0][1] != pinned["TimeZone"] {
		r.add(Blocks, "pooler", "a connection pooler is between here and PostgreSQL; it does not pass replication or session settings on",
			"Give the address of PostgreSQL itself.")
	}
	return nil
}

// checkTables describes the tables and says which are left out, and what is particular about the others.
func (c *Config) checkTables(ctx context.Context, conn *pgconn.PgConn, sel tailrace.Selection, r *Report) error {
	rels, missing, err := c.describe(ctx, conn, sel)
	if err != nil {
		return err
	}
	for _, name := range missing {
		e := missingTable(name)
		r.add(Blocks, qualified(name), e.Message, e.Hint)
	}
	for _, rel := range rels {
		name := plainTable(rel.Schema, rel.Name)
		if rel.Err != nil {
			r.add(LeftOut, name, rel.Err.Message, strings.TrimPrefix(rel.Err.Hint, "At the source: "))
			continue
		}
		r.Tables = append(r.Tables, &rel.SourceTable)
		if len(rel.generated) > 0 {
			r.add(Note, name, "generated columns are not copied, PostgreSQL does not send them: "+strings.Join(rel.generated, ", "), "")
		}
		if rel.kind == "p" {
			r.add(Note, name, "its partitions are copied as one table; TRUNCATE, ATTACH and DETACH of a single partition are not in PostgreSQL's stream", "")
		}
		if rel.full() && len(rel.Key) == 0 {
			r.add(Note, name, "it has no primary key; equal rows are kept as often as they are there", "")
		}
	}
	if len(rels) == 0 && len(missing) == 0 {
		r.add(Blocks, "tables", c.address()+" has no table to follow", "Create one, or name another database.")
	}
	return nil
}

// checkPublication says what is to be made, and what a publication that is not ours lacks.
func (c *Config) checkPublication(ctx context.Context, conn *pgconn.PgConn, r *Report) error {
	p, err := c.readPublication(ctx, conn)
	if err != nil {
		return err
	}
	fix := c.mend(p, r.Tables)
	switch {
	case fix == "":
	case p.exists && !p.ours:
		r.add(Blocks, "publication "+plainIdent(c.Publication), "it exists and does not publish all that is needed", fix)
	default:
		return c.checkMaking(ctx, conn, p, fix, r)
	}
	return nil
}

// checkMaking looks whether the role may make the publication itself.
func (c *Config) checkMaking(ctx context.Context, conn *pgconn.PgConn, p *publication, fix string, r *Report) error {
	rows, err := query(ctx, conn, `SELECT has_database_privilege(current_database(), 'CREATE'), rolsuper FROM pg_roles WHERE rolname = current_user`)
	if err != nil {
		return c.explain("read the privileges of "+c.User, err)
	}
	if rows[0][1] == "t" {
		r.add(Made, "publication "+plainIdent(c.Publication), "made by attach", fix)
		return nil
	}
	var notOwned []string
	for _, t := range r.Tables {
		own, err := query(ctx, conn, `SELECT pg_has_role(relowner, 'USAGE') FROM pg_class WHERE oid = $1::oid`, fmt.Sprint(t.Rel))
		if err != nil {
			return c.explain("read the owner of "+plainTable(t.Schema, t.Name), err)
		}
		if len(own) == 0 || own[0][0] != "t" {
			notOwned = append(notOwned, plainTable(t.Schema, t.Name))
		}
	}
	switch {
	case len(notOwned) > 0:
		r.add(Blocks, "publication "+plainIdent(c.Publication),
			fmt.Sprintf("it does not publish %s, and %s does not own them", strings.Join(notOwned, ", "), c.User),
			fix+" -- as their owner, or a superuser")
	case !p.exists && rows[0][0] != "t":
		r.add(Blocks, "publication "+plainIdent(c.Publication), c.User+" may not create a publication in "+c.Database,
			fmt.Sprintf("GRANT CREATE ON DATABASE %s TO %s;", plainIdent(c.Database), plainIdent(c.User)))
	default:
		r.add(Made, "publication "+plainIdent(c.Publication), "made by attach", fix)
	}
	return nil
}
