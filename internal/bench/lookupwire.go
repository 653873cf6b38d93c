package bench

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"path/filepath"
	"sync/atomic"
	"time"

	"github.com/jackc/pgx/v5"
	"golang.org/x/sync/errgroup"
)

// wire measures a prepared SELECT by key.
func (b Lookup) wire(ctx context.Context, t *Target, r *Report, log io.Writer) error {
	err := t.exec(ctx, "DROP TABLE IF EXISTS bench_base", "CREATE TABLE bench_base (id bigint PRIMARY KEY, n int, v text)")
	if err != nil {
		return err
	}
	took, err := Base{Rows: b.Rows}.load(ctx, t)
	if err != nil {
		return err
	}
	fmt.Fprintf(log, "%s: %d rows loaded in %v\n", t.Name, b.Rows, took.Round(time.Millisecond))
	if t.PID == 0 {
		if err := t.exec(ctx, "VACUUM bench_base"); err != nil {
			return err
		}
	} else if _, err := b.awaitIndex(ctx, t, log); err != nil {
		return err
	}
	used, err := b.wireRun(ctx, t, r, "wire")
	if err != nil {
		return err
	}
	if t.PID != 0 {
		used.file(r, "wire", t.Name, 0)
	}
	if err := b.wireBeside(ctx, t, r); err != nil {
		return err
	}
	if t.PID == 0 {
		return nil
	}
	bytes, err := t.metric(ctx, "tailrace_index_bytes")
	if err != nil {
		return err
	}
	r.add("wire_index_bytes", t.Name, bytes, false)
	if err := t.Restart(func(dir string) error { return os.RemoveAll(filepath.Join(dir, "index")) }); err != nil {
		return fmt.Errorf("restart without the index: %w", err)
	}
	if took, err = b.awaitIndex(ctx, t, log); err != nil {
		return err
	}
	r.add("wire_index_remade_s", t.Name, took.Seconds(), false)
	return nil
}

// awaitIndex looks up until the server has made its local index, and returns how long that took.
func (b Lookup) awaitIndex(ctx context.Context, t *Target, log io.Writer) (time.Duration, error) {
	ctx, cancel := context.WithTimeout(ctx, indexWait)
	defer cancel()
	c, err := t.connect(ctx)
	if err != nil {
		return 0, err
	}
	defer c.Close(context.WithoutCancel(ctx))
	rng := rand.New(rand.NewPCG(5, 5))
	began := time.Now()
	for {
		for range 20 {
			var n int
			if err := c.QueryRow(ctx, "SELECT n FROM bench_base WHERE id = $1", rng.IntN(b.Rows)).Scan(&n); err != nil {
				return 0, fmt.Errorf("look up a key: %w", err)
			}
		}
		have, err := t.metric(ctx, "tailrace_index_collections")
		if err != nil {
			return 0, err
		}
		if took := time.Since(began); have > 0 {
			fmt.Fprintf(log, "%s: the index was made in %v\n", t.Name, took.Round(time.Millisecond))
			return took, nil
		}
	}
}

// batches sends batches of one prepared statement with random keys on n connections, for as long as pace calls step, and calls done after each with how
// long it took. Each connection has keys of its own: what they write never conflicts.
func (b Lookup) batches(ctx context.Context, t *Target, n int, sql string, pace func(step func() (int, error)) error, done func(time.Duration)) error {
	group, ctx := errgroup.WithContext(ctx)
	for i := range n {
		group.Go(func() error {
			c, err := t.connect(ctx)
			if err != nil {
				return err
			}
			defer c.Close(context.WithoutCancel(ctx))
			if _, err := c.Prepare(ctx, "keyed", sql); err != nil {
				return fmt.Errorf("prepare %s: %w", sql, err)
			}
			rng := rand.New(rand.NewPCG(6, uint64(i)))
			return pace(func() (int, error) {
				batch := &pgx.Batch{}
				for range b.Depth {
					batch.Queue("keyed", rng.IntN(b.Rows/n)*n+i)
				}
				t0 := time.Now()
				if err := c.SendBatch(context.WithoutCancel(ctx), batch).Close(); err != nil {
					return 0, fmt.Errorf("%s: %w", sql, err)
				}
				done(time.Since(t0))
				return b.Depth, nil
			})
		})
	}
	return group.Wait()
}

// wireRun looks up for a run's time.
func (b Lookup) wireRun(ctx context.Context, t *Target, r *Report, name string) (u use, err error) {
	before, err := t.cpu()
	if err != nil {
		return u, err
	}
	took := make(chan time.Duration, 1<<20)
	began := time.Now()
	err = b.batches(ctx, t, b.Clients, "SELECT n, v FROM bench_base WHERE id = $1", func(step func() (int, error)) error {
		for time.Since(began) < b.Seconds {
			if _, err := step(); err != nil {
				return err
			}
		}
		return nil
	}, func(d time.Duration) { took <- d })
	if err != nil {
		return u, err
	}
	elapsed := time.Since(began)
	after, err := t.cpu()
	if err != nil {
		return u, err
	}
	close(took)
	var all []time.Duration
	for d := range took {
		all = append(all, d)
	}
	u = use{keys: len(all) * b.Depth, cpu: after - before}
	r.add(name+"_keys_per_s", t.Name, float64(u.keys)/elapsed.Seconds(), true)
	r.latencies(name+"_batch", t.Name, all)
	return u, nil
}

// cpu is how long the server has used a CPU, 0 when it is not known.
func (t *Target) cpu() (time.Duration, error) {
	if t.PID == 0 {
		return 0, nil
	}
	return cpuOf(t.PID)
}

// updaters are the connections that update.
const updaters = 4

// wireBeside is wireRun while other connections update keys, a batch a transaction.
func (b Lookup) wireBeside(ctx context.Context, t *Target, r *Report) error {
	one := b
	one.Updates = b.Updates / updaters
	update := func(ctx context.Context, n *atomic.Int64) error {
		return b.batches(ctx, t, updaters, "UPDATE bench_base SET n = n + 1 WHERE id = $1", func(step func() (int, error)) error {
			_, err := one.paced(ctx, step)
			return err
		}, func(time.Duration) { n.Add(int64(b.Depth)) })
	}
	alone, cancel := context.WithTimeout(ctx, b.Seconds)
	defer cancel()
	var n atomic.Int64
	before, err := t.cpu()
	if err != nil {
		return err
	}
	began := time.Now()
	if err := update(alone, &n); err != nil {
		return err
	}
	elapsed := time.Since(began).Seconds()
	after, err := t.cpu()
	if err != nil {
		return err
	}
	r.add("wire_updates_alone_per_s", t.Name, float64(n.Load())/elapsed, true)
	perUpdate := float64(after-before) / float64(n.Load())

	run, finish := context.WithCancel(ctx)
	defer finish()
	n.Store(0)
	group, run := errgroup.WithContext(run)
	group.Go(func() error { return update(run, &n) })
	began = time.Now()
	used, err := b.wireRun(run, t, r, "wire_beside_updates")
	finish()
	if err := errors.Join(err, group.Wait()); err != nil {
		return err
	}
	if t.PID != 0 {
		used.file(r, "wire_beside_updates", t.Name, time.Duration(float64(n.Load())*perUpdate))
	}
	r.add("wire_beside_updates_updates_per_s", t.Name, float64(n.Load())/time.Since(began).Seconds(), true)
	return nil
}
