package log

import (
	"context"
	"time"

	"tailrace"
)

// Waits between tries of an append whose outcome is unknown.
const (
	firstPause = time.Millisecond
	lastPause  = time.Second
)

// settleTime is how long a closing log goes on to find out the outcome of an append.
const settleTime = 5 * time.Second

// settle sends value into the slot of key after expect until the outcome is known, or ctx ends: then it is unknown.
// The error is that of the last call, for the log.
func (l *Log) settle(ctx context.Context, key string, expect tailrace.SeqNo, value []byte) (verdict, error) {
	a := attempt{expect: expect, value: value}
	v, wait := send, firstPause
	for {
		var err error
		if v == send {
			var ok bool
			ok, err = l.consensus.CompareAndSet(ctx, key, expect, value)
			v = a.sent(ok, err)
		} else {
			var page []tailrace.Versioned
			page, err = l.consensus.Scan(ctx, key, expect+1, 1)
			v = a.looked(page, err)
		}
		switch {
		case v.decided():
			return v, err
		case err == nil: // it was answered false: look at once
			continue
		case wait == firstPause:
			l.logger.Warn("append has no answer, asking again", "key", key, "slot", expect+1, "error", err)
		}
		if !pause(ctx, wait) {
			return unknown, err
		}
		wait = min(2*wait, lastPause)
	}
}

// pause waits for d; false when ctx ends first.
func pause(ctx context.Context, d time.Duration) bool {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
		return true
	case <-ctx.Done():
		return false
	}
}

// outlive is a context that ends settleTime after ctx does. The caller calls the function it returns.
func outlive(ctx context.Context) (context.Context, context.CancelFunc) {
	longer, cancel := context.WithCancel(context.WithoutCancel(ctx))
	stop := context.AfterFunc(ctx, func() {
		pause(longer, settleTime)
		cancel()
	})
	return longer, func() {
		stop()
		cancel()
	}
}
