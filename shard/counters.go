package shard

import "sync/atomic"

// WriteStats counts the stripes of a Set's parts since it was made.
type WriteStats struct {
	StripesEncoded int64 // from rows
	StripesCopied  int64 // by merges, as they were stored
}

// stripeCounters are WriteStats as they grow.
type stripeCounters struct{ encoded, copied atomic.Int64 }

// WriteStats returns the counters now.
func (s *Set) WriteStats() WriteStats {
	return WriteStats{StripesEncoded: s.stripes.encoded.Load(), StripesCopied: s.stripes.copied.Load()}
}
