package stripe

import (
	"context"
	"flag"
	"math/rand/v2"
	"slices"
	"sync"
	"syscall"
	"testing"
	"time"

	"tailrace"
	"tailrace/pool"
)

var pairs = flag.Int("pairs", 0, "measure what the pool costs and gains, in so many interleaved rounds")

func cpuNow() time.Duration {
	var u syscall.Rusage
	_ = syscall.Getrusage(syscall.RUSAGE_SELF, &u)
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

// TestPoolOverhead measures the CPU of a serial flight against that of the plain loop, and the time of two workers against one.
func TestPoolOverhead(t *testing.T) {
	if *pairs == 0 {
		t.Skip("measures only with -pairs")
	}
	s, big := wideBatch(3 * StripeRows)
	var batches []*tailrace.Batch
	for at := 0; at < big.N; at += PageRows {
		batches = append(batches, slice(big, at, at+PageRows))
	}
	once := func(f *pool.Flight) (cpu, wall time.Duration) {
		start, began := cpuNow(), time.Now()
		w := NewWriter(s, Options{}, f, func(x *Stripe) error { x.Release(); return nil })
		for _, b := range batches {
			if err := w.Take(b); err != nil {
				t.Fatal(err)
			}
		}
		if err := w.Finish(); err != nil {
			t.Fatal(err)
		}
		return cpuNow() - start, time.Since(began)
	}
	p := pool.New(2)
	ctx, cancel := context.WithCancel(t.Context())
	var running sync.WaitGroup
	running.Go(func() { _ = p.Run(ctx) })
	var serial, starved, speed []float64
	rng := rand.New(rand.NewPCG(1, 1))
	for range *pairs {
		var got [4][2]time.Duration
		for _, i := range rng.Perm(4) {
			var f *pool.Flight
			switch i {
			case 1:
				f = p.Flight(ctx, 1)
			case 2:
				f = pool.New(2).Flight(ctx, 0)
			case 3:
				f = p.Flight(ctx, 2)
			}
			got[i][0], got[i][1] = once(f)
			f.Close()
		}
		serial = append(serial, float64(got[1][0])/float64(got[0][0]))
		starved = append(starved, float64(got[2][0])/float64(got[0][0]))
		speed = append(speed, float64(got[0][1])/float64(got[3][1]))
	}
	cancel()
	running.Wait()
	for name, v := range map[string][]float64{"cpu of serial flight / plain loop": serial, "cpu of starved pool / plain loop": starved, "time of plain loop / 2 workers": speed} {
		slices.Sort(v)
		t.Logf("%s: median %.3f of %.3f", name, v[len(v)/2], v)
	}
}
