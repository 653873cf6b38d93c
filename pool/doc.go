// Package pool runs the tasks of many callers on one set of goroutines, the workers, so that a node with a hundred flushes under way computes on as many
// cores as it has and no more.
//
// What is divided into tasks is a flight: all the work of one COPY, one flush, one merge. The goroutine that opens a flight is its owner. It queues tasks
// and waits for them, and while it waits it does them itself:
//
//	owner    Flight ─ Go a ─ Go b ─ Go c ─ a.Wait: c ───── done ─ b.Wait: done ─ Close
//	worker                 a ────────────────── b ───────
//
// So the workers are help, never a need. When all of them are busy elsewhere, or nobody runs the pool, the owner does every task on its own goroutine:
// slower, with the same result. Nothing can starve or deadlock, because an owner sleeps only while a worker is inside a task of its flight, and a task
// waits for nothing.
//
// The order is the same everywhere: the smaller rank first (in a load the older stripe, so that what is begun ends and its memory is free again), then the larger
// cost (so that the longest task is not the last one, which all wait for), then first come. A flight has at most as many goroutines at a time as its
// owner asked for; with one the task runs within Go, and the pool costs a function call.
//
// A task that panics does not end the process: its Wait returns a *Panic. A flight whose context ended begins no task any more, and its Waits return the context's
// error once no task runs. Close leaves nothing behind: no goroutine is inside a task of the flight when it returns, so that the owner may
// use the tasks' memory again.
//
// What a task computes must not depend on which goroutine runs it, when, or beside which others: the pool decides all of these by chance.
package pool
