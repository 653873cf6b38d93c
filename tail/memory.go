package tail

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"time"

	"tailrace"
	"tailrace/budget"
)

// The rows on their way to subscribers come from one share, and a subscriber that does not read keeps its delivery for hours. So a delivery ends where it
// reaches a small part of what is left of one half of the share: the more slow subscribers there are the smaller deliveries get, and nobody waits
// for anybody. The other half is for what cannot be cut: rows that must be together to be ordered or judged, a FETCH, a row larger than a part.

const (
	// minPart is the least that a delivery may hold, in bytes.
	minPart = 4 << 10
	// partOf is which part of what is left a delivery may hold.
	partOf = 8
)

// deliveryWait is how long a delivery that is larger than its part waits for room before the subscription ends with 53200.
const deliveryWait = 30 * time.Second

// part is how many bytes of rows one subscription delivers at once.
func (t *Tail) part() int {
	if t.frames == nil {
		return BatchBytes
	}
	left := t.frames.Limit(0)/2 - (t.frames.Usage().Used - t.cache.size()) // the cache gives way
	return int(min(BatchBytes, max(minPart, left/partOf)))
}

// pieceBytes is where a piece of a snapshot is cut, 0 for the shard's own measure.
func (s *Subscription) pieceBytes() int {
	if s.tail.frames == nil {
		return 0
	}
	return s.tail.part()
}

// deliver takes what out needs, which the subscription holds until its next step.
func (s *Subscription) deliver(ctx context.Context, out *tailrace.Batch) error {
	size := int64(out.Size())
	if size == 0 || s.tail.grant(&s.delivery, size) {
		return nil
	}
	timed, stop := context.WithTimeout(ctx, deliveryWait)
	defer stop()
	err := s.delivery.Wait(timed, size)
	if ctx.Err() == nil && errors.Is(err, context.DeadlineExceeded) {
		full := s.tail.frames.Full(fmt.Sprintf("A delivery of %s found no room for %v", budget.Format(size), deliveryWait))
		full.Message = "SUBSCRIBE ran out of memory"
		return full
	}
	return err
}

// grant is g.Set, for which the cache of frames gives way.
func (t *Tail) grant(g *budget.Grant, size int64) bool {
	return g.Set(size) || t.cache.clear() && g.Set(size)
}

// holdRows makes size bytes what the subscription holds of rows that must be together; 53200 when that is too much.
func (s *Subscription) holdRows(size int) error {
	if size > MaxHeldBytes {
		return s.tooMuch(fmt.Sprintf("and they pass %d MiB", MaxHeldBytes>>20))
	}
	if s.tail.grant(&s.together, int64(size)) {
		return nil
	}
	err := s.tooMuch(fmt.Sprintf("and they take %s of the %s that all subscriptions of this node have", budget.Format(int64(size)), budget.Format(s.tail.frames.Limit(0))))
	err.Hint += " Or give the node more: tailrace serve --memory BYTES."
	return err
}

func (s *Subscription) tooMuch(why string) *tailrace.Error {
	return &tailrace.Error{
		Code: "53200", Message: "SUBSCRIBE must hold all rows of one timestamp together, " + why,
		Detail: s.resumeDetail(), Hint: "Leave out WITHIN TIMESTAMP ORDER BY, or use the table's primary key as the envelope's KEY.",
	}
}

// shrink puts the largest newest batch behind a reference: its updates are read from the shard. false when no window has one.
func (t *Tail) shrink() bool {
	var found *window
	for _, id := range slices.Sorted(maps.Keys(t.windows)) {
		w := t.windows[id]
		n := len(w.items)
		if id == SubscriptionsID || n == 0 || w.items[n-1].ref {
			continue
		}
		if found == nil || w.items[n-1].size > found.items[len(found.items)-1].size {
			found = w
		}
	}
	if found == nil {
		return false
	}
	last := len(found.items) - 1
	before := found.items[last]
	items := append([]*item(nil), found.items...) // views of the old list stay as they are
	items[last] = &item{time: before.time, ref: true, size: itemBytes}
	found.items = items
	found.bytes -= before.size - itemBytes
	t.bytes -= before.size - itemBytes
	return true
}
