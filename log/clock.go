package log

import (
	"time"

	"tailrace"
)

// jumpLimit is how far the wall clock may move against the monotonic one between two readings and still be followed. Time daemons slew by
// 0.5 ms a second; ticks read the clock each second.
const jumpLimit = time.Second

// clock gives times for commits: max(wall, last+1), as long as the wall clock runs evenly with the monotonic one.
//
// When the wall clock jumps (set by hand, a suspended machine that wakes up), times go on from the last one by monotonic time instead:
// a jump forth would leave readers' AS OF hours away and could never be taken back, a jump back would make every commit last+1.
// When the wall clock is again where these times are, it is followed again.
type clock struct {
	last            tailrace.Time // the newest time given or seen
	offset          time.Duration // wall minus monotonic at the last reading, both from the start
	started, jumped bool
	base            tailrace.Time // while jumped: the time at the jump
	baseMono        time.Duration // while jumped: the monotonic clock at the jump
}

// read takes a reading of both clocks and returns the time they make, which may be older than last.
func (c *clock) read(wall tailrace.Time, mono time.Duration) tailrace.Time {
	offset := time.Duration(wall)*time.Microsecond - mono
	switch {
	case !c.started:
		c.started = true
		if wall+micros(jumpLimit) < c.last { // the log is ahead of the wall clock
			c.jump(mono)
		}
	case !c.jumped && (offset-c.offset).Abs() > jumpLimit:
		c.jump(mono)
	}
	c.offset = offset
	if !c.jumped {
		return wall
	}
	t := c.base + micros(mono-c.baseMono)
	if diff := int64(wall) - int64(t); max(diff, -diff) <= jumpLimit.Microseconds() {
		c.jumped = false
		return wall
	}
	return t
}

func (c *clock) jump(mono time.Duration) {
	c.jumped, c.base, c.baseMono = true, c.last, mono
}

// next gives the time of the next transaction, given what read returned.
func (c *clock) next(t tailrace.Time) tailrace.Time {
	c.last = max(t, c.last+1)
	return c.last
}

func micros(d time.Duration) tailrace.Time { return tailrace.Time(d.Microseconds()) }
