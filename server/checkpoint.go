package server

import (
	"context"
	"errors"
	"time"

	"tailrace/log"
)

const (
	// checkpointLook is how often it is checked whether a checkpoint is due.
	checkpointLook = 250 * time.Millisecond
	// checkpointPause is how long one that could not be written is left alone.
	checkpointPause = 5 * time.Second
)

// checkpoints writes a checkpoint each time CheckpointBytes of log were applied since the last one, and each CheckpointEvery when
// anything was, while this node keeps house, until ctx is done. One that cannot be written (a full disk) is tried again at the next turn: the log only grows meanwhile.
func (n *node) checkpoints(ctx context.Context) error {
	look := time.NewTicker(checkpointLook)
	defer look.Stop()
	last, pause := time.Now(), time.Duration(0)
	var bytes, changes int64 // applied when the last one was taken
	for {
		select {
		case <-ctx.Done():
			return nil
		case <-look.C:
		}
		grown, changed := n.loop.bytes.Load()-bytes, n.loop.changes.Load() > changes
		since := time.Since(last)
		if !n.isKeeper() || since < pause || (grown < CheckpointBytes && (!changed || since < CheckpointEvery)) {
			continue
		}
		last, pause = time.Now(), 0
		b, c, err := n.checkpoint(ctx)
		switch {
		case ctx.Err() != nil:
			return nil
		case errors.Is(err, log.ErrFenced): // another node keeps house now
		case err != nil:
			n.options.Logger.Error("write a checkpoint", "error", err)
			n.counts.checkpointErrors.Add(1)
			pause = checkpointPause
		default:
			bytes, changes = b, c
			n.counts.checkpoints.Add(1)
		}
	}
}

// checkpoint flushes what is large, so that the checkpoint is small, takes the fold and writes it. It returns what had been applied when the
// fold was taken, at least.
func (n *node) checkpoint(ctx context.Context) (bytes, changes int64, err error) {
	if err := n.shards.Flush(ctx, n.keep); err != nil {
		return 0, 0, err
	}
	bytes, changes = n.loop.bytes.Load(), n.loop.changes.Load()
	c, err := n.takeFold(ctx)
	if err != nil {
		return 0, 0, err
	}
	start := time.Now()
	if err := n.log.WriteCheckpoint(ctx, c); err != nil {
		return 0, 0, err
	}
	size := 0
	for _, section := range c.Sections {
		size += len(section)
	}
	n.options.Logger.Debug("checkpoint", "seq", c.Seq, "bytes", size, "took", time.Since(start))
	return bytes, changes, nil
}

// takeFold asks the apply loop for the state after its next entry; a tick comes each second if nothing else does. Callers take turns.
func (n *node) takeFold(ctx context.Context) (*log.Checkpoint, error) {
	select {
	case n.loop.taking <- struct{}{}:
		defer func() { <-n.loop.taking }()
	case <-ctx.Done():
		return nil, ctx.Err()
	}
	select {
	case <-n.loop.fold: // one that an earlier turn asked for and gave up waiting for
	default:
	}
	n.loop.wanted.Store(true)
	select {
	case c := <-n.loop.fold:
		return c, nil
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}
