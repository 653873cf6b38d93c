package tail

import (
	"context"
	"fmt"
	"slices"

	"tailrace"
	"tailrace/log"
)

// changesRows is how many updates a batch of Changes has, about, when it comes from a window.
const changesRows = 1024

// Follower learns which of its collections change: what a changefeed waits for. One goroutine uses it.
type Follower struct {
	tail   *Tail
	wake   chan struct{}
	newest tailrace.Time // the tail's mutex guards it and changed
	// changed has every collection that is followed; true: it has changed since the last Take.
	changed map[tailrace.CollectionID]bool
}

// Follow returns a Follower of collections. The caller closes it.
func (t *Tail) Follow(ids []tailrace.CollectionID) *Follower {
	f := &Follower{tail: t, wake: make(chan struct{}, 1), changed: map[tailrace.CollectionID]bool{}}
	for _, id := range ids {
		f.changed[id] = true
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	f.newest = t.newest
	t.followers = append(t.followers, f)
	f.wake <- struct{}{}
	return f
}

// Wake has a token when the frontier has moved since the last Take.
func (f *Follower) Wake() <-chan struct{} { return f.wake }

// Take is the newest time, and which collections have updates or another shape since the last Take.
func (f *Follower) Take() (newest tailrace.Time, changed []tailrace.CollectionID) {
	f.tail.mu.Lock()
	defer f.tail.mu.Unlock()
	for id, is := range f.changed {
		if is {
			changed = append(changed, id)
			f.changed[id] = false
		}
	}
	slices.Sort(changed)
	return f.newest, changed
}

// Close ends the following.
func (f *Follower) Close() {
	f.tail.mu.Lock()
	defer f.tail.mu.Unlock()
	f.tail.followers = slices.DeleteFunc(f.tail.followers, func(o *Follower) bool { return o == f })
}

// tellFollowers tells those who follow what an entry changes. The tail's mutex is held.
func (t *Tail) tellFollowers(e *log.Entry) {
	for _, f := range t.followers {
		for _, txn := range e.Txns {
			for _, r := range txn.Records {
				if _, mine := f.changed[r.Collection]; mine && (r.Kind == log.KindData || r.Kind == log.KindRef || r.Kind == log.KindCatalog) {
					f.changed[r.Collection] = true
				}
			}
		}
		f.newest = t.newest
		select {
		case f.wake <- struct{}{}:
		default: // it is told already
		}
	}
}

// Changes calls fn as shard.Shard.Listen does, with the updates of a collection after a time up to and including until: from the window if that reaches back so far, where
// each batch is decoded once for all who read it, else from history.
func (t *Tail) Changes(ctx context.Context, id tailrace.CollectionID, schema *tailrace.Schema, after, until tailrace.Time, fn func(*tailrace.Batch) error) error {
	items, near := t.itemsBetween(id, after, until)
	if !near {
		sh := t.shards.Shard(id)
		if sh == nil {
			return fmt.Errorf("read the changes of collection %d: it was dropped", id)
		}
		return sh.Listen(ctx, after, until+1, schema, fn)
	}
	order := schema.SortOrder()
	out := tailrace.NewBatch(schema, 0)
	for _, it := range items {
		b, err := it.projected(schema, order)
		if err != nil {
			return fmt.Errorf("read the updates of collection %d at %d: %w", id, it.time, err)
		}
		appendAll(out, b)
		for range b.N {
			out.Times = append(out.Times, it.time)
		}
		if out.N >= changesRows {
			if err := fn(out); err != nil {
				return err
			}
			out = tailrace.NewBatch(schema, 0)
		}
	}
	if out.N == 0 {
		return nil
	}
	return fn(out)
}

// itemsBetween are the items of a window after a time up to until; near is false when they are not all there, or one is large and better read in pieces.
func (t *Tail) itemsBetween(id tailrace.CollectionID, after, until tailrace.Time) (items []*item, near bool) {
	t.mu.Lock()
	defer t.mu.Unlock()
	w := t.windows[id]
	if w == nil || w.lower > after {
		return nil, false
	}
	items = w.since(after, until)
	return items, !slices.ContainsFunc(items, func(it *item) bool { return it.ref || it.size > 2*t.part() })
}

// projected is the item's updates in the columns of schema, sorted and consolidated.
func (it *item) projected(schema *tailrace.Schema, order []int) (*tailrace.Batch, error) {
	batches, err := it.updates()
	if err != nil {
		return nil, err
	}
	mine := make([]*tailrace.Batch, len(batches))
	for i, b := range batches {
		mine[i] = b.Project(schema)
	}
	return fold(schema, order, mine), nil
}
