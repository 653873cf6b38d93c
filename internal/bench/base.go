package bench

import (
	"context"
	"fmt"
	"io"
	"math/rand/v2"
	"slices"
	"strconv"
	"sync"
	"time"

	"github.com/jackc/pgx/v5"
)

// Base is `tailrace bench base`: bulk load, whole snapshot, commits and keyed updates.
type Base struct {
	Rows    int           // rows of the loaded table, about 64 bytes each
	Rounds  int           // interleaved rounds
	Seconds time.Duration // length of one commit or update run
	Writers []int         // connections of the commit and update runs
	RowRate int           // transactions a second while rows are timed on their way to a subscriber; 0 leaves that out
}

// Run measures the targets and tells progress to log.
func (b Base) Run(ctx context.Context, targets []*Target, log io.Writer) (*Report, error) {
	r := &Report{Name: "base", Settings: fmt.Sprintf("rows %d, rounds %d, %v a run", b.Rows, b.Rounds, b.Seconds)}
	for round := range b.Rounds {
		for _, t := range targets {
			fmt.Fprintf(log, "round %d of %d: %s\n", round+1, b.Rounds, t.Name)
			if err := b.round(ctx, t, r); err != nil {
				return nil, err
			}
		}
	}
	return r, nil
}

func (b Base) round(ctx context.Context, t *Target, r *Report) error {
	err := t.exec(ctx, "DROP TABLE IF EXISTS bench_base", "DROP TABLE IF EXISTS bench_commit",
		"CREATE TABLE bench_base (id bigint PRIMARY KEY, n int, v text)", "CREATE TABLE bench_commit (id bigint, v text)")
	if err != nil {
		return err
	}
	took, err := b.load(ctx, t)
	if err != nil {
		return err
	}
	r.add("copy_rows_per_s", t.Name, float64(b.Rows)/took.Seconds(), true)
	if took, err = b.snapshot(ctx, t); err != nil {
		return err
	}
	r.add("snapshot_rows_per_s", t.Name, float64(b.Rows)/took.Seconds(), true)
	if err := b.rows(ctx, t, r); err != nil {
		return err
	}
	for _, n := range b.Writers {
		insert := func(id int64) (string, []any) {
			return "INSERT INTO bench_commit VALUES ($1, 'a row of a commit benchmark')", []any{id}
		}
		if err := b.commits(ctx, t, r, fmt.Sprintf("commit_%d", n), n, insert); err != nil {
			return err
		}
		update := func(int64) (string, []any) {
			return "UPDATE bench_base SET n = n + 1 WHERE id = $1", []any{rand.Int64N(int64(b.Rows))}
		}
		if err := b.commits(ctx, t, r, fmt.Sprintf("update_%d", n), n, update); err != nil {
			return err
		}
	}
	return nil
}

// load fills bench_base through COPY FROM STDIN.
func (b Base) load(ctx context.Context, t *Target) (time.Duration, error) {
	c, err := t.connect(ctx)
	if err != nil {
		return 0, err
	}
	defer c.Close(context.WithoutCancel(ctx))
	began := time.Now()
	pr, pw := io.Pipe()
	var wg sync.WaitGroup
	wg.Go(func() { pw.CloseWithError(writeRows(pw, b.Rows)) })
	_, err = c.PgConn().CopyFrom(ctx, pr, "COPY bench_base FROM STDIN")
	pr.Close()
	wg.Wait()
	if err != nil {
		return 0, fmt.Errorf("%s: COPY FROM STDIN: %w", t.Name, err)
	}
	return time.Since(began), nil
}

// writeRows writes n rows of COPY text, about 64 bytes each, the same for everyone.
func writeRows(w io.Writer, n int) error {
	rng := rand.New(rand.NewPCG(1, 1))
	var buf []byte
	for i := range n {
		buf = strconv.AppendInt(buf, int64(i), 10)
		buf = append(buf, '\t')
		buf = strconv.AppendInt(buf, int64(rng.IntN(1000)), 10)
		buf = append(buf, '\t')
		buf = append(appendText(buf, rng), '\n')
		if len(buf) > 60<<10 || i == n-1 {
			if _, err := w.Write(buf); err != nil {
				return err
			}
			buf = buf[:0]
		}
	}
	return nil
}

// appendText adds the text of a row: three random words, 41 bytes.
func appendText(dst []byte, rng *rand.Rand) []byte {
	for range 3 {
		dst = strconv.AppendUint(dst, rng.Uint64()|1<<60, 36)
		dst = append(dst, ' ')
	}
	return dst[:len(dst)-1]
}

// snapshot reads all of bench_base: a SUBSCRIBE's snapshot here, COPY TO at a PostgreSQL.
func (b Base) snapshot(ctx context.Context, t *Target) (time.Duration, error) {
	c, err := t.connect(ctx)
	if err != nil {
		return 0, err
	}
	defer c.Close(context.WithoutCancel(ctx))
	sql := "COPY bench_base TO STDOUT"
	if t.Subscribe {
		var now int64
		if err := c.QueryRow(ctx, "SELECT mz_now()::text::bigint").Scan(&now); err != nil {
			return 0, fmt.Errorf("%s: mz_now(): %w", t.Name, err)
		}
		sql = fmt.Sprintf("COPY (SUBSCRIBE bench_base AS OF %d UP TO %d) TO STDOUT", now, now+1)
	}
	began := time.Now()
	tag, err := c.PgConn().CopyTo(ctx, io.Discard, sql)
	if err != nil {
		return 0, fmt.Errorf("%s: %s: %w", t.Name, sql, err)
	}
	if tag.RowsAffected() != int64(b.Rows) {
		return 0, fmt.Errorf("%s: the snapshot had %d rows, not %d", t.Name, tag.RowsAffected(), b.Rows)
	}
	return time.Since(began), nil
}

// commits runs one statement a transaction on n connections for b.Seconds, and one at least on each.
func (b Base) commits(ctx context.Context, t *Target, r *Report, name string, n int, next func(int64) (string, []any)) error {
	ctx, cancel := context.WithTimeout(ctx, b.Seconds+time.Minute)
	defer cancel()
	clients := make([]*pgx.Conn, n)
	for w := range clients {
		c, err := t.connect(ctx)
		if err != nil {
			return err
		}
		defer c.Close(context.WithoutCancel(ctx))
		clients[w] = c
	}
	latencies := make([][]time.Duration, n)
	errs := make([]error, n)
	var wg sync.WaitGroup
	began := time.Now()
	for w, c := range clients {
		wg.Go(func() {
			for id := int64(w) << 40; len(latencies[w]) == 0 || time.Since(began) < b.Seconds; id++ {
				sql, args := next(id)
				t0 := time.Now()
				if _, err := c.Exec(ctx, sql, args...); err != nil {
					errs[w] = fmt.Errorf("%s: %s: %w", t.Name, sql, err)
					return
				}
				latencies[w] = append(latencies[w], time.Since(t0))
			}
		})
	}
	wg.Wait()
	took := time.Since(began)
	var all []time.Duration
	for w := range n {
		if errs[w] != nil {
			return errs[w]
		}
		all = append(all, latencies[w]...)
	}
	slices.Sort(all)
	r.add(name+"_per_s", t.Name, float64(len(all))/took.Seconds(), true)
	r.add(name+"_p50_ms", t.Name, all[len(all)/2].Seconds()*1e3, false)
	r.add(name+"_p99_ms", t.Name, all[len(all)*99/100].Seconds()*1e3, false)
	return nil
}
