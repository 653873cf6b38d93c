package shard

import (
	"cmp"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"tailrace"
	"tailrace/budget"
	"tailrace/index"
	"tailrace/log"
	"tailrace/pool"
)

var (
	// ErrCompacted is what a *CompactedError is: a time before since was asked for.
	ErrCompacted = errors.New("history is compacted")
	// ErrDropped is returned (wrapped) for a collection that was dropped.
	ErrDropped = errors.New("the collection was dropped")
)

// Options are a Set's budgets and what it knows of the world. The zero value means the defaults.
type Options struct {
	FlushBytes     int                       // bytes of encoded updates of a memtable; 0: FlushBytes
	NodeBytes      int                       // bytes of encoded updates of all memtables; 0: NodeBytes
	PageCacheBytes int                       // bytes of page groups kept decoded for Lookup; 0: PageCacheBytes
	Budget         *budget.Node              // nil: the sizes above, and no limit to what is read and written at once
	Pool           *pool.Pool                // does what writing parts takes; nil: each caller by itself
	Now            func() time.Time          // nil: time.Now
	Logger         *slog.Logger              // nil: slog.Default()
	Ended          func(session string) bool // whether a session has ended (log.Log.Ended); nil: none has
	// Others is the oldest time that other nodes read at, and of what they still need (log.Log.OthersRead); nil: there are none.
	Others func() tailrace.Time
	// Keeper says whether this node keeps house: of several on the same stores one flushes, merges, moves since and sweeps; nil: this one does.
	Keeper func() bool
	// Small makes every limit so small that few rows make many runs and parts: for simulations.
	Small bool
}

// Set is the collections of a node. One goroutine calls Define, Drop, Apply, Encode and Restore; all else may be called by anyone.
type Set struct {
	blob     tailrace.Blob
	session  string
	opts     Options
	logger   *slog.Logger
	limits   limits
	shares   shares
	pressure *pressure     // of the memtables
	counter  atomic.Uint64 // of part keys
	upper    atomic.Uint64
	seq      atomic.Uint64 // of the newest entry applied; set before upper is
	stripes  stripeCounters
	pages    *pageCache
	wake     chan struct{} // a memtable is ready to be flushed; Maintain listens
	settled  chan struct{} // updates became runs, which the local index can take up; Maintain listens
	index    atomic.Pointer[index.Store]
	stays    stays
	found    map[tailrace.CollectionID]index.State // what OpenIndex found and adoptIndex has not seen

	mu     sync.RWMutex
	shards map[tailrace.CollectionID]*Shard
	gone   []*Shard                // dropped, until their parts are deleted
	stale  []tailrace.CollectionID // dropped, until they are out of the local index
}

// New returns a Set without collections whose parts get keys of session. It starts nothing; see Maintain.
func New(blob tailrace.Blob, session string, opts Options) *Set {
	pick := func(v *int, standard int) {
		if *v <= 0 {
			*v = standard
		}
	}
	lim := standardLimits().within(opts.Budget)
	if opts.Small {
		lim = smallLimits()
	}
	pick(&opts.FlushBytes, lim.run)
	pick(&opts.NodeBytes, NodeBytes)
	pick(&opts.PageCacheBytes, int(opts.Budget.Share(budget.Pages).Limit(PageCacheBytes)))
	if opts.Now == nil {
		opts.Now = time.Now
	}
	if opts.Logger == nil {
		opts.Logger = slog.Default()
	}
	if opts.Ended == nil {
		opts.Ended = func(string) bool { return false }
	}
	if opts.Others == nil {
		opts.Others = func() tailrace.Time { return tailrace.MaxTime }
	}
	if opts.Keeper == nil {
		opts.Keeper = func() bool { return true }
	}
	pages := newPageCache(opts.PageCacheBytes)
	opts.Budget.Share(budget.Pages).Measure(pages.bytes)
	return &Set{
		blob: blob, session: session, opts: opts, limits: lim, logger: opts.Logger, pages: pages,
		shares: sharesOf(opts.Budget), pressure: newPressure(opts.Budget.Share(budget.Memtables), opts.NodeBytes),
		wake: make(chan struct{}, 1), settled: make(chan struct{}, 1), shards: map[tailrace.CollectionID]*Shard{},
	}
}

// Upper is the frontier: every update before it is applied.
func (s *Set) Upper() tailrace.Time { return tailrace.Time(s.upper.Load()) }

// Define creates a collection at time at or gives it a new schema or retention. It is called before the entry that says so is applied.
func (s *Set) Define(id tailrace.CollectionID, schema *tailrace.Schema, retain time.Duration, at tailrace.Time) {
	s.mu.Lock()
	sh := s.shards[id]
	if sh == nil {
		s.shards[id] = newShard(s, id, newManifest(schema, retain, at))
		s.mu.Unlock()
		return
	}
	s.mu.Unlock()
	m := sh.current().next()
	m.schema, m.retain = schema, retain
	sh.install(m)
}

