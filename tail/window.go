package tail

import (
	"slices"
	"sync"

	"tailrace"
	"tailrace/catalog"
	"tailrace/log"
)

const (
	// WindowBytes is the most that one collection's window holds, in encoded bytes.
	WindowBytes = 64 << 20
	// WindowAge is how far behind the frontier a window reaches, in microseconds.
	WindowAge = tailrace.Time(30_000_000)
	// WindowBudget bounds all windows of a node together, in encoded bytes, when there is no budget.
	WindowBudget = 256 << 20
	// itemBytes is what an item takes beside its updates.
	itemBytes = 128
)

// item is the updates of one transaction to one collection. It is immutable but for the decoded batch and the
// frames, which are made when they are first wanted.
type item struct {
	time   tailrace.Time
	raw    [][]byte // inline batches; nil when ref
	ref    bool     // the updates are in parts: read them through the shard
	size   int
	decode sync.Once
	batch  *tailrace.Batch
	err    error

	sharing
	block *sharing // of the block that begins with it; nil for most
}

// updates is the item's batch, in the columns that were written; several inline batches are returned joined only if they are one.
func (it *item) updates() ([]*tailrace.Batch, error) {
	it.decode.Do(func() {
		it.batch, _, it.err = tailrace.DecodeBatch(it.raw[0])
	})
	if it.err != nil || len(it.raw) == 1 {
		return []*tailrace.Batch{it.batch}, it.err
	}
	out := []*tailrace.Batch{it.batch}
	for _, raw := range it.raw[1:] { // rare: one transaction wrote the collection in several records
		b, _, err := tailrace.DecodeBatch(raw)
		if err != nil {
			return nil, err
		}
		out = append(out, b)
	}
	return out, nil
}

// ending is why subscriptions of a collection end: its table was dropped or changed at a time.
type ending struct {
	time   tailrace.Time
	change catalog.TableChange
}

// window is the recent updates of one collection, oldest first. The tail's mutex guards it.
type window struct {
	lower   tailrace.Time // everything after lower and up to the tail's newest time is in items
	items   []*item
	count   int // of items there ever were
	gone    int // of items that items' memory still keeps, before the first: views may have them
	bytes   int
	endings []ending
	notify  chan struct{} // closed at the next update, ending, or beat
	readers int
	dropped bool
	parked  []*Subscription // who have everything,
	due     []*Subscription // and who are to be pushed to;
	more    bool            // there is something for who is parked
	queued  bool            // it is in the tail's list of windows with such
}

func newWindow(lower tailrace.Time) *window {
	return &window{lower: lower, notify: make(chan struct{})}
}

// wake lets everybody who waits for the window look again.
func (w *window) wake() {
	close(w.notify)
	w.notify = make(chan struct{})
}

// evict drops the oldest item. The newest is kept: a reader that is one batch behind never leaves the window.
func (w *window) evict() {
	w.lower = w.items[0].time
	w.bytes -= w.items[0].size
	w.items = w.items[1:]
	if w.gone++; w.gone > 16+len(w.items)/8 {
		w.items, w.gone = slices.Clone(w.items), 0
	}
}

// trim drops what is too old or too much for one window.
func (w *window) trim(newest tailrace.Time) {
	for len(w.items) > 1 && (w.bytes > WindowBytes || w.items[0].time+WindowAge < newest) {
		w.evict()
	}
}

// since returns the items after t up to and including until, a view that stays valid: items are never changed in place.
func (w *window) since(t, until tailrace.Time) []*item {
	lo, hi := 0, len(w.items)
	for lo < hi {
		if mid := (lo + hi) / 2; w.items[mid].time <= t {
			lo = mid + 1
		} else {
			hi = mid
		}
	}
	hi = lo
	for hi < len(w.items) && w.items[hi].time <= until {
		hi++
	}
	return w.items[lo:hi:hi]
}

// itemsOf splits an entry's data by collection and transaction.
func itemsOf(e *log.Entry, add func(tailrace.CollectionID, *item)) {
	for _, txn := range e.Txns {
		var mine []*item
		var ids []tailrace.CollectionID
		for _, r := range txn.Records {
			if r.Kind != log.KindData && r.Kind != log.KindRef {
				continue
			}
			i := 0
			for i < len(ids) && ids[i] != r.Collection {
				i++
			}
			if i == len(ids) {
				ids, mine = append(ids, r.Collection), append(mine, &item{time: txn.Time, size: itemBytes})
			}
			if r.Kind == log.KindRef {
				mine[i].ref = true
			} else {
				mine[i].raw = append(mine[i].raw, r.Payload)
			}
			mine[i].size += 2 * len(r.Payload) // encoded, and decoded once read
		}
		for i, it := range mine {
			add(ids[i], it)
		}
	}
}
