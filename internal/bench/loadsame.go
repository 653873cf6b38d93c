package bench

import (
	"context"
	"fmt"
	"sync/atomic"

	"tailrace"
	"tailrace/pool"
	"tailrace/stripe"
)

// same notes that the parts called name have this sum; another sum than before is what `identical` is about.
func (l *loading) same(name, sum string) {
	before, known := l.sums[name]
	if known && before != sum {
		l.differ = append(l.differ, fmt.Sprintf("%s: %.12s and %.12s", name, before, sum))
		l.say("%s: the bytes DIFFER", name)
	}
	l.sums[name] = sum
}

// identical encodes the rows again and again: in the plain loop, with 1, 2 and 8 workers, with a pool that nobody runs, and with a task that panics. The
// bytes must be the same.
func (l *loading) identical(ctx context.Context, s *source, batches []*tailrace.Batch, p *pool.Pool) error {
	eight := pool.New(8)
	run, stop := context.WithCancel(ctx)
	ended := make(chan struct{})
	go func() { defer close(ended); _ = eight.Run(run) }() // it says that run ended
	defer func() { stop(); <-ended }()
	var panics atomic.Int64
	once := stripe.Options{Fault: func(_, chunk, page int) error {
		if chunk == 2 && page == 0 && panics.Add(1) == 1 {
			panic("injected")
		}
		return nil
	}}
	starved := pool.New(2).Flight(ctx, 0)
	helped := eight.Flight(ctx, 8)
	for _, c := range []struct {
		how    string
		flight *pool.Flight
		opts   stripe.Options
	}{
		{"the plain loop", nil, stripe.Options{}},
		{"1 worker", p.Flight(ctx, 1), stripe.Options{}},
		{"2 workers", eight.Flight(ctx, 2), stripe.Options{}},
		{"8 workers", helped, stripe.Options{}},
		{"starved", starved, stripe.Options{}},
		{"a panic", eight.Flight(ctx, 8), once},
	} {
		parts, err := encode(s.Schema, batches, c.flight, c.opts)
		if err != nil {
			return fmt.Errorf("encode with %s: %w", c.how, err)
		}
		l.same(s.Name+" encoded", sumOf(parts))
	}
	if panics.Load() == 0 {
		return fmt.Errorf("no task reached the panic")
	}
	l.r.add("encode_"+s.Name+"_helped", ours, float64(helped.Helped()), true)
	l.r.add("encode_"+s.Name+"_starved_helped", ours, float64(starved.Helped()), false)
	return nil
}

const (
	// overheadPairs are run in turns, each side first every second time.
	overheadPairs = 9
	// overheadRows are encoded in each, four stripes.
	overheadRows = 4 * stripe.StripeRows
	// smallRows and smallFlushes: how a flush of few rows does beside the pool.
	smallRows    = 1_000
	smallFlushes = 40
)

// overheads measures what the pool costs where it cannot help: a load with one worker against the plain loop, and flushes of a thousand rows.
func (l *loading) overheads(ctx context.Context, s *source, batches []*tailrace.Batch, p *pool.Pool) error {
	load := firstRows(batches, overheadRows)
	plain := func() error {
		_, err := encode(s.Schema, load, nil, stripe.Options{})
		return err
	}
	one := func() error {
		_, err := encode(s.Schema, load, p.Flight(ctx, 1), stripe.Options{})
		return err
	}
	if err := l.pairs("off_overhead_"+s.Name, one, plain); err != nil {
		return err
	}
	few := firstRows(batches, smallRows)
	flushes := func(workers int) func() error {
		return func() error {
			for range max(1, int(smallFlushes*min(1, l.Scale))) {
				if _, err := encode(s.Schema, few, p.Flight(ctx, workers), stripe.Options{}); err != nil {
					return err
				}
			}
			return nil
		}
	}
	return l.pairs("small_flush_"+s.Name, flushes(0), flushes(1))
}

// pairs files what a took divided by what b took, of overheadPairs interleaved pairs.
func (l *loading) pairs(name string, a, b func() error) error {
	for i := range overheadPairs {
		first, second := a, b
		if i%2 == 1 {
			first, second = b, a
		}
		x, err := timed(first)
		if err != nil {
			return err
		}
		y, err := timed(second)
		if err != nil {
			return err
		}
		if i%2 == 1 {
			x, y = y, x
		}
		l.r.add(name+"_wall", ours, float64(x.wall)/float64(max(1, y.wall)), false)
		l.r.add(name+"_cpu", ours, float64(x.cpu)/float64(max(1, y.cpu)), false)
	}
	return nil
}

// firstRows are the first n rows of the batches.
func firstRows(batches []*tailrace.Batch, n int) (out []*tailrace.Batch) {
	for _, b := range batches {
		if n <= 0 {
			break
		}
		if b.N > n {
			rows := make([]int32, n)
			for i := range rows {
				rows[i] = int32(i)
			}
			b = b.Gather(rows)
		}
		out = append(out, b)
		n -= b.N
	}
	return out
}
