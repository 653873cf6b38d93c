package postgres

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/jackc/pgx/v5/pgconn"

	"tailrace"
)

// publication is what the source publishes under our name.
type publication struct {
	exists bool
	ours   bool            // made for our slot: its comment says so
	broken string          // why changes would be left out, "" when none would
	tables map[string]bool // "schema.name"
}

// publicationMark is the comment that a publication made for a slot carries, so that Drop knows it whatever happened in between.
func (c *Config) publicationMark() string { return "made by tailrace for slot " + c.Slot }

// readPublication describes the publication that the source is configured with.
func (c *Config) readPublication(ctx context.Context, conn *pgconn.PgConn) (*publication, error) {
	p := &publication{tables: map[string]bool{}}
	rows, err := query(ctx, conn, `SELECT pubinsert AND pubupdate AND pubdelete AND pubtruncate, pubviaroot,
		coalesce(obj_description(oid, 'pg_publication'), '') FROM pg_publication WHERE pubname = $1`, c.Publication)
	if err != nil {
		return nil, c.explain("read the publication "+c.Publication, err)
	}
	if len(rows) == 0 {
		return p, nil
	}
	p.exists, p.ours = true, rows[0][2] == c.publicationMark()
	switch {
	case rows[0][0] != "t":
		p.broken = "publish = 'insert, update, delete, truncate'"
	case rows[0][1] != "t":
		p.broken = "publish_via_partition_root = true"
	}
	// to_jsonb: columns that an older server lacks are then absent instead of an error.
	rows, err = query(ctx, conn, `SELECT schemaname || '.' || tablename, coalesce(to_jsonb(p) ->> 'rowfilter', '')
		FROM pg_publication_tables p WHERE pubname = $1`, c.Publication)
	if err != nil {
		return nil, c.explain("read the tables of the publication "+c.Publication, err)
	}
	for _, row := range rows {
		if row[1] == "" {
			p.tables[row[0]] = true
		}
	}
	return p, nil
}

// lacking lists, as SQL names, the tables that p does not publish whole.
func (p *publication) lacking(tables []*tailrace.SourceTable) []string {
	var out []string
	for _, t := range tables {
		if !p.tables[t.Schema+"."+t.Name] {
			out = append(out, quoteTable(t.Schema, t.Name))
		}
	}
	return out
}

// createStatement makes a publication for tables (SQL names).
func (c *Config) createStatement(tables []string) string {
	return fmt.Sprintf("CREATE PUBLICATION %s FOR TABLE %s WITH (publish_via_partition_root = true)", quoteIdent(c.Publication), strings.Join(tables, ", "))
}

// mend is the statement that makes p publish what it lacks, "" when nothing is missing.
func (c *Config) mend(p *publication, tables []*tailrace.SourceTable) string {
	lacking := p.lacking(tables)
	switch {
	case !p.exists && len(lacking) > 0:
		return c.createStatement(lacking) + ";"
	case p.exists && p.broken != "":
		return fmt.Sprintf("ALTER PUBLICATION %s SET (%s);", quoteIdent(c.Publication), p.broken)
	case len(lacking) > 0:
		return fmt.Sprintf("ALTER PUBLICATION %s ADD TABLE %s;", quoteIdent(c.Publication), strings.Join(lacking, ", "))
	}
	return ""
}

// ensurePublication makes the publication when it is not there and completes it when it is ours. Another's is not touched.
func (c *Config) ensurePublication(ctx context.Context, conn *pgconn.PgConn, tables []*tailrace.SourceTable) error {
	p, err := c.readPublication(ctx, conn)
	if err != nil {
		return err
	}
	fix := c.mend(p, tables)
	switch {
	case fix == "":
		return nil
	case p.exists && !p.ours:
		return &tailrace.Error{
			Code: "55000", Message: fmt.Sprintf("publication %s at the source does not publish every table asked for", plainIdent(c.Publication)),
			Hint: "At the source: " + fix,
		}
	case p.exists:
		return c.explainOwner("complete the publication "+c.Publication, fix, exec(ctx, conn, fix))
	}
	made := fix + fmt.Sprintf(" COMMENT ON PUBLICATION %s IS %s", quoteIdent(c.Publication), quoteLiteral(c.publicationMark()))
	return c.explainOwner("create the publication "+c.Publication, fix, exec(ctx, conn, made)) // one simple query is one transaction
}

// explainOwner is explain for a statement that needs rights which the role may lack: the hint is to run it as someone who has them.
func (c *Config) explainOwner(doing, statement string, err error) error {
	if err == nil {
		return nil
	}
	err = c.explain(doing, err)
	if e := (*tailrace.Error)(nil); errors.As(err, &e) && e.Code == "42501" {
		e.Hint = "As the owner of the tables, or a superuser, at the source: " + statement
	}
	return err
}

// dropPublication drops the publication if it was made for our slot.
func (c *Config) dropPublication(ctx context.Context, conn *pgconn.PgConn) error {
	p, err := c.readPublication(ctx, conn)
	if err != nil || !p.ours {
		return err
	}
	if err := exec(ctx, conn, "DROP PUBLICATION IF EXISTS "+quoteIdent(c.Publication)); err != nil {
		return c.explain("drop the publication "+c.Publication, err)
	}
	return nil
}
