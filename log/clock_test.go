package log

import (
	"testing"
	"time"

	"tailrace"
)

func TestTimesFollowTheWallClockUnlessItJumps(t *testing.T) {
	const s = tailrace.Time(1_000_000) // µs
	type reading struct {
		wall tailrace.Time
		mono time.Duration
		want tailrace.Time
		jump bool
	}
	for _, c := range []struct {
		name string
		last tailrace.Time
		list []reading
	}{
		{"even clocks", 0, []reading{{100 * s, 0, 100 * s, false}, {101 * s, time.Second, 101 * s, false}}},
		{"same microsecond", 0, []reading{{100 * s, 0, 100 * s, false}, {100 * s, 0, 100*s + 1, false}, {100 * s, 0, 100*s + 2, false}}},
		{"slewed", 0, []reading{{100 * s, 0, 100 * s, false}, {100*s + s/2, time.Second, 100*s + s/2, false}, {102 * s, 2 * time.Second, 102 * s, false}}},
		{"set forth, then back", 0, []reading{
			{100 * s, 0, 100 * s, false},
			{4000 * s, time.Second, 100*s + 1, true}, // from the last time, which was a second ago
			{4001 * s, 2 * time.Second, 101 * s, true},
			{103 * s, 4 * time.Second, 103 * s, false},
			{104 * s, 5 * time.Second, 104 * s, false},
		}},
		{"set back for good", 0, []reading{
			{1000 * s, 0, 1000 * s, false}, {500 * s, time.Second, 1000*s + 1, true}, {501 * s, 2 * time.Second, 1001 * s, true}, {510 * s, 11 * time.Second, 1010 * s, true},
		}},
		{"slow steps add up, are followed", 0, []reading{
			{100 * s, 0, 100 * s, false}, {102 * s, time.Second, 102 * s, false}, {104 * s, 2 * time.Second, 104 * s, false},
		}},
		{"log ahead of the wall at the start", 1000 * s, []reading{{500 * s, 0, 1000*s + 1, true}, {501 * s, time.Second, 1001 * s, true}}},
		{"log a little ahead at the start", 100*s + 7, []reading{{100 * s, 0, 100*s + 8, false}, {101 * s, time.Second, 101 * s, false}}},
		{"log far behind at the start", 5, []reading{{100 * s, 0, 100 * s, false}}},
	} {
		t.Run(c.name, func(t *testing.T) {
			k := clock{last: c.last}
			for i, r := range c.list {
				if got := k.next(k.read(r.wall, r.mono)); got != r.want || k.jumped != r.jump {
					t.Errorf("reading %d: got %d jumped %v, want %d %v", i, got, k.jumped, r.want, r.jump)
				}
			}
		})
	}
}
