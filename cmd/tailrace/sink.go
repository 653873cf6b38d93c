package main

import (
	"context"
	"fmt"
	"net/url"
	"os"
	"strings"
	"text/tabwriter"

	"github.com/jackc/pgx/v5"

	"tailrace"
)

// SinkCmd is `tailrace sink`.
type SinkCmd struct {
	Create SinkCreateCmd `cmd:"" help:"Begin to feed a database, and show how far its first copy is."`
	List   SinkListCmd   `cmd:"" help:"Show the sinks and how they do."`
	Drop   SinkDropCmd   `cmd:"" help:"Stop feeding. The target's tables stay as they are."`
}

// SinkCreateCmd is `tailrace sink create`.
type SinkCreateCmd struct {
	Name       string   `arg:"" help:"What to call it."`
	From       []string `help:"Tables to send, schema.name or name; or source:NAME for all tables of a source." required:""`
	To         string   `help:"The target: mysql://user@host:3306/db, mariadb://..., or postgres://user@host:5432/db. The password may be in TAILRACE_TARGET_PASSWORD." required:""`
	With       []string `help:"Options as in SQL, such as \"CONSISTENCY = 'transaction'\" or \"ON CONFLICT = 'overwrite'\"; may be repeated." sep:"none"`
	Background bool     `help:"Return at once, without waiting until the tables are copied."`
	Server     string   `help:"The Tailrace server." default:"postgres://127.0.0.1:6875/postgres" env:"TAILRACE_SERVER"`
}

// Help explains what happens.
func (SinkCreateCmd) Help() string {
	return `Makes the tables at the target, or checks those that are there, copies the rows as of now, and goes on with every change. The server does it; this command only shows how far it
is, and may be ended. Run it again to look again.

  tailrace sink create copy --from orders --from order_lines --to mysql://root@127.0.0.1:3306/shop
  tailrace sink create copy --from source:shop --to postgres://postgres@127.0.0.1:5432/shop --with "CONSISTENCY = 'transaction'"`
}

// Run creates the sink, if it is not there, and waits until its tables are copied.
func (c *SinkCreateCmd) Run(ctx context.Context) error {
	conn, err := connect(ctx, c.Server)
	if err != nil {
		return err
	}
	defer conn.Close(context.WithoutCancel(ctx))
	statements, err := c.statements(os.Getenv("TAILRACE_TARGET_PASSWORD"))
	if err != nil {
		return err
	}
	spans, err := sinkSpans(ctx, conn, c.Name)
	if err != nil {
		return err
	}
	if len(spans) > 0 {
		fmt.Printf("sink %s exists already\n", c.Name)
		statements = nil
	}
	for _, statement := range statements {
		if _, err := conn.Exec(ctx, statement); err != nil {
			return asError(err)
		}
	}
	if c.Background {
		return nil
	}
	return c.wait(ctx, conn)
}

// statements is the SQL that creates the sink. A password becomes a secret.
func (c *SinkCreateCmd) statements(password string) ([]string, error) {
	kind, err := targetKind(c.To)
	if err != nil {
		return nil, err
	}
	u, err := url.Parse(c.To)
	if err != nil {
		return nil, &tailrace.Error{Code: "08001", Message: "the target's address cannot be read", Hint: "Write it as mysql://user@host:3306/database or postgres://user@host:5432/database."}
	}
	if given, has := u.User.Password(); has {
		password, u.User = given, url.User(u.User.Username())
	}
	name := pgx.Identifier{c.Name}.Sanitize()
	target := "URL " + literal(u.String())
	var out []string
	if password != "" {
		secret := pgx.Identifier{c.Name + "_target_password"}.Sanitize()
		out = append(out, fmt.Sprintf("CREATE SECRET IF NOT EXISTS %s AS %s", secret, literal(password)))
		target += ", PASSWORD SECRET " + secret
	}
	from := "SOURCE " + pgx.Identifier{strings.TrimPrefix(c.From[0], "source:")}.Sanitize()
	if !strings.HasPrefix(c.From[0], "source:") {
		var tables []string
		for _, t := range c.From {
			tables = append(tables, pgx.Identifier(strings.SplitN(t, ".", 2)).Sanitize())
		}
		from = strings.Join(tables, ", ")
	} else if len(c.From) > 1 {
		return nil, &tailrace.Error{Code: "22023", Message: "a sink is of one source, or of tables", Hint: "Create a sink for each source."}
	}
	with := ""
	if len(c.With) > 0 {
		with = " WITH (" + strings.Join(c.With, ", ") + ")"
	}
	return append(out, fmt.Sprintf("CREATE SINK %s FROM %s INTO %s (%s)%s", name, from, strings.ToUpper(kind), target, with)), nil
}

