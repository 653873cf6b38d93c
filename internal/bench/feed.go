package bench

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"strconv"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"
	"golang.org/x/sync/errgroup"

	"tailrace"
)

// Feed measures a changefeed into a real database, without and with a redo log, beside a plain loader that sends the same statements in the same batches over as many
// connections, and keeps no progress. Rows are like those of an order system: stock, order lines, customers.
type Feed struct {
	URL     string // of the target, with its password; tables called feed_* there are dropped
	Kind    string // mysql or postgres
	Rows    int    // changed rows of a round
	Rounds  int
	Rate    int // rows a second while lag is measured
	Seconds time.Duration
	// Open returns the adapter for the target.
	Open func(kind, url, password string) (tailrace.Sink, error)
	// Serve runs a server on a temporary folder that opens targets with open, and returns its address.
	Serve func(ctx context.Context, open func(kind, url, password string) (tailrace.Sink, error)) (url string, stop func() error, err error)
}

// feedTables are the tables: their columns, and how a changed row is written.
var feedTables = []struct {
	name, columns string
	keys          int    // 0: every row is a new one
	row           string // of key %[1]d, changed the %[2]d'th time
	share         int    // of 100 changed rows
}{
	{"feed_stock", "id int PRIMARY KEY, quantity int, remark text", 20000, "(%[1]d, %[2]d, repeat('s', 580))", 30},
	{"feed_line", "id int PRIMARY KEY, quantity int, item text", 0, "(%[1]d, %[2]d, 'item %[1]d of an order line')", 62},
	{"feed_customer", "id int PRIMARY KEY, balance int, remark text", 3000, "(%[1]d, %[2]d, repeat('c', 1280))", 8},
}

// feeding is a Feed under way.
type feeding struct {
	Feed
	r     *Report
	log   io.Writer
	conn  *pgx.Conn
	rng   *rand.Rand
	taken *recorder
	lines int
	redo  string // a folder for redo logs
}

// Run measures and reports.
func (b Feed) Run(ctx context.Context, log io.Writer) (r *Report, err error) {
	f := &feeding{Feed: b, log: log, rng: rand.New(rand.NewPCG(1, 2)), r: &Report{
		Name: "feed", Settings: fmt.Sprintf("%d changed rows into %s, %d rounds; then %d rows/s for %s", b.Rows, b.Kind, b.Rounds, b.Rate, b.Seconds),
	}}
	url, stop, err := b.Serve(ctx, func(kind, url, password string) (tailrace.Sink, error) {
		s, err := b.Open(kind, url, password)
		if err == nil && f.taken != nil {
			s = &recordingSink{Sink: s, to: f.taken}
		}
		return s, err
	})
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, stop()) }()
	if f.redo, err = os.MkdirTemp("", "tailrace-bench-redo-"); err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(f.redo)) }()
	config, err := pgx.ParseConfig(url)
	if err != nil {
		return nil, err
	}
	config.DefaultQueryExecMode = pgx.QueryExecModeSimpleProtocol
	if f.conn, err = pgx.ConnectConfig(ctx, config); err != nil {
		return nil, err
	}
	defer f.conn.Close(context.WithoutCancel(ctx))
	for _, t := range feedTables {
		if err := f.exec(ctx, fmt.Sprintf("CREATE TABLE %s (%s)", t.name, t.columns)); err != nil {
			return nil, err
		}
		for from := 0; from < t.keys; from += 500 {
			if err := f.exec(ctx, f.statement(t.name, t.row, from, min(from+500, t.keys), func(i int) int { return i }, 0)); err != nil {
				return nil, err
			}
		}
	}
	for round := range b.Rounds {
		if err := f.round(ctx, round); err != nil {
			return nil, err
		}
	}
	if err := f.live(ctx); err != nil {
		return nil, err
	}
	f.conclude()
	return f.r, nil
}

func (f *feeding) exec(ctx context.Context, sql string) error {
	_, err := f.conn.Exec(ctx, sql)
	if err != nil {
		return fmt.Errorf("%.60s: %w", sql, err)
	}
	return nil
}

