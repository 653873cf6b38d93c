package shard

import (
	"bytes"
	"context"
	"time"

	"tailrace"
	"tailrace/index"
)

const (
	// IndexBytes of parts of state is where a collection may get a local index: less fits, decoded, into the cache of page groups.
	IndexBytes = 16 << 20
	// IndexMisses is how many page groups lookups decode while the cache is full, before their collection gets an index.
	IndexMisses = 64
	// IndexBatch is where a batch of changes to the index is cut, in bytes.
	IndexBatch = 1 << 20
	// IndexLag is how far an index may fall behind, on a full disk, before it lets since go.
	IndexLag = 10 * time.Minute
	// indexFlush is how often what the index has in memory is written to disk: a crash then loses no more than what happened since.
	indexFlush = 10 * time.Second
	// indexPause is how long an index that could not be made is left alone.
	indexPause = time.Minute
	// IndexBehind is how many changes are always taken up one by one. Of more than one in rebuildShare of the state's rows, all rows are loaded instead.
	IndexBehind = 1 << 20
	// rebuildShare is the share of the state's rows, one in so many, from which changes cost more than a load of all rows.
	rebuildShare = 4
)

// indexing is the state of the one loop that writes the index.
type indexing struct {
	s       *Set
	flushed time.Time
	dirty   bool
	paused  map[tailrace.CollectionID]time.Time // until when
}

// mergeIndex keeps the index's runs few, until ctx is done. A merge may be long; the index is brought on and read meanwhile.
func (s *Set) mergeIndex(ctx context.Context) {
	tick := time.NewTicker(lookEvery)
	defer tick.Stop()
	var paused time.Time // until when, after an error
	for ctx.Err() == nil {
		if store := s.index.Load(); store != nil && store.Damaged() == nil && !s.opts.Now().Before(paused) {
			did, err := store.Merge(ctx)
			if err != nil {
				s.report(ctx, "merge the index", 0, err)
				paused = s.opts.Now().Add(indexPause)
			} else if did {
				continue
			}
		}
		select {
		case <-ctx.Done():
		case <-tick.C:
		}
	}
}

// keepIndex brings the index up to what is flushed, makes it for collections that need it, until ctx is done.
func (s *Set) keepIndex(ctx context.Context) {
	k := &indexing{s: s, paused: map[tailrace.CollectionID]time.Time{}}
	tick := time.NewTicker(lookEvery)
	defer tick.Stop()
	for ctx.Err() == nil {
		k.turn(ctx)
		select {
		case <-ctx.Done():
		case <-s.settled:
		case <-tick.C:
		}
	}
}

// turn looks at every collection once.
func (k *indexing) turn(ctx context.Context) {
	s := k.s
	store := s.index.Load()
	if store == nil {
		return
	}
	if store.Damaged() != nil {
		for _, sh := range s.all() {
			sh.rows.off()
		}
		if err := store.Renew(ctx); err != nil {
			s.report(ctx, "make the index anew", 0, err)
			return
		}
	}
	for _, sh := range s.all() {
		if s.opts.Now().Before(k.paused[sh.id]) {
			continue
		}
		delete(k.paused, sh.id)
		wrote, err := sh.keep(ctx, store)
		k.dirty = k.dirty || wrote
		if err != nil && ctx.Err() == nil {
			s.report(ctx, "keep the index", sh.id, err)
			k.paused[sh.id] = s.opts.Now().Add(indexPause)
		}
	}
	for _, id := range s.takeDropped() {
		if err := store.Drop(id); err != nil {
			s.report(ctx, "drop from the index", id, err)
		}
	}
	if now := s.opts.Now(); k.dirty && now.Sub(k.flushed) >= indexFlush {
		k.flushed, k.dirty = now, false
		s.report(ctx, "flush the index", 0, s.flushIndex(store))
	}
}

// flushIndex writes the index to disk, after which since may move up to where the rows were before.
func (s *Set) flushIndex(store *index.Store) error {
	lows := map[*Shard]tailrace.Time{}
	for _, sh := range s.all() {
		if sh.rows.used() {
			lows[sh] = tailrace.Time(sh.rows.low.Load())
		}
	}
	if err := store.Flush(); err != nil {
		return err
	}
	for sh, low := range lows {
		if sh.rows.used() {
			sh.rows.hold(low)
		}
	}
	return nil
}

// keep does what the collection's index needs; wrote tells that it changed.
func (sh *Shard) keep(ctx context.Context, store *index.Store) (wrote bool, err error) {
	upper := sh.set.Upper() // before the manifest is pinned; see flush
	seq := tailrace.SeqNo(sh.set.seq.Load())
	m, release := sh.pin()
	defer release()
	if m.dropped || len(m.schema.Key) == 0 || seq == 0 {
		return false, nil
	}
	shape, low := keyShape(m.schema), tailrace.Time(sh.rows.low.Load())
	if !sh.rows.used() || !bytes.Equal(*sh.rows.shape.Load(), shape) || low < min(m.since, m.folded) {
		if !sh.rows.used() && !sh.wantsIndex(m) {
			return false, nil
		}
		sh.rows.off()
		return true, sh.load(ctx, store, upper, seq)
	}
	to := m.foldable(upper)
	behind := int64(0)
	runs := m.historyIn(low, to)
	for _, r := range runs {
		behind += r.rows()
	}
	switch {
	case to <= low || len(runs) == 0, store.Runs(sh.id) >= index.MaxRuns: // merges come first
		return false, nil
	case behind > int64(sh.set.limits.indexBehind) && behind > stateRows(m)/rebuildShare:
		return true, sh.load(ctx, store, upper, seq)
	}
	return true, sh.follow(ctx, store, m, index.State{Low: low, High: to, Seq: seq, Shape: shape})
}

// wantsIndex reports whether lookups would gain by an index.
func (sh *Shard) wantsIndex(m *manifest) bool {
	if sh.rows.missed.Load() < int64(sh.set.limits.indexMisses) {
		return false
	}
	size := int64(0)
	for _, r := range m.state {
		size += r.size()
	}
	return size >= int64(sh.set.limits.index)
}

func stateRows(m *manifest) int64 {
	n := int64(0)
	for _, r := range m.state {
		n += r.rows()
	}
	return n
}
