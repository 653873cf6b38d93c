package world

import (
	"context"
	"fmt"
	"hash/fnv"
	"log/slog"
	"math/rand/v2"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"tailrace"
	"tailrace/internal/sim"
)

// World is one simulated environment and all who live in it.
type World struct {
	seed     uint64
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
	trace    uint64
}

// Report is what came of a world.
type Report struct {
	Seed     uint64
	Failures []string       // what the validators found
	Counts   map[string]int // how often what happened
	Trace    uint64         // a hash of the log's entries, the writers' outcomes and the troubles, and when they came
	Fake     time.Duration  // that the world lasted
}

// maxFailures is how many a report keeps.
const maxFailures = 20

// Run builds the world of seed, lets it live and checks it. It is called in a synctest bubble. logger, if not nil, hears what the nodes log.
func Run(seed uint64, logger *slog.Logger) *Report {
	began := time.Now()
	w := &World{seed: seed, counts: map[string]int{}, log: logger, faults: good}
	if w.log == nil {
		w.log = slog.New(slog.DiscardHandler)
	}
	w.plan = w.draw()
	w.shared = w.plan.shared
	w.disk = &disk{world: w, consensus: sim.NewConsensus(), blob: sim.NewBlob(), ended: map[string]bool{}}
	w.disk.consensus.SyncTime, w.disk.blob.SyncTime = 170*time.Microsecond, 310*time.Microsecond
	w.upstream = newUpstream(w)
	w.live()
	w.check()
	return &Report{Seed: seed, Failures: w.failures, Counts: w.counts, Trace: w.trace, Fake: time.Since(began)}
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
		wr := &writer{world: w, number: i, rng: w.rand(fmt.Sprint("writer", i))}
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

// found makes the tables and the source.
func (w *World) found(ctx context.Context) bool {
	rng := w.rand("founder")
	for _, sql := range []string{
		"CREATE TABLE IF NOT EXISTS k (id int PRIMARY KEY, n bigint, w text)", "CREATE TABLE IF NOT EXISTS m (w text, v int)",
		"CREATE TABLE IF NOT EXISTS big (w text, v int, pad text)", "CREATE TABLE IF NOT EXISTS a (id int PRIMARY KEY, w text)",
		"CREATE CONNECTION shop TO POSTGRES (HOST 'h')", "CREATE SOURCE shop FROM POSTGRES CONNECTION shop FOR ALL TABLES",
	} {
		conn := w.session(ctx, "founder", rng)
		if conn == nil {
			return false
		}
		if _, err := conn.ask(sql); err != nil {
			w.fail("%s: %v", sql, err)
			return false
		}
		conn.drop()
	}
	return true
}

// subscribe starts the subscribers: of every manner one, on tables that the seed chooses, and one of the source's tables each.
func (w *World) subscribe(ctx context.Context, readers *sync.WaitGroup) {
	rng := w.rand("subscribers")
	ours := []string{keyed, bag, bulk, altered}
	for m := range manners {
		w.addSubscriber(ctx, readers, ours[rng.IntN(len(ours))], m)
	}
	w.addSubscriber(ctx, readers, upKeyed, manner(rng.IntN(int(manners))))
	w.addSubscriber(ctx, readers, upBag, manner(rng.IntN(int(manners))))
}

// last starts a new subscriber of each table, which sees what is there in the end.
func (w *World) last(ctx context.Context, readers *sync.WaitGroup) {
	for _, table := range []string{keyed, bag, bulk, altered, upKeyed, upBag} {
		w.addSubscriber(ctx, readers, table, fast)
	}
}

func (w *World) addSubscriber(ctx context.Context, readers *sync.WaitGroup, table string, m manner) {
	name := fmt.Sprintf("%s subscriber %d of %s", m, len(w.subs), table)
	s := &subscriber{world: w, name: name, table: table, manner: m, rng: w.rand(name), until: w.target.Load}
	w.subs = append(w.subs, s)
	readers.Go(func() { s.follow(ctx) })
}

// settles waits until the source has brought everything that is at the upstream.
func (w *World) settles(ctx context.Context) bool {
	deadline := time.Now().Add(patience)
	for !w.upstream.isHere() {
		if time.Now().After(deadline) || ctx.Err() != nil {
			w.fail("source: stuck at %d of %d", w.disk.place(), w.upstream.length())
			return false
		}
		sleep(ctx, 500*time.Millisecond)
	}
	return true
}

// session connects to some node; nil when that cannot be now, after a pause.
func (w *World) session(ctx context.Context, name string, rng *rand.Rand) *client {
	l := w.someNode(ctx, rng)
	if l == nil {
		return nil
	}
	conn, err := connect(ctx, l, name)
	if err != nil {
		w.surprising(l, err)
		sleep(ctx, upTo(rng, 400*time.Millisecond))
		return nil
	}
	return conn
}

// someNode is a node that serves, or the first that does again; nil when ctx ends before.
func (w *World) someNode(ctx context.Context, rng *rand.Rand) *life {
	first := rng.IntN(len(w.machines))
	for i := range w.machines {
		m := w.machines[(first+i)%len(w.machines)]
		select {
		case <-m.upNow():
			if l := m.now(); l != nil {
				return l
			}
		default:
		}
	}
	return w.machines[first].serving(ctx)
}

// begin notes a transaction that is going to be sent.
func (w *World) begin(in *intent) {
	in.from = w.disk.length()
	w.mu.Lock()
	defer w.mu.Unlock()
	w.intents = append(w.intents, in)
}

// end notes how a transaction went.
func (w *World) end(in *intent, l *life, err error) {
	in.settle(err)
	in.ended = w.count64()
	w.surprising(l, err)
	w.note(in.mark, uint64(in.outcome))
	w.count("transactions "+in.outcome.String(), 1)
}

func (w *World) read(r *reading) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.readings = append(w.readings, r)
}

// expected are the SQLSTATEs that a client must be ready for.
var expected = map[string]bool{
	"": true, "40001": true, "23505": true, "08007": true, "57P01": true, "57P03": true, "42P01": true, "0A000": true, "55000": true,
}

// surprising looks at an error that a client got.
func (w *World) surprising(l *life, err error) {
	if err == nil {
		return
	}
	code := codeOf(err)
	w.count("error "+code, 1)
	if expected[code] {
		return
	}
	for _, cause := range []error{sim.ErrFault, sim.ErrPower, errDead} {
		if strings.Contains(err.Error(), cause.Error()) {
			return
		}
	}
	if l.slept.Load() && strings.Contains(err.Error(), tailrace.ErrNotFound.Error()) {
		w.count("read on an ended node", 1)
		return
	}
	w.fail("a client got %v", err)
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

// count64 counts an event and returns its number.
func (w *World) count64() uint64 { return w.clock.Add(1) }

// count counts what happened.
func (w *World) count(what string, n int) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.counts[what] += n
}

// fail notes what must not be.
func (w *World) fail(format string, args ...any) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if len(w.failures) < maxFailures {
		w.failures = append(w.failures, fmt.Sprintf(format, args...))
	}
}

// note puts what happened into the trace.
func (w *World) note(what string, numbers ...uint64) {
	h := fnv.New64a()
	_, _ = fmt.Fprint(h, what, numbers, time.Now().UnixNano()) // never fails
	w.mu.Lock()
	defer w.mu.Unlock()
	w.trace += h.Sum64() // in any order: what is at one moment has none
	w.log.Debug(what, "numbers", numbers)
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
