package pool

import (
	"container/heap"
	"errors"
	"slices"
	"sync"
	"sync/atomic"
)

// errClosed is what a task ends with that its flight's Close dropped.
var errClosed = errors.New("the flight is closed")

// Flight is the tasks of one piece of work. Its owner calls Wait, Close and Helped; Go may be called by its tasks too. A nil *Flight does each task within Go.
type Flight struct {
	pool       *Pool        // nil: no workers
	err        func() error // the context's: the flight itself is what ctx bounds, so that no task has to be given it
	helpersMax int          // 0: serial, and what is below is not used
	helped     atomic.Int64

	// Of pool.mu.
	moved    sync.Cond // a task ended that somebody waits for, or one came while somebody waited
	queue    queue
	helpers  int // workers in a task
	sleepers int // owners in Wait or Close without a task to do
	closed   bool
}

// Go queues fn; see Pool for rank and cost. Its error, if any, is the task's. A serial flight runs it at once.
func (f *Flight) Go(rank, cost int64, fn func() error) *Task {
	t := &Task{flight: f, rank: rank, cost: cost, fn: fn}
	if f == nil || f.helpersMax == 0 {
		t.run()
		t.done = true
		return t
	}
	p := f.pool
	p.mu.Lock()
	defer p.mu.Unlock()
	if f.closed {
		t.drop(errClosed)
		return t
	}
	p.come++
	t.come = p.come
	if len(f.queue) == 0 {
		p.flights = append(p.flights, f)
	}
	heap.Push(&f.queue, t)
	if p.idle > 0 && f.helpers < f.helpersMax {
		p.work.Signal()
	}
	if f.sleepers > 0 {
		f.moved.Broadcast()
	}
	return t
}

// take removes the first task of the queue, which is not empty.
func (f *Flight) take() *Task {
	t := heap.Pop(&f.queue).(*Task)
	if len(f.queue) == 0 {
		f.left()
	}
	return t
}

// left takes the flight, whose queue is empty now, out of those that wait.
func (f *Flight) left() {
	if i := slices.Index(f.pool.flights, f); i >= 0 {
		f.pool.flights = slices.Delete(f.pool.flights, i, i+1)
	}
}

// settled notes that t, which ran, is done.
func (f *Flight) settled(t *Task) {
	t.done = true
	if f.sleepers > 0 && (t.awaited || f.helpers == 0) {
		f.moved.Broadcast()
	}
}

// wait is Task.Wait: it does the flight's tasks, the first of all first, until t is done.
func (f *Flight) wait(t *Task) error {
	p := f.pool
	p.mu.Lock()
	defer p.mu.Unlock()
	t.awaited = true
	for !t.done {
		if err := f.err(); err != nil {
			break
		}
		if len(f.queue) == 0 {
			f.sleep() // a worker has t, or the task that t waits behind
			continue
		}
		mine := f.take()
		p.mu.Unlock()
		mine.run()
		p.mu.Lock()
		f.settled(mine)
	}
	if err := f.err(); err != nil {
		f.drain(err)
		return err
	}
	return t.err
}

// sleep waits for what moved tells of.
func (f *Flight) sleep() {
	f.sleepers++
	f.moved.Wait()
	f.sleepers--
}

// drain drops what has not begun and waits for what runs.
func (f *Flight) drain(why error) {
	for {
		if len(f.queue) > 0 {
			for _, t := range f.queue {
				t.drop(why)
			}
			f.queue = nil
			f.left()
		}
		if f.helpers == 0 {
			return
		}
		f.sleep()
	}
}

// Close drops the tasks that have not begun and waits for those that run; then no goroutine is at work for the flight. A task that is queued
// later is dropped. It may be called twice, and on a nil *Flight.
func (f *Flight) Close() {
	if f == nil || f.helpersMax == 0 {
		return
	}
	f.pool.mu.Lock()
	defer f.pool.mu.Unlock()
	f.closed = true
	f.drain(errClosed)
}

// Helped is how many of its tasks workers did so far, not the owner.
func (f *Flight) Helped() int64 {
	if f == nil {
		return 0
	}
	return f.helped.Load()
}