// Drop forgets a collection. Readers that pin it read on; its parts are deleted after them.
func (s *Set) Drop(id tailrace.CollectionID, _ tailrace.Time) {
	s.mu.Lock()
	sh := s.shards[id]
	delete(s.shards, id)
	if sh != nil {
		s.gone = append(s.gone, sh)
		s.stale = append(s.stale, id)
	}
	s.mu.Unlock()
	if sh != nil {
		m := sh.current().next()
		*m = manifest{version: m.version, schema: m.schema, since: m.since, dropped: true}
		sh.install(m)
		sh.memSort.drop()
	}
}

// Shard returns a collection, nil when it is not defined.
func (s *Set) Shard(id tailrace.CollectionID) *Shard {
	s.mu.RLock()
	defer s.mu.RUnlock()
	return s.shards[id]
}

// all lists the collections by ID, so that what is done to one after the other is done in one order.
func (s *Set) all() []*Shard {
	s.mu.RLock()
	defer s.mu.RUnlock()
	out := make([]*Shard, 0, len(s.shards))
	for _, sh := range s.shards {
		out = append(out, sh)
	}
	slices.SortFunc(out, func(a, b *Shard) int { return cmp.Compare(a.id, b.id) })
	return out
}

// Apply folds an entry in. Records for collections that do not exist (any more) are left out. An error means that the log holds bytes
// that this version does not understand; nothing of the failing record is applied then.
func (s *Set) Apply(e *log.Entry) error {
	for _, txn := range e.Txns {
		for i := range txn.Records {
			r := &txn.Records[i]
			sh := s.Shard(r.Collection)
			if sh == nil {
				continue
			}
			if err := sh.apply(txn.Time, r); err != nil {
				return fmt.Errorf("apply entry %d to collection %d: %w", e.Seq, r.Collection, err)
			}
		}
	}
	s.seq.Store(uint64(e.Seq))
	s.upper.Store(uint64(max(s.Upper(), e.Time+1)))
	return nil
}

// apply folds one record in.
func (sh *Shard) apply(t tailrace.Time, r *log.Record) error {
	m := sh.current()
	switch r.Kind {
	case log.KindData:
		m = m.withData(t, r.Payload)
		sh.install(m)
		if m.memSize >= sh.set.opts.FlushBytes || sh.set.pressure.high() {
			sh.set.nudge(sh.set.wake)
		}
	case log.KindRef:
		ref, err := decodeRef(r.Payload)
		if err != nil {
			return err
		}
		sh.install(m.withRef(t, ref))
		sh.set.nudge(sh.set.settled)
	case log.KindFlush:
		f, err := decodeFlush(r.Payload)
		if err != nil {
			return err
		}
		next, ok := m.withFlush(f)
		sh.reorganize(next, ok, f.runs)
		sh.memSort.drop()
		sh.set.nudge(sh.set.settled)
	case log.KindMerge:
		if isCompact(r.Payload) {
			f, err := decodeCompact(r.Payload)
			if err != nil {
				return err
			}
			next, ok := m.withCompact(f)
			sh.reorganize(next, ok, f.runs)
			return nil
		}
		f, err := decodeMerge(r.Payload)
		if err != nil {
			return err
		}
		next, ok := m.withMerge(f)
		sh.reorganize(next, ok, f.runs)
	case log.KindSince:
		since, err := decodeSince(r.Payload)
		if err != nil {
			return err
		}
		sh.install(m.withSince(since))
	case log.KindHold:
		h, err := decodeHold(r.Payload)
		if err != nil {
			return err
		}
		sh.install(m.withHold(h))
	}
	return nil
}

// nudge wakes the loop of Maintain that listens.
func (s *Set) nudge(wake chan<- struct{}) {
	select {
	case wake <- struct{}{}:
	default:
	}
}

// Unflushed is the size of all memtables, in bytes of encoded updates.
func (s *Set) Unflushed() int {
	n := 0
	s.mu.RLock()
	defer s.mu.RUnlock()
	for _, sh := range s.shards {
		n += sh.current().memSize
	}
	return n
}

// Hold keeps since of a collection at or below t until release is called: a lease in this node's memory. The error is a *tailrace.Error
// 22023 when t is no longer readable.
func (s *Set) Hold(id tailrace.CollectionID, t tailrace.Time) (release func(), err error) {
	sh := s.Shard(id)
	if sh == nil {
		return nil, fmt.Errorf("hold collection %d at %d: %w", id, t, ErrDropped)
	}
	return sh.hold(t)
}
