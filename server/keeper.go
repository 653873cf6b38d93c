package server

import (
	"context"
	"errors"
	"time"

	"tailrace"
	"tailrace/log"
)

// keeperClaim is the claim of the one node of an environment that keeps house: it flushes, merges, moves since, sweeps, and writes checkpoints.
//
// None of that needs the claim to be right: a flush or merge that was made for another manifest changes nothing when it is applied, since only goes
// up, and a checkpoint is named by a compare-and-set. The claim is so that the work is done once.
const keeperClaim = "maintenance"

const (
	// keeperPause is how long a claim that could not be taken is left alone.
	keeperPause = time.Second
	// giveTime bounds how long a node that stops tries to give its claim up; others take it when the session ends in any case.
	giveTime = 2 * time.Second
)

// keepHouse makes this node the keeper when no other is, until ctx is done.
func (n *node) keepHouse(ctx context.Context) error {
	for ctx.Err() == nil {
		claim, err := n.log.TakeClaim(ctx, keeperClaim)
		switch {
		case ctx.Err() != nil || errors.Is(err, log.ErrClosed) || errors.Is(err, log.ErrEnded):
			return nil // if it is an error, the log's Run returns it
		case err != nil:
			n.options.Logger.Warn("become the keeper", "error", err)
			pause(ctx, keeperPause)
			continue
		}
		n.keeper.Store(&claim)
		select {
		case <-ctx.Done():
		case <-n.fenced:
		}
		n.keeper.Store(nil)
		n.giveKeeper(ctx, claim)
	}
	return nil
}

func (n *node) giveKeeper(ctx context.Context, claim log.Claim) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), giveTime)
	defer cancel()
	if err := n.log.GiveClaim(ctx, claim); err != nil {
		n.options.Logger.Debug("give up keeping house", "error", err) // the claim ends with the session
	}
}

// isKeeper says whether this node keeps house.
func (n *node) isKeeper() bool { return n.keeper.Load() != nil }

// keep commits the keeper's work.
func (n *node) keep(ctx context.Context, txn log.Txn) (tailrace.Time, error) {
	claim := n.keeper.Load()
	if claim == nil {
		return 0, log.ErrFenced
	}
	txn.Claim = *claim
	t, err := n.log.Commit(ctx, txn)
	if errors.Is(err, log.ErrFenced) {
		select {
		case n.fenced <- struct{}{}:
		default: // it is known
		}
	}
	return t, err
}

// pause waits for d or the end of ctx.
func pause(ctx context.Context, d time.Duration) {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
	case <-ctx.Done():
	}
}
