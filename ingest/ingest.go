package ingest

import (
	"context"
	"log/slog"
	"sync"
	"time"

	"tailrace"
	"tailrace/budget"
	"tailrace/catalog"
	"tailrace/log"
	"tailrace/shard"
)

// Options is what an Ingest works with.
type Options struct {
	Log     *log.Log
	Catalog *catalog.Fold
	Shards  *shard.Set
	Logger  *slog.Logger // nil: slog.Default()
	// Open returns the adapter for a source. It does not connect.
	Open func(Config) (tailrace.Source, error)
	// Secret returns what a secret's value stands for; nil: ResolveSecret.
	Secret func(value string) (string, error)
	// Budget is the node's; nil: each source has readAhead, and no limit to the keys that a transaction changes.
	Budget *budget.Node
	// Environment names this installation in what is made at sources; "" makes a name up for each source.
	Environment string
	// IdlePosition is how often the position of an idle source is committed, so that the source may forget its log; 0: 10 s.
	IdlePosition time.Duration
	// Backoff is the longest pause before a source that failed is tried again; 0: 30 s.
	Backoff time.Duration
}

// Config is what an adapter needs to reach a source.
type Config struct {
	Kind string // "postgres"
	// Options are those of the connection, with secrets filled in, and of the source: host, port, database, user, password, ssl mode,
	// publication, slot.
	Options map[string]string
}

// Ingest runs the sources of the catalog.
type Ingest struct {
	o    Options
	wake chan struct{}

	mu      sync.Mutex // for memory only
	running map[catalog.ID]*runner
	dropped map[catalog.ID]bool // DropUpstream was asked for: not started again
}

// New returns an Ingest; Run runs it.
func New(o Options) *Ingest {
	if o.Logger == nil {
		o.Logger = slog.Default()
	}
	if o.Secret == nil {
		o.Secret = ResolveSecret
	}
	if o.IdlePosition == 0 {
		o.IdlePosition = 10 * time.Second
	}
	if o.Backoff == 0 {
		o.Backoff = 30 * time.Second
	}
	return &Ingest{o: o, wake: make(chan struct{}, 1), running: map[catalog.ID]*runner{}, dropped: map[catalog.ID]bool{}}
}

// Wake tells that the catalog changed. It does not block.
func (i *Ingest) Wake() {
	select {
	case i.wake <- struct{}{}:
	default: // the next look sees this change too
	}
}

// Run follows the catalog until ctx is done: it starts, stops, pauses and resumes sources, and waits for all of them.
func (i *Ingest) Run(ctx context.Context) error {
	defer i.stopAll()
	for {
		i.adjust(ctx)
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-i.wake:
		}
	}
}

// adjust brings what runs in line with the catalog.
func (i *Ingest) adjust(ctx context.Context) {
	cat := i.o.Catalog.Current()
	var stop []*runner
	i.mu.Lock()
	for id, r := range i.running {
		if s := cat.Sources[id]; s == nil || !runs(s) || r.ended() {
			stop = append(stop, r)
			delete(i.running, id)
		}
	}
	i.mu.Unlock()
	for _, r := range stop {
		r.stop()
	}
	i.mu.Lock()
	defer i.mu.Unlock()
	for id, s := range cat.Sources {
		if i.running[id] == nil && runs(s) && !i.dropped[id] {
			i.running[id] = start(ctx, i, s)
		}
	}
}

// runs reports whether the source is to be followed.
func runs(s *catalog.Source) bool { return !s.Paused && s.Error == "" }

func (i *Ingest) stopAll() {
	i.mu.Lock()
	all := make([]*runner, 0, len(i.running))
	for _, r := range i.running {
		all = append(all, r)
	}
	clear(i.running)
	i.mu.Unlock()
	for _, r := range all {
		r.stop()
	}
}

// DropUpstream stops following the source and removes what was made for it at its database: the slot, and the publication if we made it. cat is
// a catalog that has the source still. After an error the source is followed again, if it is there, and DropUpstream may be called again. A source
// that another node follows has its slot in use: that is an error, too.
func (i *Ingest) DropUpstream(ctx context.Context, cat *catalog.Catalog, source catalog.ID) error {
	i.mu.Lock()
	i.dropped[source] = true
	r := i.running[source]
	delete(i.running, source)
	i.mu.Unlock()
	if r != nil {
		r.stop()
	}
	s := cat.Sources[source]
	if s == nil || s.Options[slotOption] == "" { // nothing was made yet
		return nil
	}
	err := i.elsewhere(s)
	if err == nil {
		err = i.drop(ctx, cat, s)
	}
	if err != nil {
		i.mu.Lock()
		delete(i.dropped, source)
		i.mu.Unlock()
		i.Wake()
	}
	return err
}

// drop removes what was made for a source at its database.
func (i *Ingest) drop(ctx context.Context, cat *catalog.Catalog, s *catalog.Source) error {
	adapter, err := i.open(cat, s)
	if err != nil {
		return err
	}
	return adapter.Drop(ctx)
}
