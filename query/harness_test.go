package query

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5/pgconn"
	pg_query "github.com/pganalyze/pg_query_go/v6"
	"go.uber.org/goleak"

	"tailrace"
	"tailrace/format"
	"tailrace/internal/pgtest"
)

func TestMain(m *testing.M) {
	goleak.VerifyTestMain(m)
}

// tables is a Resolver over batches in memory.
type tables map[string]*memory

type memory struct {
	table Table
	batch *tailrace.Batch
}

func (ts tables) Type(string, string) *tailrace.NamedType { return nil }

func (ts tables) Labels(tailrace.CollectionID) []string { return nil }

func (ts tables) Resolve(schema, name string) (*Table, error) {
	if m := ts[name]; m != nil && (schema == "" || schema == "public") {
		return &m.table, nil
	}
	if schema != "" {
		name = schema + "." + name
	}
	return nil, &tailrace.Error{Code: "42P01", Message: fmt.Sprintf("relation \"%s\" does not exist", name)}
}

// add makes a table of a batch.
func (ts tables) add(name string, id tailrace.CollectionID, s *tailrace.Schema, b *tailrace.Batch) {
	m := &memory{table: Table{Columns: s, ID: id}, batch: b}
	m.table.Scan = func(_ context.Context, cols []int) (tailrace.Rows, error) {
		out := &tailrace.Batch{N: b.N, Diffs: b.Diffs}
		for _, c := range cols {
			out.Cols = append(out.Cols, b.Cols[c])
		}
		return &once{b: out}, nil
	}
	ts[name] = m
}

// once gives one batch.
type once struct{ b *tailrace.Batch }

func (o *once) Next(context.Context) (*tailrace.Batch, error) {
	b := o.b
	o.b = nil
	if b == nil || b.N == 0 {
		return nil, io.EOF
	}
	return b, nil
}

func (o *once) Close() error { return nil }

func engine(t testing.TB) *Engine {
	t.Helper()
	e, err := NewEngine(Options{Threads: 2, TempDir: t.TempDir()})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := e.Close(); err != nil {
			t.Error(err)
		}
	})
	return e
}

// answer is what a statement gave: text rows, or an error.
type answer struct {
	names []string
	oids  []uint32
	mods  []int32
	rows  []string
	err   string // SQLSTATE, message and position
	code  string
}

func (a answer) String() string {
	if a.err != "" {
		return a.err
	}
	return fmt.Sprintf("%v %v %v\n    %s", a.names, a.oids, a.mods, strings.Join(a.rows, "\n    "))
}

func ask(e *Engine, r Resolver, sql string, params []string, types []tailrace.Type) answer {
	ctx := context.Background()
	tree, err := pg_query.Parse(sql)
	if err != nil {
		return answer{err: "42601 " + err.Error(), code: "42601"}
	}
	plan, err := e.Plan(ctx, tree.Stmts[0].Stmt, sql, r, types)
	if err != nil {
		return failed(err)
	}
	settings := format.Default()
	settings.Location, settings.Labels = berlin, r.Labels
	settings.Names, _ = r.(format.Names)
	env := &Env{Now: time.Now(), User: "postgres", Database: "postgres"}
	var batch *tailrace.Batch
	if len(params) > 0 {
		batch = &tailrace.Batch{N: 1}
		for i, t := range plan.Params() {
			c := tailrace.MakeColumn(t.Kind, 1)
			if err := format.ParseText(&c, t, params[i], settings); err != nil {
				return failed(err)
			}
			batch.Cols = append(batch.Cols, c)
		}
	}
	rows, err := plan.Run(ctx, batch, settings, env)
	if err != nil {
		return failed(err)
	}
	defer rows.Close()
	a := answer{}
	for _, c := range plan.Columns() {
		a.names, a.oids, a.mods = append(a.names, c.Name), append(a.oids, c.Type.OID()), append(a.mods, c.Type.Mod)
	}
	for {
		b, err := rows.Next(ctx)
		if errors.Is(err, io.EOF) {
			return a
		}
		if err != nil {
			return failed(err)
		}
		for i := range b.N {
			var cells []string
			for k, c := range plan.Columns() {
				if b.Cols[k].IsNull(i) {
					cells = append(cells, "NULL")
				} else {
					cells = append(cells, string(format.AppendText(nil, c.Type, &b.Cols[k], i, settings)))
				}
			}
			a.rows = append(a.rows, strings.Join(cells, "|"))
		}
	}
}

