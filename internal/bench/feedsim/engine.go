package feedsim

import (
	"container/heap"
	"math"
	"math/rand/v2"
	"time"
)

// engine is the clock and what happens next.
type engine struct {
	now   time.Duration
	seq   uint64
	queue events
	rng   *rand.Rand
}

type event struct {
	at  time.Duration
	seq uint64
	do  func()
}

type events []event

func (e events) Len() int { return len(e) }
func (e events) Less(i, j int) bool {
	return e[i].at < e[j].at || e[i].at == e[j].at && e[i].seq < e[j].seq
}
func (e events) Swap(i, j int) { e[i], e[j] = e[j], e[i] }
func (e *events) Push(x any)   { *e = append(*e, x.(event)) }
func (e *events) Pop() any {
	old := *e
	x := old[len(old)-1]
	old[len(old)-1] = event{}
	*e = old[:len(old)-1]
	return x
}

func (e *engine) after(d time.Duration, do func()) {
	e.seq++
	heap.Push(&e.queue, event{e.now + max(d, 0), e.seq, do})
}

// run goes on until a time.
func (e *engine) run(until time.Duration) {
	for len(e.queue) > 0 && e.queue[0].at <= until {
		ev := heap.Pop(&e.queue).(event)
		e.now = ev.at
		ev.do()
	}
	e.now = until
}

// lognormal is about 1.
func (e *engine) lognormal(sigma float64) float64 { return math.Exp(sigma * e.rng.NormFloat64()) }