// statement writes rows [from, to) of a table, by the keys that key gives.
func (f *feeding) statement(table, row string, from, to int, key func(int) int, n int) string {
	var b strings.Builder
	fmt.Fprintf(&b, "INSERT INTO %s VALUES ", table)
	seen := map[int]bool{}
	for i := from; i < to; i++ {
		k := key(i)
		if seen[k] {
			continue
		}
		if len(seen) > 0 {
			b.WriteByte(',')
		}
		seen[k] = true
		fmt.Fprintf(&b, row, k, n)
	}
	b.WriteString(" ON CONFLICT (id) DO UPDATE SET ")
	if table == "feed_customer" {
		b.WriteString("balance = excluded.balance")
	} else {
		b.WriteString("quantity = excluded.quantity")
	}
	return b.String()
}

// change commits transactions with rows changed rows together, and returns how many there were.
func (f *feeding) change(ctx context.Context, rows int) (changed int, err error) {
	const transaction = 200
	for changed < rows {
		var b strings.Builder
		b.WriteString("BEGIN;")
		for _, t := range feedTables {
			n := transaction * t.share / 100
			key := func(int) int { return f.rng.IntN(max(1, t.keys)) }
			if t.keys == 0 {
				first := f.lines
				f.lines += n
				key = func(i int) int { return first + i }
			}
			b.WriteString(f.statement(t.name, t.row, 0, n, key, changed+1) + ";")
			changed += n
		}
		b.WriteString("COMMIT")
		if err := f.exec(ctx, b.String()); err != nil {
			return changed, err
		}
	}
	return changed, nil
}

// round drains a backlog through a sink, then through the plain loader, and as large a one through a sink with a redo log.
func (f *feeding) round(ctx context.Context, round int) error {
	rows, ours, err := f.drain(ctx, "tailrace", "")
	if err != nil {
		return err
	}
	transactions := f.taken.count()
	if err := f.empty(ctx); err != nil {
		return err
	}
	took, cpu, err := f.plain(ctx)
	if err != nil {
		return err
	}
	f.r.add("our_cpu_us_per_row", "plain", float64(cpu.Microseconds())/float64(rows), false)
	plain := float64(rows) / took.Seconds()
	f.r.add("rows_per_s", "tailrace", ours, true)
	f.r.add("rows_per_s", "plain", plain, true)
	_, logged, err := f.drain(ctx, "redo", fmt.Sprintf(", REDO = 'file://%s/%d'", f.redo, round))
	if err != nil {
		return err
	}
	f.r.add("rows_per_s", "redo", logged, true)
	f.taken = nil
	fmt.Fprintf(f.log, "round %d: %d rows in %d transactions of the target: %.0f rows/s, the plain loader %.0f, with a redo log %.0f\n", round+1, rows, transactions, ours, plain, logged)
	return nil
}

// drain has a sink with options send a backlog, and returns how many rows that was and how many a second.
func (f *feeding) drain(ctx context.Context, name, options string) (rows int, perSecond float64, err error) {
	f.taken = &recorder{}
	if err := f.empty(ctx); err != nil {
		return 0, 0, err
	}
	if err := f.create(ctx, options); err != nil {
		return 0, 0, err
	}
	if err := f.exec(ctx, "ALTER SINK feed PAUSE"); err != nil {
		return 0, 0, err
	}
	if rows, err = f.change(ctx, f.Rows); err != nil {
		return 0, 0, err
	}
	f.taken.start()
	cpu := cpuUsed()
	if err := f.exec(ctx, "ALTER SINK feed RESUME"); err != nil {
		return 0, 0, err
	}
	if err := f.caughtUp(ctx); err != nil {
		return 0, 0, err
	}
	f.r.add("our_cpu_us_per_row", name, float64((cpuUsed()-cpu).Microseconds())/float64(rows), false)
	return rows, float64(rows) / f.taken.took().Seconds(), f.exec(ctx, "DROP SINK feed")
}

