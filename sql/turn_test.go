package sql

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"tailrace"
)

// TestBusyRowsAndTablesLoseNoStatement: many clients change one row while others change every row; all single statements succeed, and each counts.
func TestBusyRowsAndTablesLoseNoStatement(t *testing.T) {
	w := newWorld(t)
	w.client().must("CREATE TABLE t (id int PRIMARY KEY, n int); INSERT INTO t SELECT g, 0 FROM generate_series(1, 3000) g")
	const clients, each, sweeps = 12, 40, 5
	var wait sync.WaitGroup
	run := func(times int, sql string) {
		c := w.client()
		wait.Go(func() {
			for range times {
				if out := strings.Join(c.query(sql, ""), "\n"); !strings.Contains(out, "UPDATE") {
					t.Errorf("%s: %s", sql, out)
				}
			}
		})
	}
	for range clients {
		run(each, "UPDATE t SET n = n + 1 WHERE id = 7")
	}
	run(sweeps, "UPDATE t SET n = n + 1")
	run(sweeps, "UPDATE t SET n = n + 1 WHERE id > 0 AND id % 1 = 0")
	wait.Wait()
	if got, want := strings.Join(w.client().must("SELECT n FROM t WHERE id = 7"), "\n"), fmt.Sprint(clients*each+2*sweeps); !strings.Contains(got, want) {
		t.Errorf("row 7: got %s, want %s", got, want)
	}
	if held := w.engine.turns.held.Load(); held != 0 || len(w.engine.turns.queues) != 0 {
		t.Errorf("%d claims are still held", held)
	}
}

func TestTurnsGoInOrderOfArrival(t *testing.T) {
	var turns turns
	ctx := context.Background()
	one := []claim{{table: 1, key: 7}, {table: 2, whole: true}}
	first, err := turns.take(ctx, one)
	if err != nil {
		t.Fatal(err)
	}
	order := make(chan int, 3)
	var wait sync.WaitGroup
	queued := func(n int) {
		for {
			turns.mu.Lock()
			have := len(turns.queues[one[0]].next)
			turns.mu.Unlock()
			if have == n {
				return
			}
			<-time.After(time.Millisecond)
		}
	}
	for i := range 3 {
		wait.Go(func() {
			release, err := turns.take(ctx, one)
			if err != nil {
				t.Error(err)
			}
			order <- i
			release()
		})
		queued(i + 1)
	}
	cancelled, cancel := context.WithCancel(ctx)
	wait.Go(func() {
		if _, err := turns.take(cancelled, one); !errors.Is(err, context.Canceled) {
			t.Errorf("cancelled: got %v", err)
		}
	})
	queued(4)
	cancel()
	queued(3)
	waited := make(chan error, 1)
	wait.Go(func() { waited <- turns.wait(ctx, one) })
	select {
	case err := <-waited:
		t.Fatalf("a commit did not wait for the turn: %v", err)
	case <-time.After(10 * time.Millisecond):
	}
	first()
	wait.Wait()
	if err := <-waited; err != nil {
		t.Fatal(err)
	}
	for want := range 3 {
		if got := <-order; got != want {
			t.Errorf("turn %d went to %d", want, got)
		}
	}
	if held := turns.held.Load(); held != 0 {
		t.Errorf("%d claims are still held", held)
	}
}

// TestAStatementThatWaitsForItsTurnCanBeCancelled: it changes nothing, holds nothing, and its session goes on.
func TestAStatementThatWaitsForItsTurnCanBeCancelled(t *testing.T) {
	w := newWorld(t)
	c := w.client()
	c.must("CREATE TABLE t (id int PRIMARY KEY, n int); INSERT INTO t VALUES (7, 0), (8, 0)")
	release, err := w.engine.turns.take(t.Context(), []claim{{table: c.tableID("t"), whole: true}})
	if err != nil {
		t.Fatal(err)
	}
	for _, text := range []string{"UPDATE t SET n = n + 1 WHERE id = 7", "UPDATE t SET n = n + 1", "BEGIN; DELETE FROM t WHERE id = 8; COMMIT"} {
		ctx, cancel := context.WithCancelCause(t.Context())
		answer := make(chan error, 1)
		go func() { answer <- c.runAll(ctx, text) }()
		select {
		case err := <-answer:
			t.Fatalf("%s: it did not wait for the turn: %v", text, err)
		case <-time.After(20 * time.Millisecond):
		}
		cancel(errors.New("canceled by the user"))
		var e *tailrace.Error
		if err := <-answer; !errors.As(err, &e) || e.Code != "57014" {
			t.Errorf("%s: got %v, want 57014", text, err)
		}
		c.must("SELECT 1")
	}
	release()
	c.must("UPDATE t SET n = n + 10 WHERE id = 7")
	if got := c.must("SELECT id, n FROM t ORDER BY id"); !slices.Equal(got[1:3], []string{"7|10", "8|0"}) {
		t.Errorf("got %q, want what the last statement did alone", got)
	}
	if held := w.engine.turns.held.Load(); held != 0 {
		t.Errorf("%d claims are still held", held)
	}
}

// runAll runs statements until one fails, as the protocol does, and returns why.
func (c *client) runAll(ctx context.Context, text string) error {
	sts, err := c.Parse(text)
	for i, st := range sts {
		var r *Result
		if r, err = c.Run(ctx, st, i == len(sts)-1); err == nil {
			err = c.deliver(ctx, r, "")
		}
		if err != nil {
			c.failed(err)
			return err
		}
	}
	return err
}