func failed(err error) answer {
	var e *tailrace.Error
	if errors.As(err, &e) {
		if e.Err != nil && (e.Code == "XX000" || e.Code == "0A000") {
			return answer{err: fmt.Sprintf("%s %s: %v", e.Code, e.Message, e.Err), code: e.Code}
		}
		return answer{err: fmt.Sprintf("%s %s at %d", e.Code, e.Message, e.Position), code: e.Code}
	}
	return answer{err: "XX000 " + err.Error(), code: "XX000"}
}

var berlin, _ = time.LoadLocation("Europe/Berlin")

func connect(t testing.TB) *pgconn.PgConn {
	t.Helper()
	c, err := pgconn.Connect(t.Context(), pgtest.Shared(t).URL())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = c.Close(context.Background()) })
	if _, err := c.Exec(t.Context(), "SET TimeZone = 'Europe/Berlin'; SET lc_messages = 'C'").ReadAll(); err != nil {
		t.Fatal(err)
	}
	return c
}

// askPostgres runs sql on the real server.
func askPostgres(t testing.TB, c *pgconn.PgConn, sql string) answer {
	a := answer{}
	results := c.Exec(t.Context(), sql)
	for results.NextResult() {
		r := results.ResultReader()
		for _, f := range r.FieldDescriptions() {
			a.names, a.oids, a.mods = append(a.names, f.Name), append(a.oids, f.DataTypeOID), append(a.mods, f.TypeModifier)
		}
		for r.NextRow() {
			var cells []string
			for _, v := range r.Values() {
				if v == nil {
					cells = append(cells, "NULL")
				} else {
					cells = append(cells, string(v))
				}
			}
			a.rows = append(a.rows, strings.Join(cells, "|"))
		}
	}
	err := results.Close()
	var pe *pgconn.PgError
	if errors.As(err, &pe) {
		return answer{err: fmt.Sprintf("%s %s at %d", pe.Code, pe.Message, pe.Position), code: pe.Code}
	}
	if err != nil {
		t.Fatalf("%s: %v", sql, err)
	}
	return a
}

// load copies a table of the server into ts.
func (ts tables) load(t testing.TB, c *pgconn.PgConn, name string, key ...int) {
	t.Helper()
	ts.loadTyped(t, c, name, func(oid uint32) tailrace.Type {
		typ, _ := tailrace.BuiltinOf(oid)
		return typ
	}, key...)
}

// loadTyped is load with typeOf saying what the server's types are here.
func (ts tables) loadTyped(t testing.TB, c *pgconn.PgConn, name string, typeOf func(oid uint32) tailrace.Type, key ...int) {
	t.Helper()
	results, err := c.Exec(t.Context(), "SELECT * FROM "+name).ReadAll()
	if err != nil {
		t.Fatal(err)
	}
	s := &tailrace.Schema{Key: key}
	for i, f := range results[0].FieldDescriptions {
		typ := typeOf(f.DataTypeOID)
		typ.Mod = f.TypeModifier
		s.Fields = append(s.Fields, tailrace.Field{ID: tailrace.ColumnID(i + 1), Name: f.Name, Type: typ})
	}
	settings := format.Default()
	settings.Location = berlin
	b := tailrace.NewBatch(s, len(results[0].Rows))
	for _, row := range results[0].Rows {
		for i, v := range row {
			if v == nil {
				b.Cols[i].AppendNull()
			} else if err := format.ParseText(&b.Cols[i], s.Fields[i].Type, string(v), settings); err != nil {
				t.Fatalf("%s.%s: %v", name, s.Fields[i].Name, err)
			}
		}
		b.AppendDiff(1)
	}
	ts.add(name, tailrace.CollectionID(len(ts)+1), s, b)
}

// compare reports how ours differs from PostgreSQL's answer, "" when it does not. Rows are compared in order when the statement sorts.
func compare(sql string, want, got answer) string {
	if !strings.Contains(strings.ToLower(sql), "order by") {
		slices.Sort(want.rows)
		slices.Sort(got.rows)
	}
	if want.String() != got.String() {
		return fmt.Sprintf("%s\n  PostgreSQL: %v\n  here:       %v", sql, want, got)
	}
	return ""
}

func hintOf(t testing.TB, e *Engine, sql string) string {
	t.Helper()
	tree, err := pg_query.Parse(sql)
	if err != nil {
		t.Fatal(err)
	}
	_, err = e.Plan(t.Context(), tree.Stmts[0].Stmt, sql, tables{}, nil)
	var te *tailrace.Error
	if !errors.As(err, &te) {
		t.Fatalf("%s: got %v, want an error for users", sql, err)
	}
	return te.Hint
}
