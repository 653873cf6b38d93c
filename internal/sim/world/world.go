package world

import (
	"context"
	"fmt"
	"hash/fnv"
	"log/slog"
	"math/rand/v2"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"tailrace/internal/sim"
)

// World is one simulated environment and all who live in it.
type World struct {
	seed     uint64
	bug      Bug
	began    time.Time
	plan     plan
	shared   bool
	disk     *disk
	machines []*machine
	upstream *upstream
	log      *slog.Logger
	wait     sync.WaitGroup
	clock    atomic.Uint64 // counts events: what was before what
	resting  atomic.Bool   // writers pause
	healed   atomic.Bool   // nothing breaks any more
	target   atomic.Uint64 // the progress that subscribers wait for, 0 while unknown

	mu       sync.Mutex
	faults   sim.Faults
	intents  []*intent
	readings []*reading
	subs     []*subscriber
	plans    []*sim.Plan
	counts   map[string]int
	failures []string
	story    []string
}

// Report is what came of a world.
type Report struct {
	Seed     uint64
	Failures []string       // what the validators found
	Counts   map[string]int // how often what happened
	Story    []string       // the log's entries, the writers' outcomes and the troubles, each with its nanosecond
	Fake     time.Duration  // that the world lasted
}

// Run builds the world of seed, in which bug is broken, lets it live and checks it. It is called in a synctest bubble. logger, if not nil, hears what the nodes
// log.
func Run(seed uint64, bug Bug, logger *slog.Logger) *Report {
	w := &World{seed: seed, bug: bug, began: time.Now(), counts: map[string]int{}, log: logger, faults: good}
	if w.log == nil {
		w.log = slog.New(slog.DiscardHandler)
	}
	w.plan = w.draw()
	w.shared = w.plan.shared
	w.disk = &disk{world: w, consensus: sim.NewConsensus(), blob: sim.NewBlob(), ended: map[string]bool{}}
	w.disk.consensus.SyncTime, w.disk.blob.SyncTime = 170*time.Microsecond, 310*time.Microsecond
	w.disk.consensus.LazySync, w.disk.blob.LazySync = bug == LazyLog, bug == LazyParts
	w.upstream = newUpstream(w)
	w.live()
	w.check()
	slices.Sort(w.story) // what is at one moment has no order
	return &Report{Seed: seed, Failures: w.failures, Counts: w.counts, Story: w.story, Fake: time.Since(w.began)}
}

// live starts everything, waits for the plan's end, lets all come to rest, and stops it.
func (w *World) live() {
	ctx, down := context.WithCancel(context.Background())
	defer down()
	for i := range w.plan.nodes {
		m := &machine{world: w, number: i + 1, rng: w.rand(fmt.Sprint("machine", i)), up: make(chan struct{})}
		w.machines = append(w.machines, m)
		w.wait.Go(func() { m.run(ctx) })
	}
	defer w.goDown(down)
	if !w.found(ctx) {
		return
	}
	working, rest := context.WithCancel(ctx)
	defer rest()
	var workers, readers sync.WaitGroup
	for i := range 3 {
		wr := &writer{world: w, number: i, rng: w.rand(fmt.Sprint("writer", i)), name: renamed}
		workers.Go(func() { wr.write(working) })
	}
	workers.Go(func() { w.reader(working, w.rand("reader")) })
	workers.Go(func() { w.upstream.write(working) })
	following, giveUp := context.WithCancel(ctx)
	defer giveUp()
	w.subscribe(following, &readers)
	w.direct(ctx)
	w.blow(good)
	w.healed.Store(true)
	rest()
	workers.Wait()
	if !w.settles(ctx) {
		giveUp()
		readers.Wait()
		return
	}
	w.target.Store(uint64(w.disk.newest()))
	w.last(following, &readers)
	tired := time.AfterFunc(patience, giveUp)
	readers.Wait()
	tired.Stop()
	for _, s := range w.subs {
		if !s.done() {
			w.fail("%s: stuck at progress %d, want past %d", s.name, s.progress, w.target.Load())
		}
	}
}

// patience is how long a healed world may take to come to rest.
const patience = 5 * time.Minute

// goDown stops the nodes and waits for all.
func (w *World) goDown(down context.CancelFunc) {
	down()
	w.wait.Wait()
	for _, p := range w.plans {
		p.Wait()
	}
	w.disk.witness()
}

// blow changes the weather for every node, now and later.
func (w *World) blow(f sim.Faults) {
	w.mu.Lock()
	w.faults = f
	w.mu.Unlock()
	for _, m := range w.machines {
		if l := m.now(); l != nil {
			l.plan.Set(f)
		}
	}
}

func (w *World) weather() sim.Faults {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.faults
}

// calm says whether nothing breaks any more.
func (w *World) calm() bool { return w.healed.Load() }

// late keeps a plan whose late writes are waited for in the end.
func (w *World) late(p *sim.Plan) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.plans = append(w.plans, p)
}

// rand is the chance of one who lives in the world: each has its own, so that one more draw here changes nothing there.
func (w *World) rand(who string) *rand.Rand {
	h := fnv.New64a()
	_, _ = h.Write([]byte(who)) // never fails
	return rand.New(rand.NewPCG(w.seed, h.Sum64()))
}

func (w *World) logger(node int) *slog.Logger { return w.log.With("node", node) }

// upTo is some time below d, to the nanosecond, so that no two wake up at one moment.
func upTo(rng *rand.Rand, d time.Duration) time.Duration {
	return time.Duration(1 + rng.Int64N(int64(d)))
}

// sleep waits for d or the end of ctx.
func sleep(ctx context.Context, d time.Duration) {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
	case <-ctx.Done():
	}
}
