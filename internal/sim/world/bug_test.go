package world

import (
	"slices"
	"strings"
	"testing"
)

// A validator that finds nothing might look at nothing. So each bug that is planted must be found, within a few worlds, and as what it is.
func TestPlantedBugsAreFound(t *testing.T) {
	const worlds = 40
	for _, c := range []struct {
		bug   Bug
		as    string // the beginning of what is found
		first uint64 // seed; a soon one, so that it is found fast
	}{
		{LazyLog, "log: a power cut lost entries", 4},
		{LazyParts, "a client got ERROR: ", 6},
		{LostAppend, "source: position ", 14},
		{BlindAppend, "", 14},
		{DeafToEnd, "fenced: ", 14},
		{DeafToClaim, "model: ", 14},
		{NoPromise, "a client got ERROR: part ", 0},
		{StaleHead, "strict: ", 2},
		{Redelivered, "model: ", 14},
		{HastyConfirm, "source: asked to read from ", 14},
		{SentTwice, "complete, once: ", 14},
		{NeverSent, "complete, once: ", 14},
		{SentLate, "order: ", 14},
	} {
		t.Run(c.bug.String(), func(t *testing.T) {
			for seed := c.first; seed < c.first+worlds; seed++ {
				r := simulate(t, seed, c.bug)
				if slices.ContainsFunc(r.Failures, func(f string) bool { return strings.HasPrefix(f, c.as) }) {
					t.Logf("found in the world of seed %d", seed)
					return
				}
			}
			t.Errorf("got nothing in %d worlds, want %q", worlds, c.as)
		})
	}
}
