package e2e

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"
)

// TestSecretsAreNowhereToBeRead: a server at debug level goes through all that has a secret in it, said rightly and wrongly; nothing that people read shows one.
func TestSecretsAreNowhereToBeRead(t *testing.T) {
	s := start(t, "--log-level", "debug")
	c := s.connect(t)
	const mark = "Zq7Secret"
	n := 0
	secret := func() string { n++; return fmt.Sprintf("%s%d", mark, n) }
	try := func(sql string) {
		_, _, err := c.try(sql)
		if err != nil && strings.Contains(describe(err), mark) && !strings.Contains(sql, "syntax") {
			t.Errorf("%s: the error shows it: %s", sql, describe(err))
		}
	}
	for _, sql := range []string{
		"CREATE SECRET pw AS '%s'", "CREATE SECRET pw AS '%s'", "CREATE SECRET IF NOT EXISTS pw AS '%s'", "CREATE SECRET broken AS '%s' oops", "CREATE SECRET AS '%s'",
		"create secret quoted as $$%s$$", "CREATE SECRET escaped AS E'%s'", "/* c */ CREATE SECRET commented AS '%s'",
		"CREATE CONNECTION direct TO POSTGRES (HOST '127.0.0.1', PORT 1, DATABASE 'd', USER 'u', PASSWORD '%s')",
		"CREATE CONNECTION other TO MYSQL (HOST '127.0.0.1', PASSWORD '%s')",
		"CREATE CONNECTION broken TO POSTGRES (HOST '127.0.0.1', PASSWORD '%s'",
		"CREATE USER bob PASSWORD '%s'", "CREATE USER bob PASSWORD '%s'", "ALTER USER bob PASSWORD '%s'", "ALTER USER nobody WITH PASSWORD '%s'", "CREATE USER bob PASSWORD '%s' oops",
		"CREATE ROLE carl LOGIN ENCRYPTED PASSWORD '%s'", "CREATE USER dora PASSWORD '%s' VALID UNTIL 'infinity'",
		"SELECT 1; CREATE SECRET second AS '%s'; SELECT 2", "BEGIN; CREATE SECRET third AS '%s'; ROLLBACK",
	} {
		try(fmt.Sprintf(sql, secret()))
		if strings.HasPrefix(sql, "BEGIN") {
			c.run("ROLLBACK")
		}
	}
	bob := secret()
	c.run("ALTER USER bob PASSWORD '" + bob + "'")
	c.run("CREATE CONNECTION shop TO POSTGRES (HOST '127.0.0.1', PORT 1, DATABASE 'd', USER 'u', PASSWORD SECRET pw)")
	c.run("CREATE SOURCE shop FROM POSTGRES CONNECTION shop FOR TABLES (public.items)")
	c.until("SELECT count(*) > 0 FROM mz_internal.mz_sources WHERE reason <> ''", "t")

	as := s.connectAs(t, "bob", bob)
	ctx := t.Context()
	if _, err := as.c.Exec(ctx, "CREATE SECRET extended AS '"+secret()+"'", pgx.QueryExecModeExec); err != nil {
		t.Fatal(err)
	}
	if _, err := as.c.Prepare(ctx, "kept", "CREATE SECRET prepared AS '"+secret()+"'"); err != nil {
		t.Fatal(err)
	}
	cfg, err := pgx.ParseConfig(s.url)
	if err != nil {
		t.Fatal(err)
	}
	cfg.User, cfg.Password = "bob", secret()
	if wrong, err := pgx.ConnectConfig(ctx, cfg); err == nil {
		wrong.Close(ctx)
		t.Error("a wrong password got in")
	}
	address := strings.TrimPrefix(s.url, "postgres://")
	server := "postgres://bob:" + bob + "@" + address
	for _, args := range [][]string{
		{"attach", "postgres://u:" + secret() + "@127.0.0.1:1/d", "--server", server},
		{"attach", "postgres://u:" + secret() + "@127.0.0.1:1/d", "--server", "postgres://bob:" + secret() + "@" + address},
		{"attach", "postgres://u:" + secret() + "@bad host/d", "--server", server},
		{"backup", "--url", "postgres://bob:" + secret() + "@" + address, "--to", filepath.Join(t.TempDir(), "b")},
		{"user", "list", "--url", "postgres://bob:" + secret() + "@127.0.0.1:bad"},
	} {
		if out, errs, err := tailrace(t, args...); err == nil || strings.Contains(out+errs, mark) {
			t.Errorf("%s: got %v and prints %s%s, want an error without the secret", args[0], err, out, errs)
		}
	}
	add := exec.Command(binary, "user", "add", "eve", "--url", server)
	add.Env = append(os.Environ(), "TAILRACE_PASSWORD="+secret())
	if out, err := add.CombinedOutput(); err != nil || strings.Contains(string(out), mark) {
		t.Errorf("user add: %v %s", err, out)
	}
	s.connectAs(t, "eve", fmt.Sprintf("%s%d", mark, n))

	for _, q := range []string{
		"SELECT * FROM mz_internal.mz_statement_history", "SELECT * FROM pg_stat_activity", "SELECT * FROM pg_prepared_statements", "SELECT * FROM mz_internal.mz_secrets",
		"SELECT * FROM mz_internal.mz_connections", "SELECT * FROM mz_internal.mz_sources", "SELECT * FROM mz_internal.mz_source_tables", "SELECT * FROM pg_roles", "SELECT * FROM pg_user",
		"SELECT * FROM pg_authid", "SELECT * FROM pg_shadow",
	} {
		rows, _, err := c.try(q)
		if err != nil && !strings.Contains(describe(err), "does not exist") {
			t.Errorf("%s: %s", q, describe(err))
		}
		for _, row := range rows {
			if strings.Contains(row, mark) {
				t.Errorf("%s shows %s", q, row)
			}
		}
	}
	if n := c.one("SELECT count(*) FROM mz_internal.mz_statement_history WHERE sql LIKE '%CREATE SECRET%' OR sql LIKE '%USER%'"); n == "0" {
		t.Error("the history has no statement about secrets: it should have them, without their values")
	}
	resp, err := http.Get(s.http + "/metrics")
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	metrics, err := io.ReadAll(resp.Body)
	if err != nil || strings.Contains(string(metrics), mark) {
		t.Errorf("/metrics: %v, shows a secret: %v", err, strings.Contains(string(metrics), mark))
	}
	if err := s.stop(); err != nil {
		t.Error(err)
	}
	if text := s.log.String(); strings.Contains(text, mark) || len(text) < 100 || len(text) >= 64<<10 {
		t.Errorf("the log (%d bytes) shows a secret, or is cut:\n%s", len(text), text)
	}
	for _, args := range [][]string{{"inspect", s.dir}, {"inspect", s.dir, "--json"}} {
		if out, errs, err := tailrace(t, args...); err != nil || strings.Contains(out+errs, mark) {
			t.Errorf("%v: %v, shows a secret: %v\n%s", args, err, strings.Contains(out, mark), errs)
		}
	}
}

