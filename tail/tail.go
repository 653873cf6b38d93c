package tail

import (
	"maps"
	"slices"
	"sync"
	"time"

	"tailrace"
	"tailrace/budget"
	"tailrace/catalog"
	"tailrace/log"
	"tailrace/shard"
)

// beat is how often subscribers of a collection without updates are told of progress, in microseconds.
const beat = tailrace.Time(1_000_000)

// Options are what a Tail needs.
type Options struct {
	Shards *shard.Set
	// Database is the name in front of schema.table in messages, "postgres" when empty.
	Database string
	// PieceRows cuts snapshots into pieces of this many rows; 0 is the shard's own measure.
	PieceRows int
	// SpillDir is a folder for rows of one timestamp that must be together and have no room in memory; "": there is none, and 53200 instead.
	SpillDir string
	// Budget is the node's; nil: windows have WindowBudget, and subscriptions no limit together.
	Budget *budget.Node
}

// Tail is a node's windows and subscriptions.
type Tail struct {
	shards   *shard.Set
	database string
	pieces   int
	blocks   int // how many items make a block

	windowBytes       int // of all windows, at most
	frames, snapshots *budget.Share
	disk              *disk   // nil: there is none
	cache             *frames // those of the share that are kept for others

	mu         sync.Mutex
	start      tailrace.Time // everything after start was applied here; 0 before the first entry
	newest     tailrace.Time
	lastBeat   tailrace.Time
	windows    map[tailrace.CollectionID]*window
	bytes      int
	subs       map[*listing]struct{}
	wires      map[wireKey]*wire
	departures map[tailrace.CollectionID]*departure    // the last of each collection, while it has riders
	leaving    map[tailrace.CollectionID]chan struct{} // of those of which one is about to depart; closed when it has
	held       map[*departure]struct{}                 // all that have riders
	catchups   map[catchupKey]*catchup
	system     system
	nextID     uint64
	followers  []*Follower
	entry      chan struct{} // closed when the next entry was applied; nil when nobody waits
	draining   bool
	pushers    int           // who push
	toPush     []*window     // with subscribers who are due
	pushable   chan struct{} // has a token when one who pushes may look at toPush
}

// New returns a tail that knows nothing yet; the apply loop feeds it.
func New(o Options) *Tail {
	if o.Database == "" {
		o.Database = "postgres"
	}
	t := &Tail{
		windowBytes: int(o.Budget.Share(budget.Windows).Limit(WindowBudget)), frames: o.Budget.Share(budget.Frames), snapshots: o.Budget.Share(budget.Snapshots),
		shards: o.Shards, database: o.Database, pieces: o.PieceRows, blocks: blockItems, windows: map[tailrace.CollectionID]*window{},
		subs: map[*listing]struct{}{}, system: system{rows: map[*listing]*systemRow{}},
	}
	if o.SpillDir != "" {
		t.disk = &disk{dir: o.SpillDir, share: o.Budget.Share(budget.Subscribe)}
	}
	t.pushable = make(chan struct{}, 1)
	t.cache, t.wires = newFrames(t.frames), map[wireKey]*wire{}
	t.departures, t.catchups = map[tailrace.CollectionID]*departure{}, map[catchupKey]*catchup{}
	t.held, t.leaving = map[*departure]struct{}{}, map[tailrace.CollectionID]chan struct{}{}
	o.Budget.Share(budget.Windows).Measure(func() int64 { return int64(t.WindowSize()) })
	return t
}

// Apply takes in one entry, after the catalog and the shards have, with what it did to tables. One goroutine applies, in log order. At
// start-up it may be fed the entries below the checkpoint first, which refills the windows.
func (t *Tail) Apply(e *log.Entry, changes []catalog.TableChange) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.start == 0 {
		t.start = startOf(e)
		for id, w := range t.windows { // of who subscribed before the first entry was applied: what was before it is in history only
			if id != SubscriptionsID {
				w.lower = t.start
			}
		}
	}
	itemsOf(e, func(id tailrace.CollectionID, it *item) {
		t.window(id).append(it, t.blocks)
		t.bytes += it.size
	})
	for _, c := range changes {
		t.change(c)
	}
	if e.Time > t.newest {
		t.stamp(e.Time)
		t.newest = e.Time
	}
	t.trim(e)
	t.tellEntry()
	t.tellFollowers(e)
	if t.newest-t.lastBeat >= beat {
		t.lastBeat = t.newest
		t.forgetCatchups(0)
		t.giveUpHolds()
		for _, id := range slices.Sorted(maps.Keys(t.windows)) {
			t.wake(t.windows[id])
		}
		return
	}
	for _, txn := range e.Txns {
		for _, r := range txn.Records {
			if w := t.windows[r.Collection]; w != nil {
				t.wake(w)
			}
		}
	}
}

