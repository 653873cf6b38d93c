package pool

import (
	"context"
	"errors"
	"fmt"
	"runtime/debug"
)

// Task is one piece of a flight.
type Task struct {
	flight  *Flight
	rank    int64
	cost    int64
	come    uint64
	fn      func() error // nil once it ran
	err     error
	done    bool // of pool.mu, as is awaited
	awaited bool
}

// Wait returns the task's error once it is done. The flight's owner calls it, and does other tasks of the flight meanwhile. The error is the
// context's when that ended, whatever became of the task; then no task of the flight runs any more. It is a *Panic when the task panicked.
func (t *Task) Wait() error {
	f := t.flight
	if f == nil || f.helpersMax == 0 {
		return t.err
	}
	return f.wait(t)
}

// Redo is Wait of a task that may be done twice. If it failed or panicked, and not because the flight's context ended, it tells warn and does fn once more on this
// goroutine; a second failure is the result.
func (t *Task) Redo(fn func() error, warn func(error)) error {
	err := t.Wait()
	if err == nil || errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded) {
		return err
	}
	warn(err)
	alone := &Task{fn: fn}
	alone.call()
	return alone.err
}

// before tells that t is done before o when both wait.
func (t *Task) before(o *Task) bool {
	switch {
	case t.rank != o.rank:
		return t.rank < o.rank
	case t.cost != o.cost:
		return t.cost > o.cost
	}
	return t.come < o.come
}

// run does the task on this goroutine, unless its flight's context ended.
func (t *Task) run() {
	f := t.flight
	if f == nil {
		t.call()
		return
	}
	if t.err = f.err(); t.err != nil {
		t.fn = nil
		return
	}
	if f.pool == nil {
		t.call()
		return
	}
	panicked := t.callWith(f.pool.Fault)
	stats := &f.pool.stats
	stats.tasks.Add(1)
	switch {
	case panicked:
		stats.panicked.Add(1)
	case t.err != nil && f.err() == nil:
		stats.failed.Add(1)
	}
}

// callWith is call with a fault at its beginning and its end.
func (t *Task) callWith(fault func(done bool) error) (panicked bool) {
	if fn := t.fn; fault != nil {
		t.fn = func() error {
			if err := fault(false); err != nil {
				return err
			}
			if err := fn(); err != nil {
				return err
			}
			return fault(true)
		}
	}
	return t.call()
}

// call runs fn and turns a panic into an error.
func (t *Task) call() (panicked bool) {
	defer func() {
		t.fn = nil
		if v := recover(); v != nil {
			t.err, panicked = &Panic{Value: v, Stack: debug.Stack()}, true
		}
	}()
	t.err = t.fn()
	return false
}

// drop ends a task that did not begin.
func (t *Task) drop(why error) { t.err, t.fn, t.done = why, nil, true }

// Panic is the error of a task that panicked.
type Panic struct {
	Value any
	Stack []byte // of the goroutine that ran it, as debug.Stack prints it
}

func (p *Panic) Error() string { return fmt.Sprintf("a task panicked: %v", p.Value) }

// queue is a heap (container/heap) of tasks that wait.
type queue []*Task

func (q queue) Len() int           { return len(q) }
func (q queue) Less(i, j int) bool { return q[i].before(q[j]) }
func (q queue) Swap(i, j int)      { q[i], q[j] = q[j], q[i] }

// Push is heap.Interface's.
func (q *queue) Push(t any) { *q = append(*q, t.(*Task)) }

// Pop is heap.Interface's.
func (q *queue) Pop() any {
	last := len(*q) - 1
	t := (*q)[last]
	(*q)[last] = nil
	*q = (*q)[:last]
	return t
}
