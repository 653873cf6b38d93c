package pgtest

import (
	"context"
	"fmt"
	"testing"

	"github.com/jackc/pgx/v5/pgconn"
)

// URL is the address of the database postgres as its superuser postgres, over TCP.
func (s *Server) URL() string { return s.URLOf("postgres") }

// URLOf is the address of a database.
func (s *Server) URLOf(database string) string {
	return fmt.Sprintf("postgres://postgres@127.0.0.1:%d/%s?sslmode=disable", s.port, database)
}

// Port is the TCP port on 127.0.0.1.
func (s *Server) Port() int { return s.port }

// Bin is the folder with the server's own programs: pgbench, pg_recvlogical, psql.
func (s *Server) Bin() string { return s.bin }

// Stop shuts the server down (fast mode: sessions end, nothing committed is lost) and keeps its data for Restart.
func (s *Server) Stop() { s.stop() }

// Restart stops the server if it runs and starts it again on the same port with the same data, with more settings if given.
func (s *Server) Restart(t testing.TB, settings ...string) {
	t.Helper()
	s.stop()
	s.settings = append(s.settings, settings...)
	if err := s.run(); err != nil {
		t.Fatal(err)
	}
}

// Exec runs one or more statements on a connection of their own. An error ends the test.
func (s *Server) Exec(t testing.TB, sql string) {
	t.Helper()
	s.Query(t, sql)
}

// Query is Exec that returns the rows of the last statement as text; NULL is "NULL".
func (s *Server) Query(t testing.TB, sql string) [][]string {
	t.Helper()
	ctx := context.Background()
	conn, err := pgconn.Connect(ctx, s.URL())
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close(ctx)
	results, err := conn.Exec(ctx, sql).ReadAll()
	if err != nil {
		t.Fatalf("%s: %v", sql, err)
	}
	if len(results) == 0 {
		return nil
	}
	var rows [][]string
	for _, values := range results[len(results)-1].Rows {
		row := make([]string, len(values))
		for i, v := range values {
			row[i] = string(v)
			if v == nil {
				row[i] = "NULL"
			}
		}
		rows = append(rows, row)
	}
	return rows
}
