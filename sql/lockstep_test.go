package sql

import (
	"context"
	"fmt"
	"math/rand/v2"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5/pgconn"

	"tailrace/internal/pgtest"
)

// TestRandomTransactionsAgreeWithPostgres runs random statements here and in a real PostgreSQL, in lockstep: DDL, DML and reads in blocks with savepoints. Rows as a bag, tags, SQLSTATEs and
// transaction states must be the same after each.
func TestRandomTransactionsAgreeWithPostgres(t *testing.T) {
	const seeds, steps = 8, 150
	ctx := context.Background()
	peer, err := pgconn.Connect(ctx, pgtest.Shared(t).URL())
	if err != nil {
		t.Fatal(err)
	}
	defer peer.Close(ctx)
	first := rand.Uint64()
	for seed := first; seed < first+seeds; seed++ {
		for _, set := range []string{"ROLLBACK", "SET client_min_messages = error", "DROP SCHEMA IF EXISTS lockstep CASCADE", "CREATE SCHEMA lockstep", "SET search_path = lockstep", "SET default_transaction_isolation = 'serializable'"} {
			if err := peer.Exec(ctx, set).Close(); err != nil {
				t.Fatal(err)
			}
		}
		c := newWorld(t).client()
		g := &generator{rand.New(rand.NewPCG(seed, 1))}
		var said []string
		failures := 0
		for step := range steps {
			text := g.statement(c.Status())
			if step < len(tables) {
				text = tables[step]
			}
			said = append(said, text)
			want, got := essence(askPeer(ctx, peer, text)), essence(append(c.query(text, ""), string(c.Status())))
			if !slices.Equal(got, want) {
				t.Fatalf("seed %d: after\n%s\ngot:  %q\nwant: %q", seed, strings.Join(said, ";\n"), got, want)
			}
			if strings.Contains(strings.Join(want, " "), "ERROR") {
				failures++
			}
		}
		t.Logf("seed %d: %d statements, %d of them errors", seed, steps, failures)
	}
}

// tables are what a run begins with.
var tables = []string{
	"CREATE TABLE t0 (a int PRIMARY KEY, b int, c text)", "CREATE TABLE t1 (a int PRIMARY KEY, b int, c text, d int)", "CREATE TABLE t2 (a int, b int, c text)",
	"INSERT INTO t0 SELECT g, g * 10, 'x' FROM generate_series(1, 6) g", "INSERT INTO t2 SELECT g, g FROM generate_series(1, 3) g",
}

var codeOnly = regexp.MustCompile(`^ERROR (\w+):.*`)

// essence is what must be the same: rows in any order, the SQLSTATE of an error.
func essence(lines []string) []string {
	var out []string
	for _, l := range lines {
		if strings.HasPrefix(l, "--") || strings.HasPrefix(l, "NOTICE") || strings.HasPrefix(l, "WARNING") || strings.HasPrefix(l, "report") {
			continue
		}
		out = append(out, codeOnly.ReplaceAllString(l, "ERROR $1"))
	}
	slices.Sort(out)
	return out
}

// generator makes statements about few tables, columns and savepoints, so that they meet.
type generator struct{ *rand.Rand }

func (g *generator) pick(list ...string) string { return list[g.IntN(len(list))] }
func (g *generator) table() string              { return g.pick("t0", "t0", "t1", "t2") }
func (g *generator) key() int                   { return g.IntN(12) }
func (g *generator) point() string              { return g.pick("s0", "s1", "s2") }

// statement is one for a session of the given status.
func (g *generator) statement(status byte) string {
	switch n := g.IntN(100); {
	case status == 'E' && n < 70:
		return g.pick("ROLLBACK TO "+g.point(), "ROLLBACK TO "+g.point(), "ROLLBACK TO "+g.point(), "ROLLBACK", "COMMIT")
	case status == 'I' && n < 30:
		return "BEGIN"
	case n < 6:
		return g.pick("COMMIT", "COMMIT", "ROLLBACK", "COMMIT AND CHAIN", "ROLLBACK AND CHAIN", "BEGIN")
	case n < 20:
		return g.pick("SAVEPOINT "+g.point(), "SAVEPOINT "+g.point(), "SAVEPOINT "+g.point(), "ROLLBACK TO "+g.point(), "RELEASE "+g.point())
	case n < 30:
		return g.pick("SELECT * FROM "+g.table(), fmt.Sprintf("SELECT * FROM %s WHERE a = %d", g.table(), g.key()), fmt.Sprintf("SELECT count(*), sum(b) FROM %s WHERE a > %d", g.table(), g.key()))
	case n < 42:
		return g.ddl()
	}
	return g.change()
}

