package sql

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"
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
