package bench

import (
	"context"
	"errors"
	"fmt"
	"io"
	"time"
)

// The goals of a snapshot.
const (
	goalWarmMillis     = 10.0
	goalColdMillis     = 100.0
	goalVsPostgres     = 1.0
	goalSnapshotMemory = 64.0 // MiB
)

// Snapshot is `tailrace bench snapshot`: how soon one client of a large table has its first rows, and all of them, beside COPY TO of a PostgreSQL.
type Snapshot struct {
	Rows   int
	Rounds int // interleaved; medians are reported
}

// errEnough ends a COPY of which the first row is enough.
var errEnough = errors.New("enough")

// Run measures on targets, the first of which the benchmark started, and tells progress to log.
func (b Snapshot) Run(ctx context.Context, targets []*Target, log io.Writer) (*Report, error) {
	r := &Report{Name: "snapshot", Settings: fmt.Sprintf("%d rows, %d rounds", b.Rows, b.Rounds)}
	t := targets[0]
	for _, x := range targets {
		fill := []string{
			"DROP TABLE IF EXISTS bench_snapshot", "CREATE TABLE bench_snapshot (id int PRIMARY KEY, tenant int, body text)",
			fmt.Sprintf("INSERT INTO bench_snapshot SELECT g, g %% 1000, repeat('x', %d) FROM generate_series(1, %d) g", stormBody, b.Rows),
		}
		if !x.Subscribe {
			fill = append(fill, "VACUUM ANALYZE bench_snapshot")
		}
		if err := x.exec(ctx, fill...); err != nil {
			return nil, err
		}
	}
	if err := t.Restart(untouched); err != nil { // what was in memory is in parts now
		return nil, err
	}
	for round := range b.Rounds {
		for _, first := range []struct {
			name string
			run  func(context.Context, *Target) (time.Duration, error)
		}{{"fetch", fetchTen}, {"copy", firstCopyRow}} {
			if err := t.Restart(untouched); err != nil {
				return nil, err
			}
			for _, state := range []string{"cold", "warm"} {
				took, err := first.run(ctx, t)
				if err != nil {
					return nil, err
				}
				r.add(fmt.Sprintf("%s_%s_ms", first.name, state), ours, float64(took.Microseconds())/1000, false)
			}
		}
		if err := b.whole(ctx, r, targets); err != nil {
			return nil, err
		}
		fmt.Fprintf(log, "round %d of %d: FETCH 10 %.1f ms cold, %.1f warm; first COPY row %.1f ms cold, %.1f warm; whole %.2f s\n", round+1, b.Rounds,
			r.last("fetch_cold_ms", ours), r.last("fetch_warm_ms", ours), r.last("copy_cold_ms", ours), r.last("copy_warm_ms", ours), r.last("whole_s", ours))
	}
	for _, name := range []string{"fetch", "copy"} {
		r.set(name+"_warm_ms_median", r.median(name+"_warm_ms", ours))
		r.set(name+"_cold_ms_median", r.median(name+"_cold_ms", ours))
		r.atMost(name+"_warm_ms_median", goalWarmMillis)
		r.atMost(name+"_cold_ms_median", goalColdMillis)
	}
	r.set("vs_postgres", r.vs("whole_s", ours, "postgres"))
	r.set("memory_mib_median", r.median("memory_mib", ours))
	r.atMost("vs_postgres", goalVsPostgres)
	r.atMost("memory_mib_median", goalSnapshotMemory)
	return r, nil
}

// fetchTen is how long FETCH 10 of a new cursor takes.
func fetchTen(ctx context.Context, t *Target) (time.Duration, error) {
	c, err := t.connect(ctx)
	if err != nil {
		return 0, err
	}
	defer c.Close(context.WithoutCancel(ctx))
	if _, err := c.PgConn().Exec(ctx, "BEGIN; DECLARE c CURSOR FOR SUBSCRIBE bench_snapshot").ReadAll(); err != nil {
		return 0, fmt.Errorf("declare: %w", err)
	}
	began := time.Now()
	results, err := c.PgConn().Exec(ctx, "FETCH 10 c").ReadAll()
	took := time.Since(began)
	if err != nil {
		return 0, fmt.Errorf("fetch: %w", err)
	}
	if n := len(results[0].Rows); n != 10 {
		return 0, fmt.Errorf("FETCH 10 of a new cursor returned %d rows", n)
	}
	return took, nil
}

// firstRow ends a COPY at its first row, and notes when that was.
type firstRow struct{ at time.Time }

// Write implements io.Writer.
func (w *firstRow) Write([]byte) (int, error) {
	w.at = time.Now()
	return 0, errEnough
}

// firstCopyRow is how long the first row of a COPY of a SUBSCRIBE takes.
func firstCopyRow(ctx context.Context, t *Target) (time.Duration, error) {
	c, err := t.connect(ctx)
	if err != nil {
		return 0, err
	}
	defer c.Close(context.WithoutCancel(ctx))
	var first firstRow
	began := time.Now()
	if _, err := c.PgConn().CopyTo(ctx, &first, "COPY (SUBSCRIBE bench_snapshot) TO STDOUT"); !errors.Is(err, errEnough) {
		return 0, fmt.Errorf("copy: %w", err)
	}
	return first.at.Sub(began), nil
}

// whole reads all rows from each target: a SUBSCRIBE that ends with its snapshot, and COPY TO of the same columns.
func (b Snapshot) whole(ctx context.Context, r *Report, targets []*Target) error {
	for _, t := range targets {
		c, err := t.connect(ctx)
		if err != nil {
			return err
		}
		sql := "COPY (SELECT 1796000000000000::numeric, 1::bigint, id, tenant, body FROM bench_snapshot) TO STDOUT"
		idle := 0
		if t.Subscribe {
			var now string
			if err := c.QueryRow(ctx, "SELECT mz_now()::text").Scan(&now); err != nil {
				return err
			}
			sql = "COPY (SUBSCRIBE bench_snapshot AS OF " + now + " UP TO " + now + " + 1) TO STDOUT"
			if idle, err = idleKB(t.PID); err != nil {
				return err
			}
		}
		began := time.Now()
		tag, err := c.PgConn().CopyTo(ctx, io.Discard, sql)
		took := time.Since(began)
		if err := errors.Join(err, c.Close(ctx)); err != nil {
			return fmt.Errorf("%s: whole snapshot: %w", t.Name, err)
		}
		if n := tag.RowsAffected(); n != int64(b.Rows) {
			return fmt.Errorf("%s: the whole snapshot had %d rows, want %d", t.Name, n, b.Rows)
		}
		r.add("whole_s", t.Name, took.Seconds(), false)
		if t.Subscribe {
			peak, err := peakKB(t.PID)
			if err != nil {
				return err
			}
			r.add("memory_mib", t.Name, float64(peak-idle)/1024, false)
		}
	}
	return nil
}
