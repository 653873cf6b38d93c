package server

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"errors"
	"fmt"
	"sync/atomic"

	"golang.org/x/sync/errgroup"

	"tailrace"
	"tailrace/budget"
	"tailrace/catalog"
	"tailrace/changefeed"
	"tailrace/ingest"
	"tailrace/log"
	"tailrace/pool"
	"tailrace/shard"
	"tailrace/tail"
)

// node is a data folder that is open, and the folds of its log.
type node struct {
	options   Options
	budget    *budget.Node
	folder    *folder // nil when the stores were given
	stores    Stores
	consensus tailrace.Consensus
	log       *log.Log
	catalog   *catalog.Fold
	shards    *shard.Set
	pool      *pool.Pool // of all loads, flushes and merges
	tail      *tail.Tail
	loop      loop
	counts    counts
	live      atomic.Pointer[live]
	ingest    atomic.Pointer[ingest.Ingest] // nil until it runs
	feeds     atomic.Pointer[changefeed.Feeds]
	keeper    atomic.Pointer[log.Claim] // nil while another node keeps house
	fenced    chan struct{}             // holds a token when the keeper's claim has moved on

	stopLog     func()       // ends the log and the apply loop
	closeStores func() error // nil when there is nothing to close
}

// open locks the folder and restores the folds from the newest checkpoint. Nothing runs yet. Close it.
func open(ctx context.Context, o Options) (*node, error) {
	n := &node{options: o.withDefaults(), catalog: catalog.NewFold(), pool: o.Pool, fenced: make(chan struct{}, 1)}
	if n.pool == nil {
		n.pool = pool.New(0)
	}
	if err := n.open(ctx, o.Data); err != nil {
		_ = n.close() // err says more
		return nil, err
	}
	return n, nil
}

func (n *node) open(ctx context.Context, dir string) (err error) {
	l, err := newLive(n.options)
	if err != nil {
		return err
	}
	n.live.Store(l)
	if n.budget, err = n.options.budget(); err != nil {
		return err
	}
	if n.stores, err = n.openStores(dir); err != nil {
		return err
	}
	from, err := n.openLog(ctx, n.stores)
	if err != nil {
		return err
	}
	if err := n.restore(from); err != nil {
		return err
	}
	n.tail = tail.New(tail.Options{Budget: n.budget, Shards: n.shards, PieceRows: n.stores.pieceRows(), SpillDir: n.tempDir()})
	if err := n.startAt(ctx, from); err != nil || n.folder == nil {
		return err
	}
	return n.folder.sign(n.options.Version)
}

// openIndex opens the local index of keys, before this node appends to the log. Without it lookups are slow and right.
func (n *node) openIndex(ctx context.Context) error {
	if n.folder == nil {
		return nil
	}
	err := n.shards.OpenIndex(ctx, n.folder.path("index"), n.consensus, n.log.Head())
	if err != nil && ctx.Err() == nil {
		n.options.Logger.Warn("do without the index of keys", "error", err)
		return nil
	}
	return err
}

// sessionName is this start's name in the log and in front of every blob it writes.
func sessionName() string {
	var raw [8]byte
	rand.Read(raw[:]) // never fails
	return hex.EncodeToString(raw[:])
}

// The sections of a checkpoint.
const (
	sectionCatalog = "catalog"
	sectionShards  = "shards"
)

// restore takes the folds from a checkpoint; nil is an empty log.
func (n *node) restore(c *log.Checkpoint) error {
	if c == nil {
		return nil
	}
	for _, section := range []struct {
		name string
		into func([]byte) error
	}{{sectionCatalog, n.catalog.Restore}, {sectionShards, n.shards.Restore}} {
		raw, ok := c.Sections[section.name]
		if !ok {
			return fmt.Errorf("checkpoint %d has no section %s: %w", c.Seq, section.name, tailrace.ErrCorrupt)
		}
		if err := section.into(raw); err != nil {
			return fmt.Errorf("checkpoint %d: %w", c.Seq, err)
		}
	}
	return nil
}

// inside runs the log and the apply loop while fn runs, and stops them after it, when every commit in flight is decided. fn's context
// ends with ctx, or when one of the two gives up.
func (n *node) inside(ctx context.Context, fn func(context.Context) error) error {
	core, coreCtx := errgroup.WithContext(context.WithoutCancel(ctx))
	coreCtx, stop := context.WithCancel(coreCtx)
	defer stop()
	n.stopLog = stop
	core.Go(func() error { return ended(n.log.Run(coreCtx)) })
	core.Go(func() error {
		defer n.log.Abandon()
		return ended(n.apply(coreCtx))
	})

	fnCtx, cancel := context.WithCancel(coreCtx)
	defer cancel()
	unlink := context.AfterFunc(ctx, cancel)
	defer unlink()
	err := fn(fnCtx)
	stop()
	if coreErr := core.Wait(); coreErr != nil {
		return coreErr // it is why fn was stopped, if it was
	}
	return err
}

// ended takes the end of a context for the proper end of what it ran.
func ended(err error) error {
	if errors.Is(err, context.Canceled) {
		return nil
	}
	return err
}

// close gives up the folder. Nothing runs any more.
func (n *node) close() error {
	var errs []error
	if n.shards != nil {
		errs = append(errs, n.shards.CloseIndex())
	}
	if n.closeStores != nil {
		errs = append(errs, n.closeStores())
	}
	if n.folder != nil {
		errs = append(errs, n.folder.close())
	}
	return errors.Join(errs...)
}
