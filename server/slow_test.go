package server

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/jackc/pgx/v5/pgconn"

	"tailrace/budget"
)

// stalled is a client that runs COPY (SUBSCRIBE) and reads nothing before go is closed.
type stalled struct {
	read chan struct{}
	once sync.Once
	got  strings.Builder
	rows chan int // how many there are, when that changes
	end  chan error
}

func (c *stalled) Write(p []byte) (int, error) {
	<-c.read
	c.got.Write(p)
	select {
	case <-c.rows:
	default:
	}
	c.rows <- strings.Count(c.got.String(), "\n")
	return len(p), nil
}

func (c *stalled) resume() { c.once.Do(func() { close(c.read) }) }

// stall begins a subscription, with a first small row, and stops reading it.
func stall(t *testing.T, url, table string) *stalled {
	t.Helper()
	conn, err := connect(t, url)
	if err != nil {
		t.Fatal(err)
	}
	c := &stalled{read: make(chan struct{}), rows: make(chan int, 1), end: make(chan error, 1)}
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan struct{})
	go func() {
		defer close(done)
		_, err := conn.PgConn().CopyTo(ctx, c, "COPY (SUBSCRIBE "+table+") TO STDOUT")
		c.end <- err
	}()
	t.Cleanup(func() {
		cancel()
		c.resume()
		<-done
	})
	return c
}

// TestSlowSubscriberCatchesUp: a client that stops reading, with windows of 16,384 bytes, gets each of the rows that it missed once when it reads again, as long
// as the history is kept (X07); when that is gone it is told so (X08).
func TestSlowSubscriberCatchesUp(t *testing.T) {
	s := start(t, Options{Data: t.TempDir(), Shares: map[string]int64{budget.Windows: 16_384}})
	url := "postgres://tester@" + s.Postgres + "/postgres"
	c, err := connect(t, url)
	if err != nil {
		t.Fatal(err)
	}
	must := func(sql string) {
		t.Helper()
		if _, err := c.Exec(t.Context(), sql); err != nil {
			t.Fatalf("%.80s: %v", sql, err)
		}
	}
	const rows, wide = 21, 1 << 20 // more than all sockets take
	for name, retain := range map[string]string{"kept": "10 min", "short": "1s"} {
		must(fmt.Sprintf("CREATE TABLE %s (a int PRIMARY KEY, b text) WITH (RETAIN HISTORY FOR '%s')", name, retain))
		must("INSERT INTO " + name + " VALUES (0, '')")
	}
	kept, short := stall(t, url, "kept"), stall(t, url, "short")
	var n int
	for n < 2 { // both have their time
		if err := c.QueryRow(t.Context(), "SELECT count(*) FROM mz_internal.mz_subscriptions WHERE state = 'live'").Scan(&n); err != nil {
			t.Fatal(err)
		}
		pause(t.Context(), 10*time.Millisecond)
	}
	for i := 1; i <= rows; i++ {
		must(fmt.Sprintf("INSERT INTO kept VALUES (%d, repeat('%c', %d))", i, 'a'+i, wide))
		must(fmt.Sprintf("INSERT INTO short VALUES (%d, repeat('%c', %d))", i, 'a'+i, wide))
	}
	var before string
	if err := c.QueryRow(t.Context(), "SELECT mz_now()::text").Scan(&before); err != nil {
		t.Fatal(err)
	}
	kept.resume()
	for n := 0; n <= rows; {
		select {
		case n = <-kept.rows:
		case err := <-kept.end:
			t.Fatalf("the client with history ended: %v", err)
		case <-time.After(30 * time.Second):
			t.Fatalf("the client with history has %d rows after 30 s", n)
		}
	}
	lines := strings.Split(strings.TrimSuffix(kept.got.String(), "\n"), "\n")
	for i, line := range lines {
		f := strings.Split(line, "\t")
		if len(f) != 4 || f[1] != "1" || f[2] != strconv.Itoa(i) || i > 0 && f[3] != strings.Repeat(string(rune('a'+i)), wide) {
			t.Fatalf("line %d: got %.60s, want row %d", i, line, i)
		}
	}
	for until := time.Now().Add(60 * time.Second); ; pause(t.Context(), 100*time.Millisecond) {
		_, err := c.Exec(t.Context(), "COPY (SUBSCRIBE short AS OF "+before+" UP TO "+before+") TO STDOUT")
		var e *pgconn.PgError
		if errors.As(err, &e) && e.Code == "22023" {
			break
		}
		if time.Now().After(until) {
			t.Fatalf("the history of 1 s is still there: %v", err)
		}
		must("UPDATE short SET b = '' WHERE a = 0")
	}
	short.resume()
	var e *pgconn.PgError
	if err := <-short.end; !errors.As(err, &e) || e.Code != "53200" || !strings.Contains(e.Message, "fell behind") || !strings.Contains(e.Hint, "RETAIN HISTORY") {
		t.Errorf("the client without history: ended with %v, want 53200 that names RETAIN HISTORY", err)
	}
}
