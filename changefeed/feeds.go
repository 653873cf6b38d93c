package changefeed

import (
	"context"
	"log/slog"
	"sync"
	"time"

	"tailrace"
	"tailrace/catalog"
	"tailrace/log"
	"tailrace/shard"
	"tailrace/tail"
)

// Options is what Feeds work with.
type Options struct {
	Log     *log.Log
	Catalog *catalog.Fold
	Shards  *shard.Set
	Tail    *tail.Tail
	Logger  *slog.Logger // nil: slog.Default()
	// Open returns the adapter for a target. It does not connect.
	Open func(kind, url, password string) (tailrace.Sink, error)
	// Blob opens the location of a redo log: file:///folder.
	Blob func(url string) (tailrace.Blob, error)
	// Secret returns what a secret's value stands for.
	Secret func(value string) (string, error)
	// Environment names this installation in the progress that a target keeps.
	Environment string
	// Checkpoint is how often progress goes into the log; 0: 1 s.
	Checkpoint time.Duration
	// Backoff is the longest pause before a target that failed is tried again; 0: 30 s.
	Backoff time.Duration
}

// Feeds runs the sinks of the catalog.
type Feeds struct {
	o    Options
	wake chan struct{}

	mu      sync.Mutex // for memory only
	running map[catalog.ID]*runner
	counts  map[catalog.ID]*counts
}

// New returns Feeds; Run runs them.
func New(o Options) *Feeds {
	if o.Logger == nil {
		o.Logger = slog.Default()
	}
	if o.Checkpoint == 0 {
		o.Checkpoint = time.Second
	}
	if o.Backoff == 0 {
		o.Backoff = 30 * time.Second
	}
	return &Feeds{o: o, wake: make(chan struct{}, 1), running: map[catalog.ID]*runner{}, counts: map[catalog.ID]*counts{}}
}

// Wake tells that the catalog changed. It does not block.
func (f *Feeds) Wake() {
	select {
	case f.wake <- struct{}{}:
	default: // the next look sees this change too
	}
}

// Run follows the catalog until ctx is done: it starts, stops, pauses and resumes feeds, and waits for all of them.
func (f *Feeds) Run(ctx context.Context) error {
	defer f.stopAll()
	for {
		f.adjust(ctx)
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-f.wake:
		}
	}
}

// adjust brings what runs in line with the catalog. A sink that was altered starts again, from its checkpoint.
func (f *Feeds) adjust(ctx context.Context) {
	cat := f.o.Catalog.Current()
	var stop []*runner
	f.mu.Lock()
	for id, r := range f.running {
		if s := cat.Sinks[id]; s != r.sink || !runs(s) || r.ended() {
			stop = append(stop, r)
			delete(f.running, id)
		}
	}
	f.mu.Unlock()
	for _, r := range stop {
		r.stop()
	}
	f.freeHolds(ctx, cat)
	f.mu.Lock()
	defer f.mu.Unlock()
	cat = f.o.Catalog.Current() // newer, perhaps: a sink that was dropped meanwhile is not started again
	for id, s := range cat.Sinks {
		if f.counts[id] == nil {
			f.counts[id] = newCounts()
		}
		if f.running[id] == nil && runs(s) {
			f.running[id] = start(ctx, f, s, f.counts[id])
		}
	}
	for id := range f.counts {
		if cat.Sinks[id] == nil {
			delete(f.counts, id)
		}
	}
}

// runs reports whether the sink has a runner: one that is paused has, which sees to it that history is not held for ever.
func runs(s *catalog.Sink) bool { return s != nil && s.Error == "" }

func (f *Feeds) stopAll() {
	f.mu.Lock()
	all := make([]*runner, 0, len(f.running))
	for _, r := range f.running {
		all = append(all, r)
	}
	clear(f.running)
	f.mu.Unlock()
	for _, r := range all {
		r.stop()
	}
}

// forgetTime bounds how long Forget waits for a target.
const forgetTime = 10 * time.Second

// Forget ends the feed of a sink that the catalog has no more, and removes its progress from the target.
func (f *Feeds) Forget(ctx context.Context, sink *catalog.Sink) error {
	f.mu.Lock()
	r := f.running[sink.ID]
	delete(f.running, sink.ID)
	f.mu.Unlock()
	if r != nil {
		r.stop()
	}
	f.Wake() // its holds are to be given up
	ctx, cancel := context.WithTimeout(ctx, forgetTime)
	defer cancel()
	adapter, err := f.open(f.o.Catalog.Current(), sink)
	if err != nil {
		return err
	}
	defer adapter.Close()
	return adapter.Forget(ctx, f.nameOf(sink))
}

// Check looks at an address of a target without connecting.
func (f *Feeds) Check(kind, url string) error {
	adapter, err := f.o.Open(kind, url, "")
	if err != nil {
		return err
	}
	return adapter.Close()
}

// nameOf is the name under which the target keeps the progress of a sink.
func (f *Feeds) nameOf(s *catalog.Sink) string {
	if f.o.Environment == "" {
		return s.Name
	}
	return s.Name + "@" + f.o.Environment
}
