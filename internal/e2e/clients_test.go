package e2e

import (
	"bufio"
	"context"
	"fmt"
	"os/exec"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
)

// psql runs one command with psql's defaults.
func (s *server) psql(t testing.TB, args ...string) string {
	t.Helper()
	out, err := exec.Command("psql", append([]string{"-X", s.url}, args...)...).CombinedOutput()
	if err != nil {
		t.Fatalf("psql %q: %v\n%s", args, err, out)
	}
	return string(out)
}

func TestPsql(t *testing.T) {
	s := start(t)
	s.psql(t, "-c", "CREATE TABLE t (a int PRIMARY KEY, b numeric(10,2), c timestamptz)", "-c", "INSERT INTO t VALUES (1, 1.5, '2026-01-02 03:04:05+00'), (2, NULL, NULL)")
	want := " a |  b   |           c            \n---+------+------------------------\n 1 | 1.50 | 2026-01-02 03:04:05+00\n 2 |      | \n(2 rows)\n\n"
	if got := s.psql(t, "-c", "SELECT * FROM t ORDER BY a"); got != want {
		t.Fatalf("got\n%q\nwant\n%q", got, want)
	}
	cmd := exec.Command("stdbuf", "-oL", "psql", "-X", s.url, "-c", "COPY (SUBSCRIBE t) TO STDOUT")
	cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	lines := bufio.NewScanner(out)
	for _, want := range []string{"1\t1\t1.50\t2026-01-02 03:04:05+00", "1\t2\t\\N\t\\N"} {
		if !lines.Scan() || !strings.HasSuffix(lines.Text(), want) {
			t.Fatalf("COPY (SUBSCRIBE t): got %q, want %q", lines.Text(), want)
		}
	}
	cmd.Process.Signal(syscall.SIGINT)
	cmd.Wait()
	copied := exec.Command("psql", "-X", s.url, "-c", `\copy t (a, b) from stdin csv`)
	copied.Stdin = strings.NewReader("3,3.25\n4,\n")
	if out, err := copied.CombinedOutput(); err != nil || string(out) != "COPY 2\n" {
		t.Fatalf("\\copy: %v %q", err, out)
	}
	if got := s.psql(t, "-Atc", "SELECT count(*), sum(b) FROM t"); got != "4|4.75\n" {
		t.Fatalf("after \\copy: %q", got)
	}
}

func TestPgxDefaults(t *testing.T) {
	s := start(t)
	ctx := context.Background()
	conn, err := pgx.Connect(ctx, s.url)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close(ctx)
	if _, err := conn.Exec(ctx, "CREATE TABLE t (id bigint PRIMARY KEY, name text, at timestamptz, n numeric, f float8, ok bool)"); err != nil {
		t.Fatal(err)
	}
	at := time.Date(2026, 11, 30, 12, 0, 0, 123456000, time.UTC)
	for i := range 3 {
		if _, err := conn.Exec(ctx, "INSERT INTO t VALUES ($1, $2, $3, $4, $5, $6)", i, fmt.Sprint("n", i), at, "1.50", 0.25, true); err != nil {
			t.Fatal(err)
		}
	}
	var id int64
	var name string
	var got time.Time
	var f float64
	var ok bool
	err = conn.QueryRow(ctx, "SELECT id, name, at, f, ok FROM t WHERE id = $1", 2).Scan(&id, &name, &got, &f, &ok)
	if err != nil || id != 2 || name != "n2" || !got.Equal(at) || f != 0.25 || !ok {
		t.Fatalf("row: %v %d %q %v %v %v", err, id, name, got, f, ok)
	}
	tx, err := conn.Begin(ctx)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := tx.Exec(ctx, "UPDATE t SET name = $1 WHERE id = $2", "x", 1); err != nil {
		t.Fatal(err)
	}
	if err := tx.QueryRow(ctx, "SELECT name FROM t WHERE id = 1").Scan(&name); err != nil || name != "x" {
		t.Fatalf("own write: %q %v", name, err)
	}
	if err := tx.Rollback(ctx); err != nil {
		t.Fatal(err)
	}
	n, err := conn.CopyFrom(ctx, pgx.Identifier{"t"}, []string{"id", "name"}, pgx.CopyFromRows([][]any{{int64(10), "a"}, {int64(11), "b"}}))
	if err == nil && n != 2 {
		t.Fatalf("CopyFrom: %d rows", n)
	}
	stream, cancel := context.WithCancel(ctx)
	defer cancel()
	rows, err := conn.Query(stream, "SUBSCRIBE t")
	if err != nil {
		t.Fatal(err)
	}
	for range 3 {
		if !rows.Next() {
			t.Fatalf("SUBSCRIBE through Query: %v", rows.Err())
		}
	}
	cancel() // Close alone would read to the end of a stream that has none
	rows.Close()
}

