package bench

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"runtime"
	"slices"
	"sync"
	"time"

	"golang.org/x/sync/errgroup"
)

// Lookup is `tailrace bench lookup`: random keys of a table that does not fit the cache, also beside keyed updates, and the making of the local index
// after its folder was deleted.
type Lookup struct {
	Rows    int           // of the table, about 64 bytes each
	Updates int           // keyed updates a second that run beside the lookups
	Seconds time.Duration // length of a run
	Clients int           // connections that look up
	Depth   int           // statements that a connection sends at once
}

// indexWait bounds the wait for the local index.
const indexWait = 10 * time.Minute

// Run measures lookups in this process, then through the targets, and tells progress to log.
func (b Lookup) Run(ctx context.Context, targets []*Target, log io.Writer) (*Report, error) {
	r := &Report{Name: "lookup", Settings: fmt.Sprintf("rows %d, updates %d/s, %v a run, %d clients, %d statements at once", b.Rows, b.Updates, b.Seconds, b.Clients, b.Depth)}
	if err := b.direct(ctx, r, log); err != nil {
		return nil, fmt.Errorf("lookups in this process: %w", err)
	}
	for _, t := range targets {
		if err := b.wire(ctx, t, r, log); err != nil {
			return nil, fmt.Errorf("lookups through %s: %w", t.Name, err)
		}
	}
	return r, nil
}

// ours is the target that figures without a server are filed under.
const ours = "tailrace"

// direct measures shard.Lookup.
func (b Lookup) direct(ctx context.Context, r *Report, log io.Writer) (err error) {
	began := time.Now()
	d, err := newDirect(ctx, b.Rows)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, d.close()) }()
	fmt.Fprintf(log, "shard: %d rows loaded in %v\n", b.Rows, time.Since(began).Round(time.Millisecond))
	upkeep, stop := context.WithCancel(ctx)
	var wg sync.WaitGroup
	wg.Go(func() { _ = d.set.Maintain(upkeep, d.commit) }) // it returns nil
	defer func() { stop(); wg.Wait() }()

	rng := rand.New(rand.NewPCG(2, 2))
	keys, began := 0, time.Now()
	for ; d.set.IndexStats().Collections == 0; keys++ {
		if _, err := d.lookup(ctx, rng, 1); err != nil {
			return err
		}
		if time.Since(began) > indexWait {
			return errors.New("the local index does not come")
		}
	}
	took := time.Since(began)
	r.add("shard_no_index_keys_per_s", ours, float64(keys)/took.Seconds(), true)
	r.add("shard_index_made_s", ours, took.Seconds(), false)
	fmt.Fprintf(log, "shard: the index was made in %v\n", took.Round(time.Millisecond))
	for _, per := range []int{1, 100} {
		used, err := b.directRun(ctx, d, r, fmt.Sprintf("shard_%d", per), per)
		if err != nil {
			return err
		}
		used.file(r, fmt.Sprintf("shard_%d", per), ours, 0)
	}
	if err := b.updatesAlone(ctx, d, r); err != nil {
		return err
	}
	for _, per := range []int{1, 100} {
		name := fmt.Sprintf("shard_%d_beside_updates", per)
		var done int
		run, finish := context.WithCancel(ctx)
		group, run := errgroup.WithContext(run)
		group.Go(func() (err error) {
			done, err = b.updates(run, d)
			return err
		})
		began := time.Now()
		used, err := b.directRun(run, d, r, name, per)
		finish()
		if err := errors.Join(err, group.Wait()); err != nil {
			return err
		}
		used.file(r, name, ours, 0)
		r.add(name+"_updates_per_s", ours, float64(done)/time.Since(began).Seconds(), true)
	}
	r.add("shard_index_bytes", ours, float64(d.set.IndexStats().Bytes), false)
	return nil
}

// use is what a run of lookups took.
type use struct {
	keys int
	cpu  time.Duration // of the thread that looked up, or of the whole server
}

// file adds the keys for a second of one core, with what a server did besides, updates, taken off.
func (u use) file(r *Report, name, target string, others time.Duration) {
	r.add(name+"_keys_per_core_s", target, float64(u.keys)/(u.cpu-others).Seconds(), true)
}

// directRun looks up with one goroutine, on a thread of its own: whatever else runs, and however busy the machine is, its CPU time is what lookups take.
func (b Lookup) directRun(ctx context.Context, d *direct, r *Report, name string, per int) (u use, err error) {
	rng := rand.New(rand.NewPCG(3, uint64(per)))
	var took []time.Duration
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	cpu, began := threadCPU(), time.Now()
	for time.Since(began) < b.Seconds {
		t0 := time.Now()
		if _, err := d.lookup(ctx, rng, per); err != nil {
			return u, err
		}
		took = append(took, time.Since(t0))
	}
	elapsed := time.Since(began)
	u = use{keys: per * len(took), cpu: threadCPU() - cpu}
	r.add(name+"_keys_per_s", ours, float64(u.keys)/elapsed.Seconds(), true)
	r.latencies(name, ours, took)
	return u, nil
}

// latencies files the median and the 99th percentile, in milliseconds.
func (r *Report) latencies(name, target string, took []time.Duration) {
	slices.Sort(took)
	r.add(name+"_p50_ms", target, took[len(took)/2].Seconds()*1e3, false)
	r.add(name+"_p99_ms", target, took[len(took)*99/100].Seconds()*1e3, false)
}

// updatesAlone measures how many updates a second there are, and what they take of cores, upkeep included.
func (b Lookup) updatesAlone(ctx context.Context, d *direct, r *Report) error {
	run, finish := context.WithTimeout(ctx, b.Seconds)
	defer finish()
	before, began := cpuUsed(), time.Now()
	n, err := b.updates(run, d)
	if err != nil {
		return err
	}
	elapsed := time.Since(began).Seconds()
	r.add("shard_updates_alone_per_s", ours, float64(n)/elapsed, true)
	r.add("shard_updates_alone_cores", ours, (cpuUsed()-before).Seconds()/elapsed, false)
	return nil
}

// updateBatch is how many keys one transaction of the updates changes.
const updateBatch = 100

// updates changes rows at the rate asked for until ctx is done, and returns how many.
func (b Lookup) updates(ctx context.Context, d *direct) (n int, err error) {
	rng := rand.New(rand.NewPCG(4, 4))
	return b.paced(ctx, func() (int, error) { return d.update(ctx, rng, updateBatch) })
}

// paced calls step, which says how many updates it did, so often that they are as many a second as asked for. The end of ctx is no error.
func (b Lookup) paced(ctx context.Context, step func() (int, error)) (n int, err error) {
	tick := time.NewTicker(time.Millisecond)
	defer tick.Stop()
	began := time.Now()
	for {
		for due := int(time.Since(began).Seconds() * float64(b.Updates)); n < due; {
			done, err := step()
			if n += done; ctx.Err() != nil {
				return n, nil
			}
			if err != nil {
				return n, err
			}
		}
		select {
		case <-ctx.Done():
			return n, nil
		case <-tick.C:
		}
	}
}
