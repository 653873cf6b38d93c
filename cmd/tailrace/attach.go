package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"

	"tailrace"
	"tailrace/postgres"
)

// AttachCmd is `tailrace attach`.
type AttachCmd struct {
	URL    string   `arg:"" help:"The PostgreSQL to follow: postgres://user@host:port/db. The password may be in PGPASSWORD."`
	Tables []string `help:"Tables to follow, schema.name or name; all when left out."`
	Server string   `help:"The Tailrace server." default:"postgres://127.0.0.1:6875/postgres" env:"TAILRACE_SERVER"`
}

// statusEvery is how often the server is asked how far it is.
const statusEvery = 200 * time.Millisecond

// Run checks the source, creates it at the server, and waits until its tables are live. Running it again goes on where the first run is.
func (a *AttachCmd) Run(ctx context.Context) error {
	config, err := postgres.FromURL(a.URL)
	if err != nil {
		return err
	}
	if config.Password == "" {
		config.Password = os.Getenv("PGPASSWORD")
	}
	if config.Database == "" {
		return &tailrace.Error{Code: "08001", Message: "the address names no database", Hint: "Write it as postgres://user@host:5432/database."}
	}
	conn, err := connect(ctx, a.Server)
	if err != nil {
		return err
	}
	defer conn.Close(context.WithoutCancel(ctx))
	exists, err := a.sourceExists(ctx, conn, config.Database)
	if err != nil {
		return err
	}
	if exists {
		fmt.Printf("source %s exists already\n", config.Database)
	} else if err := a.create(ctx, conn, config); err != nil {
		return err
	}
	return follow(ctx, conn, config.Database, a.Server)
}

// connect opens a connection to our server.
func connect(ctx context.Context, server string) (*pgx.Conn, error) {
	config, err := pgx.ParseConfig(server)
	if err != nil {
		return nil, &tailrace.Error{Code: "08001", Message: "what was given is not the address of a server", Hint: "Write it as " +
			"postgres://127.0.0.1:6875/postgres."} // the address may hold a password
	}
	config.DefaultQueryExecMode = pgx.QueryExecModeSimpleProtocol
	conn, err := pgx.ConnectConfig(ctx, config)
	var pg *pgconn.PgError
	if err != nil && !errors.As(err, &pg) {
		return nil, &tailrace.Error{
			Code: "08001", Message: "no Tailrace answers at " + config.Host + fmt.Sprintf(":%d", config.Port), Err: err,
			Hint: "Start one: tailrace serve --data ./data, or say where it is: --server postgres://host:6875/postgres",
		}
	}
	return conn, asError(err)
}

// create checks the source and creates it, with its connection and secret, named after the database.
func (a *AttachCmd) create(ctx context.Context, conn *pgx.Conn, config postgres.Config) error {
	report, err := postgres.Check(ctx, config, tailrace.Selection{All: len(a.Tables) == 0, Tables: a.Tables})
	if err != nil {
		return err
	}
	printFindings(os.Stdout, report)
	if report.Blocked() {
		return &tailrace.Error{Code: "55000", Message: "the source cannot be followed yet", Hint: "Run the statements above at the source, then this command again."}
	}
	for _, statement := range a.statements(config) {
		var pg *pgconn.PgError
		if _, err := conn.Exec(ctx, statement); errors.As(err, &pg) && (pg.Code == "42710" || pg.Code == "42P07") && !strings.HasPrefix(statement, "CREATE SOURCE") {
			continue // from an earlier run
		} else if err != nil {
			return asError(err)
		}
	}
	return nil
}

// statements is the SQL that creates the source.
func (a *AttachCmd) statements(config postgres.Config) []string {
	name := pgx.Identifier{config.Database}.Sanitize()
	secret := pgx.Identifier{config.Database + "_password"}.Sanitize()
	option := func(name, value string) string { return name + " " + literal(value) }
	options := []string{
		option("HOST", orElse(config.Host, "127.0.0.1")), "PORT " + orElse(config.Port, "5432"), option("DATABASE", config.Database),
		option("USER", orElse(config.User, "postgres")),
	}
	if config.SSLMode != "" {
		options = append(options, option("SSL MODE", config.SSLMode))
	}
	var out []string
	if config.Password != "" {
		out = append(out, fmt.Sprintf("CREATE SECRET %s AS %s", secret, literal(config.Password)))
		options = append(options, "PASSWORD SECRET "+secret)
	}
	which := "ALL TABLES"
	if len(a.Tables) > 0 {
		var tables []string
		for _, t := range a.Tables {
			schema, table, ok := strings.Cut(t, ".")
			if !ok {
				schema, table = "public", t
			}
			tables = append(tables, pgx.Identifier{schema, table}.Sanitize())
		}
		which = "TABLES (" + strings.Join(tables, ", ") + ")"
	}
	return append(out,
		fmt.Sprintf("CREATE CONNECTION %s TO POSTGRES (%s)", name, strings.Join(options, ", ")),
		fmt.Sprintf("CREATE SOURCE %s FROM POSTGRES CONNECTION %s FOR %s", name, name, which))
}

func orElse(value, otherwise string) string {
	if value == "" {
		return otherwise
	}
	return value
}

func literal(s string) string { return "'" + strings.ReplaceAll(s, "'", "''") + "'" }

// printFindings shows what the check found, each with what mends it.
func printFindings(w io.Writer, report *postgres.Report) {
	for _, f := range report.Findings {
		fmt.Fprintf(w, "%-9s  %s: %s\n", f.Severity, f.Subject, f.Message)
		if f.Fix != "" {
			fmt.Fprintf(w, "%-9s  %s\n", "", f.Fix)
		}
	}
	if n := len(report.Tables); n > 0 {
		fmt.Fprintf(w, "tables that can be followed: %d\n", n)
	}
}

// asError keeps what an error of a server says in our form, so that its detail and hint are printed.
func asError(err error) error {
	var pg *pgconn.PgError
	if errors.As(err, &pg) {
		return &tailrace.Error{Code: pg.Code, Message: pg.Message, Detail: pg.Detail, Hint: pg.Hint, Where: pg.Where, Err: err}
	}
	return err
}
