package world

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"net"
	"sync"
	"sync/atomic"
	"time"

	"tailrace"
	"tailrace/budget"
	"tailrace/ingest"
	"tailrace/internal/sim"
	"tailrace/log"
	"tailrace/server"
)

// machine runs a node: it starts it, and starts it again whenever it ends, as an init system does.
type machine struct {
	world  *World
	number int
	rng    *rand.Rand
	ahead  atomic.Int64 // of its wall clock, in nanoseconds

	mu    sync.Mutex
	life  *life         // nil while it is down
	lives int           // so far
	stay  time.Duration // how long it stays down next
	up    chan struct{} // closed when it serves
}

// life is one run of the process.
type life struct {
	world *World
	door  *door
	gate  *sim.Gate
	plan  *sim.Plan
	dead  atomic.Bool // the process: it hears and says nothing any more
	told  atomic.Bool // to end in order
	slept atomic.Bool // it was stopped for so long that others may have ended its session
	apart atomic.Bool // its machine: what it had sent and was late does not arrive either
	// ambushed: it is killed at the moment when its next checkpoint has got its name.
	ambushed atomic.Bool
	kill     func()

	yields atomic.Int64 // so far

	stop  context.CancelFunc
	ended chan error

	name     string
	adapters int // made so far, by the one goroutine that follows the source
}

// What a node has for its windows, so that subscribers fall behind them, and for its memtables, so that writers wait for flushes.
const (
	windowBytes   = 24 << 10
	memtableBytes = 128 << 10
)

// restartPause is how long a process that ended by itself is down.
const restartPause = 300 * time.Millisecond

// run keeps the node running until ctx is done; then it lets it leave in order.
func (m *machine) run(ctx context.Context) {
	sleep(ctx, upTo(m.rng, time.Millisecond))
	for {
		l := m.start(ctx)
		var err error
		select {
		case err = <-l.ended:
		case <-ctx.Done():
			l.stop()
			if err = <-l.ended; err != nil && !l.dead.Load() && !errors.Is(err, context.Canceled) { // it may not have begun
				m.world.fail("node %d does not leave in order: %v", m.number, err)
			}
		}
		l.door.hangUp()
		_ = l.door.Close() // nobody dials any more
		if !m.world.shared {
			l.apart.Store(true)
			l.plan.Wait()
		}
		m.world.late(l.plan)
		pause := m.down()
		m.world.note("down", uint64(m.number))
		if ctx.Err() != nil {
			return
		}
		if !l.dead.Load() && (err != nil || !l.told.Load()) {
			m.judge(err)
		}
		sleep(ctx, pause+upTo(m.rng, time.Millisecond))
	}
}

// judge looks at why a process ended that nobody killed.
func (m *machine) judge(err error) {
	switch {
	case errors.Is(err, log.ErrEnded) && m.world.shared, errors.Is(err, log.ErrUnknown), errors.Is(err, sim.ErrFault), errors.Is(err, sim.ErrPower), errors.Is(err, errDead):
		m.world.count("ended by itself", 1)
		if errors.Is(err, log.ErrEnded) {
			m.world.count("session ended", 1)
		}
	default:
		m.world.fail("node %d ended: %v", m.number, err)
	}
}

// down notes that the process has ended and tells how long it stays so.
func (m *machine) down() time.Duration {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.life = nil
	select {
	case <-m.up:
		m.up = make(chan struct{})
	default: // it never served, and somebody waits for it to
	}
	stay := max(m.stay, restartPause)
	m.stay = 0
	return stay
}

// start starts the process.
func (m *machine) start(ctx context.Context) *life {
	w := m.world
	m.mu.Lock()
	m.lives++
	number := m.lives
	m.mu.Unlock()
	l := &life{world: w, gate: &sim.Gate{}, plan: sim.NewCallPlan(w.seed^uint64(m.number)<<32^uint64(number)<<40, w.weather()), ended: make(chan error, 1), name: fmt.Sprint(m.number, ".", number)}
	l.door, l.kill = newDoor(l), func() { m.kill(restartPause) }
	runCtx, stop := context.WithCancel(context.WithoutCancel(ctx))
	l.stop = stop
	ready := func(server.Addresses) { m.serves(l) }
	session := fmt.Sprintf("%08x%08x", m.number, number)
	o := server.Options{
		Memory: budget.Least, Shares: map[string]int64{budget.Windows: windowBytes, budget.Memtables: memtableBytes},
		Drain: time.Second, Logger: w.logger(m.number), Ready: ready,
		Stores: &server.Stores{
			Consensus: w.bug.consensus(alive{&sim.FaultyConsensus{Under: consensusOf{w.disk, &l.apart}, Plan: l.plan}, l}, session),
			Blob:      aliveBlob{&sim.FaultyBlob{Under: blobOf{w.disk, &l.apart}, Plan: l.plan}, l},
			Shared:    w.shared, Session: session, Ahead: func() time.Duration { return time.Duration(m.ahead.Load()) },
			Yield: l.yield,
			Small: true, NoQuery: true, Listen: func() (net.Listener, error) { return l.door, nil },
			OpenSource: func(ingest.Config) (tailrace.Source, error) { return w.upstream.open(l), nil },
		},
	}
	w.wait.Go(func() { l.ended <- server.Run(runCtx, o) })
	m.mu.Lock()
	m.life = l
	m.mu.Unlock()
	w.note("start", uint64(m.number), uint64(number))
	return l
}

// yield lets all go on that can at this moment. Two that yield at one moment do not come back at one moment: which of them were first no seed would tell.
func (l *life) yield() {
	<-time.After(time.Duration(1 + l.yields.Add(1)%1000))
}

func (m *machine) serves(l *life) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.life != l {
		return
	}
	select {
	case <-m.up: // the node has started again within its process
	default:
		close(m.up)
	}
}

// now is the life of now, nil while the machine is down.
func (m *machine) now() *life {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.life
}

// serving waits until the node takes connections, or ctx is done: nil.
func (m *machine) serving(ctx context.Context) *life {
	m.mu.Lock()
	up := m.up
	m.mu.Unlock()
	select {
	case <-up:
		return m.now()
	case <-ctx.Done():
		return nil
	}
}

// kill ends the process as kill -9 does: from one moment to the next it hears and says nothing. It stays down for stay.
func (m *machine) kill(stay time.Duration) {
	m.mu.Lock()
	l := m.life
	m.stay = stay
	m.mu.Unlock()
	if l == nil {
		return
	}
	l.dead.Store(true)
	if !m.world.shared {
		l.apart.Store(true)
	}
	l.door.hangUp()
	l.gate.Open() // so that its goroutines can end
	l.stop()
}

// leave tells the process to end in order. It stays down for stay.
func (m *machine) leave(stay time.Duration) {
	m.mu.Lock()
	l := m.life
	m.stay = stay
	m.mu.Unlock()
	if l != nil {
		l.told.Store(true)
		l.stop()
	}
}

// upNow is closed while the node serves.
func (m *machine) upNow() <-chan struct{} {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.up
}
