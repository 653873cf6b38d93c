package sql

import (
	"cmp"
	"context"
	"maps"
	"slices"
	"sync"
	"sync/atomic"

	"tailrace/catalog"
)

// Conflicts are found at commit, so a statement on a hot row, or on all rows of a busy table, could lose to shorter ones for ever. A statement
// that has lost takes a turn: it claims what it reads, in order of arrival, and runs again while commits that would change that wait for it.
//
//	UPDATE t SET n = n + 1 WHERE id = 7    lost twice: claims key 7 of t
//	UPDATE t SET v = 'x'                   lost once: claims t
//
// Claims only order work; the log alone decides what commits. A commit that slips through costs the holder one more try. Who holds a turn waits for
// nobody's, so claims cannot deadlock: they are taken in one order.
const (
	// keyTries is how often a statement on single keys loses before it takes a turn; to run it again costs little.
	keyTries = 2
	// claimKeys is how many keys a turn claims one by one; more claim the table.
	claimKeys = 16
)

// claim is one key of a table, or all of it.
type claim struct {
	table catalog.ID
	whole bool
	key   uint64
}

// turns is who holds and who waits for claims.
type turns struct {
	held atomic.Int64 // claims; most commits see 0 and look no further

	mu     sync.Mutex
	queues map[claim]*queue
}

// queue is a held claim.
type queue struct {
	done chan struct{}   // closed when its holder gives it up
	next []chan struct{} // who waits to hold it, first come first; closed when it is theirs
}

// take waits for the claims, in order, and returns what gives them up. Without claims, or when ctx ends first, it holds nothing.
func (t *turns) take(ctx context.Context, claims []claim) (release func(), err error) {
	var have []claim
	release = func() {
		for _, c := range have {
			t.release(c)
		}
		have = nil
	}
	for _, c := range claims {
		if err := t.takeOne(ctx, c); err != nil {
			release()
			return func() {}, err
		}
		have = append(have, c)
	}
	return release, nil
}

func (t *turns) takeOne(ctx context.Context, c claim) error {
	t.mu.Lock()
	q := t.queues[c]
	if q == nil {
		if t.queues == nil {
			t.queues = map[claim]*queue{}
		}
		t.queues[c] = &queue{done: make(chan struct{})}
		t.held.Add(1)
		t.mu.Unlock()
		return nil
	}
	mine := make(chan struct{})
	q.next = append(q.next, mine)
	t.mu.Unlock()
	select {
	case <-mine:
		return nil
	case <-ctx.Done():
	}
	t.mu.Lock()
	i := slices.Index(q.next, mine)
	if i >= 0 {
		q.next = slices.Delete(q.next, i, i+1)
	}
	t.mu.Unlock()
	if i < 0 { // it came at the same moment
		t.release(c)
	}
	return ctx.Err()
}

// release gives a claim to who waits for it next.
func (t *turns) release(c claim) {
	t.mu.Lock()
	defer t.mu.Unlock()
	q := t.queues[c]
	close(q.done)
	if len(q.next) == 0 {
		delete(t.queues, c)
		t.held.Add(-1)
		return
	}
	q.done = make(chan struct{})
	close(q.next[0])
	q.next = q.next[1:]
}

// wait waits once for the holder of each of the claims that stand now.
func (t *turns) wait(ctx context.Context, claims []claim) error {
	for _, c := range claims {
		t.mu.Lock()
		q := t.queues[c]
		var done chan struct{}
		if q != nil {
			done = q.done
		}
		t.mu.Unlock()
		if done == nil {
			continue
		}
		select {
		case <-done:
		case <-ctx.Done():
			return ctx.Err()
		}
	}
	return nil
}

// turn is the claim to what a statement reads, while it runs again and again.
type turn struct {
	turns   *turns
	release func()
	taken   bool
}

// lost tells that the transaction t of the statement's try lost. It takes a turn when it is time to.
func (u *turn) lost(ctx context.Context, t *txn, try int) error {
	if u.taken || t == nil {
		return nil
	}
	claims, whole := t.claims()
	if len(claims) == 0 || !whole && try < keyTries {
		return nil
	}
	var err error
	u.release, err = u.turns.take(ctx, claims)
	u.taken = err == nil
	return err
}

// end gives the turn up.
func (u *turn) end() {
	if u.taken {
		u.release()
	}
}

// claims is what a transaction read, as claims in order; whole tells that one is a table.
func (t *txn) claims() (claims []claim, whole bool) {
	for id, f := range t.reads {
		if f.whole || len(f.keys) > claimKeys {
			claims, whole = append(claims, claim{table: id, whole: true}), true
			continue
		}
		for k := range maps.Keys(f.keys) {
			claims = append(claims, claim{table: id, key: k})
		}
	}
	slices.SortFunc(claims, func(a, b claim) int {
		return cmp.Or(cmp.Compare(a.table, b.table), cmp.Compare(a.key, b.key))
	})
	return claims, whole
}

// yield lets those go first who hold a turn on what t is about to change.
func (t *txn) yield(ctx context.Context) error {
	turns := &t.engine.turns
	if t.turn || turns.held.Load() == 0 {
		return nil
	}
	for _, id := range inOrder(t.tables) {
		claims := []claim{{table: id, whole: true}}
		if f := t.reads[id]; f != nil && len(f.keys) <= claimKeys {
			for _, k := range slices.Sorted(maps.Keys(f.keys)) {
				claims = append(claims, claim{table: id, key: k})
			}
		}
		if err := turns.wait(ctx, claims); err != nil {
			return err
		}
	}
	return nil
}
