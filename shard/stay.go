package shard

import (
	"sync"

	"tailrace"
)

// stays are the wishes that no part at all be deleted. A backup has one while it copies the parts of a fold:
//
//	KeepParts ─ fold ─ copy ... copy ─ release
//	     merges and flushes go on, and let go of parts; those wait as garbage
//
// It covers collections that begin between KeepParts and the fold, which a pin of each manifest would not.
type stays struct {
	mu    sync.Mutex // for memory only
	upper map[*tailrace.Time]struct{}
}

// KeepParts keeps every part that is there from now on, on this node and, by what it promises (ReadsFrom), on others, until release is called. It blocks nobody;
// what is let go of meanwhile takes up space.
func (s *Set) KeepParts() (release func()) {
	upper := s.Upper()
	s.stays.mu.Lock()
	defer s.stays.mu.Unlock()
	if s.stays.upper == nil {
		s.stays.upper = map[*tailrace.Time]struct{}{}
	}
	s.stays.upper[&upper] = struct{}{}
	return func() {
		s.stays.mu.Lock()
		defer s.stays.mu.Unlock()
		delete(s.stays.upper, &upper)
	}
}

// oldest is the upper at which the first of the wishes was made, if there is one.
func (s *stays) oldest() (upper tailrace.Time, any bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	upper = tailrace.MaxTime
	for t := range s.upper {
		upper = min(upper, *t)
	}
	return upper, len(s.upper) > 0
}
