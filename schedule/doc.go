// Package schedule decides which span of a changefeed is read next, and how much of it: byte credits and deficit round robin, without a fence in time.
//
// A Scheduler is a pure machine. It starts no goroutine, takes no lock and asks no clock: every method is told now, and the caller holds a lock where several
// goroutines use it. So a simulation runs the very code that production runs.
//
//	Readable ──▶ ready ──▶ Next: a Slice, so many bytes granted ──▶ Finish: those used are resident ──▶ Acked: they are free
//	               ▲                                                     │ more to read
//	               └─────────────────────────────────────────────────────┘
//
// Bytes are charged when a slice is granted and come back with the last durable acknowledgement: of the target for the branch Normal, of the redo log for the branch
// Redo. Nothing else is fed back. There is no time that all spans wait for, so a span whose target is slow fills its own share of the pool and stops there, and
// the others do not notice:
//
//	pool 16 MiB, three spans ready          hot reads, its target stalls        cold goes on
//	reserve of each   16 / 4 / 3 = 1.3      hot   4.0 of 4.0 (its cap)          4.0 + 0.1 of 16
//	cap of each       16 / 2 = 8, or 4 when more than three are active
//
// A cursor that is ready and gets no credit stays in line; nothing has to wake it but the credit that comes back. What a Scheduler never does is to give up bytes that were
// read: there is no reset for want of memory.
package schedule