// wait shows how far the copying is until all tables are followed, or one of them is not going to be.
func (c *SinkCreateCmd) wait(ctx context.Context, conn *pgx.Conn) error {
	show := progressLines(os.Stdout)
	if isTerminal(os.Stdout) {
		show = progressBar(ctx, os.Stdout)
	}
	defer show.end()
	said := ""
	for {
		tables, err := sinkSpans(ctx, conn, c.Name)
		if err != nil {
			return err
		}
		if len(tables) == 0 {
			return &tailrace.Error{Code: "42704", Message: fmt.Sprintf("sink %s was dropped", c.Name), Hint: "Run this command again to create it anew."}
		}
		show.update(tables)
		live, bad := 0, 0
		for i := range tables {
			t := &tables[i]
			switch t.state {
			case "running", "behind":
				live++
			case "error", "failed", "paused":
				bad++
			}
			if t.reason != "" && t.reason != said {
				said = t.reason
				show.say(fmt.Sprintf("%s.%s: %s", t.schema, t.name, t.reason))
				if t.hint != "" {
					show.say("  " + t.hint)
				}
			}
		}
		switch {
		case live == len(tables):
			show.end()
			fmt.Printf("Live: %d. See how it does:\n\n  psql %s -c %s\n\n", live, c.Server, shellQuote("SELECT * FROM mz_internal.mz_sink_spans"))
			return nil
		case live+bad == len(tables):
			return &tailrace.Error{Code: "55000", Message: fmt.Sprintf("%d of %d tables are not followed", bad, len(tables)), Hint: "See the lines above for what mends each; the server tries again by itself."}
		}
		if err := pause(ctx, statusEvery); err != nil {
			return err
		}
	}
}

// sinkSpans are the tables of a sink as progress shows them: those that are copied are in state snapshot.
func sinkSpans(ctx context.Context, conn *pgx.Conn, sink string) ([]tableState, error) {
	rows, err := conn.Query(ctx, `SELECT s.schema, s.table_name, CASE WHEN s.state IN ('starting', 'failing') THEN 'snapshot' ELSE s.state END,
			coalesce(nullif(s.reason, ''), k.reason, ''), coalesce(nullif(s.hint, ''), k.hint, ''), s.rows, coalesce(c.reltuples, -1)::bigint
		FROM mz_internal.mz_sink_spans s JOIN mz_internal.mz_sinks k ON k.name = s.sink
			LEFT JOIN pg_catalog.pg_namespace n ON n.nspname = s.schema LEFT JOIN pg_catalog.pg_class c ON c.relname = s.table_name AND c.relnamespace = n.oid
		WHERE s.sink = `+literal(sink)+" ORDER BY 1, 2")
	if err != nil {
		return nil, asError(err)
	}
	defer rows.Close()
	var out []tableState
	for rows.Next() {
		var t tableState
		if err := rows.Scan(&t.schema, &t.name, &t.state, &t.reason, &t.hint, &t.rows, &t.estimate); err != nil {
			return nil, err
		}
		out = append(out, t)
	}
	return out, asError(rows.Err())
}

// SinkListCmd is `tailrace sink list`.
type SinkListCmd struct {
	Server string `help:"The Tailrace server." default:"postgres://127.0.0.1:6875/postgres" env:"TAILRACE_SERVER"`
}

// Run prints a line for each table of each sink.
func (c *SinkListCmd) Run(ctx context.Context) error {
	conn, err := connect(ctx, c.Server)
	if err != nil {
		return err
	}
	defer conn.Close(context.WithoutCancel(ctx))
	rows, err := conn.Query(ctx, `SELECT sink, schema || '.' || table_name, state, coalesce((lag_us / 1000)::text || ' ms', '-'), rows, waiting, reason FROM mz_internal.mz_sink_spans ORDER BY 1, 2`)
	if err != nil {
		return asError(err)
	}
	defer rows.Close()
	w := tabwriter.NewWriter(os.Stdout, 0, 8, 2, ' ', 0)
	fmt.Fprintln(w, "SINK\tTABLE\tSTATE\tLAG\tROWS\tWAITS FOR\tREASON")
	for rows.Next() {
		var sink, table, state, lag, waits, reason string
		var n int64
		if err := rows.Scan(&sink, &table, &state, &lag, &n, &waits, &reason); err != nil {
			return err
		}
		fmt.Fprintf(w, "%s\t%s\t%s\t%s\t%d\t%s\t%s\n", sink, table, state, lag, n, waits, reason)
	}
	if err := rows.Err(); err != nil {
		return asError(err)
	}
	return w.Flush()
}

// SinkDropCmd is `tailrace sink drop`.
type SinkDropCmd struct {
	Name   string `arg:"" help:"The sink."`
	Server string `help:"The Tailrace server." default:"postgres://127.0.0.1:6875/postgres" env:"TAILRACE_SERVER"`
}

// Run drops the sink.
func (c *SinkDropCmd) Run(ctx context.Context) error {
	conn, err := connect(ctx, c.Server)
	if err != nil {
		return err
	}
	defer conn.Close(context.WithoutCancel(ctx))
	_, err = conn.Exec(ctx, "DROP SINK "+pgx.Identifier{c.Name}.Sanitize())
	return asError(err)
}
