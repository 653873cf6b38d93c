package sql

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync/atomic"
	"testing"

	"tailrace/budget"
	"tailrace/pool"
	"tailrace/stripe"
)

// TestFaultThatStaysFailsTheCopy: a column that can be encoded by nobody is the statement's error, of the lowest page of the lowest column; nothing is left of the
// COPY, and the next one works.
func TestFaultThatStaysFailsTheCopy(t *testing.T) {
	data := loadRows(140_000)
	for _, x := range []struct {
		name    string
		workers int
	}{{"2 workers", 2}, {"starved", 0}} {
		t.Run(x.name, func(t *testing.T) {
			w := newWorldWith(t, workers(t, x.workers))
			node, err := budget.New(budget.Least, nil)
			if err != nil {
				t.Fatal(err)
			}
			w.engine.Budget = node
			c := w.client()
			c.must(loadTable)
			for _, block := range []bool{false, true} {
				if block {
					c.must("BEGIN")
				}
				c.writing.Stripe.Fault = func(_, chunk, page int) error {
					if chunk >= 4 && page >= 3 {
						return errors.New("it is broken")
					}
					return nil
				}
				if c.txn != nil {
					c.txn.writing = c.writing
				}
				_, err := c.load(t.Context(), loadCopy, data, 100_000)
				if err == nil && block { // it was under way when COPY ended
					err = errors.New(strings.Join(c.query("COMMIT", ""), " "))
				}
				if err == nil || !strings.Contains(err.Error(), `write stripe 0: column "s", page 3: it is broken`) {
					t.Errorf("in a block %v: got error %v, want that page 3 of column s is broken", block, err)
				}
				if block {
					c.must("ROLLBACK")
				}
				if parts := w.partSums(); len(parts) != 0 {
					t.Errorf("in a block %v: %d objects are left", block, len(parts))
				}
				if used := node.Share(budget.Transactions).Usage().Used; used != 0 {
					t.Errorf("in a block %v: %d bytes of memory are held", block, used)
				}
			}
			c.writing.Stripe.Fault = nil
			if tag, err := c.load(t.Context(), loadCopy, data, 100_000); err != nil || tag != "COPY 140000" {
				t.Errorf("the next COPY: got %q, %v", tag, err)
			}
		})
	}
}

// TestSmallStatementsQueueNoTask: what the common commit writes is made by its own goroutine.
func TestSmallStatementsQueueNoTask(t *testing.T) {
	p := workers(t, 2)
	c := newWorldWith(t, p).client()
	c.must(loadTable)
	c.must("INSERT INTO t SELECT i, i, 's', 1, '2024-01-01' FROM generate_series(1, 8000) i")
	c.must("UPDATE t SET n = n + 1 WHERE a <= 4000")
	c.must("DELETE FROM t WHERE a > 5000")
	if got := p.Stats().Tasks; got != 0 {
		t.Errorf("got %d tasks for thousands of rows, want none", got)
	}
}

// TestCopyEncodesEachStripeOnce, in a table of the same transaction too, and however often it is looked at.
func TestCopyEncodesEachStripeOnce(t *testing.T) {
	data := loadRows(3*stripe.StripeRows/2 + 10_000)
	for _, before := range []string{"", "BEGIN", "BEGIN; SAVEPOINT a"} {
		w := newWorldWith(t, workers(t, 2))
		c := w.client()
		if before != "" {
			c.must(before)
		}
		c.must(loadTable)
		var pages atomic.Int64
		c.writing.Stripe.Fault = func(_, chunk, page int) error {
			if chunk == 2 && page == -1 {
				pages.Add(1)
			}
			return nil
		}
		if c.txn != nil {
			c.txn.writing = c.writing
		}
		if _, err := c.load(t.Context(), loadCopy, data, 200_000); err != nil {
			t.Fatal(err)
		}
		if before != "" {
			c.must("SELECT count(*) FROM t")
			c.must("COMMIT")
		}
		if got := pages.Load(); got != 2 {
			t.Errorf("%q: column a was encoded %d times, want once for each of 2 stripes", before, got)
		}
		if got, want := c.must("SELECT count(*) FROM t")[1], fmt.Sprint(3*stripe.StripeRows/2+10_000); got != want {
			t.Errorf("%q: got %s rows, want %s", before, got, want)
		}
		if got := w.engine.Shards.WriteStats(); got.StripesEncoded != 2 {
			t.Errorf("%q: got %+v, want 2 stripes", before, got)
		}
	}
}

// TestSettingsReachEveryWorker: parts differ by the settings in force when they are cut, and by nothing else.
func TestSettingsReachEveryWorker(t *testing.T) {
	const rows = 140_000
	var data []byte
	for i := range rows {
		data = fmt.Appendf(data, "%d,%d,https://example.org/%x/%d,%d.5,2024-01-01\n", i, i%13, i*7919%65536, i%97, i%1000)
	}
	load := func(p *pool.Pool, settings string) []string {
		w := newWorldWith(t, p)
		c := w.client()
		c.must(settings)
		c.must(loadTable)
		if _, err := c.load(t.Context(), loadCopy, data, 200_000); err != nil {
			t.Fatal(err)
		}
		return w.partSums()
	}
	seen := map[string]string{}
	for _, settings := range []string{"SET fsst_min_gain_percent = 5", "SET fsst_min_gain_percent = 100", "SET encoding_sample_values = 8"} {
		serial := load(nil, settings)
		for _, n := range []int{0, 2} {
			if got := load(workers(t, n), settings); !slices.Equal(got, serial) || len(got) != 1 {
				t.Errorf("%s, %d workers: got parts %q, want %q", settings, n, got, serial)
			}
		}
		if other := seen[serial[0]]; other != "" {
			t.Errorf("%s and %s give the same part", settings, other)
		}
		seen[serial[0]] = settings
	}
}
