package e2e

import (
	"bytes"
	"context"
	"os"
	"os/exec"
	"regexp"
	"strings"
	"testing"

	"github.com/cockroachdb/datadriven"
	"github.com/jackc/pgx/v5"

	"tailrace/internal/pgtest"
)

// described runs psql's commands in one psql and returns what each printed.
func described(t testing.TB, url string, commands []string) []string {
	t.Helper()
	const end = "-- end of command --"
	var in bytes.Buffer
	for _, c := range commands {
		in.WriteString(c + "\n\\echo " + end + "\n")
	}
	cmd := exec.Command("psql", "-X", "-q", url)
	cmd.Stdin = &in
	cmd.Env = append(os.Environ(), "PAGER=cat", "LC_ALL=C.UTF-8")
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("psql: %v\n%s", err, out)
	}
	parts := strings.Split(string(out), end+"\n")
	if len(parts) != len(commands)+1 {
		t.Fatalf("psql answered %d commands, want %d\n%s", len(parts)-1, len(commands), out)
	}
	return parts[:len(commands)]
}

// psqlSetup makes the same objects here and in a database of PostgreSQL's own, and returns where both are.
func psqlSetup(t testing.TB) (ours *server, theirs string) {
	t.Helper()
	setup, err := os.ReadFile("testdata/psql/setup.sql")
	if err != nil {
		t.Fatal(err)
	}
	ours = start(t)
	ours.connect(t).run(string(setup))
	pg := pgtest.Shared(t)
	pg.Exec(t, "DROP DATABASE IF EXISTS psql")
	pg.Exec(t, "CREATE DATABASE psql")
	pg.Exec(t, "DO $$ BEGIN CREATE ROLE tester SUPERUSER LOGIN; EXCEPTION WHEN duplicate_object THEN END $$")
	theirs = strings.Replace(pg.URLOf("psql"), "postgres@", "tester@", 1)
	conn, err := pgx.Connect(context.Background(), theirs)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close(context.Background())
	if _, err := conn.Exec(context.Background(), string(setup)); err != nil {
		t.Fatal(err)
	}
	return ours, theirs
}

// asTester is the server's address for the user that the tests' connections have.
func (s *server) asTester() string { return s.url + "?user=tester" }

// TestPsqlDescribesAsInPostgres runs the commands of testdata/psql/agree in psql on the same objects here and in PostgreSQL: both print the same.
func TestPsqlDescribesAsInPostgres(t *testing.T) {
	ours, theirs := psqlSetup(t)
	raw, err := os.ReadFile("testdata/psql/agree")
	if err != nil {
		t.Fatal(err)
	}
	commands := strings.Split(strings.TrimSpace(string(raw)), "\n")
	want := described(t, theirs, commands)
	for i, got := range described(t, ours.asTester(), commands) {
		if got != want[i] {
			t.Errorf("%s\ngot\n%s\nwant\n%s", commands[i], got, want[i])
		}
	}
}

// sizes are what differs from run to run in psql's output.
var sizes = regexp.MustCompile(`\d+ (bytes|kB|MB)`)

// TestPsqlDescribes keeps what psql prints where it cannot be as in PostgreSQL: our schemas, one database, views in the words they were made with.
func TestPsqlDescribes(t *testing.T) {
	ours, _ := psqlSetup(t)
	datadriven.RunTest(t, "testdata/psql/golden", func(t *testing.T, d *datadriven.TestData) string {
		out := described(t, ours.asTester(), []string{strings.TrimSpace(d.Input)})[0]
		var lines []string
		for line := range strings.Lines(sizes.ReplaceAllString(out, "N bytes")) {
			lines = append(lines, strings.TrimRight(line, " \n"))
		}
		return strings.TrimSpace(strings.Join(lines, "\n")) + "\n"
	})
}

func TestPsqlSaysWhereItIs(t *testing.T) {
	s := start(t)
	got := described(t, s.asTester(), []string{`\conninfo`})[0]
	if !strings.HasPrefix(got, `You are connected to database "postgres" as user "tester"`) {
		t.Errorf("got %q", got)
	}
}
