package e2e

import (
	"errors"
	"io"
	"io/fs"
	"net"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgproto3"
)

// TestBackupThatIsCutOff: a client that goes away in the middle of a backup leaves no folder, and a server that is well; the command whose connection breaks says so.
func TestBackupThatIsCutOff(t *testing.T) {
	s := start(t)
	c := s.connect(t)
	c.run("CREATE TABLE t (a int8, b text)")
	for range 3 { // a part each, at least
		c.run("INSERT INTO t SELECT g, md5(g::text) FROM generate_series(1, 60000) g")
	}
	dir := filepath.Join(t.TempDir(), "backup")
	cut := halfBackup(t, s, dir)
	if _, err := os.Stat(filepath.Join(dir, "INCOMPLETE")); err != nil {
		t.Errorf("in the middle: got %v, want it marked as incomplete", err)
	}
	cut()
	untilTrue(t, "the folder has gone", func() bool {
		_, err := os.Stat(dir)
		return errors.Is(err, fs.ErrNotExist)
	})
	wantRows(t, "reading goes on", c.run("INSERT INTO t VALUES (0, 'x'); SELECT count(*) FROM t"), "180001")
	if out, errs, err := tailrace(t, "backup", "--url", s.url, "--to", dir); err != nil {
		t.Errorf("the next backup, into the same folder: %v\n%s%s", err, out, errs)
	}

	// What the server says after the start of a session: no backup says less.
	out, errs, err := tailrace(t, "backup", "--url", cutting(t, s.url, 600), "--to", filepath.Join(t.TempDir(), "b"))
	if err == nil || strings.Contains(out, "backup of") || !strings.Contains(errs, "unexpected EOF") {
		t.Errorf("a connection that breaks: got %v, %q, %q, want an error that says so", err, out, errs)
	}
	wantRows(t, "reading still goes on", c.run("SELECT count(*) FROM t"), "180001")
}

// halfBackup begins a backup, of which the server has done a part when it returns and waits to be asked for more. cut ends the connection.
func halfBackup(t *testing.T, s *server, dir string) (cut func()) {
	t.Helper()
	session, err := pgconn.Connect(t.Context(), s.url)
	if err != nil {
		t.Fatal(err)
	}
	conn, err := session.Hijack()
	if err != nil {
		t.Fatal(err)
	}
	f := conn.Frontend
	f.Send(&pgproto3.Parse{Query: "BACKUP TO '" + dir + "'"})
	f.Send(&pgproto3.Bind{})
	f.Send(&pgproto3.Execute{MaxRows: 1})
	f.Send(&pgproto3.Flush{})
	if err := f.Flush(); err != nil {
		t.Fatal(err)
	}
	for {
		m, err := f.Receive()
		if err != nil {
			t.Fatal(err)
		}
		switch m := m.(type) {
		case *pgproto3.PortalSuspended:
			return func() { conn.Conn.Close() }
		case *pgproto3.ErrorResponse, *pgproto3.CommandComplete:
			t.Fatalf("got %+v, want a suspended portal", m)
		}
	}
}

// cutting is the URL of a server that breaks every connection once it has said so many bytes.
func cutting(t *testing.T, url string, after int64) string {
	t.Helper()
	front, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	address, path, _ := strings.Cut(strings.TrimPrefix(url, "postgres://"), "/")
	var group sync.WaitGroup
	t.Cleanup(func() {
		front.Close()
		group.Wait()
	})
	group.Go(func() {
		for {
			client, err := front.Accept()
			if err != nil {
				return
			}
			server, err := net.Dial("tcp", address)
			if err != nil {
				t.Error(err)
				return
			}
			group.Go(func() {
				io.Copy(server, client)
				server.Close()
			})
			group.Go(func() {
				io.CopyN(client, server, after)
				client.Close()
				server.Close()
			})
		}
	})
	return "postgres://" + front.Addr().String() + "/" + path
}
