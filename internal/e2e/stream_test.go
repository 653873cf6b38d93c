package e2e

import (
	"bytes"
	"context"
	"io"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
)

// stream is a SUBSCRIBE running on a connection of its own. Rows come without their timestamps, columns joined by blanks.
type stream struct {
	c       *pgx.Conn
	rows    chan string // closed at the end
	err     error       // why it ended
	notices []string
	last    string // timestamp of the last row
}

func (s *server) stream(t testing.TB, sql string) *stream {
	t.Helper()
	r := &stream{rows: make(chan string, 1<<16)}
	cfg, err := pgx.ParseConfig(s.url + "?user=tester")
	if err != nil {
		t.Fatal(err)
	}
	s.choosePath(cfg)
	cfg.OnNotice = func(_ *pgconn.PgConn, n *pgconn.Notice) { r.notices = append(r.notices, n.Message) }
	ctx, cancel := context.WithCancel(context.Background())
	if r.c, err = pgx.ConnectConfig(ctx, cfg); err != nil {
		t.Fatalf("connect: %v", err)
	}
	done := make(chan struct{})
	go func() {
		defer close(done)
		defer close(r.rows)
		if strings.HasPrefix(sql, "COPY") {
			_, r.err = r.c.PgConn().CopyTo(ctx, lines(r.add), sql)
			return
		}
		results := r.c.PgConn().Exec(ctx, sql)
		for results.NextResult() {
			for rr := results.ResultReader(); rr.NextRow(); {
				r.add(bytes.Join(rr.Values(), []byte("\t")))
			}
		}
		r.err = results.Close()
	}()
	t.Cleanup(func() {
		cancel()
		<-done
		r.c.Close(context.Background())
	})
	return r
}

func (r *stream) add(line []byte) {
	ts, rest, _ := strings.Cut(string(line), "\t")
	r.last = ts
	r.rows <- strings.ReplaceAll(rest, "\t", " ")
}

// lines splits what is written into lines.
func lines(add func([]byte)) io.Writer { return &lineWriter{add: add} }

type lineWriter struct {
	add  func([]byte)
	rest []byte
}

func (w *lineWriter) Write(p []byte) (int, error) {
	w.rest = append(w.rest, p...)
	for {
		i := bytes.IndexByte(w.rest, '\n')
		if i < 0 {
			return len(p), nil
		}
		w.add(w.rest[:i])
		w.rest = append([]byte(nil), w.rest[i+1:]...)
	}
}

func (r *stream) next(t testing.TB) string {
	t.Helper()
	select {
	case row, open := <-r.rows:
		if !open {
			t.Fatalf("the stream ended: %s", describe(r.err))
		}
		return row
	case <-time.After(20 * time.Second):
		t.Fatal("no row in 20 s")
	}
	return ""
}

func (r *stream) want(t testing.TB, rows ...string) {
	t.Helper()
	for _, want := range rows {
		if got := r.next(t); got != want {
			t.Fatalf("row: got %q, want %q", got, want)
		}
	}
}

// end waits for the end and returns its error.
func (r *stream) end(t testing.TB) error {
	t.Helper()
	for {
		select {
		case _, open := <-r.rows:
			if !open {
				return r.err
			}
		case <-time.After(20 * time.Second):
			t.Fatal("no end in 20 s")
		}
	}
}
