package shard

import (
	"slices"

	"tailrace"
)

// Several nodes may fold one log over one Blob. A part that a merge lets go of, or history that since passes, may still be read on another node,
// which has pinned an older manifest or holds an older time. So each node promises in the log what it needs at most (ReadsFrom), and others keep
// the rest until it promises more or its session ends:
//
//	node A   pins a manifest at 100 ──────────────── reads ───────────── releases ─ promises 180
//	log      promise A: 100     merge at 150 lets part p go
//	node B                      applies it: p is garbage, but A needs what was let go after 100     deletes p

// pins are the readers of one manifest.
type pins struct {
	n     int
	upper tailrace.Time // of the set when the first pinned it
}

// ReadsFrom is what this node promises to the others: it reads at no time below, and needs no part that was let go at or before it.
func (s *Set) ReadsFrom() tailrace.Time {
	oldest := s.Upper() // before the shards are looked at: who pins one meanwhile does so at this or later
	if t, keeps := s.stays.oldest(); keeps {
		oldest = min(oldest, t)
	}
	s.mu.RLock()
	shards := slices.Clone(s.gone)
	for _, sh := range s.shards {
		shards = append(shards, sh)
	}
	s.mu.RUnlock()
	for _, sh := range shards {
		sh.mu.Lock()
		for _, p := range sh.pins {
			oldest = min(oldest, p.upper)
		}
		for t := range sh.leases {
			oldest = min(oldest, *t+1)
		}
		sh.mu.Unlock()
	}
	return max(oldest, 1) - 1
}