// TestUsersBySQL makes, changes and drops users while the server runs.
func TestUsersBySQL(t *testing.T) {
	s := start(t)
	c := s.connect(t)
	c.fails("CREATE USER ann", "0A000", "without a password")
	c.fails("CREATE ROLE ann PASSWORD 'x'", "0A000", "cannot log in")
	c.fails("CREATE USER ann PASSWORD ''", "22023", "")
	c.fails("ALTER USER ann PASSWORD 'x'", "42704", `role "ann" does not exist`)
	c.fails("DROP USER ann", "42704", `role "ann" does not exist`)
	c.run("BEGIN; CREATE USER ann PASSWORD 'x'; ROLLBACK")
	c.run("SELECT 1")
	c.run("CREATE USER ann PASSWORD 'first'; CREATE USER ben PASSWORD 'b'")
	c.fails("CREATE USER ann PASSWORD 'x'", "42710", `role "ann" already exists`)
	refused := func(user, password string) {
		t.Helper()
		cfg, err := pgx.ParseConfig(s.url)
		if err != nil {
			t.Fatal(err)
		}
		cfg.User, cfg.Password = user, password
		if conn, err := pgx.ConnectConfig(context.Background(), cfg); err == nil {
			conn.Close(context.Background())
			t.Errorf("%s with password %q got in", user, password)
		}
	}
	refused("tester", "")
	refused("ann", "second")
	ann := s.connectAs(t, "ann", "first")
	c.run("ALTER USER ann PASSWORD 'second'")
	refused("ann", "first")
	wantRows(t, "an open session", ann.run("SELECT current_user"), "ann")
	s.connectAs(t, "ann", "second")
	ann.fails("DROP USER ann", "55006", "current user cannot be dropped")
	ann.run("DROP USER ben; DROP USER IF EXISTS ben")
	refused("ben", "b")
	url := "postgres://ann:second@" + strings.TrimPrefix(s.url, "postgres://")
	if out, errs, err := tailrace(t, "user", "list", "--url", url); out != "ann\n" || err != nil {
		t.Errorf("user list: got %q %q %v, want ann", out, errs, err)
	}
	if _, errs, err := tailrace(t, "user", "drop", "ann", "--data", s.dir); err == nil || !strings.Contains(errs, "--url postgres://") {
		t.Errorf("user drop of a folder in use: got %v %q, want what to type", err, errs)
	}
	if _, errs, err := tailrace(t, "user", "drop", "ben", "--url", url); err == nil || !strings.Contains(errs, `role "ben" does not exist`) {
		t.Errorf("user drop: got %v %q", err, errs)
	}
}
