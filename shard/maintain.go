package shard

import (
	"context"
	"errors"
	"slices"
	"strings"
	"time"

	"golang.org/x/sync/errgroup"

	"tailrace"
	"tailrace/log"
)

const (
	// lookEvery is how often Maintain looks for work that nobody woke it for.
	lookEvery = time.Second
	// sinceEvery is how often since moves up.
	sinceEvery = 10 * time.Second
	// sweepEvery is how often parts of ended sessions that nobody names are looked for.
	sweepEvery = 10 * time.Minute
)

// Maintain flushes, merges, moves since, collects and keeps the local index until ctx is done; then it returns nil. What fails is logged and tried again.
// Merges can be long, so flushes have a goroutine of their own. On a node that does not keep house (Options.Keeper) only what is its own is done: the index,
// and the deletion of parts that it saw let go, which each node does and which is no matter twice.
func (s *Set) Maintain(ctx context.Context, commit Commit) error {
	s.report(ctx, "adopt the index", 0, s.adoptIndex())
	g, ctx := errgroup.WithContext(ctx)
	g.Go(func() error {
		s.keepIndex(ctx)
		return nil
	})
	g.Go(func() error {
		s.mergeIndex(ctx)
		return nil
	})
	g.Go(func() error {
		tick := time.NewTicker(lookEvery)
		defer tick.Stop()
		for ctx.Err() == nil {
			if s.opts.Keeper() {
				s.flushLarge(ctx, commit)
			}
			select {
			case <-ctx.Done():
			case <-s.wake:
			case <-tick.C:
			}
		}
		return nil
	})
	g.Go(func() error {
		tick := time.NewTicker(lookEvery)
		defer tick.Stop()
		var moved, swept time.Time
		for ctx.Err() == nil {
			isKeeper := s.opts.Keeper()
			if isKeeper {
				s.mergeAll(ctx, commit)
			}
			if now := s.opts.Now(); isKeeper && now.Sub(moved) >= sinceEvery {
				s.advance(ctx, commit)
				moved = now
			}
			s.collect(ctx)
			if now := s.opts.Now(); isKeeper && now.Sub(swept) >= sweepEvery {
				s.report(ctx, "sweep", 0, s.sweep(ctx))
				swept = now
			}
			select {
			case <-ctx.Done():
			case <-tick.C:
			}
		}
		return nil
	})
	return g.Wait()
}

// report logs what went wrong with work that is tried again. Losing to a later commit is not worth a word.
func (s *Set) report(ctx context.Context, work string, id any, err error) {
	if err == nil || ctx.Err() != nil || errors.Is(err, log.ErrConflict) || errors.Is(err, log.ErrFenced) {
		return
	}
	s.logger.Warn(work, "collection", id, "error", err)
}

// advance moves since up where that lets go of history; a collection without any costs nothing.
func (s *Set) advance(ctx context.Context, commit Commit) {
	upper := s.Upper()
	for _, sh := range s.all() {
		to, moves := sh.planSince(upper)
		if !moves {
			continue
		}
		txn := log.Txn{ReadTime: upper - 1, Records: []log.Record{SinceRecord(sh.id, to)}}
		_, err := commit(ctx, txn)
		s.report(ctx, "move since", sh.id, err)
	}
}

// collect deletes the parts that manifests let go of and no reader pins.
func (s *Set) collect(ctx context.Context) {
	s.mu.Lock()
	gone := slices.Clone(s.gone)
	s.mu.Unlock()
	others := s.opts.Others()
	for _, sh := range append(s.all(), gone...) {
		garbage := sh.takeGarbage(others)
		if _, keeps := s.stays.oldest(); keeps { // looked at after it was taken: who wishes it later folds what no longer names these
			for _, g := range garbage {
				sh.giveBack(g)
			}
			continue
		}
		for _, g := range garbage {
			if err := s.blob.Delete(ctx, g.key); err != nil {
				s.report(ctx, "delete part "+g.key, sh.id, err)
				sh.giveBack(g)
			}
		}
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.gone = slices.DeleteFunc(s.gone, (*Shard).clean)
}

// sweep deletes parts of ended sessions that no manifest names. An ended session's appends are refused, so once this node has seen the end
// nothing can name them any more. The keys are listed first, then the names gathered: a part that is named at that moment stays.
func (s *Set) sweep(ctx context.Context) error {
	var keys []string
	for key, err := range s.blob.List(ctx, "part/") {
		if err != nil {
			return err
		}
		session, _, _ := strings.Cut(strings.TrimPrefix(key, "part/"), "/")
		if session != s.session && s.opts.Ended(session) {
			keys = append(keys, key)
		}
	}
	if len(keys) == 0 {
		return nil
	}
	s.mu.RLock()
	shards := slices.Clone(s.gone)
	for _, sh := range s.shards {
		shards = append(shards, sh)
	}
	s.mu.RUnlock()
	named := map[string]bool{}
	for _, sh := range shards {
		sh.names(named)
	}
	for _, key := range keys {
		if named[key] {
			continue
		}
		if err := s.blob.Delete(ctx, key); err != nil {
			return err
		}
	}
	return nil
}

// takeDropped returns the collections that were dropped since it was called last.
func (s *Set) takeDropped() []tailrace.CollectionID {
	s.mu.Lock()
	defer s.mu.Unlock()
	out := s.stale
	s.stale = nil
	return out
}
