package redo

import "tailrace"

// Position is how far a span came: everything before Time is in, and at Time the first Ordinal updates; with Ordinal 0 all of them. The zero Position is before everything.
type Position struct {
	Time    tailrace.Time
	Ordinal uint64
}

// Before reports whether p is not as far as q.
func (p Position) Before(q Position) bool {
	if p.Time != q.Time {
		return p.Time < q.Time
	}
	return p.Ordinal-1 < q.Ordinal-1 // 0, the whole time, becomes the largest
}

// Resolved is the time up to which everything is in.
func (p Position) Resolved() tailrace.Time {
	if p.Ordinal > 0 && p.Time > 0 {
		return p.Time - 1
	}
	return p.Time
}

// frontier is the lowest time up to which all spans are known: tailrace.MaxTime when there are none but such as will not change again.
func frontier(spans map[tailrace.CollectionID]Position) tailrace.Time {
	lowest := tailrace.MaxTime
	for _, p := range spans {
		lowest = min(lowest, p.Resolved())
	}
	return lowest
}
