package server

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"errors"
	"fmt"

	"golang.org/x/sync/errgroup"

	"tailrace"
	"tailrace/catalog"
	"tailrace/file"
	"tailrace/log"
	"tailrace/pebble"
	"tailrace/shard"
	"tailrace/tail"
)

// node is a data folder that is open, and the folds of its log.
type node struct {
	options   Options
	folder    *folder
	consensus *pebble.Consensus
	log       *log.Log
	catalog   *catalog.Fold
	shards    *shard.Set
	tail      *tail.Tail
	loop      loop
	counts    counts
}

// open locks the folder and restores the folds from the newest checkpoint. Nothing runs yet. Close it.
func open(ctx context.Context, o Options) (*node, error) {
	n := &node{options: o.withDefaults(), catalog: catalog.NewFold()}
	if err := n.open(ctx, o.Data); err != nil {
		_ = n.close() // err says more
		return nil, err
	}
	return n, nil
}

func (n *node) open(ctx context.Context, dir string) (err error) {
	if n.folder, err = openFolder(dir); err != nil {
		return err
	}
	if n.consensus, err = pebble.Open(n.folder.path("log"), pebble.Options{Logger: n.options.Logger}); err != nil {
		return err
	}
	blob, err := file.Open(n.folder.path("blob"), file.Options{})
	if err != nil {
		return err
	}
	session := sessionName()
	var from *log.Checkpoint
	n.log, from, err = log.Open(ctx, log.Options{Consensus: n.consensus, Blob: blob, Session: session, Logger: n.options.Logger})
	if err != nil {
		return err
	}
	n.shards = shard.New(blob, session, shard.Options{Logger: n.options.Logger, Ended: n.log.Ended})
	if err := n.restore(from); err != nil {
		return err
	}
	n.tail = tail.New(tail.Options{Shards: n.shards})
	return n.startAt(ctx, from)
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
	core.Go(func() error { return ended(n.log.Run(coreCtx)) })
	core.Go(func() error { return ended(n.apply(coreCtx)) })

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
	if n.consensus != nil {
		errs = append(errs, n.consensus.Close())
	}
	if n.folder != nil {
		errs = append(errs, n.folder.close())
	}
	return errors.Join(errs...)
}
