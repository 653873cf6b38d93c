package budget

import (
	"context"
	"fmt"
	"sync/atomic"

	"golang.org/x/sync/semaphore"
)

// Share is a named part of a node's memory. Any number of goroutines may call it; nil has no limit.
type Share struct {
	name     string
	limit    int64
	advice   string // what a user does about it, for Full
	room     *semaphore.Weighted
	used     atomic.Int64
	peak     atomic.Int64
	waits    atomic.Int64
	refusals atomic.Int64
	measure  atomic.Pointer[func() int64] // instead of used, when somebody else keeps to the limit
}

// NewShare returns a share of limit bytes.
func NewShare(name string, limit int64) *Share {
	return &Share{name: name, limit: limit, room: semaphore.NewWeighted(limit)}
}

// Name is the share's.
func (s *Share) Name() string { return s.name }

// Limit is the most that may be taken together, in bytes; a nil share has fallback.
func (s *Share) Limit(fallback int64) int64 {
	if s == nil {
		return fallback
	}
	return s.limit
}

// Acquire takes n bytes, and waits for them in turn. More than the whole share is an error at once, a *tailrace.Error 53200; else the error is ctx's.
func (s *Share) Acquire(ctx context.Context, n int64) error {
	if s == nil || n <= 0 {
		return nil
	}
	if n > s.limit {
		s.refusals.Add(1)
		return s.Full(fmt.Sprintf("%d bytes are needed at once", n))
	}
	if !s.room.TryAcquire(n) {
		s.waits.Add(1)
		if err := s.room.Acquire(ctx, n); err != nil {
			return fmt.Errorf("wait for %d bytes of memory for %s: %w", n, s.name, err)
		}
	}
	s.took(n)
	return nil
}

// TryAcquire takes n bytes if they are there now and nobody waits.
func (s *Share) TryAcquire(n int64) bool {
	if s == nil || n <= 0 {
		return true
	}
	if !s.room.TryAcquire(n) {
		s.refusals.Add(1)
		return false
	}
	s.took(n)
	return true
}

// took counts n bytes that were taken. used is never above what room has given out: it is raised after and lowered before.
func (s *Share) took(n int64) {
	used := s.used.Add(n)
	for {
		peak := s.peak.Load()
		if used <= peak || s.peak.CompareAndSwap(peak, used) {
			return
		}
	}
}

// Release gives n bytes back.
func (s *Share) Release(n int64) {
	if s == nil || n <= 0 {
		return
	}
	s.used.Add(-n)
	s.room.Release(n)
}

// Crowded reports whether more than half of the share is taken: then what can be read again is not kept from one call to the next.
func (s *Share) Crowded() bool { return s != nil && s.used.Load() > s.limit/2 }

// Waited counts a wait for a measured share, whose owner does the waiting.
func (s *Share) Waited() {
	if s != nil {
		s.waits.Add(1)
	}
}

// Measure makes the share one that something else keeps to, such as DuckDB its memory_limit; used then asks what it takes.
func (s *Share) Measure(used func() int64) {
	if s != nil {
		s.measure.Store(&used)
	}
}

// Usage is how a share stands, in bytes, and counts since the start.
type Usage struct {
	Name              string
	Used, Limit, Peak int64
	Waits             int64 // calls that had to wait
	Refusals          int64 // calls that were told no
}

// Usage says how the share stands. The peak of a measured share is that of the moments when it was asked.
func (s *Share) Usage() Usage {
	u := Usage{Name: s.name, Limit: s.limit, Used: s.used.Load(), Waits: s.waits.Load(), Refusals: s.refusals.Load()}
	if f := s.measure.Load(); f != nil {
		u.Used = (*f)()
		for peak := s.peak.Load(); u.Used > peak && !s.peak.CompareAndSwap(peak, u.Used); {
			peak = s.peak.Load()
		}
	}
	u.Peak = s.peak.Load()
	return u
}