func (g *generator) change() string {
	t, k, n := g.table(), g.key(), g.IntN(100)
	returning := g.pick("", "", " RETURNING *", " RETURNING a, b + 1 AS c")
	switch g.IntN(8) {
	case 0:
		return fmt.Sprintf("UPDATE %s SET b = b + %d WHERE a < %d", t, n, k) + returning
	case 1:
		return fmt.Sprintf("UPDATE %s SET b = %d WHERE a = %d", t, n, k) + returning
	case 2:
		return fmt.Sprintf("UPDATE %s SET a = %d WHERE a = %d", t, g.key(), k) + returning
	case 3:
		return fmt.Sprintf("DELETE FROM %s WHERE a %s %d", t, g.pick("=", ">"), k) + returning
	case 4:
		if g.IntN(4) == 0 {
			return "TRUNCATE " + t
		}
	case 5:
		return fmt.Sprintf("INSERT INTO %s (a, b) SELECT a + %d, b FROM %s ORDER BY a, b", t, g.IntN(6), g.table()) + g.conflict(t) + returning
	}
	rows := []string{fmt.Sprintf("(%d, %d)", k, n)}
	for g.IntN(2) == 0 {
		rows = append(rows, fmt.Sprintf("(%d, %d)", g.key(), g.IntN(100)))
	}
	return fmt.Sprintf("INSERT INTO %s (a, b) VALUES %s", t, strings.Join(rows, ", ")) + g.conflict(t) + returning
}

func (g *generator) conflict(t string) string {
	return g.pick("", "", "", " ON CONFLICT DO NOTHING", " ON CONFLICT (a) DO UPDATE SET b = "+t+".b + excluded.b", " ON CONFLICT (a) DO UPDATE SET b = excluded.b WHERE "+t+".b < 50")
}

func (g *generator) ddl() string {
	t, n := g.table(), g.IntN(100)
	switch g.IntN(13) {
	case 0:
		return "DROP TABLE " + t + "; CREATE TABLE " + t + " (a bigint PRIMARY KEY, b int, c text)"
	case 1:
		return "ALTER TABLE " + t + " DROP COLUMN " + g.pick("c", "d", "e")
	case 2:
		return "ALTER TABLE " + t + " RENAME COLUMN " + g.pick("c", "d", "e") + " TO " + g.pick("c", "d", "e")
	case 3:
		return fmt.Sprintf("ALTER TABLE %s ADD COLUMN %s int DEFAULT %d", t, g.pick("c", "d", "e"), n)
	case 4:
		return "ALTER TABLE " + t + " ADD COLUMN " + g.pick("c", "d", "e") + " text NOT NULL DEFAULT 'x'"
	case 5:
		return "ALTER TABLE " + t + " ALTER b TYPE " + g.pick("bigint", "int", "smallint")
	case 6:
		return "ALTER TABLE " + t + " ALTER " + g.pick("c", "d") + " TYPE text USING '<' || " + g.pick("c", "d") + " || '>'"
	case 7:
		return "ALTER TABLE " + t + " ALTER b " + g.pick("SET NOT NULL", "DROP NOT NULL", "SET DEFAULT 5", "DROP DEFAULT")
	case 8:
		return "ALTER TABLE " + t + " ALTER a TYPE " + g.pick("bigint", "int", "int USING a / 2", "int USING a + 1")
	case 9:
		return "ALTER TABLE " + t + " ADD PRIMARY KEY (a)"
	case 10:
		return "CREATE TABLE " + t + " AS SELECT a, b FROM " + g.table()
	}
	return "CREATE TABLE " + t + " (a int" + g.pick("", " PRIMARY KEY", " PRIMARY KEY") + ", b int, c text)"
}
