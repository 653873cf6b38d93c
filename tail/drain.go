package tail

import (
	"cmp"
	"context"
	"maps"
	"slices"
	"time"
)

// drainPause is the least time between two subscriptions that end when the node drains: a few clients end together at once, and of thousands no storm comes back
// elsewhere.
const drainPause = 5 * time.Millisecond

// Drain ends the subscriptions, evenly over a time, each with 57P01 and its resume point; new ones at once. When ctx is done it ends the rest and returns.
func (t *Tail) Drain(ctx context.Context, over time.Duration) {
	t.mu.Lock()
	t.draining = true
	all := slices.SortedFunc(maps.Keys(t.subs), func(a, b *listing) int { return cmp.Compare(a.id, b.id) })
	t.mu.Unlock()
	steps := len(all)
	if most := int(over / drainPause); steps > most {
		steps = max(1, most)
	}
	tick := time.NewTicker(max(1, min(over, time.Duration(len(all))*drainPause)/time.Duration(max(1, steps))))
	defer tick.Stop()
	for i, ended := 0, 0; i < steps; i++ {
		upTo := len(all) * (i + 1) / steps
		t.endAll(all[ended:upTo])
		if ended = upTo; ended == len(all) {
			return
		}
		select {
		case <-tick.C:
		case <-ctx.Done():
			t.endAll(all[ended:])
			return
		}
	}
}

// endAll tells subscriptions that they are drained.
func (t *Tail) endAll(all []*listing) {
	t.mu.Lock()
	defer t.mu.Unlock()
	for _, l := range all {
		l.end()
	}
	t.tellEntry() // of a Watcher
}

// end drains s. The tail's mutex is held.
func (s *listing) end() {
	if !s.ended {
		s.ended = true
		close(s.drained)
	}
}
