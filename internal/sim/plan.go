package sim

import (
	"context"
	"errors"
	"hash/fnv"
	"math/rand/v2"
	"strings"
	"sync"
	"time"
)

// ErrFault is what a faulty store answers when the plan says so. Of a write it tells nothing: it may be done, or be done later.
var ErrFault = errors.New("fault by plan")

// Faults are the chances, 0 to 1, of what happens to one call, and how long calls take.
type Faults struct {
	Lost    float64       // not done, answered with an error
	Unknown float64       // done, answered with an error
	Late    float64       // answered with an error, done after a while: a message that was delayed
	Slow    float64       // takes a hundred times as long
	Torn    float64       // a List that breaks off with an error, a Scan that gives only the first values
	Latency time.Duration // a call takes a time between 1 ns and this; no two alike, so that wake-ups do not tie
}

// Plan decides by a seed what happens to each call. Several stores may share one.
type Plan struct {
	mu     sync.Mutex
	seed   uint64
	rng    *rand.Rand
	calls  map[string]uint64 // made so far of each kind; nil: all calls draw from rng, one after the other
	faults Faults
	late   sync.WaitGroup
}

// NewPlan returns the plan of seed.
func NewPlan(seed uint64, f Faults) *Plan {
	return &Plan{seed: seed, rng: rand.New(rand.NewPCG(seed, 0x7461696c)), faults: f}
}

// NewCallPlan returns a plan of seed by which what happens to a call depends on what is called, with which key, and how often it was before: so that two calls
// at one moment, whose order no seed tells, get the same in either order.
func NewCallPlan(seed uint64, f Faults) *Plan {
	p := NewPlan(seed, f)
	p.calls = map[string]uint64{}
	return p
}

// Heal makes every later call work.
func (p *Plan) Heal() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.faults = Faults{Latency: p.faults.Latency}
}

// Set changes what happens to later calls.
func (p *Plan) Set(f Faults) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.faults = f
}

// Wait returns once all late writes have been done.
func (p *Plan) Wait() { p.late.Wait() }

// outcome is what happens to one call.
type outcome struct {
	lost, unknown, late, torn bool
	latency                   time.Duration
}

func (p *Plan) next(call string) outcome {
	p.mu.Lock()
	defer p.mu.Unlock()
	f, rng := p.faults, p.rng
	if p.calls != nil {
		if dash := strings.LastIndexByte(call, '-'); dash > 0 { // what follows it in a key is chance: the names of checkpoints end so
			call = call[:dash]
		}
		h := fnv.New64a()
		_, _ = h.Write([]byte(call)) // never fails
		p.calls[call]++
		rng = rand.New(rand.NewPCG(p.seed^h.Sum64(), p.calls[call]))
	}
	o := outcome{latency: 1}
	if f.Latency > 0 {
		o.latency += time.Duration(rng.Int64N(int64(f.Latency)))
	}
	if rng.Float64() < f.Slow {
		o.latency *= 100
	}
	o.torn = rng.Float64() < f.Torn
	switch roll := rng.Float64(); {
	case roll < f.Lost:
		o.lost = true
	case roll < f.Lost+f.Unknown:
		o.unknown = true
	case roll < f.Lost+f.Unknown+f.Late:
		o.late = true
	}
	return o
}

// read runs a call that changes nothing.
func (p *Plan) read(ctx context.Context, name string, call func(outcome) error) error {
	o := p.next(name)
	pause(ctx, o.latency)
	if o.lost || o.unknown || o.late {
		return ErrFault
	}
	return call(o)
}

// write runs a call that changes something. call is given a context that outlives ctx when the write is late.
func (p *Plan) write(ctx context.Context, name string, call func(context.Context) error) error {
	o := p.next(name)
	switch {
	case o.late:
		p.late.Add(1)
		go func() { // waited for by Wait
			defer p.late.Done()
			pause(context.Background(), 10*o.latency)
			_ = call(context.Background()) // nobody hears how a late write went
		}()
		return ErrFault
	case o.lost:
		pause(ctx, o.latency)
		return ErrFault
	}
	pause(ctx, o.latency/2)
	err := call(ctx)
	pause(ctx, o.latency-o.latency/2)
	if o.unknown {
		return ErrFault
	}
	return err
}