// python is a psycopg program: connect with defaults, write, read, stream and stop.
const python = `
import sys
try:
    import psycopg as driver
except ImportError:
    import psycopg2 as driver
conn = driver.connect(sys.argv[1])
cur = conn.cursor()
cur.execute("CREATE TABLE p (a int PRIMARY KEY, b text, c numeric)")
conn.commit()
cur.execute("INSERT INTO p VALUES (%s, %s, %s)", (1, "x", 1.5))
cur.execute("INSERT INTO p VALUES (%s, %s, %s)", (2, None, None))
conn.commit()
cur.execute("SELECT a, b, c FROM p ORDER BY a")
print(cur.fetchall())
conn.commit()
cur.execute("DECLARE c CURSOR FOR SUBSCRIBE p")
cur.execute("FETCH 2 c")
print([r[1:] for r in cur.fetchall()])
conn.rollback()
try:
    cur.execute("SELECT nosuch FROM p")
except driver.Error as e:
    print(getattr(e, "sqlstate", None) or e.pgcode)
conn.rollback()
conn.close()
`

func TestPsycopg(t *testing.T) {
	if out, err := exec.Command("/usr/bin/python3", "-c", "try:\n import psycopg\nexcept ImportError:\n import psycopg2").CombinedOutput(); err != nil {
		t.Fatalf("psycopg is missing; `make test` installs it (Debian: python3-psycopg2)\n%s", out)
	}
	s := start(t)
	out, err := exec.Command("/usr/bin/python3", "-c", python, s.url).CombinedOutput()
	want := "[(1, 'x', Decimal('1.5')), (2, None, None)]\n[(1, 1, 'x', Decimal('1.5')), (1, 2, None, None)]\n42703\n"
	if err != nil || string(out) != want {
		t.Fatalf("psycopg: %v\ngot  %q\nwant %q", err, out, want)
	}
}

// TestHundredsOfClients has hundreds of subscribers of one table while it is written.
func TestHundredsOfClients(t *testing.T) {
	clients := 200
	s := start(t)
	w := s.connect(t)
	w.run("CREATE TABLE t (a int PRIMARY KEY, b text); INSERT INTO t SELECT g, 'row ' || g FROM generate_series(1, 1000) g")
	streams := make([]*stream, clients)
	for i := range streams {
		streams[i] = s.stream(t, "COPY (SUBSCRIBE t) TO STDOUT")
	}
	for i := range 20 {
		w.run(fmt.Sprintf("UPDATE t SET b = 'changed' WHERE a = %d", i+1))
	}
	for i, r := range streams {
		rows := map[string]int{}
		for n := 0; len(rows) != 1000 || rows["20 changed"] != 1; n++ {
			if n > 1100 {
				t.Fatalf("client %d: %d rows", i, len(rows))
			}
			diff, row, _ := strings.Cut(r.next(t), " ")
			if diff == "-1" {
				delete(rows, row)
			} else {
				rows[row]++
			}
		}
	}
}
