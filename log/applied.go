package log

import (
	"container/heap"
	"context"
	"fmt"

	"tailrace"
)

// applied is how far this node's folds are and who waits for them. Each entry wakes those that wait for it and nobody else.
type applied struct {
	seq     tailrace.SeqNo
	state   state
	freed   chan struct{} // closed when a claim is freed; nil while nobody waits for it
	marks   marks
	commits []group   // by seq
	syncs   []arrival // by seq, one for each
	times   timeHeap  // by time
}

// group is the commits in one entry.
type group struct {
	seq     tailrace.SeqNo
	members []*commit
}

// arrival is closed when seq is applied.
type arrival struct {
	seq  tailrace.SeqNo
	done chan struct{}
}

// Applied tells that e is applied to everything on this node: commits in it return, reads at its time begin. One goroutine calls it, with
// every entry after the checkpoint, in order. Entries from before, read again to refill a window, are ignored.
func (l *Log) Applied(e *Entry) {
	l.mu.Lock()
	a := &l.applied
	if e.Seq <= a.seq {
		l.mu.Unlock()
		return
	}
	if e.Seq != a.seq+1 {
		defer l.mu.Unlock()
		panic(fmt.Sprintf("entry %d applied after entry %d", e.Seq, a.seq))
	}
	a.seq = e.Seq
	a.marks.add(e)
	freed, err := a.state.fold(e)
	if err != nil {
		defer l.mu.Unlock()
		panic(err.Error())
	}
	var wake []chan struct{}
	if freed && a.freed != nil {
		wake, a.freed = append(wake, a.freed), nil
	}
	for len(a.commits) > 0 && a.commits[0].seq <= e.Seq {
		for _, c := range a.commits[0].members {
			wake = append(wake, c.done)
		}
		a.commits[0].members = nil
		a.commits = a.commits[1:]
	}
	for len(a.syncs) > 0 && a.syncs[0].seq <= e.Seq {
		wake = append(wake, a.syncs[0].done)
		a.syncs = a.syncs[1:]
	}
	for len(a.times) > 0 && a.times[0].time <= e.Time {
		wake = append(wake, heap.Pop(&a.times).(*timeWait).done)
	}
	l.newest.Store(uint64(e.Time))
	l.mu.Unlock()
	for _, done := range wake {
		close(done)
	}
}

// Newest is the newest committed time that is applied on this node.
func (l *Log) Newest() tailrace.Time { return tailrace.Time(l.newest.Load()) }

// WaitTime waits until Newest is at least t.
func (l *Log) WaitTime(ctx context.Context, t tailrace.Time) error {
	l.mu.Lock()
	if l.Newest() >= t {
		l.mu.Unlock()
		return nil
	}
	w := &timeWait{time: t, done: make(chan struct{})}
	heap.Push(&l.applied.times, w)
	l.mu.Unlock()
	select {
	case <-w.done:
		return nil
	case <-ctx.Done():
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if w.at >= 0 {
		heap.Remove(&l.applied.times, w.at)
	}
	return ctx.Err()
}

// timeWait is one WaitTime. at is its place in the heap, -1 once it left.
type timeWait struct {
	time tailrace.Time
	at   int
	done chan struct{}
}

// timeHeap is the waits, the nearest first; heap.Interface.
type timeHeap []*timeWait

func (h timeHeap) Len() int           { return len(h) }
func (h timeHeap) Less(i, j int) bool { return h[i].time < h[j].time }
func (h timeHeap) Swap(i, j int) {
	h[i], h[j] = h[j], h[i]
	h[i].at, h[j].at = i, j
}

// Push implements heap.Interface.
func (h *timeHeap) Push(x any) {
	w := x.(*timeWait)
	w.at = len(*h)
	*h = append(*h, w)
}

// Pop implements heap.Interface.
func (h *timeHeap) Pop() any {
	last := len(*h) - 1
	w := (*h)[last]
	(*h)[last] = nil
	*h, w.at = (*h)[:last], -1
	return w
}
