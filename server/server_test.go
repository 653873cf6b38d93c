package server

import (
	"context"
	"errors"
	"io"
	"log/slog"
	"net/http"
	"os"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
)

// started is a server in this process.
type started struct {
	Addresses
	stop func() error // drains it and returns what Run returned; may be called twice
}

func start(t *testing.T, o Options) *started {
	t.Helper()
	ctx, cancel := context.WithCancel(context.Background())
	ready, ended := make(chan Addresses, 1), make(chan error, 1)
	o.Ready = func(a Addresses) { ready <- a }
	o.Drain = time.Second
	if o.Listen == "" {
		o.Listen, o.HTTP = "127.0.0.1:0", "127.0.0.1:0"
	}
	o.Logger = slog.New(slog.NewTextHandler(io.Discard, nil))
	go func() { ended <- Run(ctx, o) }()
	s := &started{}
	stopped := false
	s.stop = func() (err error) {
		if !stopped {
			stopped = true
			cancel()
			err = <-ended
		}
		return err
	}
	t.Cleanup(func() {
		if err := s.stop(); err != nil {
			t.Errorf("server: %v", err)
		}
	})
	select {
	case s.Addresses = <-ready:
		return s
	case err := <-ended:
		stopped = true
		t.Fatalf("server: %v", err)
		return nil
	}
}

func connect(t *testing.T, url string) (*pgx.Conn, error) {
	t.Helper()
	conn, err := pgx.Connect(t.Context(), url)
	if err == nil {
		t.Cleanup(func() { conn.Close(context.Background()) })
	}
	return conn, err
}

func get(t *testing.T, url string) (int, string) {
	t.Helper()
	resp, err := http.Get(url)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	body, err := io.ReadAll(resp.Body)
	if err != nil {
		t.Fatal(err)
	}
	return resp.StatusCode, string(body)
}

func TestHealthAndMetrics(t *testing.T) {
	s := start(t, Options{Data: t.TempDir(), Version: "v0-test"})
	for _, path := range []string{"/livez", "/readyz"} {
		if code, body := get(t, "http://"+s.HTTP+path); code != 200 || body != "ok\n" {
			t.Errorf("%s: got %d %q, want 200 ok", path, code, body)
		}
	}
	code, body := get(t, "http://"+s.HTTP+"/metrics")
	for _, want := range []string{`tailrace_build_info{version="v0-test"} 1`, "tailrace_log_seq ", "tailrace_sessions 0", "tailrace_shard_memtable_bytes ", `tailrace_subscriptions{state="live"} 0`, "go_goroutines "} {
		if code != 200 || !strings.Contains(body, want) {
			t.Errorf("/metrics: %d, lacks %q", code, want)
		}
	}
	if t.Failed() {
		t.Log(body)
	}
}

func TestFolderServesOneProcess(t *testing.T) {
	dir := t.TempDir()
	start(t, Options{Data: dir})
	err := Run(t.Context(), Options{Data: dir, Listen: "127.0.0.1:0", HTTP: "127.0.0.1:0"})
	var locked *LockedError
	if !errors.As(err, &locked) || locked.PID != strconv.Itoa(os.Getpid()) {
		t.Errorf("second server: got %v, want that process %d has the folder", err, os.Getpid())
	}
	if err := AddUser(t.Context(), Options{Data: dir}, "ann", "secret"); !errors.As(err, &locked) {
		t.Errorf("user add beside a server: got %v, want that the folder is in use", err)
	}
}

func TestNobodyBeyondLoopbackWithoutUsers(t *testing.T) {
	dir := t.TempDir()
	err := Run(t.Context(), Options{Data: dir, Listen: "0.0.0.0:0", HTTP: "127.0.0.1:0"})
	if err == nil || !strings.Contains(err.Error(), "tailrace user add NAME --data "+dir) {
		t.Fatalf("without users: got %v, want to be told to make one", err)
	}
	if err := AddUser(t.Context(), Options{Data: dir}, "ann", "secret"); err != nil {
		t.Fatal(err)
	}
	start(t, Options{Data: dir, Listen: "0.0.0.0:0", HTTP: "127.0.0.1:0"})
}

func TestPasswordsAreChecked(t *testing.T) {
	dir := t.TempDir()
	o := Options{Data: dir}
	for _, u := range [][2]string{{"ann", "old"}, {"bob", "bobs"}, {"ann", "right pässword"}, {"eve", "x"}} {
		if err := AddUser(t.Context(), o, u[0], u[1]); err != nil {
			t.Fatal(err)
		}
	}
	if err := DropUser(t.Context(), o, "eve"); err != nil {
		t.Fatal(err)
	}
	if err := DropUser(t.Context(), o, "nobody"); err == nil {
		t.Error("drop of a user that does not exist: got no error")
	}
	if names, err := ListUsers(t.Context(), o); err != nil || strings.Join(names, " ") != "ann bob" {
		t.Errorf("users: got %v, %v, want ann and bob", names, err)
	}
	s := start(t, o)
	for _, c := range []struct {
		user, password string
		in             bool
	}{{"ann", "right%20p%C3%A4ssword", true}, {"bob", "bobs", true}, {"ann", "old", false}, {"eve", "x", false}, {"nobody", "x", false}} {
		conn, err := connect(t, "postgres://"+c.user+":"+c.password+"@"+s.Postgres+"/postgres")
		var pg *pgconn.PgError
		switch {
		case c.in && err != nil:
			t.Errorf("%s with %s: %v", c.user, c.password, err)
		case !c.in && (!errors.As(err, &pg) || pg.Code != "28P01" || pg.Message != "password authentication failed for user \""+c.user+"\""):
			t.Errorf("%s with %s: got %v, %v, want 28P01", c.user, c.password, conn, err)
		}
	}
}

// TestRestartKeepsTablesThroughCheckpoints restarts a few times; each time the folds come from a checkpoint, or from the log alone.
func TestRestartKeepsTablesThroughCheckpoints(t *testing.T) {
	dir := t.TempDir()
	want := 0
	for round := range 3 {
		s := start(t, Options{Data: dir})
		conn, err := connect(t, "postgres://u@"+s.Postgres+"/postgres")
		if err != nil {
			t.Fatal(err)
		}
		if round == 0 {
			if _, err := conn.Exec(t.Context(), "CREATE TABLE t (a int PRIMARY KEY, b text)"); err != nil {
				t.Fatal(err)
			}
		}
		var got int
		if err := conn.QueryRow(t.Context(), "SELECT count(*) FROM t").Scan(&got); err != nil || got != want {
			t.Fatalf("round %d: got %d rows, %v, want %d", round, got, err, want)
		}
		for range 10 {
			if _, err := conn.Exec(t.Context(), "INSERT INTO t VALUES ($1, repeat('x', 100))", want); err != nil {
				t.Fatal(err)
			}
			want++
		}
		conn.Close(t.Context())
		if err := s.stop(); err != nil {
			t.Fatalf("round %d: %v", round, err)
		}
	}
}
