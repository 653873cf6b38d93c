package bench

import (
	"context"
	"slices"
	"time"
)

const (
	stallClients = 100
	stallRate    = 500 // rows a second: in a minute far more than what sockets hold
	defaultStall = time.Minute
	aloneName    = "alone" // in a report: the fast clients without slow ones
)

// goalStall is what the fast clients' p99 beside slow ones may be, against that without.
const goalStall = 1.25

func (b Live) stallFor() time.Duration {
	if b.Stall > 0 {
		return b.Stall
	}
	return defaultStall
}

// stall runs fast clients with slow ones beside them and without, in turns.
func (b Live) stall(ctx context.Context, s *storming, scenario liveScenario) error {
	const prefix = stallName + "_"
	order := []string{ours, aloneName}
	for range b.rounds(stallRounds) {
		for _, target := range order {
			var slow *slowClients
			if target == ours {
				slow = &slowClients{stall: b.stallFor()}
			}
			m, err := s.measureLive(ctx, scenario, slow)
			if err != nil {
				return err
			}
			s.fileLive(prefix, target, m)
			s.tellLive(prefix, target, scenario, m)
			if slow == nil {
				continue
			}
			s.r.add(prefix+"slow_rows", ours, float64(slow.rows), true)
			if slow.caughtUp > 0 { // else it has failed, which is among the errors
				s.r.add(prefix+"catch_up_s", ours, slow.caughtUp.Seconds(), false)
			}
		}
		slices.Reverse(order) // so that neither is always the first
	}
	s.r.set(prefix+"p99", s.r.vs(prefix+"p99_ms", ours, aloneName))
	s.r.atMost(prefix+"p99", goalStall)
	s.concludeLive(prefix, scenario.rate)
	return nil
}