// create makes the sink, with options, and waits until the tables are copied.
func (f *feeding) create(ctx context.Context, options string) error {
	names := make([]string, len(feedTables))
	for i, t := range feedTables {
		names[i] = t.name
	}
	sql := fmt.Sprintf("CREATE SINK feed FROM %s INTO %s (URL '%s') WITH (MEMORY = '64MiB'%s)", strings.Join(names, ", "), strings.ToUpper(f.Kind), f.URL, options)
	if err := f.exec(ctx, sql); err != nil {
		return err
	}
	return f.caughtUp(ctx)
}

// caughtUp waits until the sink has sent everything committed so far.
func (f *feeding) caughtUp(ctx context.Context) error {
	now, err := f.one(ctx, "SELECT mz_now()")
	if err != nil {
		return err
	}
	for {
		rows, err := f.one(ctx, "SELECT coalesce(bool_and(checkpoint >= "+now+"), false)::text || ' ' || max(reason) FROM mz_internal.mz_sinks")
		if err != nil {
			return err
		}
		done, why, _ := strings.Cut(rows, " ")
		switch {
		case done == "true":
			return nil
		case why != "":
			return fmt.Errorf("the sink has stopped: %s", why)
		}
		if err := pause(ctx, 100*time.Millisecond); err != nil {
			return err
		}
	}
}

// one is the first value of a query, as text.
func (f *feeding) one(ctx context.Context, sql string) (string, error) {
	results, err := f.conn.PgConn().Exec(ctx, sql).ReadAll()
	if err != nil {
		return "", fmt.Errorf("%.60s: %w", sql, err)
	}
	return string(results[0].Rows[0][0]), nil
}

// live commits rows at a rate and looks how far behind the target is.
func (f *feeding) live(ctx context.Context) error {
	if err := f.empty(ctx); err != nil {
		return err
	}
	if err := f.create(ctx, ""); err != nil {
		return err
	}
	writer, err := pgx.ConnectConfig(ctx, f.conn.Config())
	if err != nil {
		return err
	}
	defer writer.Close(context.WithoutCancel(ctx))
	group, groupCtx := errgroup.WithContext(ctx)
	ended := make(chan struct{})
	const transaction = 20
	sent := 0
	group.Go(func() error {
		defer close(ended)
		began := time.Now()
		for ; time.Since(began) < f.Seconds; sent += transaction {
			if err := pause(groupCtx, time.Until(began.Add(time.Duration(sent)*time.Second/time.Duration(max(1, f.Rate))))); err != nil {
				return err
			}
			sql := f.statement("feed_stock", feedTables[0].row, 0, transaction, func(int) int { return f.rng.IntN(20000) }, sent)
			if _, err := writer.Exec(groupCtx, sql); err != nil {
				return err
			}
		}
		return nil
	})
	var lags []float64
	peak := 0.0
	for running := true; running; {
		select {
		case <-ended:
			running = false
		case <-time.After(25 * time.Millisecond):
		}
		text, err := f.one(ctx, "SELECT (max(lag_us) FILTER (WHERE lag_us IS NOT NULL))::text || ' ' || max(resident_bytes)::text FROM mz_internal.mz_sinks")
		if err != nil {
			return errors.Join(err, group.Wait())
		}
		lag, resident, _ := strings.Cut(text, " ")
		ms, _ := strconv.ParseFloat(lag, 64)
		bytes, _ := strconv.ParseFloat(resident, 64)
		lags, peak = append(lags, ms/1000), max(peak, bytes/(1<<20))
	}
	if err := group.Wait(); err != nil {
		return err
	}
	f.r.add("lag_p50_ms", "tailrace", percentile(lags, 50), false)
	f.r.add("lag_p99_ms", "tailrace", percentile(lags, 99), false)
	f.r.add("resident_peak_mib", "tailrace", peak, false)
	f.r.set("live_rows_per_s", float64(sent)/f.Seconds.Seconds())
	return f.exec(ctx, "DROP SINK feed")
}

func (f *feeding) conclude() {
	f.r.set("vs_plain", f.r.vs("rows_per_s", "tailrace", "plain"))
	f.r.atLeast("vs_plain", 0.9)
	f.r.set("redo_vs_plain", f.r.vs("rows_per_s", "redo", "plain"))
}

// pause returns nil after d, or ctx's error.
func pause(ctx context.Context, d time.Duration) error {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-t.C:
		return nil
	}
}
