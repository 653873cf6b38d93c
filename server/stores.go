package server

import (
	"context"
	"net"
	"time"

	"tailrace"
	"tailrace/file"
	"tailrace/ingest"
	"tailrace/log"
	"tailrace/pebble"
	"tailrace/shard"
)

// Stores are what a node runs on instead of a data folder, and its other ways to the world: for tests and simulations. Nothing in a node on given
// stores, listener and sources opens a file or a socket of its own, but for SELECT, whose engine is native code.
type Stores struct {
	Consensus tailrace.Consensus
	Blob      tailrace.Blob
	Shared    bool          // other nodes use them at the same time
	Session   string        // 16 hex digits; "" makes one up
	Lease     time.Duration // silence after which a node's session is ended; 0: log.LeaseTime
	// Ahead is how far this node's wall clock is ahead of the true time, at any moment; nil: not at all.
	Ahead func() time.Duration
	// Yield lets others go on before a group of commits is taken; nil: runtime.Gosched.
	Yield func()
	// Small makes limits of the shards and of subscriptions so small that few rows make many runs, parts and pieces, so that a simulation of a minute sees all that
	// days see.
	Small bool
	// NoQuery leaves SELECT's engine out: it is native code, whose threads no fake clock sees and no seed orders. Statements on whole keys do without.
	NoQuery bool
	// Listen opens the door for PostgreSQL clients, once for each start of the node; nil: Options.Listen says where.
	Listen func() (net.Listener, error)
	// OpenSource returns the adapter for a source; nil: those of the product.
	OpenSource func(ingest.Config) (tailrace.Source, error)
}

// pieceRows is how many rows of a snapshot a subscription reads at once; 0 is the product's own measure.
func (s Stores) pieceRows() int {
	if s.Small {
		return 20
	}
	return 0
}

// openStores opens the data folder, or takes the stores that were given.
func (n *node) openStores(dir string) (Stores, error) {
	if n.options.Stores != nil {
		return *n.options.Stores, nil
	}
	var err error
	if n.folder, err = openFolder(dir); err != nil {
		return Stores{}, err
	}
	consensus, err := pebble.Open(n.folder.path("log"), pebble.Options{Logger: n.options.Logger})
	if err != nil {
		return Stores{}, err
	}
	n.closeStores = consensus.Close
	blob, err := file.Open(n.folder.path("blob"), file.Options{})
	return Stores{Consensus: consensus, Blob: blob}, err
}

// openLog opens the log and the shards on stores, in a session of their own.
func (n *node) openLog(ctx context.Context, s Stores) (from *log.Checkpoint, err error) {
	if s.Session == "" {
		s.Session = sessionName()
	}
	n.consensus = s.Consensus
	n.log, from, err = log.Open(ctx, log.Options{
		Consensus: s.Consensus, Blob: s.Blob, Session: s.Session, Shared: s.Shared, Lease: s.Lease, Ahead: s.Ahead, Yield: s.Yield, Logger: n.options.Logger,
		Reads: func() tailrace.Time { return n.shards.ReadsFrom() }, // asked once the log runs
	})
	if err != nil {
		return nil, err
	}
	n.shards = shard.New(s.Blob, s.Session, shard.Options{
		Budget: n.budget, Logger: n.options.Logger, Ended: n.log.Ended, Others: n.log.OthersRead, Keeper: n.isKeeper, Small: s.Small, Pool: n.pool,
	})
	return from, nil
}

// tempDir is where queries spill; "" is nowhere.
func (n *node) tempDir() string {
	if n.folder == nil {
		return ""
	}
	return n.folder.path("tmp")
}
