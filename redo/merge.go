package redo

import (
	"container/heap"
	"slices"
)

// cursors is a heap of cursors that are not at the end: the one with the lowest time first, and of those the one with the lowest span.
type cursors []*cursor

func (h cursors) Len() int { return len(h) }

func (h cursors) Less(i, j int) bool {
	if h[i].time != h[j].time {
		return h[i].time < h[j].time
	}
	return h[i].span < h[j].span
}

func (h cursors) Swap(i, j int) { h[i], h[j] = h[j], h[i] }

// Push implements heap.Interface; nothing is pushed.
func (h *cursors) Push(c any) { *h = append(*h, c.(*cursor)) }

// Pop implements heap.Interface.
func (h *cursors) Pop() any {
	last := (*h)[len(*h)-1]
	*h = (*h)[:len(*h)-1]
	return last
}

// moved puts the first cursor, which has moved on, where it belongs.
func (h *cursors) moved() {
	if (*h)[0].kind == 0 {
		heap.Pop(h)
	} else {
		heap.Fix(h, 0)
	}
}

// movedAll puts cursors, any of which may have moved on, where they belong.
func (h *cursors) movedAll() {
	*h = slices.DeleteFunc(*h, func(c *cursor) bool { return c.kind == 0 })
	heap.Init(h)
}
