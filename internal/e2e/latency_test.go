package e2e

import (
	"context"
	"os"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"tailrace/internal/pgtest"
)

// TestLatencyFromSource prints how long a transaction at the source takes to be a row at a SUBSCRIBE client, at 1,000 transactions a second. It asserts
// nothing: set TAILRACE_RATES to run it.
func TestLatencyFromSource(t *testing.T) {
	if os.Getenv("TAILRACE_RATES") == "" {
		t.Skip("set TAILRACE_RATES=1 to measure")
	}
	const (
		writers   = 4
		perSecond = 1000
		total     = 10 * perSecond
	)
	src := pgtest.Start(t, "wal_level=logical")
	src.Exec(t, "CREATE TABLE e(id int PRIMARY KEY, v text)")
	s := start(t)
	if out, err := s.attach(t, src.URL()); err != nil {
		t.Fatalf("attach: %v\n%s", err, out)
	}
	r := s.stream(t, "COPY (SUBSCRIBE e WITH (SNAPSHOT = false)) TO STDOUT")
	src.Exec(t, "INSERT INTO e VALUES (-1, 'first')")
	r.next(t) // the subscription is live

	sent, acknowledged, arrived := make([]time.Time, total), make([]time.Time, total), make([]time.Time, total)
	began := time.Now()
	var wait sync.WaitGroup
	for n := range writers {
		wait.Go(func() {
			ctx := context.Background()
			conn, err := pgx.Connect(ctx, src.URL())
			if err != nil {
				t.Error(err)
				return
			}
			defer conn.Close(ctx)
			for i := n; i < total; i += writers {
				<-time.After(time.Until(began.Add(time.Duration(i) * time.Second / perSecond)))
				sent[i] = time.Now()
				if _, err := conn.Exec(ctx, "INSERT INTO e VALUES ($1, 'some text')", i); err != nil {
					t.Error(err)
					return
				}
				acknowledged[i] = time.Now()
			}
		})
	}
	for range total {
		fields := strings.Fields(r.next(t))
		now := time.Now()
		id, err := strconv.Atoi(fields[1])
		if err != nil {
			t.Fatalf("row %q: %v", fields, err)
		}
		arrived[id] = now
	}
	wait.Wait()
	took := acknowledged[total-1].Sub(began)
	t.Logf("%d transactions, %.0f a second", total, total/took.Seconds())
	report := func(what string, from []time.Time) {
		d := make([]time.Duration, total)
		for i := range d {
			d[i] = arrived[i].Sub(from[i])
		}
		slices.Sort(d)
		t.Logf("%s to row: p50 %s, p90 %s, p99 %s, most %s", what, d[total/2], d[total*9/10], d[total*99/100], d[total-1])
	}
	report("statement sent", sent)
	report("commit acknowledged", acknowledged)
}