// startOf is the time just before everything in e.
func startOf(e *log.Entry) tailrace.Time {
	if len(e.Txns) > 0 {
		return e.Txns[0].Time - 1
	}
	return e.Time - 1
}

// window returns the collection's window, made when it has none.
func (t *Tail) window(id tailrace.CollectionID) *window {
	w := t.windows[id]
	if w == nil {
		w = newWindow(t.start) // no item was ever evicted from it
		t.windows[id] = w
	}
	return w
}

// change notes what ends subscriptions.
func (t *Tail) change(c catalog.TableChange) {
	switch {
	case c.Before == nil:
		return
	case c.After == nil:
		w := t.window(c.Before.ID)
		w.endings = append(w.endings, ending{c.Time, c})
		w.dropped = true
		t.wake(w)
		if w.readers == 0 {
			t.forget(c.Before.ID)
		}
	default:
		w := t.window(c.Before.ID)
		w.endings = append(w.endings, ending{c.Time, c})
		t.wake(w)
	}
}

// trim keeps every window this entry touched, and all together, within their bounds.
func (t *Tail) trim(e *log.Entry) {
	for _, txn := range e.Txns {
		for _, r := range txn.Records {
			if w := t.windows[r.Collection]; w != nil {
				before := w.bytes
				w.trim(t.newest)
				t.bytes -= before - w.bytes
			}
		}
	}
	for t.bytes > t.windowBytes {
		w := t.oldest()
		if w == nil {
			if !t.shrink() {
				return
			}
			continue
		}
		before := w.bytes
		w.evict()
		t.bytes -= before - w.bytes
	}
}

// oldest is the window whose oldest item is the oldest of all that may go, nil when every window is down to its newest item.
func (t *Tail) oldest() *window {
	var found *window
	for _, id := range slices.Sorted(maps.Keys(t.windows)) { // of two as old it is always the same
		w := t.windows[id]
		if len(w.items) > 1 && (found == nil || w.items[0].time < found.items[0].time) {
			found = w
		}
	}
	return found
}

// forget drops the window of a collection that no longer exists.
func (t *Tail) forget(id tailrace.CollectionID) {
	if w := t.windows[id]; w != nil {
		t.bytes -= w.bytes
		delete(t.windows, id)
	}
}

// Newest is the newest time applied.
func (t *Tail) Newest() tailrace.Time {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.newest
}

// WindowSize is what all windows hold together, in bytes.
func (t *Tail) WindowSize() int {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.bytes
}

// Info describes a running subscription, for mz_internal.mz_subscriptions.
type Info struct {
	ID        string
	Session   string // the session's uuid
	Created   time.Time
	Tables    []tailrace.CollectionID
	Path      string        // storage or dataflow
	State     string        // snapshot, live or behind
	Position  tailrace.Time // everything at or before it was given out
	Lag       time.Duration // newest committed time minus position
	RowsGiven int64
}

// List describes the running subscriptions.
func (t *Tail) List() []Info {
	t.mu.Lock()
	defer t.mu.Unlock()
	out := make([]Info, 0, len(t.subs))
	for s := range t.subs {
		pos := tailrace.Time(s.shown.position.Load())
		state := "live"
		if s.shown.snapshot.Load() {
			state = "snapshot"
		} else if slices.ContainsFunc(s.tables, func(id tailrace.CollectionID) bool { w := t.windows[id]; return w != nil && w.lower > pos }) {
			state = "behind"
		}
		lag := time.Duration(0)
		if t.newest > pos {
			lag = time.Duration(t.newest-pos) * time.Microsecond
		}
		out = append(out, Info{
			ID: s.name(), Session: s.session, Created: s.created, Tables: s.tables, Path: s.path,
			State: state, Position: pos, Lag: lag, RowsGiven: s.shown.rows.Load(),
		})
	}
	return out
}
