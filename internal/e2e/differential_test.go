package e2e

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5/pgconn"

	"tailrace/internal/pgtest"
)

// TestAnswersAsPostgresDoes sends the statements of testdata/differential to a PostgreSQL 15 and to us, over the wire: rows as text, column
// names, type OIDs and modifiers, command tags, and of errors SQLSTATE, message and position are the same, except for what
// docs/postgresql-differences.md lists. What is listed must differ, in the way that is listed.
//
// In a file each line is a statement, or a comment. A line that ends in `\bind a|b` goes through the extended protocol with those
// parameters; \N is NULL. A line may hold several statements: their answers are compared one by one.
func TestAnswersAsPostgresDoes(t *testing.T) {
	accepted := readAccepted(t, "../../docs/postgresql-differences.md")
	theirs := &peer{t: t, name: "PostgreSQL", url: pgtest.Shared(t).URL()}
	ours := &peer{t: t, name: "here", url: start(t).url + "?user=postgres&sslmode=disable"}
	files, err := filepath.Glob("testdata/differential/*.sql")
	if err != nil || len(files) == 0 {
		t.Fatalf("found %d files of statements, %v", len(files), err)
	}
	files = append(files, "../../query/testdata/agree.sql")
	setups := []string{"testdata/differential/setup.sql", "../../query/testdata/setup.sql"}
	for _, p := range []*peer{theirs, ours} {
		for _, name := range setups {
			p.load(name)
		}
	}
	count, same := 0, 0
	for _, name := range files {
		if slices.Contains(setups, name) {
			continue
		}
		t.Run(strings.TrimSuffix(filepath.Base(name), ".sql"), func(t *testing.T) {
			for _, line := range statements(t, name) {
				count++
				if accepted.compare(t, line, theirs.ask(line), ours.ask(line)) {
					same++
				}
			}
		})
	}
	accepted.unused(t)
	t.Logf("%d statements, %d with the same answer", count, same)
}

// statements are the lines of a file that are no comments.
func statements(t testing.TB, name string) []string {
	t.Helper()
	text, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	var out []string
	for _, line := range strings.Split(string(text), "\n") {
		if line = strings.TrimSpace(line); line != "" && !strings.HasPrefix(line, "--") {
			out = append(out, line)
		}
	}
	return out
}

// peer is one of the two servers, with one session that lasts through the whole test.
type peer struct {
	t    testing.TB
	name string
	url  string
	c    *pgconn.PgConn
}

// session is the connection, opened anew when the last statement broke it.
func (p *peer) session(ctx context.Context) *pgconn.PgConn {
	if p.c != nil && !p.c.IsClosed() {
		return p.c
	}
	c, err := pgconn.Connect(ctx, p.url)
	if err != nil {
		p.t.Fatalf("connect to %s: %v", p.name, err)
	}
	p.c = c
	p.t.Cleanup(func() { _ = c.Close(context.Background()) }) // the server goes away after it
	if _, err := c.Exec(ctx, "SET TimeZone = 'Europe/Berlin'; SET lc_messages = 'C'").ReadAll(); err != nil {
		p.t.Fatalf("%s: %v", p.name, err)
	}
	return c
}

func (p *peer) load(name string) {
	text, err := os.ReadFile(name)
	if err != nil {
		p.t.Fatal(err)
	}
	if _, err := p.session(p.t.Context()).Exec(p.t.Context(), string(text)).ReadAll(); err != nil {
		p.t.Fatalf("%s: %s: %s", p.name, name, describe(err))
	}
}

// reply is what a server said to one line.
type reply struct {
	results []string // of each statement: columns, rows, tag
	rows    []string // of all statements, for the list of differences
	err     string
}

// ask runs one line.
func (p *peer) ask(line string) reply {
	ctx, cancel := context.WithTimeout(p.t.Context(), time.Minute)
	defer cancel()
	c := p.session(ctx)
	sql, bind, prepared := strings.Cut(line, ` \bind`)
	ordered := strings.Contains(strings.ToLower(sql), "order by") || strings.HasPrefix(strings.ToLower(sql), "explain")
	var r reply
	var err error
	if prepared {
		err = r.prepared(ctx, c, sql, strings.TrimPrefix(bind, " "), ordered)
	} else {
		results := c.Exec(ctx, sql)
		for results.NextResult() {
			r.add(results.ResultReader(), ordered)
		}
		err = results.Close()
	}
	var e *pgconn.PgError
	switch {
	case errors.As(err, &e):
		r.err = fmt.Sprintf("%s: %s at %d", e.Code, e.Message, e.Position)
	case err != nil:
		r.err = "lost: " + err.Error()
	}
	return r
}

// prepared runs a statement with parameters, whose types the server says.
func (r *reply) prepared(ctx context.Context, c *pgconn.PgConn, sql, bind string, ordered bool) error {
	d, err := c.Prepare(ctx, "", sql, nil)
	if err != nil {
		return err
	}
	r.results = append(r.results, fmt.Sprint("parameters ", d.ParamOIDs))
	var values [][]byte
	if bind != "" {
		for _, v := range strings.Split(bind, "|") {
			if v == `\N` {
				values = append(values, nil)
			} else {
				values = append(values, []byte(v))
			}
		}
	}
	read := c.ExecPrepared(ctx, "", values, nil, nil)
	r.add(read, ordered)
	_, err = read.Close()
	return err
}

// firstUserOID is where PostgreSQL begins to number what users make.
const firstUserOID = 16384

// add reads one statement's result. Rows without an order are sorted.
func (r *reply) add(read *pgconn.ResultReader, ordered bool) {
	var columns, rows []string
	for _, f := range read.FieldDescriptions() {
		oid := fmt.Sprint(f.DataTypeOID)
		if f.DataTypeOID >= firstUserOID {
			oid = "user" // made here and there in its own order
		}
		columns = append(columns, fmt.Sprintf("%s %s(%d)", f.Name, oid, f.TypeModifier))
	}
	for read.NextRow() {
		var cells []string
		for _, v := range read.Values() {
			if v == nil {
				cells = append(cells, "NULL")
			} else {
				cells = append(cells, string(v))
			}
		}
		rows = append(rows, strings.Join(cells, "|"))
	}
	if !ordered {
		slices.Sort(rows)
	}
	tag, err := read.Close()
	if err != nil {
		return // ask says it; rows before an error are the server's own affair
	}
	r.rows = append(r.rows, rows...)
	r.results = append(r.results, fmt.Sprintf("%s\n      %s\n      %s", strings.Join(columns, ", "), strings.Join(rows, "\n      "), tag))
}

func (r reply) String() string {
	parts := slices.Clone(r.results)
	if r.err != "" {
		parts = append(parts, "error "+r.err)
	}
	return strings.Join(parts, "\n    ")
}

// short is the reply as the list of differences writes it.
func (r reply) short() string {
	parts := slices.Clone(r.rows)
	if r.err != "" {
		parts = append(parts, r.err)
	}
	return strings.Join(parts, "; ")
}
