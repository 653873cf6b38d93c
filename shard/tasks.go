package shard

import (
	"log/slog"

	"tailrace/pool"
)

// tasks is n pieces of work for a flight, each of which may be done twice: fn(i) writes what it makes whole. rank and cost are those of pool.Flight.Go.
type tasks struct {
	flight *pool.Flight
	rank   int64
	logger *slog.Logger
}

// each does fn(0) to fn(n-1) and returns when all are done. One that fails or panics is done again, by the caller, and its second error is the result.
func (t tasks) each(n int, cost func(i int) int64, fn func(i int) error) error {
	if n == 1 {
		return t.again(t.flight.Go(t.rank, 0, func() error { return fn(0) }), 0, fn)
	}
	under := make([]*pool.Task, n)
	for i := range under {
		under[i] = t.flight.Go(t.rank, cost(i), func() error { return fn(i) })
	}
	for i, x := range under {
		if err := t.again(x, i, fn); err != nil {
			return err
		}
	}
	return nil
}

// again is Wait of a task, and once more what it was to do.
func (t tasks) again(x *pool.Task, i int, fn func(i int) error) error {
	return x.Redo(func() error { return fn(i) }, func(err error) { t.logger.Warn("a task of a sort failed and is done again", "error", err) })
}
