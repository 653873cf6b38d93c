package mytest

import (
	"errors"
	"fmt"
	"strings"
	"testing"
)

// Addr is host:port.
func (s *Server) Addr() string { return fmt.Sprintf("127.0.0.1:%d", s.port) }

// URL is the address of the database shop with the user and the password.
func (s *Server) URL() string {
	return fmt.Sprintf("mysql://%s:%s@%s/shop", User, Password, s.Addr())
}

// Restart stops the server if it runs and starts it again on the same port with the same data, with more settings if given.
func (s *Server) Restart(t testing.TB, settings ...string) {
	t.Helper()
	s.Stop()
	s.settings = append(s.settings, settings...)
	if err := s.run(); err != nil {
		t.Fatal(err)
	}
}

// Exec runs one or more statements in the database shop on a connection of their own. An error ends the test.
func (s *Server) Exec(t testing.TB, text string) {
	t.Helper()
	db, err := s.open()
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	if _, err := db.ExecContext(t.Context(), text); err != nil {
		t.Fatalf("%s: %v", text, err)
	}
}

// Query runs one statement and returns its rows as text; NULL is "NULL".
func (s *Server) Query(t testing.TB, text string) [][]string {
	t.Helper()
	db, err := s.open()
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	rows, err := db.QueryContext(t.Context(), text)
	if err != nil {
		t.Fatalf("%s: %v", text, err)
	}
	defer rows.Close()
	names, err := rows.Columns()
	if err != nil {
		t.Fatal(err)
	}
	var out [][]string
	for rows.Next() {
		values, places := make([][]byte, len(names)), make([]any, len(names))
		for i := range values {
			places[i] = &values[i]
		}
		if err := rows.Scan(places...); err != nil {
			t.Fatal(err)
		}
		row := make([]string, len(names))
		for i, v := range values {
			row[i] = string(v)
			if v == nil {
				row[i] = "NULL"
			}
		}
		out = append(out, row)
	}
	if err := rows.Err(); err != nil {
		t.Fatalf("%s: %v", text, err)
	}
	return out
}

// aborted reports whether a server's log says that it gives up.
func aborted(log string) bool {
	return strings.Contains(log, "[ERROR] Aborting") || strings.Contains(log, "Shutdown complete")
}

// Lock keeps everybody else from a table until unlock is called.
func (s *Server) Lock(t testing.TB, table string) (unlock func()) {
	t.Helper()
	db, err := s.open()
	if err != nil {
		t.Fatal(err)
	}
	conn, err := db.Conn(t.Context())
	if err == nil {
		_, err = conn.ExecContext(t.Context(), "LOCK TABLES "+table+" WRITE")
	}
	if err != nil {
		t.Fatalf("lock %s: %v", table, err)
	}
	return func() {
		t.Helper()
		if err := errors.Join(conn.Close(), db.Close()); err != nil { // the connection's end is the lock's
			t.Error(err)
		}
	}
}
