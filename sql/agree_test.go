package sql

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5/pgconn"

	"tailrace/internal/pgtest"
)

// TestStatementsAgreeWithPostgres runs the statements of each file testdata/agree*, one after the other, here and in a real PostgreSQL. Rows, tags, SQLSTATEs,
// messages, positions, details and transaction states must be the same.
func TestStatementsAgreeWithPostgres(t *testing.T) {
	files, err := filepath.Glob("testdata/agree*")
	if err != nil || len(files) == 0 {
		t.Fatal("no files: ", err)
	}
	for _, file := range files {
		t.Run(filepath.Base(file), func(t *testing.T) { agrees(t, file) })
	}
}

// agrees runs the statements of one file.
func agrees(t *testing.T, file string) {
	raw, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	ctx := context.Background()
	peer, err := pgconn.Connect(ctx, pgtest.Shared(t).URL())
	if err != nil {
		t.Fatal(err)
	}
	defer peer.Close(ctx)
	for _, set := range []string{"SET TimeZone = 'UTC'", "SET client_min_messages = warning", "DROP SCHEMA IF EXISTS agree CASCADE", "CREATE SCHEMA agree", "SET search_path = agree", "SET default_transaction_isolation = 'serializable'"} {
		if err := peer.Exec(ctx, set).Close(); err != nil {
			t.Fatal(err)
		}
	}
	c := newWorld(t).client()
	n := 0
	for line := range strings.Lines(string(raw)) {
		text := strings.TrimRight(line, "\n")
		if text == "" || strings.HasPrefix(text, "#") {
			continue
		}
		n++
		want := askPeer(ctx, peer, text)
		var got []string
		for _, l := range c.query(text, "") {
			if !strings.HasPrefix(l, "--") && !strings.HasPrefix(l, "NOTICE") && !strings.HasPrefix(l, "WARNING") && !strings.HasPrefix(l, "report") {
				got = append(got, l)
			}
		}
		got = append(got, string(c.Status()))
		if g, w := strings.Join(got, "\n"), strings.Join(want, "\n"); g != w {
			t.Errorf("%s\ngot:  %s\nwant: %s", text, strings.ReplaceAll(g, "\n", "\n      "), strings.ReplaceAll(w, "\n", "\n      "))
		}
	}
	t.Logf("%d statements", n)
}

// askPeer is what PostgreSQL answers, in the form of client.query.
func askPeer(ctx context.Context, peer *pgconn.PgConn, text string) []string {
	var out []string
	mrr := peer.Exec(ctx, text)
	for mrr.NextResult() {
		rr := mrr.ResultReader()
		for rr.NextRow() {
			var vals []string
			for _, v := range rr.Values() {
				if v == nil {
					vals = append(vals, "NULL")
				} else {
					vals = append(vals, string(v))
				}
			}
			out = append(out, strings.Join(vals, "|"))
		}
		if tag, err := rr.Close(); err == nil {
			out = append(out, tag.String())
		}
	}
	var pe *pgconn.PgError
	if err := mrr.Close(); errors.As(err, &pe) {
		line := fmt.Sprintf("ERROR %s: %s", pe.Code, pe.Message)
		if pe.Position > 0 {
			line += fmt.Sprintf(" (at %d)", pe.Position)
		}
		if pe.Detail != "" {
			line += " | " + pe.Detail
		}
		out = append(out, line)
	} else if err != nil {
		out = append(out, err.Error())
	}
	return append(out, string(peer.TxStatus()))
}
